"""LAPACK's memory order in results of `scipy.linalg`, also where bodies in Python make another one."""

from __future__ import annotations

from collections.abc import Sequence

import scipy.linalg as la

from dcpy.frontend.abstract_values.values import ArrayValue, Value
from dcpy.frontend.implements import operation, results_lie
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.result_memory_order import in_c_order

results_lie(la.solve, la.inv, la.lu, la.expm, la.block_diag, la.toeplitz)(in_c_order)


@results_lie(
    la.solve_triangular, la.lu_factor, la.lu_solve, la.cholesky, la.cho_factor, la.cho_solve, la.svd, la.eigh, la.pinv,
    la.solve_banded, la.lapack.dgtsv, la.lapack.sgtsv, la.lapack.zgtsv, la.lapack.cgtsv,
)  # fmt: skip
def in_fortran_order(b: OpBuilder, found: ArrayValue, operands: Sequence[ArrayValue]) -> memory_order.Axes:
    """Fortran order, that of LAPACK, for operands of any order."""
    return tuple(range(found.rank))[::-1]


@operation
def lying_in_fortran_order(b: OpBuilder, found: Value) -> Value:
    """A new array, which lies in Fortran order in SciPy, however it is made here."""
    made = b.array(found)
    memory_order.lie_as_made(b, made, tuple(range(made.rank))[::-1], ())
    return made
