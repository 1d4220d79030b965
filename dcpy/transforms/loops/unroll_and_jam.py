"""UnrollAndJam: an outer loop is unrolled, and the copies of its inner loop are fused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dependence.dependence_vectors import dependences_of
from dcpy.ir.analysis.dependence.loop_nests import nest_of, only_scope_in
from dcpy.ir.editing.cloning import clone, clone_body
from dcpy.ir.editing.nest_edits import groups_and_rest, place_at_end
from dcpy.ir.region import Loop
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import sym
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.loop_unroll import leaves_iteration


@dataclass(frozen=True, slots=True)
class Jam:
    """The inner loop, and the ranges of the outer one: over groups, and the remainder."""

    inner: Loop
    groups: Range
    rest: Range | None


@dataclass(frozen=True)
class UnrollAndJam(Transformation[Jam]):
    """Unroll-and-jam (register tiling): unroll an outer loop and fuse the copies of the inner one.

    before   loop i = 0:2*N { loop k = 0:K { C[i] = C[i] + A[i, k]*B[k] } }
    after    loop i = 0:2*N:2 { loop k = 0:K { C[i] = C[i] + A[i, k]*B[k]; C[i + 1] = C[i + 1] + A[i + 1, k]*B[k] } }

    Operands that the copies share (`B[k]`) are then loaded once. Applies to two perfectly nested loops if no dependence
    goes less than `factor` iterations forward on the outer loop and backward on the inner loop, and the inner range
    does not depend on the outer parameter. (Callahan, Cocke and Kennedy, Estimating Interlock and Improving Balance,
    1988.)
    """

    name: ClassVar[str] = "unroll-and-jam"
    loop = capture(Loop)
    pattern = one(loop)
    settles = False

    factor: int = 2  #: iterations of the outer loop that run together

    def plan(self, m: Match) -> Jam | Refusal:
        """The plan. Refuses imperfect nests, and dependences that the jam would reverse, and names the accesses."""
        outer = m[self.loop]
        inner = only_scope_in(outer.body)
        if not isinstance(inner, Loop):
            return Refusal("the body is not just one loop")
        if not 1 < self.factor <= 64:
            return Refusal(f"groups of {self.factor} iterations")
        if outer.param in inner.range.symbols:
            return Refusal(f"the range {inner.range} of {inner.param!r} depends on {outer.param!r}")
        dependences = leaves_iteration(inner) or dependences_of(nest_of(outer, inner), m.uses)
        if isinstance(dependences, Refusal):
            return dependences
        reach = self.factor * abs(outer.range.step.constant or 1)
        obstacle = dependences.obstacle(f"0 < d0 < {reach} and d1 < 0")
        return obstacle or Jam(inner, *groups_and_rest(outer.range, self.factor, m.uses.ranges_at(outer)))

    def apply(self, m: Match, plan: Jam, rw: Rewriter) -> tuple[Loop, ...]:
        """Return the loop over groups and the inner loop (both the originals), and the remainder loop."""
        outer, inner = m[self.loop], plan.inner
        made = (outer, inner)
        if plan.rest is not None:
            rest = clone(outer, rw)
            rw.insert_after(outer, rest)
            rw.update(rest, range=plan.rest)
            made = (*made, rest)  # type: ignore[assignment]
        steps = [outer.range.step * number for number in range(1, self.factor)]
        copies = [clone_body(inner.body, {outer.param: sym(outer.param) + step}, rw) for step in steps]
        for copied in copies:
            place_at_end(copied, inner.body, rw)
        rw.update(outer, range=plan.groups)
        return made
