"""Results: which sizes are known before the program runs, and the arrays that a program allocates for its caller."""

from __future__ import annotations

from collections.abc import Iterable

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Intrinsic, Item, LirExpr, Literal, integer
from dcpy.codegen.lir.types import INDEX, Basic, Pointer
from dcpy.codegen.lower.buffers import buffer_size
from dcpy.codegen.lower.context import Context, OwnedResult
from dcpy.ir.analysis.uses import Uses, desc_symbols
from dcpy.ir.data import Array
from dcpy.ir.expressions.scalar import loads_of, symbols_of
from dcpy.ir.region import SymbolAssign
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import max_of


def early_assignment(sdfg: Sdfg, uses: Uses, name: str) -> SymbolAssign | None:
    """The one assignment of a symbol, where its value can be computed before the program runs."""
    blocks = (block for block in sdfg.body.walk_blocks() if isinstance(block, SymbolAssign))
    found = [block for block in blocks if block.symbol == name]
    if len(found) != 1 or found[0].region is not sdfg.body:
        return None
    loads = [load.container for load in loads_of(found[0].value)]
    if not all(_is_unwritten_argument(sdfg, uses, container) for container in loads):
        return None
    inner = [*symbols_of(found[0].value), *(s for container in loads for s in desc_symbols(sdfg.desc(container)))]
    return found[0] if known_early(sdfg, uses, inner) else None


def known_early(sdfg: Sdfg, uses: Uses, symbols: Iterable[str]) -> bool:
    """Whether symbols have values before the program runs, or can be given them."""
    return all(name in sdfg.symbols or early_assignment(sdfg, uses, name) is not None for name in symbols)


def _is_unwritten_argument(sdfg: Sdfg, uses: Uses, container: str) -> bool:
    written = any(uses.writers(other) for other in uses.overlapping(container))
    return sdfg.is_argument(container) and not written


def start_owned(context: Context) -> tuple[tree.Statement, ...]:
    """No memory yet: the caller frees what is there, however the program ends."""
    results = [result for result in context.owned.values() if result is not None]
    return tuple(tree.Assign(_slot(result), Literal(None, Pointer(Basic.VOID))) for result in results)


def allocate_owned(context: Context, name: str) -> None:
    """Allocates a result whose sizes are known from here on, and hands it over at once."""
    desc = context.uses.desc(name)
    assert isinstance(desc, Array)  # `generate.default_signature` describes no others as owned
    result, place = context.owned[name], context.places[name]
    assert result is not None  # parameters come before statements
    call = Intrinsic("owned_buffer", (result.pointer, buffer_size(context, desc)), place.base.type, desc.dtype)
    context.emit(tree.Declare(place.base.name, place.base.type, call, restrict=True))
    context.unaliased.add(place.base.name)
    context.fail_unless_memory(place.base)
    for axis, size in enumerate(desc.shape):
        known = size if context.ranges.proves_nonneg(size) else max_of(size, 0)
        context.emit(tree.Assign(Item(result.shape, integer(axis), INDEX), context.symbolic(known)))


def _slot(result: OwnedResult) -> LirExpr:
    assert isinstance(result.pointer.type, Pointer)
    return Item(result.pointer, integer(0), result.pointer.type.element)
