"""Placements say what distributions of programs say: the parts of each rank, for random shapes and grids."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import distributed as d
from dcpy.base.errors import ArgumentError, BlockError, GridError
from dcpy.ir.distribution import ProcessGrid, coordinate_names
from dcpy.ir.interp.local_parts import local_part
from dcpy.ir.text.distribution_parser import parse_distribution
from dcpy.runtime.distributed.array_placement import DistributedAxis, Grid, Placement
from dcpy.runtime.distributed.world import World


def test_parts_are_those_of_the_definition():
    draw = np.random.default_rng(0)
    for _ in range(200):
        sizes = tuple(int(n) for n in draw.integers(1, 4, draw.integers(1, 3)))
        shape = tuple(int(n) for n in draw.integers(0, 9, draw.integers(1, 4)))
        axes = draw_axes(draw, sizes, shape)
        ranks = int(np.prod(sizes)) + int(draw.integers(0, 2))
        whole = np.arange(int(np.prod(shape))).reshape(shape)
        for rank in range(ranks):
            placement = Placement(Grid(sizes, World(rank, ranks)), axes)
            found = whole[np.ix_(*placement.indices(shape, rank))]
            np.testing.assert_array_equal(found, expected_part(whole, placement, sizes, rank), err_msg=str(placement))


def draw_axes(draw, sizes, shape):
    free = list(range(len(sizes)))
    draw.shuffle(free)
    axes = []
    for size in shape:
        axis = free.pop() if free and draw.random() < 0.7 else None
        cyclic = draw.random() < 0.4
        least = 1 if cyclic or axis is None else max(1, -(-size // sizes[axis]))
        block = None if draw.random() < 0.5 else int(least + draw.integers(0, 3))
        axes.append(None if axis is None else DistributedAxis(int(axis), block, cyclic))
    return tuple(axes)


def expected_part(whole, placement, sizes, rank):
    axes = ", ".join("whole" if axis is None else str(axis) for axis in placement.axes)
    inside = rank < np.prod(sizes)
    at = [int(c) for c in np.unravel_index(rank, sizes)] if inside else sizes
    symbols = dict(zip(coordinate_names("g", len(sizes)), at, strict=True))
    return local_part(whole, parse_distribution(f"g({axes})"), {"g": ProcessGrid.of(*sizes)}, symbols)


@pytest.mark.parametrize(("count", "dims", "sizes"), [
    (1, 2, (1, 1)), (4, 2, (2, 2)), (6, 2, (3, 2)), (7, 2, (7, 1)), (12, 3, (3, 2, 2)), (5, 1, (5,)),
])  # fmt: skip
def test_grids_are_about_square(count, dims, sizes):
    assert d.balanced(count, dims) == sizes


def test_a_grid_of_more_ranks_than_there_are():
    with pytest.raises(GridError, match="a grid of 2 x 3 has 6 ranks, and there are 4"):
        Grid((2, 3), World(0, 4))


def test_a_block_of_another_shape():
    on = Placement(Grid((4,), World(3, 4)), (DistributedAxis(0), None))
    with pytest.raises(BlockError, match=r"the block of rank 3 is 26 x 50, and .* says 25 x 50"):
        d.from_local(np.zeros((26, 50)), on, (100, 50))


def test_a_block_that_is_replaced():
    A = dcpy.zeros((4, 2), on=dcpy.on(dcpy.grid(1), "block", None))
    A.local = np.asfortranarray(np.ones((4, 2)))
    assert A.local.flags.c_contiguous
    with pytest.raises(BlockError, match=r"the block of rank 0 is 3 x 2, and .* says 4 x 2"):
        A.local = np.zeros((3, 2))
    with pytest.raises(BlockError, match="elements of object cannot be sent"):
        A.local = np.full((4, 2), None)
    np.testing.assert_array_equal(A.local, np.ones((4, 2)))


def test_blocks_that_do_not_hold_the_array():
    with pytest.raises(GridError, match="2 blocks of 3 elements do not hold 7 elements"):
        dcpy.distribute(np.zeros(7), Placement(Grid((2,), World(0, 2)), (DistributedAxis(0, 3),)))


def test_more_dimensions_than_axes():
    with pytest.raises(GridError, match="more dimensions are distributed than the grid has axes"):
        dcpy.on(dcpy.grid(1), "block", "block")


def test_a_word_that_is_none():
    with pytest.raises(GridError, match="'blocks' is no distribution of a dimension"):
        dcpy.on(dcpy.grid(1), "blocks")


def test_an_array_of_many_ranks_is_none_of_numpy():
    array = dcpy.zeros((4, 4), on=dcpy.on(dcpy.grid(1, 1), "block", "block"))
    with pytest.raises(ArgumentError, match=r"is not a NumPy array\n.*d\.gather\(\) brings it"):
        np.asarray(array)
    with pytest.raises(ArgumentError, match=r"not read one by one(.|\n)*index d\.local.*d\.allgather\(\)"):
        array[0]
    assert array.local[0, 0] == array.allgather()[0, 0] == 0.0


def test_programs_of_one_rank_take_no_array_of_many():
    @dcpy.program
    def twice(a):
        return 2 * a

    array = dcpy.zeros((4, 4), on=dcpy.on(dcpy.grid(1, 1), "block", "block"))
    with pytest.raises(ArgumentError, match=r"a dcpy\.DistArray, of which each rank has a part") as caught:
        twice(array)
    assert "@dcpy.program(distributed=True), or pass a.allgather()" in str(caught.value)


def test_interchange_tells_who_has_what():
    array = dcpy.zeros((4, 3), on=Placement(Grid((2,), World(1, 2)), (DistributedAxis(0), None)))
    said = array.__partitioned__
    assert (said["shape"], said["partition_tiling"], said["locals"]) == ((4, 3), (2, 1), [(1, 0)])
    assert [part["start"] for part in said["partitions"].values()] == [(0, 0), (2, 0)]
    assert said["get"](said["partitions"][1, 0]["data"]) is array.local


def test_what_it_prints():
    array = dcpy.zeros((4, 3), on=Placement(Grid((2,), World(1, 2)), (DistributedAxis(0), None)))
    assert repr(array) == "DistArray(shape=(4, 3), dtype=float64, on (block 0, whole) on 2)"
