"""Random programs with objects do what Python does, or are refused; which of them are one object included."""

from __future__ import annotations

import copy
import runpy

import numpy as np
import pytest

import dcpy
from tests.support.random_objects import Writer, arguments
from tests.support.records import assert_same_objects


def agrees(seed, folder, run):
    """Whether a random program was taken; it then did what Python does."""
    path = folder / f"program_{seed}.py"
    path.write_text(Writer(seed).text())
    function = runpy.run_path(str(path))["program"]
    theirs, mine = arguments(seed), copy.deepcopy(arguments(seed))
    with np.errstate(all="ignore"):
        expected = function(*theirs)
        try:
            got = run(dcpy.program(function), mine, seed)
        except dcpy.DcpyError as error:
            assert "one of 2 objects" in error.message or "may or may not be the one" in error.message  # noqa: PT017
            return False
    assert_same_objects(mine, theirs, merged_floats=True)
    assert_same_objects(got, expected, merged_floats=True)  # an array that two paths merge is a new one
    return True


def interpreted(program, mine, seed):
    return program.to_sdfg(*mine, simplify=seed % 2 == 0).interpret(*mine)


@pytest.mark.parametrize("group", [0, *(pytest.param(group, marks=pytest.mark.heavy) for group in range(1, 10))])
def test_interpreted(group, tmp_path):
    taken = [agrees(seed, tmp_path, interpreted) for seed in range(10 * group, 10 * group + 10)]
    assert sum(taken) >= 4


@pytest.mark.cc
def test_compiled(tmp_path):
    taken = [agrees(seed, tmp_path, lambda program, mine, _: program(*mine)) for seed in range(100, 115)]
    assert sum(taken) >= 8
