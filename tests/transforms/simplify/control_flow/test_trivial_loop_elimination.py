"""TrivialLoopElimination: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.simplify.control_flow.trivial_loop_elimination import TrivialLoopElimination
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N]) symbols(N: size)"
STATE = "state { tasklet (a <- A[i]) -> (o -> B[i]) { o = a } }"


def program(blocks):
    return parse(f"{HEAD} {{ {blocks} }}")


def test_inlines_loops_that_run_once():
    expect(
        TrivialLoopElimination(),
        on=program(
            """loop i = 2:3 { loop j = i:i - 1:-1 { data t: f64 transient
                 state { tasklet (a <- A[i]) -> (o -> t) { o = a } tasklet (a <- t) -> (o -> B[j]) { o = a } } } }"""
        ),
    ).becomes(f"""{HEAD} {{ data t: f64 transient
        state {{ tasklet (a <- A[2]) -> (o -> t) {{ o = a }} tasklet (a <- t) -> (o -> B[2]) {{ o = a }} }} }}
    """).same_values(N=[3])


def test_erases_loops_that_never_run():
    expect(TrivialLoopElimination(), on=program(f"loop i = N:0 {{ {STATE} }}")).becomes(f"{HEAD} {{ }}").same_values(
        N=[0, 3]
    )


REFUSALS = {
    "0:N is not proved to have one value, or none": f"loop i = 0:N {{ {STATE} }}",
    "a break or continue belongs to it": f"loop i = 0:1 {{ if A[i] > 0.0 {{ break }} {STATE} }}",
    "symbol 'k' of its bounds is assigned inside": f"let k = 0 loop i = k:k + 1 {{ let k = 3 {STATE} }}",
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(TrivialLoopElimination(), on=program(REFUSALS[reason])).is_refused(reason)


def test_a_break_of_an_inner_loop_is_its_own():
    inner = f"loop j = 0:2 {{ if A[i] > 0.0 {{ break }} {STATE} }}"
    expect(TrivialLoopElimination(), on=program(f"loop i = 0:1 {{ {inner} }}")).becomes(
        f"{HEAD} {{ {inner.replace('[i]', '[0]')} }}"
    ).same_values(N=[1, 3])
