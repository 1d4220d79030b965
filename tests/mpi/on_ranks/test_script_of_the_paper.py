"""The paper's three lines, and the call behind them, on real ranks."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import DistributeElementWiseArrayOp, RemoveRedundantComm
from tests.support.kernels_of_the_paper import FUNCTIONS, annotated, arguments_for

pytestmark = pytest.mark.mpi


def test_gemm():
    dist_sdfg = annotated("gemm").to_sdfg()
    dist_sdfg.apply(DistributeElementWiseArrayOp)
    dist_sdfg.expand_library_nodes("PBLAS")
    dist_sdfg.apply(RemoveRedundantComm)
    ranks = dcpy.distributed.world().size
    for n, sizes in ((11, {}), (2, {"pblas_p0": ranks, "pblas_p1": 1})):
        c, a, b = np.random.default_rng(n).random((3, n, n))
        expected = 1.5 * a @ b + 1.25 * c
        dist_sdfg(1.5, 1.25, c, a, b, **sizes)
        np.testing.assert_allclose(c, expected, rtol=1e-12)


@pytest.mark.parametrize(("name", "line"), [("doitgen", DistributeElementWiseArrayOp), ("atax", "PBLAS")])
def test_maps_of_products_and_products_with_vectors(name, line):
    sdfg = annotated(name).to_sdfg()
    if line == "PBLAS":
        sdfg.expand_library_nodes(line)
    else:
        sdfg.apply(line)
    sdfg.apply(RemoveRedundantComm)
    for n in (13, 2):
        drawn = arguments_for(name, {"N": n, "M": 4, "K": 3})
        given = {key: value for key, value in drawn.items() if not key.startswith("__")}
        expected = {key: value.copy() for key, value in given.items()}
        result, found = FUNCTIONS[name](**expected), sdfg(**given)
        if result is not None:
            np.testing.assert_allclose(found, result, rtol=1e-12)
        for key, value in given.items():
            np.testing.assert_allclose(value, expected[key], rtol=1e-12)
