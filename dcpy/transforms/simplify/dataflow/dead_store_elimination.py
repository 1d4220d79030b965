"""DeadStoreElimination: stores that are stored again before they are read go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.overwritten_stores import OverwrittenStore, overwritten_store
from dcpy.ir.analysis.dataflow.summaries import known_effects_of
from dcpy.ir.effects import KEPT
from dcpy.ir.nodes import Copy, Map
from dcpy.transforms.api import Capture, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class DeadStoreElimination(Transformation[OverwrittenStore]):
    """Dead store elimination: take out stores to elements that are all stored again before anything reads them.

    before   map i = 0:N { y[i] = 0 }  map j = 0:N { y[j] = f(x[j]) }
    after                              map j = 0:N { y[j] = f(x[j]) }

    Applies to maps and copies that store to one array and have no other effect. What follows in the same region has to
    store each of these elements again, surely, without a read before, a way out of the region, or, where the caller
    would see the array, an exception. (Muchnick, Advanced Compiler Design and Implementation, 1997, 18.10.)
    """

    name: ClassVar[str] = "dead-store-elimination"
    node: ClassVar[Capture[Map | Copy]] = capture(Map, Copy)
    pattern = one(node)

    def plan(self, m: Match) -> OverwrittenStore | Refusal:
        """Return what is stored again. Refuses stores of which an element may be read."""
        node = m[self.node]
        found = overwritten_store(node, m.uses)
        if isinstance(found, str):
            return Refusal(found)
        if not found.whole:
            return Refusal("some of what it stores is not stored again")
        effects = known_effects_of(node, m.uses) & KEPT
        return Refusal(f"it {effects.words}") if effects else found

    def apply(self, m: Match, plan: OverwrittenStore, rw: Rewriter) -> None:
        node = m[self.node]
        accesses = rw.uses.accesses(node)
        rw.erase(node)
        rw.undeclare_unused((*accesses.reads, *accesses.writes))
