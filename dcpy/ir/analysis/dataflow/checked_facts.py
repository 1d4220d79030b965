"""Checked facts: what the checks before a place imply, beside the structure (`ranges_at`); each at least 0."""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.ir.analysis.dataflow.branch_facts import facts_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.region import Block, Check, SymbolAssign
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import child_of, regions_around


def checked_before(block: Block, uses: Uses) -> tuple[Expr, ...]:
    """Return the facts about never-assigned symbols that the checks before a block imply."""
    return tuple(
        fact
        for check in _checks(block)
        for fact in facts_of(check.condition, holds=True)
        if fact.is_linear and not any(_is_assigned(symbol, uses) for symbol in fact.symbols)
    )


def _checks(block: Block) -> Iterator[Check]:
    for region in regions_around(block):
        child = child_of(region, block)
        assert child is not None
        yield from (before for before in region.blocks[: region.index(child)] if isinstance(before, Check))


def _is_assigned(symbol: str, uses: Uses) -> bool:
    return any(isinstance(definer, SymbolAssign) for definer in uses.definers(symbol))
