"""Distributions that programs ask for: part of the plan, and of what a program of ranks serves."""

from __future__ import annotations

import numpy as np

import dcpy
from dcpy.ir.communication import Distribute
from dcpy.programs.ranks.compilation import SymbolSources, for_ranks
from dcpy.programs.ranks.sdfg_distribution import take_requested
from dcpy.runtime.distributed.array_placement import DistributedAxis, Grid, Placement
from dcpy.runtime.distributed.world import World
from tests.support.ranks import check

N, M = dcpy.symbol("N"), dcpy.symbol("M")
FOUR = World(0, 4)  # nobody else is there: programs are made for four ranks
SQUARE = Grid((2, 2), FOUR)
TILES = Placement(SQUARE, (DistributedAxis(0), DistributedAxis(1)))
COLUMNS = Placement(SQUARE, (None, DistributedAxis(0, 2, cyclic=True)))


@dcpy.program
def scaled(A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    T = dcpy.distribute(A, TILES)
    S = dcpy.distribute(T * 2.0, COLUMNS)
    B[:] = S + 1.0


@dcpy.program
def at_once(A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    B[:] = dcpy.distribute(A, TILES)


def test_they_are_a_part_of_the_plan():
    sdfg = scaled.to_sdfg()
    found = take_requested(sdfg, {})
    assert {name: str(where) for name, where in found.plan.items()} == {
        "T": "g0(block 0, block 1)", "S": "g0(whole, cyclic 0 by 2)",
    }  # fmt: skip
    assert found.grids == {"g0": (2, 2)}
    assert not any(isinstance(node, Distribute) for node in sdfg.body.walk_nodes())


def test_a_grid_of_these_sizes_is_that_grid():
    assert str(take_requested(scaled.to_sdfg(), {"h": (4, 1), "g": (2, 2)}).plan["T"]) == "g(block 0, block 1)"
    other = take_requested(scaled.to_sdfg(), {"g0": (4,)})
    assert str(other.plan["T"]) == "g1(block 0, block 1)"
    assert other.grids == {"g1": (2, 2)}


def test_arguments_stay_where_they_are():
    """As what is written directly into one, without a temporary."""
    assert take_requested(at_once.to_sdfg().simplify(), {}).plan == {}


def test_results_are_those_of_one_rank():
    sdfg = scaled.to_sdfg()
    made = scaled.to_sdfg().distribute({"A": "h(block 0, whole)", "B": "h(block 0, whole)"}, {"h": ["P"]})
    assert "grids(h[P], g0[2, 2])" in str(made)
    for n, m in ((5, 7), (1, 1), (2, 4)):
        arguments = {"A": np.random.default_rng(n).random((n, m)), "B": np.zeros((n, m))}
        check(sdfg, made, arguments, {"N": n, "M": m, "P": 3}, 4)


def test_a_plan_that_nobody_wrote_is_theirs():
    """Nothing else is chosen. Copies from what all ranks have anyway, and from there to nowhere else, are left out."""
    text = str(scaled.to_sdfg().distribute(ranks=4, sizes={"N": 100, "M": 100}))
    assert "grids(g0[2, 2])" in text
    assert "map i0 = 0:N, i1 = 0:M home g0(block 0 by" in text
    assert text.count("copy") == 1  # B is whole on all ranks


def test_a_program_serves_grids_of_the_sizes_that_it_names():
    recipe = for_ranks(scaled.to_sdfg(), {"A": "g0(block 0, block 1)"}, [(2, 2)], 4, {})
    assert recipe.fixed == ((2, 2),)
    assert recipe.serves([(2, 2)])
    assert not recipe.serves([(4, 1)])
    assert SymbolSources.from_json(recipe.as_json()) == recipe


def test_its_own_grids_come_behind_those_of_the_arguments():
    recipe = for_ranks(scaled.to_sdfg(), {"A": "g0(block 0, whole)"}, [(4,)], 4, {})
    assert recipe.fixed == ((), (2, 2))
    assert recipe.grids == (("g0_p0",), ("g1_p0", "g1_p1"))
    assert recipe.serves([(3,)])
