"""LoopSkewing: shape, value, refusal; and what it is for: interchange and tiling in time."""

from __future__ import annotations

import pytest

from dcpy.ir.editing.copying import copy_sdfg
from dcpy.transforms.api import apply_once
from dcpy.transforms.loops.loop_interchange import LoopInterchange
from dcpy.transforms.loops.loop_skewing import LoopSkewing
from dcpy.transforms.loops.strip_mining import StripMining
from tests.support.expect import assert_same_values, expect, parse

HEAD = "sdfg @f(A: f64[N]) symbols(N: size, T: size)"
STENCIL = """state {{
    tasklet (a <- A[{0} - 1], b <- A[{0}], c <- A[{0} + 1]) -> (o -> A[{0}]) {{ o = 0.25*(a + 2.0*b + c) }} }}"""
SEIDEL = f"{HEAD} {{ loop t = 0:T {{ loop i = 1:N - 1 {{ {STENCIL.format('i')} }} }} }}"


@pytest.mark.parametrize(("factor", "shift"), [(1, "t"), (2, "2*t"), (-1, "-t")])
def test_skews(factor, shift):
    expect(LoopSkewing(factor=factor), on=parse(SEIDEL), loop="i").becomes(
        f"{HEAD} {{ loop t = 0:T {{ loop i = 1 + {shift}:N - 1 + {shift} {{ {STENCIL.format(f'i - ({shift})')} }} }} }}"
    ).same_values(N=[2, 3, 7], T=[0, 1, 4])


def test_sizes_of_what_is_declared_inside_follow():
    body = """data p: f64[i + 1] transient
      state { copy A[0:i + 1] -> p[0:i + 1] copy p[0:i + 1] -> A[0:i + 1] }"""
    text = f"{HEAD} {{ loop k = 0:N {{ loop i = 0:k {{ {body} }} }} }}"
    after = body.replace("i + 1", "i - k + 1")
    expect(LoopSkewing(), on=parse(text), loop="i").becomes(
        f"{HEAD} {{ loop k = 0:N {{ loop i = k:2*k {{ {after} }} }} }}"
    ).same_values(N=[4], T=[0])


def test_lets_the_loops_of_a_stencil_change_places_and_run_in_tiles():
    """Gauss-Seidel in one dimension: refused as written; a wavefront after skewing, tiled in time and space."""
    before = parse(SEIDEL)
    expect(LoopInterchange(), on=before, loop="t").is_refused("distance (<, -1) on (t, i)")
    after = copy_sdfg(before)
    apply_once(after, LoopSkewing(factor=1), loop="i", check=True)
    apply_once(after, StripMining(size=2), scope="t", check=True)
    apply_once(after, LoopInterchange(), loop="t", check=True)
    apply_once(after, StripMining(size=3), scope="i", check=True)
    apply_once(after, LoopInterchange(), loop="i", check=True)
    assert list(_nest(after)) == ["t_tile", "i_tile", "t", "i"]
    assert_same_values(before, after, {"N": [2, 3, 8, 11], "T": [0, 1, 2, 5]})


def _nest(sdfg):
    blocks = sdfg.body.blocks
    while hasattr(blocks[0], "param"):
        yield blocks[0].param
        blocks = blocks[0].body.blocks


def test_refuses():
    alone = parse(f"{HEAD} {{ loop i = 1:N - 1 {{ {STENCIL.format('i')} }} }}")
    expect(LoopSkewing(), on=alone, loop="i").is_refused("there is no loop around it")
    expect(LoopSkewing(by="k"), on=parse(SEIDEL), loop="i").is_refused("there is no loop over 'k' around it")
    expect(LoopSkewing(factor=0), on=parse(SEIDEL), loop="i").is_refused("0 times the outer parameter")
