"""MoveLoopIntoMap: a loop around a map moves into the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dependence.dependence_vectors import dependences_of
from dcpy.ir.analysis.dependence.loop_nests import axes_of, nest_of, only_scope_in
from dcpy.ir.editing.nest_edits import move_body
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class MoveLoopIntoMap(Transformation[Map]):
    """Interchange of a sequential loop with the parallel one inside.

    before   loop t = 0:T { map i = 0:N { A[i] = f(A[i], t) } }
    after    map i = 0:N { loop t = 0:T { A[i] = f(A[i], t) } }

    Each point of the map then runs all its iterations alone: one fork instead of T, and values of a point stay in
    registers. Applies to a loop of one map whose ranges do not depend on the loop, if no loop-carried dependence
    connects different points of the map. (Allen and Kennedy, Optimizing Compilers for Modern
    Architectures, 2001.)
    """

    name: ClassVar[str] = "move-loop-into-map"
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> Map | Refusal:
        """The map. Refuses dependences between its points, and names the accesses and their distance."""
        loop = m[self.loop]
        node = only_scope_in(loop.body)
        if not isinstance(node, Map):
            return Refusal("the body is not just one map")
        for axis in axes_of(node):
            if loop.param in axis.range.symbols:
                return Refusal(f"the range {axis.range} of {axis.param!r} depends on {loop.param!r}")
        dependences = dependences_of(nest_of(loop, node), m.uses)
        if isinstance(dependences, Refusal):
            return dependences
        elsewhere = " or ".join(f"d{number} != 0" for number in range(1, len(node.params) + 1))
        return dependences.obstacle(f"d0 > 0 and ({elsewhere})") or node

    def apply(self, m: Match, plan: Map, rw: Rewriter) -> tuple[Map, Loop]:
        """Return both, the outer one first; both are the originals."""
        loop, state = m[self.loop], plan.state
        assert loop.region is not None
        assert state is not None
        rw.move_blocks([state], loop.region, loop.region.index(loop))
        move_body(plan.body, loop.body, rw)
        rw.move_blocks([loop], plan.body)
        return plan, loop
