"""MoveMapIntoLoop: a map around a loop moves into the loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dependence.loop_dependences import iterations_have_order
from dcpy.ir.analysis.dependence.loop_nests import only_scope_in
from dcpy.ir.editing.nest_edits import alone_in_state, move_body
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class MoveMapIntoLoop(Transformation[Loop]):
    """Interchange of a parallel loop with the sequential one inside: the map becomes the innermost one.

    before   map j = 0:M { loop k = 0:K { C[j] = C[j] + A[k]*B[k, j] } }
    after    loop k = 0:K { map j = 0:M { C[j] = C[j] + A[k]*B[k, j] } }

    The map can then be vectorized, and walks through memory as it is laid out. The points of a map do not depend on
    each other, so this keeps the meaning where the range of the loop does not depend on the point, the map has no
    containers of its own that live from one iteration to the next (scalar-expansion moves them out), and nothing ends
    the loop early. (Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)
    """

    name: ClassVar[str] = "move-map-into-loop"
    map = capture(Map)
    pattern = one(map)
    settles = False

    def plan(self, m: Match) -> Loop | Refusal:
        """The loop."""
        node = m[self.map]
        if node.body.containers:
            names = ", ".join(map(repr, node.body.containers))
            return Refusal(f"each point of the map has its own {names}, which lives through the loop")
        loop = only_scope_in(node.body)
        if not isinstance(loop, Loop):
            return Refusal("the body is not just one loop")
        mentioned = [param for param in node.params if param in loop.range.symbols]
        if mentioned:
            return Refusal(f"the range {loop.range} of {loop.param!r} depends on {mentioned[0]!r}")
        return iterations_have_order(loop.body, node.body, m.uses) or loop

    def apply(self, m: Match, plan: Loop, rw: Rewriter) -> tuple[Loop, Map]:
        """Return both, the outer one first; both are the originals."""
        node = m[self.map]
        state = alone_in_state(node, rw)
        assert state.region is not None
        rw.move_blocks([plan], state.region, state.region.index(state))
        move_body(plan.body, node.body, rw)
        rw.move_blocks([state], plan.body)
        return plan, node
