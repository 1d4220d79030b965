"""RedundantCheckElimination: indices that were checked before are not checked again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.expressions.scalar import ScalarExpr, substitute_symbols
from dcpy.ir.nodes import Map
from dcpy.ir.region import SymbolAssign
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import Element, dominates, region_of
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.dataflow.common_subexpression_elimination import why_not_the_same

NEAREST = 64  #: equal maps before a map that are compared with it


@dataclass(frozen=True)
class RedundantCheckElimination(Transformation[Map]):
    """Redundant-check elimination: a map that only checks what an equal one has checked before goes away.

    before   map i = 0:K { let k = wrap(y[i], N) }   after   map i = 0:K { let k = wrap(y[i], N) }
             map j = 0:K { let m = wrap(y[j], N) }

    Applies where the first map runs whenever the second one does, and nothing between them writes what they read: then
    the second one cannot fail. (Markstein, Cocke and Markstein, Optimization of range checking, 1982.)
    """

    name: ClassVar[str] = "redundant-check-elimination"
    optional: ClassVar[bool] = True
    second = capture(Map)
    pattern = one(second)

    def plan(self, m: Match) -> Map | Refusal:
        """Return the map that checks the same before. Refuses maps that do more than check, and those without one."""
        second, uses = m[self.second], m.uses
        if checks_of(second) is None:
            return Refusal("it does more than check")
        region, place = region_of(second), uses.position(second)
        earlier = [other for other in uses.group_of(second, checks_of) if uses.position(other) < place]
        changed: Refusal | None = None
        for first in sorted(earlier, key=uses.position)[-NEAREST:]:
            if isinstance(first, Map) and dominates(first, second):
                changed = why_not_the_same(first, second, (), region, uses)
                if changed is None:
                    return first
        return changed or Refusal("nothing before it checks the same")

    def apply(self, m: Match, plan: Map, rw: Rewriter) -> None:
        second = m[self.second]
        state = second.state
        rw.erase(second)
        if state is not None and not state.nodes:
            rw.erase(state)


def checks_of(element: Element) -> Hashable | None:
    """Return what a map checks, equal for maps that check the same of the same; None where it does anything else."""
    if not isinstance(element, Map) or element.body.containers:
        return None
    own = {param: sym(f".{place}") for place, param in enumerate(element.params)}
    domain = tuple(dim.subs(own) for dim in element.domain)
    values: list[ScalarExpr] = []
    for block in element.body.blocks:
        if type(block) is not SymbolAssign:
            return None
        values.append(substitute_symbols(block.value, own))
        own[block.symbol] = sym(f".{len(own)}")
    return (domain, *values) if values else None
