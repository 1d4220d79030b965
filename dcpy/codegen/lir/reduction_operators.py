"""Reduction operators: the operations of conflict resolutions and reductions, and their neutral elements.

How a dialect folds (an operator, a clause of OpenMP, compare and exchange, a shuffle) is the dialect's decision; what
it computes is said here.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.codegen.lir.expr import LirExpr
from dcpy.codegen.lir.scalar_operations import convert, literal, lower_operation
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Ref, op
from dcpy.ir.types import DType


@dataclass(frozen=True, slots=True)
class ReductionOperator:
    """An operation of `ir.expressions.ops` on two values of a dtype."""

    op: str
    dtype: DType

    def __str__(self) -> str:
        return f"{self.op}.{self.dtype}"

    def of(self, left: LirExpr, right: LirExpr) -> LirExpr:
        """The two values combined."""
        operation = op(self.op, Ref("a", self.dtype), Ref("b", self.dtype))
        return convert(lower_operation(operation, (left, right)), operation.dtype, self.dtype)

    @property
    def neutral(self) -> LirExpr:
        """The value that changes nothing: ``op(neutral, x) == x``."""
        return literal(identity_value(self.op, self.dtype), self.dtype)
