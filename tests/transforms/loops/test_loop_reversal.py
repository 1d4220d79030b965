"""LoopReversal: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.loops.loop_reversal import LoopReversal
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], s: f64[]) symbols(N: size)"
SQUARE = "state { tasklet (a <- A[i]) -> (o -> B[i]) { o = a*a } }"
RANGES = {
    "0:N": "N - 1:-1:-1",
    "N - 1:-1:-1": "0:N",
    "1:N:3": "1 + 3*(-((1 - N) // 3) - 1):0:-3",
    "N - 1:0:-2": "N - 1 - 2*(-((1 - N) // 2) - 1):N:2",
}


@pytest.mark.parametrize("values", RANGES)
def test_reverses(values):
    expect(LoopReversal(), on=parse(f"{HEAD} {{ loop i = {values} {{ {SQUARE} }} }}")).becomes(
        f"{HEAD} {{ loop i = {RANGES[values]} {{ {SQUARE} }} }}"
    ).same_values(N=list(range(9)))


def test_a_temporary_of_each_iteration_is_no_dependence():
    body = "state { tasklet (a <- A[i]) -> (o -> t) { o = a*a } tasklet (a <- t) -> (o -> B[i]) { o = a + 1.0 } }"
    expect(LoopReversal(), on=parse(f"{HEAD} {{ data t: f64 transient loop i = 0:N {{ {body} }} }}")).becomes(
        f"{HEAD} {{ data t: f64 transient loop i = N - 1:-1:-1 {{ {body} }} }}"
    ).same_values(N=[0, 1, 4])


REFUSALS = {
    "iteration i writes A[i], iteration i + 1 reads A[i - 1]": (
        "loop i = 1:N { state { tasklet (a <- A[i - 1]) -> (o -> A[i]) { o = 0.5*a } } }"
    ),
    "writes s": "loop i = 0:N { state { tasklet (a <- A[i]) -> (o -> s) { o = a } } }",
    "a break inside may end it early": f"loop i = 0:N {{ {SQUARE} if s[] > 0.0 {{ break }} }}",
    "the step N of 'i' is not a number": f"loop i = 0:N:N {{ {SQUARE} }}",
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(LoopReversal(), on=parse(f"{HEAD} {{ {REFUSALS[reason]} }}")).is_refused(reason)
