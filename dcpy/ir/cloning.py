"""Clones: copies of blocks that stand beside the original in the same SDFG, under names of their own."""

from __future__ import annotations

from typing import TypeVar

from dcpy.ir.analysis.scopes import symbols_assigned_in
from dcpy.ir.copying import copy_block
from dcpy.ir.region import Block
from dcpy.ir.rewriter import Rewriter
from dcpy.ir.substitution import Substitution
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import is_inside

B = TypeVar("B", bound=Block)


def clone(block: B, rw: Rewriter) -> B:
    """A copy of a block of the SDFG, in no region yet. All that only the block knows has a fresh name in it.

    Symbols that are assigned inside, and that the outside knows too, stay what they are.
    """
    symbols: dict[str, str] = {}
    containers: dict[str, str] = {}
    for region in (inner for outer in block.regions() for inner in outer.walk_regions()):
        symbols |= {name: rw.fresh_name(name) for name in region.params}
        containers |= {name: rw.fresh_name(name) for name in region.containers}
    for symbol in dict.fromkeys(name for region in block.regions() for name in symbols_assigned_in(region)):
        if all(is_inside(element, block) for element in (*rw.uses.users(symbol), *rw.uses.definers(symbol))):
            symbols[symbol] = rw.fresh_name(symbol)
            rw.sdfg.assign_symbol(symbols[symbol], rw.sdfg.assigned_symbols[symbol])
    return copy_block(block, Substitution({old: sym(new) for old, new in symbols.items()}, containers))
