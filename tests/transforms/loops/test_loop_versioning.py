"""LoopVersioning: shape, value (with and without exceptions), refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.loops.loop_versioning import LoopVersioning
from tests.support.expect import expect, parse

HEAD = "sdfg @f(a: f64[N], b: f64[M]) symbols(N: size, M: size, n: i64, m: i64)"
FAR = 1 << 60


def program(body, data=""):
    return parse(f"{HEAD} {{ {data} {body} }}")


def test_decides_before_the_loop():
    expect(
        LoopVersioning(),
        on=program("""loop i = 0:n {
            check N - i - 1 >= 0 else IndexError "too far"
            state { tasklet (x <- a[i]) -> (o -> a[i]) { o = x + 1 } } }"""),
    ).becomes(f"""{HEAD} {{
        if {FAR} - n >= 0 and n + {FAR} >= 0 and N - n >= 0 {{
          loop i_1 = 0:n {{ state {{ tasklet (x <- a[i_1]) -> (o -> a[i_1]) {{ o = x + 1 }} }} }}
        }} else {{
          loop i = 0:n {{
            check N - i - 1 >= 0 else IndexError "too far"
            state {{ tasklet (x <- a[i]) -> (o -> a[i]) {{ o = x + 1 }} }} }}
        }} }}""").same_values(N=[4], M=[1], n=[-1, 0, 3, 4, 5], m=[0])


def test_what_the_test_says_is_known_of_the_indices_behind_it():
    """``a[min(N, k + 1) - 1]`` is ``a[k]`` where ``N >= 3``: k is below 3."""
    expect(
        LoopVersioning(),
        on=program("""loop k = 0:3 {
            check N - k - 1 >= 0 else IndexError "too far"
            state { tasklet (x <- a[min(N, k + 1) - 1]) -> (o -> a[k]) { o = x + 1 } } }"""),
    ).becomes(f"""{HEAD} {{
        if N - 3 >= 0 {{
          loop k_1 = 0:3 {{ state {{ tasklet (x <- a[k_1]) -> (o -> a[k_1]) {{ o = x + 1 }} }} }}
        }} else {{
          loop k = 0:3 {{
            check N - k - 1 >= 0 else IndexError "too far"
            state {{ tasklet (x <- a[min(N, k + 1) - 1]) -> (o -> a[k]) {{ o = x + 1 }} }} }}
        }} }}""").same_values(N=[1, 2, 3, 4], M=[1], n=[0], m=[0])


def test_the_outermost_loop_is_versioned_and_both_ends_count():
    """The slope of the check along i is -m, which is positive where the inner loop runs."""
    expect(
        LoopVersioning(),
        on=program("""loop i = 0:n { loop j = 0:m {
            check N - i*m - j - 1 >= 0 else IndexError "too far"
            state { tasklet (x <- a[i*m + j]) -> (o -> b[0]) { o = x } } } }"""),
    ).becomes(f"""{HEAD} {{
        if {1 << 30} - m >= 0 and m + {1 << 30} >= 0 and {1 << 30} - n >= 0 and n + {1 << 30} >= 0 and N - m*n >= 0 {{
          loop i_1 = 0:n {{ loop j_1 = 0:m {{
            state {{ tasklet (x <- a[i_1*m + j_1]) -> (o -> b[0]) {{ o = x }} }} }} }}
        }} else {{
          loop i = 0:n {{ loop j = 0:m {{
            check N - i*m - j - 1 >= 0 else IndexError "too far"
            state {{ tasklet (x <- a[i*m + j]) -> (o -> b[0]) {{ o = x }} }} }} }}
        }} }}""").same_values(N=[6], M=[1], n=[0, 2, 3], m=[-2, 0, 3, 4])


def test_what_is_declared_and_assigned_inside_gets_names_of_its_own():
    expect(
        LoopVersioning(),
        on=program("""loop i = 0:N { data t: f64 transient
            let k = N - 1 - i
            check M - i - 1 >= 0 else IndexError "too far"
            state { tasklet (x <- a[k]) -> (o -> t) { o = x }  tasklet (x <- t) -> (o -> b[i]) { o = x } } }"""),
    ).becomes(f"""{HEAD} {{
        if M - N >= 0 {{ loop i_1 = 0:N {{ data t_1: f64 transient
            let k_1 = N - 1 - i_1
            state {{ tasklet (x <- a[k_1]) -> (o -> t_1) {{ o = x }}
                     tasklet (x <- t_1) -> (o -> b[i_1]) {{ o = x }} }} }}
        }} else {{ loop i = 0:N {{ data t: f64 transient
            let k = N - 1 - i
            check M - i - 1 >= 0 else IndexError "too far"
            state {{ tasklet (x <- a[k]) -> (o -> t) {{ o = x }}  tasklet (x <- t) -> (o -> b[i]) {{ o = x }} }} }}
        }} }}""").same_values(N=[0, 3], M=[0, 2, 3], n=[0], m=[0])


def test_what_the_outside_knows_stays_what_it_is():
    expect(
        LoopVersioning(),
        on=program("""let k = 0 - 1
            loop i = 0:N {
              let k = k + 1
              check M - i - 1 >= 0 else IndexError "too far"
              state { tasklet (x <- a[k]) -> (o -> b[i]) { o = x } } }
            if k >= 0 { state { tasklet () -> (o -> a[k]) { o = 5.0 } } }"""),
    ).becomes("""sdfg @f(a: f64[N], b: f64[M]) symbols(N: size, M: size, n: i64, m: i64) {
        let k = 0 - 1
        if M - N >= 0 { loop i_1 = 0:N {
            let k = k + 1
            state { tasklet (x <- a[k]) -> (o -> b[i_1]) { o = x } } }
        } else { loop i = 0:N {
            let k = k + 1
            check M - i - 1 >= 0 else IndexError "too far"
            state { tasklet (x <- a[k]) -> (o -> b[i]) { o = x } } }
        }
        if k >= 0 { state { tasklet () -> (o -> a[k]) { o = 5.0 } } }
        }""").same_values(N=[0, 3], M=[0, 2, 3], n=[0], m=[0])


def test_an_index_that_is_wrapped_around_is_decided():
    """Also where it may be negative: then the loop as written runs."""
    limit = 2 * FAR
    expect(
        LoopVersioning(),
        on=program("""loop i = 0:N {
            let k = wrap(i + n, M, 0)
            state { tasklet (x <- b[k]) -> (o -> a[i]) { o = x + 1 } } }"""),
    ).becomes(f"""{HEAD} {{
        if {limit} - n >= 0 and n + {limit} >= 0 and n >= 0 and M - N - n >= 0 {{
          loop i_1 = 0:N {{ let k_1 = i_1 + n
            state {{ tasklet (x <- b[k_1]) -> (o -> a[i_1]) {{ o = x + 1 }} }} }}
        }} else {{
          loop i = 0:N {{ let k = wrap(i + n, M, 0)
            state {{ tasklet (x <- b[k]) -> (o -> a[i]) {{ o = x + 1 }} }} }}
        }} }}""").same_values(N=[0, 3], M=[1, 3, 5], n=[-1, 0, 2], m=[0])


@pytest.mark.parametrize(
    ("check", "bound"),
    [
        ("add_fits(i, n)", 1 << 60),
        ("sub_fits(n, i)", 1 << 60),
        ("mul_fits(i, n)", 1 << 30),
        ("mul_fits(i, 3)", 1 << 39),
    ],
)
def test_operations_on_small_numbers_have_room(check, bound):
    """The guard asks for little; where it does not hold the loop as written runs, and raises."""
    on = program(f"""loop i = 0:N {{ check {check} else ValueError "large"
        state {{ tasklet () -> (o -> a[i]) {{ o = 1.0 }} }} }}""")
    found = expect(LoopVersioning(), on=on)
    assert apply_repeated(found.after, LoopVersioning(), check=True) == 1
    text = print_sdfg(found.after)
    assert f"{bound + 1} - N >= 0" in text
    assert text.count("check") == 1
    found.same_values(N=[0, 3], M=[1], n=[-(1 << 63), -1, 2, 1 << 62, (1 << 63) - 1], m=[0])


def test_halves_are_decided():
    body = "state {{ tasklet (x <- b[{p}]) -> (o -> a[{p} + N // 2]) {{ o = x }} }}"
    checked = f'loop i = 0:N // 2 {{ check M - i - 1 >= 0 else IndexError "far" {body.format(p="i")} }}'
    expect(LoopVersioning(), on=program(checked)).becomes(f"""{HEAD} {{
        if M - (N // 2) >= 0 {{ loop i_1 = 0:N // 2 {{ {body.format(p="i_1")} }} }}
        else {{ {checked} }} }}""").same_values(N=[0, 1, 4, 5], M=[1, 2], n=[0], m=[0])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('loop i = 0:n { check a[i] > 0.0 else ValueError "negative" }', "no check inside can be decided before it"),
        ('loop i = 0:n { check N - i*i >= 0 else IndexError "far" }', "no check inside can be decided before it"),
        ('loop i = 0:n { let k = N - i\n check k >= 0 else IndexError "far" }', "no check inside can be decided"),
        ('loop i = 0:N { check M // n - i >= 0 else IndexError "far" }', "no check inside can be decided before it"),
        ("loop i = 0:n { state { tasklet (x <- a[0]) -> (o -> b[0]) { o = x } } }", "no check inside"),
    ],
)
def test_refuses(body, reason):
    expect(LoopVersioning(), on=program(body)).is_refused(reason)


def test_large_loops_are_left_alone():
    on = program('loop i = 0:n { check N - i - 1 >= 0 else IndexError "too far" }')
    expect(LoopVersioning(largest=0), on=on).is_refused("more than 0 blocks and nodes")


@pytest.mark.cc
@pytest.mark.parametrize("auto", [False, True])
def test_s5_a_loop_that_raises_has_written_what_numpy_had(auto):
    """S-5: with two versions, what a caller finds after the exception is still what NumPy leaves there."""

    def shift(a, b, n):
        for i in range(n):
            a[i] = b[i + 1] * 2.0

    program = dcpy.program(shift, auto_optimize=auto)
    for n in (0, 3, 4, 5, 9, 1 << 62):
        mine, reference, b = np.zeros(5), np.zeros(5), np.arange(5.0)
        try:
            shift(reference, b, n)
        except IndexError:
            with pytest.raises(IndexError):
                program(mine, b, n)
        else:
            program(mine, b, n)
        np.testing.assert_array_equal(mine, reference)
