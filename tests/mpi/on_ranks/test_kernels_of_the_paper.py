"""The 11 kernels of the paper's figure on real ranks equal one rank: SUMMA, sums of parts, halos."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dcpy
from tests.support.kernels_of_the_paper import FUNCTIONS, SHAPES, arguments_for

pytestmark = pytest.mark.mpi
BLOCKS = {1: ("block",), 2: ("block", "block"), 3: ("block", None, None)}


@pytest.mark.parametrize("name", SHAPES)
def test_they_equal_numpy(name):
    program = dcpy.program(FUNCTIONS[name], distributed=True, auto_optimize=True)
    grid = dcpy.grid()
    in_blocks = [key for key, shape in SHAPES[name].items() if _is_in_blocks(name, shape)]
    for n in (101, 3):
        given = arguments_for(name, {"N": n, "M": max(n - 2, 2), "K": 7, "L": 5, "T": 4}, seed=n)
        given = {key: value for key, value in given.items() if not key.startswith("__")}
        plain = copy.deepcopy(given)
        expected = FUNCTIONS[name](**plain)
        dealt = {
            key: dcpy.distribute(value, grid, BLOCKS[np.ndim(value)]) if key in in_blocks else value
            for key, value in given.items()
        }
        found = program(**dealt)
        for one, other in ((dealt[key], plain[key]) for key in given):
            np.testing.assert_allclose(_whole(one), other, rtol=1e-11)
        for one, other in zip(_results(found), _results(expected), strict=True):
            np.testing.assert_allclose(_whole(one), other, rtol=1e-11)


def _is_in_blocks(name, shape):
    return len(shape) >= (1 if name.startswith("jacobi") else 2) and shape != "KK"


def _whole(value):
    return value.allgather() if isinstance(value, dcpy.DistArray) else value


def _results(value):
    return () if value is None else value if isinstance(value, tuple) else (value,)
