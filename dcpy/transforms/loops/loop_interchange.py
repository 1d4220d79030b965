"""LoopInterchange: two nested loops exchange their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dependence.dependence_vectors import dependences_of
from dcpy.ir.analysis.dependence.loop_nests import nest_of, only_scope_in
from dcpy.ir.editing.nest_edits import exchange_loops
from dcpy.ir.region import Loop
from dcpy.ir.subsets import Range
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.interchanged_bounds import interchanged


@dataclass(frozen=True, slots=True)
class Interchange:
    """The inner loop, and the ranges of both after the interchange."""

    inner: Loop
    inner_range: Range
    outer_range: Range


@dataclass(frozen=True)
class LoopInterchange(Transformation[Interchange]):
    """Loop interchange: make the inner one of two perfectly nested loops the outer one.

    before   loop i = 0:N { loop j = 0:M { B[i, j] = f(B[i, j - 1]) } }
    after    loop j = 0:M { loop i = 0:N { B[i, j] = f(B[i, j - 1]) } }

    Applies when no dependence has the direction (<, >): what runs later on `i` and earlier on `j` would change
    its place. Inner bounds that are affine in the outer parameter (a triangle, what skewing leaves) are solved for it.
    (Allen and Kennedy, Automatic Loop Interchange, 1984.)
    """

    name: ClassVar[str] = "loop-interchange"
    loop = capture(Loop)
    pattern = one(loop)
    settles = False

    def plan(self, m: Match) -> Interchange | Refusal:
        """The interchange. Refuses imperfect nests, and dependences of direction (<, >), and names the accesses."""
        outer = m[self.loop]
        inner = only_scope_in(outer.body)
        if not isinstance(inner, Loop):
            return Refusal("the body is not just one loop")
        dependences = dependences_of(nest_of(outer, inner), m.uses)
        if isinstance(dependences, Refusal):
            return dependences
        obstacle = dependences.obstacle("d0 > 0 and d1 < 0")
        if obstacle:
            return obstacle
        ranges = interchanged(outer.param, outer.range, inner.param, inner.range)
        return ranges if isinstance(ranges, Refusal) else Interchange(inner, *ranges)

    def apply(self, m: Match, plan: Interchange, rw: Rewriter) -> tuple[Loop, Loop]:
        """Return both loops, the outer one first; each keeps its parameter."""
        outer = m[self.loop]
        exchange_loops(outer, plan.inner, rw)
        rw.update(plan.inner, range=plan.inner_range)
        rw.update(outer, range=plan.outer_range)
        return plan.inner, outer
