"""LoopPeeling: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.loops.loop_peeling import LoopPeeling
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], s: f64[]) symbols(N: size)"
ADD = "state {{ tasklet (a <- A[{0}], b <- s) -> (o -> s) {{ o = 2.0*b + a }} }}"
SHAPES = {
    (1, False, "0:N"): ("0:min(1, N)", "1:N"),
    (3, False, "0:N"): ("0:min(3, N)", "3:N"),
    (1, False, "N - 1:-1:-1"): ("N - 1:max(N - 2, -1):-1", "N - 2:-1:-1"),
    (2, False, "1:N:2"): ("1:min(5, N):2", "5:N:2"),
    (1, True, "0:N"): ("max(0, N - 1):N", "0:max(0, N - 1)"),
    (2, True, "N - 1:-1:-1"): ("N - 1 - max(0, N - 2):-1:-1", "N - 1:N - 1 - max(0, N - 2):-1"),
    (1, True, "0:N:3"): ("3*max(0, -((-N) // 3) - 1):N:3", "0:3*max(0, -((-N) // 3) - 1):3"),
}


@pytest.mark.parametrize(("count", "last", "values"), SHAPES)
def test_peels(count, last, values):
    peeled, others = SHAPES[count, last, values]
    first = f"loop i_1 = {peeled} {{ {ADD.format('i_1')} }}"
    second = f"loop i = {others} {{ {ADD.format('i')} }}"
    before = parse(f"{HEAD} {{ loop i = {values} {{ {ADD.format('i')} }} }}")
    order = (second, first) if last else (first, second)
    expect(LoopPeeling(count=count, last=last), on=before, loop="i").becomes(
        f"{HEAD} {{ {' '.join(order)} }}"
    ).same_values(N=list(range(9)))


REFUSALS = {
    "0 iterations": (LoopPeeling(count=0), f"loop i = 0:N {{ {ADD.format('i')} }}"),
    "the step N of 'i' is not a number": (LoopPeeling(), f"loop i = 0:N:N {{ {ADD.format('i')} }}"),
    "a break inside ends it early": (LoopPeeling(), f"loop i = 0:N {{ if s[] > 1.0 {{ break }} {ADD.format('i')} }}"),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    transformation, blocks = REFUSALS[reason]
    expect(transformation, on=parse(f"{HEAD} {{ {blocks} }}")).is_refused(reason)
