"""Clones: copies of blocks and bodies that stand beside the original in the same SDFG, under names of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.editing.copying import copy_block, copy_region
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.region import Block, Region
from dcpy.ir.symbolic import ExprLike, sym
from dcpy.ir.tree import is_inside

B = TypeVar("B", bound=Block)


def clone(block: B, rw: Rewriter) -> B:
    """A copy of a block of the SDFG, in no region yet. All that only the block knows has a fresh name in it.

    Symbols that are assigned inside, and that the outside knows too, be it as the size of an array, stay what they are.
    """
    params = [name for outer in block.regions() for inner in outer.walk_regions() for name in inner.params]
    return copy_block(block, _renamed(block, block.regions(), params, {}, rw))


def clone_body(body: Region, values: Mapping[str, ExprLike], rw: Rewriter) -> Region:
    """A copy of what a map or loop runs, without an owner, for other values of its parameters.

    All that only the body knows has a fresh name in the copy.
    """
    params = [name for inner in body.walk_regions() if inner is not body for name in inner.params]
    return copy_region(body, _renamed(body, (body,), params, values, rw))


def _renamed(
    part: Block | Region, regions: Sequence[Region], params: Sequence[str], values: Mapping[str, ExprLike], rw: Rewriter
) -> Substitution:
    """Fresh names for parameters, and for the containers and symbols that only a part knows."""
    symbols: dict[str, ExprLike] = {name: sym(rw.fresh_name(name)) for name in params}
    declared = {name: None for outer in regions for inner in outer.walk_regions() for name in inner.containers}
    for symbol in dict.fromkeys(name for region in regions for name in symbols_assigned_in(region)):
        if not declared.keys() >= set(rw.uses.described_by(symbol)):
            continue  # the size of an array that outlives the part
        if all(is_inside(element, part) for element in (*rw.uses.users(symbol), *rw.uses.definers(symbol))):
            fresh = rw.fresh_name(symbol)
            symbols[symbol] = sym(fresh)
            rw.sdfg.assign_symbol(fresh, rw.sdfg.assigned_symbols[symbol])
    return Substitution({**symbols, **values}, {name: rw.fresh_name(name) for name in declared})
