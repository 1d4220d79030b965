"""Whether the iterations of two maps may take turns, as far as effects and symbols are concerned."""

from __future__ import annotations

from dcpy.ir.analysis.access_relations import accesses_of_body
from dcpy.ir.analysis.effects import known_effects_of
from dcpy.ir.analysis.scopes import symbols_assigned_in
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.effects import VISIBLE, Effect, keep_order
from dcpy.ir.nodes import Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.tree import is_inside


def why_not_in_turns(first: Map, second: Map, uses: Uses) -> Refusal | None:
    """Why iterations of two maps may not be interleaved, whatever they touch; None where they may."""
    if first.schedule != second.schedule:
        return Refusal(f"schedules differ: {first.schedule} and {second.schedule}")
    pairs = ((first, second), (second, first))
    for mine, other in pairs:
        for symbol in symbols_assigned_in(mine.body):
            elements = (*uses.users(symbol), *uses.definers(symbol))
            if any(element is other or is_inside(element, other.body) for element in elements):
                return Refusal(f"symbol {symbol!r} is assigned in one map and used in the other")
    return _obstacle_of_effects(first, second, uses)


def _obstacle_of_effects(first: Map, second: Map, uses: Uses) -> Refusal | None:
    effects = {node: known_effects_of(node, uses) for node in (first, second)}
    if Effect.MAY_RAISE in effects[first] & effects[second]:
        return Refusal("both may raise an exception, and the order would change")
    if keep_order(*effects.values()):
        words = [(found & VISIBLE).words for found in effects.values()]
        return Refusal(f"the first map {words[0]}, the second {words[1]}: the order would change")
    for mine, other in ((first, second), (second, first)):
        if Effect.MAY_RAISE not in effects[mine]:
            continue
        seen = next((t.root for t in accesses_of_body(other, uses) if t.is_write and not uses.is_private(t.root)), "")
        if seen:
            return Refusal(
                f"one may raise an exception while the other one writes {seen!r}, which the caller would see"
            )
    return None
