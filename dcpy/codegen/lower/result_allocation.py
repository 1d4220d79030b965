"""Allocation of results: the arrays that a program allocates for its caller."""

from __future__ import annotations

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Intrinsic, Item, LirExpr, Literal, integer
from dcpy.codegen.lir.types import INDEX, Basic, Pointer
from dcpy.codegen.lower.context import Context, OwnedResult
from dcpy.codegen.lower.expressions.array_extents import buffer_size
from dcpy.codegen.lower.expressions.size_arithmetic import checked
from dcpy.ir.data import Array
from dcpy.ir.symbolic import max_of


def start_owned(context: Context) -> tuple[tree.Statement, ...]:
    """No memory yet: the caller frees what is there, however the program ends."""
    results = [result for result in context.owned_results.values() if result is not None]
    return tuple(tree.Assign(_slot(result), Literal(None, Pointer(Basic.VOID))) for result in results)


def allocate_owned(context: Context, name: str) -> None:
    """Allocate a result whose sizes are known from here on, and hand it over at once."""
    desc = context.uses.desc(name)
    assert isinstance(desc, Array)  # `generate.default_signature` describes no others as owned
    result, place = context.owned_results[name], context.locations[name]
    assert result is not None  # parameters come before statements
    call = Intrinsic("owned_buffer", (result.pointer, buffer_size(context, desc)), place.base.type, desc.dtype)
    context.emit(tree.Declare(place.base.name, place.base.type, call, restrict=True))
    context.unaliased.add(place.base.name)
    context.fail_unless_memory(place.base, name)
    for axis, size in enumerate(desc.shape):
        known = size if context.ranges.proves_nonneg(size) else max_of(size, 0)
        context.emit(tree.Assign(Item(result.shape, integer(axis), INDEX), checked(context, known)))


def _slot(result: OwnedResult) -> LirExpr:
    assert isinstance(result.pointer.type, Pointer)
    return Item(result.pointer, integer(0), result.pointer.type.element)
