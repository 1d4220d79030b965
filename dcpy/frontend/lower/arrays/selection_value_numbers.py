"""Value numbers of selections: reuse of what was computed from an array without a write since.

``Z[mask] = Z[mask] + C[mask]`` asks three times how many elements one mask selects. What is remembered counts in the
region where it was computed only: what is written there later runs later, and as often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from dcpy.frontend.abstract_values.values import ArrayValue
from dcpy.frontend.lower.typed_emitter import MemoizedResult, TypedEmitter
from dcpy.ir.field_roles import Role
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Block, SymbolAssign
from dcpy.ir.tree import nodes_of

Result = TypeVar("Result")


def memoized(b: TypedEmitter, function: Callable[[TypedEmitter, ArrayValue], Result], source: ArrayValue) -> Result:
    """``function(b, source)``, as it was computed before if that still holds; the result is read-only."""
    for entry in reversed(b.memoized_results):
        if entry.function is function and entry.region is b.emit.region and entry.source == source and _holds(b, entry):
            found: Result = entry.result
            return found
    result = function(b, source)
    region = b.emit.region
    b.memoized_results.append(MemoizedResult(function, source, result, region, region.blocks[-1]))
    b.emit.statement(b.emit.span)  # what follows goes into blocks that follow
    return result


def _holds(b: TypedEmitter, entry: MemoizedResult) -> bool:
    """Return whether neither the array nor a symbol that its window mentions changed since."""
    blocks = entry.region.blocks
    place = next((k for k, block in enumerate(blocks) if block is entry.last), None)
    if place is None:
        return False
    symbols = {*entry.source.window.symbols, *(name for size in entry.source.shape for name in size.symbols)}
    for block in _walk(blocks[place + 1 :]):
        if isinstance(block, SymbolAssign) and block.symbol in symbols:
            return False
        if any(b.share_memory(memlet.container, entry.source.container) for memlet in _written(block)):
            return False
    return True


def _walk(blocks: list[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        for region in block.regions():
            yield from region.walk_blocks()


def _written(block: Block) -> Iterator[Memlet]:
    for node in nodes_of(block):
        yield from (operand.memlet for operand in node.operands() if operand.role is not Role.READ)
