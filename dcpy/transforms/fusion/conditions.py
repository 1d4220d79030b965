"""Legality of interleaving the iterations of two maps, with respect to effects and symbols."""

from __future__ import annotations

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.summaries import summary_of
from dcpy.ir.effects import VISIBLE, Effect, keep_order
from dcpy.ir.nodes import Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.tree import is_inside


def why_not_in_turns(first: Map, second: Map, uses: Uses) -> Refusal | None:
    """The reason not to interleave iterations of two maps, apart from accesses of memory; None if it is legal."""
    if first.schedule != second.schedule:
        return Refusal(f"schedules differ: {first.schedule} and {second.schedule}")
    pairs = ((first, second), (second, first))
    for mine, other in pairs:
        for symbol in summary_of(mine, uses).assigned:
            elements = (*uses.users(symbol), *uses.definers(symbol))
            if any(element is other or is_inside(element, other.body) for element in elements):
                return Refusal(f"symbol {symbol!r} is assigned in one map and used in the other")
    return _obstacle_of_effects(first, second, uses)


def _obstacle_of_effects(first: Map, second: Map, uses: Uses) -> Refusal | None:
    effects = {node: summary_of(node, uses).effects for node in (first, second)}
    if Effect.MAY_RAISE in effects[first] & effects[second]:
        return Refusal("both may raise an exception, and the order would change")
    if keep_order(*effects.values()):
        words = [(found & VISIBLE).words for found in effects.values()]
        return Refusal(f"the first map {words[0]}, the second {words[1]}: the order would change")
    for mine, other in ((first, second), (second, first)):
        if Effect.MAY_RAISE not in effects[mine]:
            continue
        changed = map(uses.root, summary_of(other, uses).writes)
        seen = next((root for root in changed if not uses.is_private(root)), "")
        if seen:
            return Refusal(
                f"one may raise an exception while the other one writes {seen!r}, which the caller would see"
            )
    return None
