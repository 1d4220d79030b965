"""Entry symbols: those that have their values before the program runs, or can be given them (reaching definitions)."""

from __future__ import annotations

from collections.abc import Iterable

from dcpy.ir.analysis.dataflow.def_use import Uses, desc_symbols
from dcpy.ir.analysis.device_side import Side, side_of
from dcpy.ir.expressions.scalar import loads_of, symbols_of
from dcpy.ir.region import SymbolAssign
from dcpy.ir.sdfg import Sdfg


def entry_assignment(sdfg: Sdfg, uses: Uses, name: str) -> SymbolAssign | None:
    """The one assignment of a symbol, where its value can be computed before the program runs."""
    blocks = (block for block in sdfg.body.walk_blocks() if isinstance(block, SymbolAssign))
    found = [block for block in blocks if block.symbol == name]
    if len(found) != 1 or found[0].region is not sdfg.body:
        return None
    loads = [load.container for load in loads_of(found[0].value)]
    if not all(_is_unwritten_argument(sdfg, uses, container) for container in loads):
        return None
    inner = [*symbols_of(found[0].value), *(s for container in loads for s in desc_symbols(sdfg.desc(container)))]
    return found[0] if known_at_entry(sdfg, uses, inner) else None


def known_at_entry(sdfg: Sdfg, uses: Uses, symbols: Iterable[str]) -> bool:
    """Return whether symbols have values before the program runs, or can be given them."""
    return all(name in sdfg.symbols or entry_assignment(sdfg, uses, name) is not None for name in symbols)


def _is_unwritten_argument(sdfg: Sdfg, uses: Uses, container: str) -> bool:
    written = any(uses.writers(other) for other in uses.overlapping(container))
    on_device = side_of(uses.desc(uses.root(container))) is Side.DEVICE  # where only kernels can look
    return sdfg.is_argument(container) and not written and not on_device
