"""Triangles of matrices: which diagonal bounds one."""

from __future__ import annotations

from dcpy.frontend.abstract_values.values import Value
from dcpy.frontend.lower.arithmetic.array_sizes import require_computed
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.ir.expressions.scalar import Index
from dcpy.ir.symbolic import Expr

TOO_LARGE = "Python int too large to convert to C long"


def bounding_diagonal(b: OpBuilder, columns: Expr, k: Value, first: int = 0) -> Index:
    """The number `k` of a diagonal of so many columns.

    `OverflowError` where 64 bits do not hold the numbers from ``first - k`` to ``first - k + columns - 1``, which NumPy
    compares with those of rows.
    """
    diagonal = b.integer(k, "k")
    for end in (first - diagonal, first + columns - 1 - diagonal):
        require_computed(b, end, "OverflowError", TOO_LARGE)
    return Index(diagonal)
