"""Large numbers: what is done with an index or a size whose number does not fit into 64 bits.

A check of the program has refused it before, or memory was not found for it: code that needs it is not reached, whether
the number is a constant or was computed. So it is no error of the compiler, but one that is raised where it would be
needed. What is compared with such a number is known, though: it lies beyond all that 64 bits hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from dcpy.base.errors import CodegenError
from dcpy.ir.expressions.scalar import Const, Index, Op, ScalarExpr
from dcpy.ir.symbolic import Expr, Ranges
from dcpy.ir.symbolic.expr import Atom
from dcpy.ir.symbolic.intervals import LIMITS, Interval, of_atom, polynomial

_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


class NumberTooLarge(CodegenError):
    """A number of an index or a size does not fit into 64 bits."""

    code = CodegenError.code

    def __init__(self, value: int) -> None:
        super().__init__(f"the number {value} of an index or a size does not fit into 64 bits")


def comparison(expr: Op, ranges: Ranges) -> bool | None:
    """The outcome of a comparison with a number that is too large, whatever symbols are; None for others."""
    compare = _COMPARED.get(expr.name)
    if compare is None or len(expr.args) != 2 or not any(map(_is_large, expr.args)):
        return None
    left, right = (_interval(arg, ranges) for arg in expr.args)
    if left is None or right is None or not (left[1] < right[0] or right[1] < left[0]):
        return None
    return compare(left[0], right[0])


def _is_large(expr: ScalarExpr) -> bool:
    return isinstance(expr, Index) and any(abs(factor) > LIMITS[1] for _, factor in expr.value.terms)


def _interval(expr: ScalarExpr, ranges: Ranges) -> Interval | None:
    match expr:
        case Const(value=int() as value):
            return value, value
        case Index(value=value):
            return _of_expr(value, ranges)
    return None


def _of_expr(value: Expr, ranges: Ranges) -> Interval:
    def of(atom: Atom) -> Interval:
        if atom.kind != "sym":
            return of_atom(atom, lambda arg: _of_expr(arg, ranges))
        low, high = (bound.constant if bound is not None else None for bound in ranges.bounds(atom.name))
        return LIMITS[0] if low is None else low, LIMITS[1] if high is None else high

    return polynomial(value, of)
