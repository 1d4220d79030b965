"""Parallelization: the iterations of a map are divided among threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.dependence.loop_nests import scopes_around
from dcpy.ir.analysis.parallelism.conflict_resolutions import (
    conflict_resolutions,
    injective_params,
    reducible,
    tiles_of,
)
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import Parallel
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class Parallelization(Transformation[Legal]):
    """Loop parallelization (DOALL): give a map the schedule that divides its iterations among threads.

    before   map i = 0:N { B[i] = f(A[i]) }
    after    map i = 0:N @parallel { B[i] = f(A[i]) }

    Applies to maps inside no parallel one whose iterations have no effects that keep an order, and combine values
    only in locations that are their own, or that all of them share (a sum). Profit is not considered. (Kuck et
    al., Dependence Graphs and Compiler Optimizations, POPL 1981.)
    """

    name: ClassVar[str] = "parallelization"
    map = capture(Map)
    pattern = one(map)

    chunk: int = 0  #: iterations in a row, then the next thread's turn; 0: as many as there are for each

    def plan(self, m: Match) -> Legal | Refusal:
        """The plan. Refuses effects in order, locations that some iterations share, and maps inside parallel ones."""
        node = m[self.map]
        if self.chunk < 0:
            return Refusal(f"chunks of {self.chunk} iterations")
        if isinstance(node.schedule, Parallel) and node.schedule.chunk == self.chunk:
            return Refusal(f"its schedule is {node.schedule} already")
        outer = next((scope for scope in scopes_around(node) if isinstance(scope.schedule, Parallel)), None)
        if outer is not None:
            return Refusal("it is inside a map that runs on threads", (outer,))
        if Effect.ORDERED in effects_of(node):
            return Refusal(f"something inside {Effect.ORDERED.words}")
        return _iterations_meet(node, m.uses) or LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> Map:
        """Return the map."""
        rw.update(m[self.map], schedule=Parallel(self.chunk))
        return m[self.map]


def _iterations_meet(node: Map, uses: Uses) -> Refusal | None:
    """A location in which some iterations, but not all, combine values."""
    writes = conflict_resolutions(uses, node)
    folded = reducible(writes)
    for memlet in writes.resolved:
        if memlet in folded:
            continue
        own = injective_params(memlet.subset, node.params, writes.symbols, tiles_of(node))
        shared = [param for param in node.params if param not in own]
        if shared:
            place = f"{memlet.container}[{memlet.subset}]"
            return Refusal(f"several iterations over {shared[0]!r} combine values in {place}, which others do not")
    return None
