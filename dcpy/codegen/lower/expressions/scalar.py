"""Scalar expressions as LIR, in the context of a function."""

from __future__ import annotations

from collections.abc import Mapping

from dcpy.codegen.lir.expr import Conditional, Infix, LirExpr, Name, Prefix, integer, plus
from dcpy.codegen.lir.reduction_operators import ReductionOperator
from dcpy.codegen.lir.scalar_operations import convert, literal, lower_operation
from dcpy.codegen.lir.tree import Declare, If, Update
from dcpy.codegen.lir.types import INDEX, TRUTH
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.expressions.large_numbers import comparison
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Cast, Const, Index, Load, Op, Ref, ScalarExpr, WrapIndex
from dcpy.ir.symbolic.intervals import wrapped

OUT_OF_BOUNDS = "index {{0}} is out of bounds for axis {axis} with size {{1}}"


def lower_value(context: Context, expr: ScalarExpr, refs: Mapping[str, LirExpr] | None = None) -> LirExpr:
    """The value of `expr`; `refs` has the values of connectors. May emit statements (bounds checks)."""
    match expr:
        case Const(value=value, dtype=dtype):
            return literal(value, dtype)
        case Ref(name=name):
            return (refs or {})[name]
        case Load(container=container, indices=indices):
            return context.locations[container].element(indices, context.symbolic)
        case Index(value=value, dtype=dtype):
            return convert(context.symbolic(wrapped(value)), types.int64, dtype)
        case Cast(arg=arg, dtype=dtype):
            return convert(lower_value(context, arg, refs), arg.dtype, dtype)
        case Op() if (outcome := comparison(expr, context.ranges)) is not None:
            return literal(outcome, types.bool_)
        case Op(args=args):
            return lower_operation(expr, tuple(lower_value(context, arg, refs) for arg in args))
        case WrapIndex():
            return _wrap(context, expr, refs)


def _wrap(context: Context, expr: WrapIndex, refs: Mapping[str, LirExpr] | None) -> LirExpr:
    """A variable with the index made safe: negative ones count from the end, others are an IndexError."""
    value = convert(lower_value(context, expr.arg, refs), expr.arg.dtype, types.int64)
    size = context.symbolic(expr.size)
    index = Name(context.names.fresh("index"), INDEX)
    context.emit(Declare(index.name, INDEX, value))
    if context.on_host and context.ranges.proves_nonneg(expr.size):
        return _wrap_first(context, index, size, expr)
    if context.module.options.bounds_check:
        below = Infix("<", index, Prefix("-", size, INDEX), TRUTH)
        above = Infix(">=", index, plus(size, integer(0)), TRUTH)
        _fail_out_of_bounds(context, Infix("||", below, above, TRUTH), (index, size), expr)
    negative = Infix("<", index, integer(0), TRUTH)
    context.emit(If(((negative, (Update(index, size, ReductionOperator("add", INDEX)),)),)))
    return index


def _wrap_first(context: Context, index: Name, size: LirExpr, expr: WrapIndex) -> LirExpr:
    """A negative index counts from the end before it is checked: one comparison as unsigned decides both sides."""
    wrapped = Name(context.names.fresh("index"), INDEX)
    negative = Infix("<", index, integer(0), TRUTH)
    context.emit(Declare(wrapped.name, INDEX, Conditional(negative, plus(index, size), index, INDEX)))
    if context.module.options.bounds_check:
        place, count = (convert(each, types.int64, types.uint64) for each in (wrapped, size))
        _fail_out_of_bounds(context, Infix(">=", place, count, TRUTH), (index, size), expr)
    return wrapped


def _fail_out_of_bounds(context: Context, condition: LirExpr, values: tuple[LirExpr, ...], expr: WrapIndex) -> None:
    number = context.module.check_number("IndexError", OUT_OF_BOUNDS.format(axis=expr.axis), context.place)
    context.fail(condition, number, values)
