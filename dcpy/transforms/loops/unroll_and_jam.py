"""UnrollAndJam: several iterations of an outer loop run together in the inner one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dependence_vectors import dependences_of
from dcpy.ir.analysis.nests import nest_of, only_scope_in
from dcpy.ir.editing.cloning import clone, clone_body
from dcpy.ir.editing.nest_edits import groups_and_rest, place_at_end
from dcpy.ir.region import Loop
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import sym
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.loop_unroll import leaves_iteration


@dataclass(frozen=True, slots=True)
class Jam:
    """The inner loop, and the ranges of the outer one: of groups, and of what is left over."""

    inner: Loop
    groups: Range
    rest: Range | None


@dataclass(frozen=True)
class UnrollAndJam(Transformation[Jam]):
    """Unroll-and-jam (register tiling): unroll an outer loop and fuse the copies of the inner one.

    before   loop i = 0:2*N { loop k = 0:K { C[i] = C[i] + A[i, k]*B[k] } }
    after    loop i = 0:2*N:2 { loop k = 0:K { C[i] = C[i] + A[i, k]*B[k]; C[i + 1] = C[i + 1] + A[i + 1, k]*B[k] } }

    What the copies share (`B[k]`) is then loaded once. Applies to two perfectly nested loops where no dependence goes
    less than `factor` iterations forward on the outer one and backward on the inner one, whose range does not depend
    on the outer parameter. (Callahan, Cocke and Kennedy, Estimating Interlock and Improving Balance, 1988.)
    """

    name: ClassVar[str] = "unroll-and-jam"
    loop = capture(Loop)
    pattern = one(loop)
    settles = False

    factor: int = 2  #: iterations of the outer loop that run together

    def plan(self, m: Match) -> Jam | Refusal:
        """Refuses what is not perfectly nested, and dependences that the jam would turn around, naming the accesses."""
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
        """Returns the loop of groups and the inner one, which are those that there were, and the loop of the rest."""
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
