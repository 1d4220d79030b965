"""The formula of ownership, against the definition: each element by itself, on each rank."""

from __future__ import annotations

import random

import pytest

from dcpy.ir.analysis.distributed.ownership import Share, local_shape, owner, presence, resolved, shares_of
from dcpy.ir.distribution import Blocked, Cyclic, Distribution, ProcessGrid, Root
from dcpy.ir.symbolic import const, sym

SIZES = (0, 1, 2, 3, 5, 7, 8, 13, 101)
RANKS = (1, 2, 3, 4, 5, 7, 8)


def placed_by_definition(axis, size, ranks):
    """The elements of each coordinate, in the order of its memory."""
    block, offset = axis.block.constant, axis.offset.constant
    found = [[] for _ in range(ranks + 1)]  # the last one: a rank outside of the grid
    for i in range(size):
        coordinate = (i + offset) // block
        found[coordinate % ranks if isinstance(axis, Cyclic) else coordinate].append(i)
    return found


def check(axis, size, ranks, halo=(0, 0)):
    for at, elements in enumerate(placed_by_definition(axis, size, ranks)):
        share = Share(axis, const(size), sym("p"), sym("c"), halo)
        values = {"p": ranks, "c": at}
        assert share.owned.evaluate(values) == len(elements), (axis, size, ranks, at)
        assert share.length.evaluate(values) == len(elements) + sum(halo)
        places = [share.local(sym("i")).evaluate({**values, "i": i}) for i in elements]
        assert places == [halo[0] + k for k in range(len(elements))], (axis, size, ranks, at)
        before = [share.owned_before(const(i)).evaluate(values) for i in range(size + 1)]
        assert before == [sum(element < i for element in elements) for i in range(size + 1)], (axis, size, ranks, at)
        assert all(owner(axis, sym("i"), sym("p")).evaluate({**values, "i": i}) == at for i in elements)
        if isinstance(axis, Blocked):
            low, high = share.low.evaluate(values), share.high.evaluate(values)
            assert list(range(low, high)) == elements


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("size", SIZES)
def test_balanced_blocks(size, ranks):
    for offset in (0, 1, 4):
        grids = {"g": ProcessGrid.of("p")}
        placed = resolved(Distribution("g", (Blocked(0, offset=const(offset)),)), (sym("n"),), grids)
        (axis,) = placed.subs({"n": size, "p": ranks}).axes
        if axis.block.constant:  # nothing has no blocks
            check(axis, size, ranks)
        else:
            assert size + offset == 0


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("size", SIZES)
def test_dealt_blocks(size, ranks):
    for block in (1, 2, 3, 32):
        for offset in (0, 1, block, 3 * block + 1):
            check(Cyclic(0, const(block), const(offset)), size, ranks)


def test_any_blocks():
    draw = random.Random(11)
    for _ in range(1500):
        ranks, size, offset, more = draw.randint(1, 8), draw.randint(0, 60), draw.randint(0, 9), draw.randint(0, 3)
        least = max(1, -(-(size + offset) // ranks))
        check(Blocked(0, const(least + more), const(offset)), size, ranks, (draw.randint(0, 4), draw.randint(0, 4)))
        check(Cyclic(0, const(draw.randint(1, 9)), const(offset)), size, ranks)


def test_shares_mention_the_coordinates_of_the_grid():
    grids = {"g": ProcessGrid.of("Px", "Py")}
    placed = Distribution("g", (Blocked(1), None, Cyclic(0)), (), ((2, 1), (0, 0), (0, 0)))
    first, whole, dealt = shares_of(placed, (sym("N"), sym("M"), sym("K")), grids)
    values = {"N": 10, "M": 4, "K": 5, "Px": 2, "Py": 3, "g_c0": 1, "g_c1": 2}
    assert [share.length.evaluate(values) for share in (first, whole, dealt)] == [2 + 3, 4, 2]
    assert (first.low.evaluate(values), first.high.evaluate(values)) == (8, 10)
    shape = local_shape(placed, (sym("N"), sym("M"), sym("K")), grids)
    assert [size.evaluate(values) for size in shape] == [5, 4, 2]


def test_what_is_at_a_root_is_nowhere_else():
    grids = {"g": ProcessGrid.of("Px", "Py")}
    placed = Distribution("g", (None, None), (Root(0), Root(1, const(2))))
    here = presence(placed, grids)
    shape = local_shape(placed, (sym("N"), const(3)), grids)
    for c0 in range(3):
        for c1 in range(4):
            values = {"N": 7, "Px": 2, "Py": 3, "g_c0": c0, "g_c1": c1}
            assert here.evaluate(values) == (c0 == 0 and c1 == 2)
            assert [size.evaluate(values) for size in shape] == [7 * (c0 == 0 and c1 == 2), 3]
