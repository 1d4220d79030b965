"""LoopFusion: shape, value, refusal; with a shift, two sweeps of a stencil become a nest that can be tiled in time."""

from __future__ import annotations

import pytest

from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.region import Loop
from dcpy.transforms.api import apply_once
from dcpy.transforms.loops.loop_fusion import LoopFusion
from dcpy.transforms.loops.loop_interchange import LoopInterchange
from dcpy.transforms.loops.loop_skewing import LoopSkewing
from dcpy.transforms.loops.strip_mining import StripMining
from tests.support.expect import assert_same_values, expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size, T: size)"
DOUBLE = "loop i = 0:N { state { tasklet (a <- A[i]) -> (o -> B[i]) { o = 2.0*a } } }"
SAME = "loop j = 0:N { state { tasklet (b <- B[j]) -> (o -> C[j]) { o = b + 1.0 } } }"
BACK = "loop j = 1:N { state { tasklet (b <- B[j], l <- B[j - 1]) -> (o -> C[j]) { o = b + l } } }"
AHEAD = "loop j = 0:N - 1 { state { tasklet (b <- B[j + 1]) -> (o -> C[j]) { o = b } } }"


def program(*loops):
    return parse(f"{HEAD} {{ {' '.join(loops)} }}")


def test_equal_ranges():
    expect(LoopFusion(), on=program(DOUBLE, SAME), first="i").becomes(f"""{HEAD} {{ loop i = 0:N {{
        state {{ tasklet (a <- A[i]) -> (o -> B[i]) {{ o = 2.0*a }} }}
        state {{ tasklet (b <- B[i]) -> (o -> C[i]) {{ o = b + 1.0 }} }} }} }}""").same_values(N=[0, 1, 5], T=[0])


def test_a_condition_where_ranges_differ():
    expect(LoopFusion(), on=program(DOUBLE, BACK), first="i").becomes(f"""{HEAD} {{ loop i = 0:N {{
        state {{ tasklet (a <- A[i]) -> (o -> B[i]) {{ o = 2.0*a }} }}
        if index(1) <= i {{
          state {{ tasklet (b <- B[i], l <- B[i - 1]) -> (o -> C[i]) {{ o = b + l }} }} }} }} }}""").same_values(
        N=[0, 1, 2, 5], T=[0]
    )


@pytest.mark.parametrize("shift", [1, 2, 5])
def test_a_shift_for_what_is_read_ahead(shift):
    before = program(DOUBLE, AHEAD)
    expect(LoopFusion(), on=before).is_refused("writes B[i], then reads B[i + 1]: distance (-1) on (i)")
    after = copy_sdfg(before)
    apply_once(after, LoopFusion(shift=shift), first="i", check=True)
    assert len(after.body.blocks) == 1
    assert_same_values(before, after, {"N": [0, 1, 2, 6], "T": [0]})


def test_what_each_has_for_itself():
    mine = SAME.replace("{ state", "{ data t: f64 transient state { tasklet (b <- B[j]) -> (o -> t) { o = b } } state")
    found = expect(
        LoopFusion(shift=1), on=program(DOUBLE, mine.replace("(b <- B[j]) -> (o -> C", "(b <- t) -> (o -> C"))
    )
    apply_once(found.after, LoopFusion(shift=1), check=True)
    found.same_values(N=[0, 1, 4], T=[0])


REFUSALS = {
    "does not go in steps of one": (DOUBLE, SAME.replace("0:N", "0:N:2")),
    "schedules differ": (DOUBLE, SAME.replace("0:N", "0:N @unrolled")),
    "may end it early": (DOUBLE, SAME.replace("{ state", "{ if j > 3 { break } state", 1)),
    "then writes A[i + 1]: distance (-1)": (DOUBLE, SAME.replace("C[j]", "A[j + 1]").replace("0:N", "0:N - 1")),
    "then reads B[": (DOUBLE, SAME.replace("B[j]", "B[N - 1 - j]")),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refusals(reason):
    expect(LoopFusion(), on=program(*REFUSALS[reason])).is_refused(reason)


def test_two_sweeps_tiled_in_time():
    state = "state {{ tasklet (l <- {1}[{0} - 1], r <- {1}[{0} + 1]) -> (o -> {2}[{0}]) {{ o = 0.5*(l + r) }} }}"
    sweep = f"loop {{0}} = 1:N - 1 {{{{ {state} }}}}"
    before = parse(f"{HEAD} {{ loop t = 0:T {{ {sweep.format('i', 'A', 'B')} {sweep.format('j', 'B', 'A')} }} }}")
    after = copy_sdfg(before)
    apply_once(after, LoopFusion(shift=1), first="i", check=True)
    apply_once(after, LoopSkewing(factor=2), loop="i", check=True)
    apply_once(after, StripMining(size=3), scope="t", check=True)
    apply_once(after, LoopInterchange(), loop="t", check=True)
    apply_once(after, StripMining(size=2), scope="i", check=True)
    apply_once(after, LoopInterchange(), loop="i", check=True)
    blocks, params = after.body.blocks, []
    while isinstance(blocks[0], Loop):
        params.append(blocks[0].param)
        blocks = blocks[0].body.blocks
    assert params == ["t_tile", "i_tile", "t", "i"]
    assert_same_values(before, after, {"N": [2, 3, 4, 9], "T": [0, 1, 2, 5]})
