"""Operands of one product on two grids, of which one has more axes: on virtual ranks as on one."""

from __future__ import annotations

import numpy as np

import dcpy
from tests.support.ranks import check, distributed

N, M = dcpy.symbol("N"), dcpy.symbol("M")


@dcpy.program
def product(A: dcpy.float64[N, M], B: dcpy.float64[M, N], C: dcpy.float64[N, N]):
    C[:] = A @ B


def test_a_product_of_what_is_on_two_grids():
    sdfg = product.to_sdfg().simplify().auto_optimize()
    plan = {"A": "g(block 0, block 1)", "C": "h(whole, whole) root 0 at 1"}
    made = distributed(sdfg, plan, {"g": ["Px", "Py"], "h": ["P"]})
    draw = np.random.default_rng(0)
    arguments = {"A": draw.random((5, 3)), "B": draw.random((3, 5)), "C": np.zeros((5, 5))}
    check(sdfg, made, arguments, {"N": 5, "M": 3, "Px": 2, "Py": 2, "P": 4}, 4, exact=False)
