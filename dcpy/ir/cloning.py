"""Clones: copies of blocks that stand beside the original in the same SDFG, under names of their own."""

from __future__ import annotations

from typing import TypeVar

from dcpy.ir.analysis.scopes import symbols_assigned_in
from dcpy.ir.copying import copy_block
from dcpy.ir.region import Block, Region
from dcpy.ir.rewriter import Rewriter
from dcpy.ir.substitution import Substitution
from dcpy.ir.symbolic import sym

B = TypeVar("B", bound=Block)


def clone(block: B, rw: Rewriter) -> B:
    """A copy of a block, in no region yet. All that is declared, assigned or counted inside has a fresh name."""
    symbols: dict[str, str] = {}
    containers: dict[str, str] = {}
    for region in block.regions():
        for inner in region.walk_regions():
            symbols |= {name: rw.fresh_name(name) for name in inner.params}
            containers |= {name: rw.fresh_name(name) for name in inner.containers}
        symbols |= _assigned(region, rw)
    return copy_block(block, Substitution({old: sym(new) for old, new in symbols.items()}, containers))


def _assigned(region: Region, rw: Rewriter) -> dict[str, str]:
    """New names, declared, for the symbols that are assigned in a region."""
    names: dict[str, str] = {}
    for symbol in symbols_assigned_in(region):
        names[symbol] = rw.fresh_name(symbol)
        rw.sdfg.assign_symbol(names[symbol], rw.sdfg.assigned_symbols[symbol])
    return names
