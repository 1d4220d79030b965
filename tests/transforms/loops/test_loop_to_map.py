"""LoopToMap: shape, value, refusal; and against runs in a random order that find races."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dcpy
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.loops.loop_to_map import LoopToMap
from dcpy.transforms.simplify.dataflow.augmented_assignment_to_wcr import AugmentedAssignmentToWCR
from tests.support.expect import assert_same_values, expect, parse


def program(body, data=""):
    arguments = "a: f64[N], b: f64[N], c: f64[N, N], s: f64[], k: i64[N]"
    return parse(f"sdfg @f({arguments}) symbols(N: size) {{ {data} {body} }}")


def test_makes_a_temporary_private():
    expect(
        LoopToMap(),
        on=program(
            """loop t = 0:N {
                 state { tasklet (x <- a[t]) -> (o -> tmp) { o = x + 1 }
                         tasklet (x <- tmp) -> (o -> b[t]) { o = x * x } } }""",
            "data tmp: f64 transient",
        ),
    ).becomes("""
        sdfg @f(a: f64[N], b: f64[N], c: f64[N, N], s: f64[], k: i64[N]) symbols(N: size) {
          state { map t = 0:N { data tmp: f64 transient
                                tasklet (x <- a[t]) -> (o -> tmp) { o = x + 1 }
                                tasklet (x <- tmp) -> (o -> b[t]) { o = x * x } } } }
    """).same_values(N=[0, 1, 5])


def test_runs_backwards_forwards():
    expect(
        LoopToMap(),
        on=program("loop t = N - 1:-1:-2 { state { tasklet (x <- a[t]) -> (o -> b[t]) { o = x } } }"),
    ).becomes("""
        sdfg @f(a: f64[N], b: f64[N], c: f64[N, N], s: f64[], k: i64[N]) symbols(N: size) {
          state { map t = N + 2*((-N) // 2) + 1:N:2 { tasklet (x <- a[t]) -> (o -> b[t]) { o = x } } } }
    """).same_values(N=[0, 1, 2, 7])


def test_keeps_branches_symbols_and_inner_maps():
    expect(
        LoopToMap(),
        on=program(
            """loop t = 0:N {
                 let i = N - 1 - t
                 if a[i] > 0.0 { state { map j = 0:N { tasklet (x <- a[i]) -> (o -> c[t, j]) { o = x } } } }
               }"""
        ),
    ).becomes("""
        sdfg @f(a: f64[N], b: f64[N], c: f64[N, N], s: f64[], k: i64[N]) symbols(N: size) {
          state { map t = 0:N {
                    let i = N - 1 - t
                    if a[i] > 0.0 { state { map j = 0:N { tasklet (x <- a[i]) -> (o -> c[t, j]) { o = x } } } } } } }
    """).same_values(N=[0, 1, 4])


def test_a_reduction_becomes_a_map_with_a_combining_write():
    sdfg = program("loop t = 0:N { state { tasklet (x <- a[t], y <- s) -> (o -> s) { o = y + x } } }")
    expect(LoopToMap(), on=sdfg).is_refused("augmented-assignment-to-wcr may make that a reduction")
    apply_repeated(sdfg, AugmentedAssignmentToWCR(loops=True))
    expect(LoopToMap(), on=sdfg).becomes("""
        sdfg @f(a: f64[N], b: f64[N], c: f64[N, N], s: f64[], k: i64[N]) symbols(N: size) {
          state { map t = 0:N { tasklet (x <- a[t]) -> (o -> s (add)) { o = x } } } }
    """).same_values(N=[0, 1, 9])


ROW_36 = {
    "a value of the next iteration": """
        loop i = 0:N - 1 { state { tasklet (x <- a[i]) -> (o -> b[i]) { o = x }
                                   tasklet (x <- b[i + 1]) -> (o -> a[i]) { o = x } } }""",
    "an indirect write": """
        loop i = 0:N { let j = k[i]  state { tasklet (x <- a[i]) -> (o -> b[j]) { o = x } } }""",
    "a recurrence through a view": """
        loop i = 0:N - 1 { state { tasklet (x <- b[i]) -> (o -> v[i]) { o = x + 1 } } }""",
}


@pytest.mark.parametrize("body", ROW_36.values(), ids=ROW_36.keys())
def test_what_only_looks_parallel_stays_a_loop(body):
    """A loop that looks parallel: row 36 of tests/end_to_end/test_semantics.py."""
    sdfg = program(body, "view v: f64[N - 1] of b[1:N]" if "v[" in body else "")
    expect(LoopToMap(), on=sdfg).is_refused("iteration i writes b[" if "v[" in body else "iteration i ")


def test_refuses_a_step_that_is_no_number():
    sdfg = parse("sdfg @f(a: f64[N]) symbols(N: size, M: size) {"
                 " loop t = 0:N:M { state { tasklet () -> (o -> a[t]) { o = 0.0 } } } }")  # fmt: skip
    expect(LoopToMap(), on=sdfg).is_refused("the step M is not a number")


def test_refuses_to_launch_kernels_from_a_map():
    body = "loop t = 0:N { state { map i = 0:N @grid { tasklet () -> (o -> c[t, i]) { o = 0.0 } } } }"
    sdfg = parse(f"sdfg @f(c: f64[N, N]) symbols(N: size) {{ {body} }}")
    expect(LoopToMap(), on=sdfg).is_refused("it launches a kernel, which no map can")


def test_refuses_what_may_raise_in_the_middle():
    body = 'loop t = 0:N { check t < 3 else ValueError "no" state { tasklet () -> (o -> a[t]) { o = 0.0 } } }'
    expect(LoopToMap(), on=program(body)).is_refused("a check inside may end it early, by ")


def test_a_loop_inside_that_may_never_end_keeps_no_order():
    body = "loop t = 0:N { while a[t] > 1.0 { state { tasklet (x <- a[t]) -> (o -> a[t]) { o = 0.5 * x } } } }"
    expect(LoopToMap(), on=program(body)).applies().same_values(N=[1, 7])


# -- random affine loops -----------------------------------------------------------------------------------------------

SIZE = 12

indices = st.builds(
    lambda p, q, shift: f"{p}*i + {q}*j + {shift}",
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(0, 3),
)


@st.composite
def statements(draw):
    source, target = draw(st.sampled_from("ab")), draw(st.sampled_from("abt"))
    read = "t" if draw(st.integers(0, 3)) == 0 else f"{source}[{draw(indices)}]"
    write = "t" if target == "t" else f"{target}[{draw(indices)}]"
    return f"tasklet (x <- {read}) -> (o -> {write}) {{ o = x + {draw(st.integers(1, 3))}.0 }}"


@st.composite
def nests(draw):
    body = " ".join(draw(st.lists(statements(), min_size=1, max_size=3)))
    inner = draw(st.sampled_from(["0:3", "0:i", "i:4"]))
    outer = draw(st.sampled_from(["0:4", "3:-1:-1", "1:4:2"]))
    return f"""
        sdfg @f(a: f64[{SIZE + 8}], b: f64[{SIZE + 8}], k: i64[3]) {{
          data t: f64 transient
          state {{ tasklet () -> (o -> t) {{ o = 0.0 }} }}
          loop i = {outer} {{ loop j = {inner} {{ state {{ {body} }} }} }}
        }}"""


@given(nests())
def test_a_loop_that_becomes_a_map_may_run_in_any_order(text):
    before = parse(text)
    after = copy_sdfg(before)
    apply_repeated(after, LoopToMap(), check=True)
    assert_same_values(before, after, {})


# -- exceptions ------------------------------------------------------------------------------------------------------


def returning(body, data=""):
    head = "sdfg @f(b: f64[M], p: i64[N], q: i64[N]) symbols(N: size, M: size) -> (y: array)"
    return parse(f"{head} {{ data y: f64[N]  {data} {body} }}")


ROWS = """{kind} i = 0:N {{ data t: f64[r] transient  let k = wrap(p[i], M, 0)  let r = max(0, q[i])
    state {{ map j = 0:r {{ tasklet (x <- b[k]) -> (o -> t[j]) {{ o = x }} }} }}
    check r < 3 else ValueError "long row"
    state {{ tasklet (x <- b[k]) -> (o -> y[i]) {{ o = x }} }} }}"""


def test_what_may_raise_is_a_map_where_only_results_are_written():
    """Also with temporaries whose sizes an iteration finds out. The lowest iteration's exception is raised."""
    found = expect(LoopToMap(), on=returning(ROWS.format(kind="loop")))
    found.becomes(print_sdfg(returning(f"state {{ {ROWS.format(kind='map')} }}")))
    for p, q in (([0, 1, -2, 1], [0, 2, 1, 0]), ([0, 5, 1, 1], [2, 1, 3, 0]), ([0, 1, 1, 5], [2, 1, 3, 0])):
        found.same_values(N=[4], M=[2], p=[np.array(p)], q=[np.array(q)])


def test_what_may_raise_keeps_its_order_where_the_caller_sees_it():
    gather = "loop i = {} {{ let k = wrap(p[i], M, 0) state {{ tasklet (x <- b[k]) -> (o -> {}) {{ o = x }} }} }}"
    expect(LoopToMap(), on=returning(gather.format("0:N", "b[i]"))).is_refused("an index check inside may end it early")
    downwards = gather.format("N - 1:-1:-1", "y[i]")
    expect(LoopToMap(), on=returning(downwards)).is_refused("an index check inside may end it early")


def test_what_nothing_bounds_is_not_run_behind_a_failure():
    """As many iterations as a caller likes, most of which would never have been reached."""
    body = "state { tasklet (x <- b[i]) -> (o -> y[i]) { o = x } }"
    endless = f'loop i = 0:N {{ check i < M else ValueError "too long" {body} }}'
    expect(LoopToMap(), on=returning(endless)).is_refused("a check inside may end it early")


@dcpy.program(auto_optimize=True)
def rows(starts, places, weights, x):
    y = np.empty(starts.size - 1)
    for i in range(starts.size - 1):
        y[i] = weights[starts[i] : starts[i + 1]] @ x[places[starts[i] : starts[i + 1]]]
    return y


@pytest.mark.cc
def test_compiled_rows_of_any_length():
    """On threads, each with a buffer of its own that grows; short rows call no library."""
    rng = np.random.default_rng(1)
    lengths = np.concatenate([rng.integers(0, 4, 5000), [100, 0, 3000, 33]])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places, weights, x = rng.integers(-70, 70, starts[-1]), rng.random(starts[-1]), rng.random(70)
    np.testing.assert_allclose(rows(starts, places, weights, x), rows.function(starts, places, weights, x), rtol=1e-12)
    places[[3000, 4000, 6000]] = 71, -99, 100
    with pytest.raises(IndexError, match="index 71 is out of bounds"):
        rows(starts, places, weights, x)

