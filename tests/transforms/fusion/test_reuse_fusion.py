"""ReuseFusion: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.cpu.lowering import lower_for_cpu
from dcpy.transforms.fusion.reuse_fusion import ReuseFusion
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], x: f64[N], B: f64[N], C: f64[N]) symbols(N: size, M: size)"


def row(target, i, read="A", k="k"):
    return f"map {k} = 0:M {{ tasklet (a <- {read}[{i}, {k}]) -> (o -> {target}[{i}] (add)) {{ o = a }} }}"


def node(target, read):
    return f"tasklet (a <- {read}) -> (o -> {target}) {{ o = a + 1.0 }}"


def maps(first, second, values="0:N"):
    return parse(f"{HEAD} {{ state {{ map i = 0:N {{ {first} }} map j = {values} {{ {second} }} }} }}")


LEGAL = {
    "two loops over one row": (row("B", "i"), row("C", "@", k="l")),
    "an element and a loop": (node("B[i]", "A[i, 0]"), row("C", "@")),
    "a loop and an element": (row("B", "i"), node("C[@]", "A[@, M - 1]")),
}


@pytest.mark.parametrize("case", LEGAL)
def test_fuses(case):
    first, second = LEGAL[case]
    expect(ReuseFusion(), on=maps(first, second.replace("@", "j"))).becomes(
        f"{HEAD} {{ state {{ map i = 0:N {{ {first} {second.replace('@', 'i')} }} }} }}"
    ).same_values(N=[0, 1, 5], M=[1, 3])


REFUSALS = {
    "neither of them has a loop inside": maps(node("B[i]", "A[i, 0]"), node("C[j]", "A[j, 0]")),
    "they read no rows in common": maps(row("B", "i"), node("C[j]", "x[j]")),
    "the iteration spaces differ": maps(row("B", "i"), row("C", "j", k="l"), values="1:N"),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(ReuseFusion(), on=REFUSALS[reason]).is_refused(reason)


@pytest.mark.cc
def test_statistics_of_rows_read_them_once():
    def statistics(a):
        return a.max(axis=1), a.min(axis=1), np.sqrt((a * a).sum(axis=1)), 2 * a[:, 0]

    program = dcpy.program(statistics, auto_optimize=True)
    a = np.random.default_rng(0).normal(size=(7, 300))
    for got, expected in zip(program(a), statistics(a), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-14)
    sdfg = program.to_sdfg(a)
    sdfg.auto_optimize()
    lower_for_cpu(sdfg)
    assert sum("reuse-fusion" in str(step) for step in sdfg.history) == 3
