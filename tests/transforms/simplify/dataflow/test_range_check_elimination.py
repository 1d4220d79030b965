"""RangeCheckElimination: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.simplify.dataflow.range_check_elimination import RangeCheckElimination
from tests.support.expect import expect, parse


def test_an_index_between_the_ends_is_not_checked():
    expect(
        RangeCheckElimination(),
        on=parse("""
            sdfg @f(x: i64[K], A: f64[N], B: f64[K]) symbols(N: size, K: size) assumes(N >= 1) {
              state {
                map i = 0:K {
                  data j: i64 transient
                  state { tasklet (a <- x[i]) -> (o -> j) { o = min(max(a, 0), N - 1) } }
                  let k = wrap(j[], N, 0)
                  state { tasklet (a <- A[k]) -> (o -> B[i]) { o = a } }
                }
              }
            }"""),
    ).becomes("""
        sdfg @f(x: i64[K], A: f64[N], B: f64[K]) symbols(N: size, K: size) assumes(N >= 1) {
          state {
            map i = 0:K {
              data j: i64 transient
              state { tasklet (a <- x[i]) -> (o -> j) { o = min(max(a, 0), N - 1) } }
              let k = j[]
              state { tasklet (a <- A[k]) -> (o -> B[i]) { o = a } }
            }
          }
        }""").same_values(N=[1, 9], K=[0, 3])


_NO_CHECK = {
    "a remainder": "state { tasklet (a <- x[i]) -> (o -> j) { o = a % N } }",
    "bytes": "state { tasklet (a <- b[i]) -> (o -> j) { o = min(i64(a), N - 1) } }",
    "bits": "state { tasklet (a <- x[i]) -> (o -> j) { o = min(a & 7, N - 1) } }",
    "half of an index": "state { tasklet (a <- x[i]) -> (o -> j) { o = (a % N) // 2 } }",
    "a selection": "state { tasklet (a <- x[i]) -> (o -> j) { o = select(a < 0 or a >= N, 0, a) } }",
    "branches that clamp": """
        state { tasklet (a <- x[i]) -> (o -> j) { o = a } }
        if j[] < 0 { state { tasklet () -> (o -> j) { o = 0 } } }
        elif j[] >= N { state { tasklet () -> (o -> j) { o = N - 1 } } }""",
    "a check before": """
        state { tasklet (a <- x[i]) -> (o -> j) { o = a } }
        check j[] >= 0 and j[] < N else ValueError "outside" """,
    "an index that was checked before, and is halved": """
        state { tasklet (a <- x[i]) -> (o -> j) { o = a } }
        check j[] >= 0 else ValueError "outside"
        let k_1 = wrap(j[], N, 0)
        state { tasklet (a <- j) -> (o -> j) { o = a // 2 } }""",
    "a copy of a scalar": """
        data l: i64 transient
        state { tasklet (a <- x[i]) -> (o -> l) { o = a % N }  copy l -> j }""",
    "a difference that cannot be negative": """
        data l: i64 transient
        state {
          tasklet (a <- x[i]) -> (o -> l) { o = a % N }
          tasklet (a <- l) -> (o -> j) { o = N - 1 - a }
        }""",
}


@pytest.mark.parametrize("before", _NO_CHECK.values(), ids=_NO_CHECK)
def test_what_surely_lies_inside_is_not_checked(before):
    expect(RangeCheckElimination(), on=parse(_indexed(before))).applies().same_values(N=[1, 5], K=[4])


_READ = "state { tasklet (a <- A[k]) -> (o -> B[i]) { o = a } }"


@pytest.mark.parametrize(
    "rest",
    [
        f"if j[] >= 0 and j[] < N {{ let k = wrap(j[], N, 0) {_READ} }}",
        f"if j[] < 0 or j[] >= N {{ continue }} let k = wrap(j[], N, 0) {_READ}",
    ],
)
def test_facts_of_the_branch_around_and_of_jumps_before(rest):
    text = f"""
        sdfg @f(x: i64[K], A: f64[N], B: f64[K]) symbols(N: size, K: size) {{
          loop i = 0:K {{
            data j: i64 transient
            state {{ tasklet (a <- x[i]) -> (o -> j) {{ o = a }} }}
            {rest}
          }}
        }}"""
    expect(RangeCheckElimination(), on=parse(text)).applies().same_values(N=[0, 1, 5], K=[4])


_CHECKED = {
    "any number": "state { tasklet (a <- x[i]) -> (o -> j) { o = a } }",
    "a sum that may wrap around": "state { tasklet (a <- x[i]) -> (o -> j) { o = min(max(a, 0) + 1, N - 1) } }",
    "the wrong end": "state { tasklet (a <- x[i]) -> (o -> j) { o = min(max(a, 0), N) } }",
    "one side of a branch": """
        state { tasklet (a <- x[i]) -> (o -> j) { o = a } }
        if j[] < 0 { state { tasklet () -> (o -> j) { o = 0 } } }""",
    "a scalar that was written after the test": """
        state { tasklet (a <- x[i]) -> (o -> j) { o = a } }
        check j[] >= 0 and j[] < N else ValueError "outside"
        state { tasklet (a <- j) -> (o -> j) { o = a + 1 } }""",
    "what a loop between has written": """
        state { tasklet (a <- x[i]) -> (o -> j) { o = a % N } }
        loop l = 0:3 { state { tasklet (a <- j) -> (o -> j) { o = a + 1 } } }""",
    "a remainder that has the sign of the divisor": "state { tasklet (a <- x[i]) -> (o -> j) { o = a % (0 - N) } }",
    "a cast that cuts bits off": "state { tasklet (a <- x[i]) -> (o -> j) { o = i64(i8(max(min(a, N - 1), 0))) } }",
    "a float": "state { tasklet (a <- A[0]) -> (o -> j) { o = i64(a) } }",
}


@pytest.mark.parametrize("before", _CHECKED.values(), ids=_CHECKED)
def test_what_may_lie_outside_is_checked(before):
    expect(RangeCheckElimination(), on=parse(_indexed(before))).is_refused("the check may fail")


def test_the_head_of_a_loop_is_not_the_place_before_it():
    text = """
        sdfg @f(A: f64[N], B: f64[K]) symbols(N: size, K: size) assumes(N >= 1) {
          data j: i64 transient
          state { tasklet () -> (o -> j) { o = 0 } }
          loop i = 0:K {
            let k = wrap(j[], N, 0)
            state { tasklet (a <- A[k]) -> (o -> B[i]) { o = a } tasklet (a <- j) -> (o -> j) { o = a + 1 } }
          }
        }"""
    expect(RangeCheckElimination(), on=parse(text)).is_refused("the check may fail")


def test_a_sum_of_small_numbers_is_not_checked():
    expect(
        RangeCheckElimination(),
        on=parse("""
            sdfg @f(x: u8[K], B: i64[K]) symbols(K: size) {
              loop i = 0:K {
                data j: i64 transient
                state { tasklet (a <- x[i]) -> (o -> j) { o = i64(a) } }
                check add_fits(j[], i) else OverflowError "too large"
                state { tasklet (a <- j) -> (o -> B[i]) { o = a + i } }
              }
            }"""),
    ).becomes("""
        sdfg @f(x: u8[K], B: i64[K]) symbols(K: size) {
          loop i = 0:K {
            data j: i64 transient
            state { tasklet (a <- x[i]) -> (o -> j) { o = i64(a) } }
            state { tasklet (a <- j) -> (o -> B[i]) { o = a + i } }
          }
        }""")


def _indexed(before):
    return f"""
        sdfg @f(x: i64[K], b: u8[K], A: f64[N], B: f64[K]) symbols(N: size, K: size) assumes(N >= 1) {{
          loop i = 0:K {{
            data j: i64 transient
            {before}
            let k = wrap(j[], N, 0)
            state {{ tasklet (a <- A[k]) -> (o -> B[i]) {{ o = a }} }}
          }}
        }}"""


# -- programs --------------------------------------------------------------------------------------------------------


def clamped(a, j):
    out = np.empty(j.shape[0])
    for i in range(j.shape[0]):
        k = min(max(j[i], 0), a.shape[0] - 1)
        out[i] = a[k]
    return out


def taken(a, j):
    return np.take(a, j, mode="clip") * 2.0


def wrapped(a, j):
    out = np.empty(j.shape[0])
    for i in range(j.shape[0]):
        out[i] = a[j[i] % a.shape[0]]
    return out


def clipped(a, j):
    return a[np.clip(j, 0, a.shape[0] - 1)] + 1.0


def neighbours(a, j):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for step in j:
            near = i + step
            if near < 0 or near >= a.shape[0]:
                continue
            out[i] += a[near]
    return out


@pytest.mark.parametrize("function", [clamped, taken, wrapped, clipped, neighbours], ids=lambda f: f.__name__)
@pytest.mark.parametrize("optimize", [False, True])
def test_programs_have_numpys_values_and_errors(function, optimize):
    program = dcpy.program(auto_optimize=optimize)(function)
    j = np.array([3, -2, 2**40, 0, -(2**62)])
    for size in (7, 2, 1):
        a = np.arange(size) + 0.5
        assert np.array_equal(program(a, j), function(a, j)), size
    assert np.array_equal(program(np.empty(0), j[:0]), function(np.empty(0), j[:0]))
    if function is neighbours:
        return
    with pytest.raises((IndexError, ZeroDivisionError)):
        program(np.empty(0), j)


@pytest.mark.parametrize("function", [clamped, taken, wrapped, clipped, neighbours], ids=lambda f: f.__name__)
def test_what_a_call_runs_checks_nothing(function):
    program = dcpy.program(auto_optimize=True)(function)
    a, j = np.arange(40.0), np.arange(300)
    program(a, j)
    assert "out of bounds" not in str(program.compile(a, j)._sdfg)
