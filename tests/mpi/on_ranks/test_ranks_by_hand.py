"""What dcpy is measured beside computes the same: kernels by hand, with mpi4py, equal NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.cluster_kernels import KERNELS
from dcpy.distributed import world

pytestmark = pytest.mark.mpi
SHAPES = {
    "atax": [(12, 7), (7,)], "bicg": [(12, 7), (7,), (12,)], "doitgen": [(12, 3, 5), (5, 5)],
    "gesummv": [1.5, 1.25, (12, 12), (12, 12), (12,)], "mvt": [(12,), (12,), (12,), (12,), (12, 12)],
    "jacobi_1d": [5, (14,), (14,)], "jacobi_2d": [5, (14, 6), (14, 6)],
}  # fmt: skip
#: which of the results, those that are returned first, are dealt along their first dimension
RESULTS = {"atax": (), "bicg": (1,), "doitgen": (0,), "gesummv": (0,), "mvt": (0,), "jacobi_1d": (0, 1),
           "jacobi_2d": (0, 1)}  # fmt: skip
CHANGED = {"doitgen": (0,), "mvt": (0, 1), "jacobi_1d": (1, 2), "jacobi_2d": (1, 2)}


@pytest.mark.parametrize("name", SHAPES)
def test_parts_of_results(name):
    from benchmarks.peers import ranks_by_hand  # only here there is an MPI

    ranks, rank = world().size, world().rank
    if 12 % ranks:
        pytest.skip("needs a number of ranks that divides 12")
    draw = np.random.default_rng(3)
    whole = [draw.random(each) if isinstance(each, tuple) else each for each in SHAPES[name]]
    frame = 2 * (name in ranks_by_hand.FRAMED)
    part = slice(12 // ranks * rank, 12 // ranks * (rank + 1) + frame)
    own = [each[part].copy() if n in ranks_by_hand.DEALT[name] else _copied(each) for n, each in enumerate(whole)]
    mine = _results(name, ranks_by_hand.BY_MPI4PY[name](*own), own)
    expected = _results(name, KERNELS[name](*whole), whole)
    inner = slice(1, -1) if frame else slice(None)
    for number, (found, right) in enumerate(zip(mine, expected, strict=True)):
        right = right[part] if number in RESULTS[name] else right
        np.testing.assert_allclose(found[inner], right[inner], rtol=1e-12)


def _copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def _results(name, returned, arguments):
    returned = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
    return [*returned, *(arguments[number] for number in CHANGED.get(name, ()))]
