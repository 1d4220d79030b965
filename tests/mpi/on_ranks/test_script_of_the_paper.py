"""The paper's three lines, and the call behind them, on real ranks."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import DistributeElementWiseArrayOp, RemoveRedundantComm
from tests.support.kernels_of_the_paper import annotated

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
