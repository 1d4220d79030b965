"""Programs of a plan that is chosen serve any number of ranks: one text, one binary, where the plan is the same."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.options import resolve_options
from dcpy.programs.ranks.collective_calls import CallDescription, RankCalls
from dcpy.programs.ranks.compilation import for_ranks
from dcpy.runtime.distributed.world import World
from tests.support.kernels_of_the_paper import FUNCTIONS, arguments_for


def made(name, ranks, size=4095):
    """The program of one rank, and how its symbols get values."""
    given = arguments_for(name, {"N": 11, "M": 9, "K": 7, "L": 5, "T": 4})
    given = {key: value for key, value in given.items() if not key.startswith("__")}
    sdfg = dcpy.program(FUNCTIONS[name]).to_sdfg(**given).simplify().auto_optimize()
    shapes = {key: (size,) * value.ndim for key, value in given.items() if isinstance(value, np.ndarray)}
    recipe = for_ranks(sdfg, {}, [], ranks, shapes)
    return str(sdfg), recipe


@pytest.mark.parametrize(("name", "ranks"), [("atax", (4, 64)), ("doitgen", (4, 16)), ("gemm", (16, 64))])
def test_one_text_serves_any_number_of_ranks(name, ranks):
    (one, recipe), (other, same) = (made(name, count) for count in ranks)
    assert one == other
    assert recipe == same
    assert "//" not in one  # blocks are symbols: no division is left in loops


def test_the_recipe_says_what_tells_the_blocks():
    _, recipe = made("doitgen", 4)
    assert recipe.blocks == (("g_b0", "A", 0, 0, 0),)
    assert recipe.grids == (("g_p0",),)


def test_another_scalapack_is_another_program(monkeypatch, tmp_path):
    """What was compiled with one version is not remembered for the next one of the same name."""
    library = tmp_path / "libscalapack.so"
    monkeypatch.setenv("DCPY_SCALAPACK", str(library))
    calls = RankCalls(FUNCTIONS["gemm"], resolve_options(), lambda *args: {}, lambda: None)
    described = CallDescription(World())
    keys = []
    for content in ("one", "another"):
        library.write_text(content)
        keys.append(calls._remembered_as("source", described))
    assert keys[0] != keys[1]
    assert str(library) in keys[1]
    assert calls._remembered_as("", described) == ""  # nothing stands for it: it is not remembered
