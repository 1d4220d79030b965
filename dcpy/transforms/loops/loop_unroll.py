"""LoopUnroll: the body of a loop is written out for several iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.editing.cloning import clone, clone_body
from dcpy.ir.editing.nest_edits import groups_and_rest, place_at_end, place_before, unwrap
from dcpy.ir.region import Block, Break, Continue, Loop
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import jumps
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class Unrolling:
    """The ranges of the loop over groups and of the remainder; None and None if the loop is unrolled completely."""

    groups: Range | None = None
    rest: Range | None = None
    count: int = 0  #: copies of the body


@dataclass(frozen=True)
class LoopUnroll(Transformation[Unrolling]):
    """Loop unrolling: write the body out for each iteration, or for groups of `factor` iterations.

    before   loop i = 0:3 { A[i] = f(A[i - 1]) }
    after    A[0] = f(A[-1]); A[1] = f(A[0]); A[2] = f(A[1])

    before   loop i = 0:N { A[i] = f(A[i - 1]) }                      (factor = 2)
    after    loop i = 0:2*(N // 2):2 { A[i] = f(A[i - 1]); A[i + 1] = f(A[i]) }
             loop i_1 = 2*(N // 2):N { A[i_1] = f(A[i_1 - 1]) }

    Keeps the order of everything. Whole, the number of iterations must be known, and at most `most`. What the body
    declares is declared for each copy. A body that breaks out or continues is not written out.
    (Allen and Cocke, A Catalogue of Optimizing Transformations, 1971.)
    """

    name: ClassVar[str] = "loop-unroll"
    loop = capture(Loop)
    pattern = one(loop)
    settles = False

    factor: int = 0  #: iterations of a group; 0: all of them
    most: int = 64  #: copies of the body, at most

    def plan(self, m: Match) -> Unrolling | Refusal:
        """The ranges. Refuses unknown or large numbers of iterations, and jumps out of an iteration."""
        loop = m[self.loop]
        obstacle = leaves_iteration(loop)
        if obstacle:
            return obstacle
        if self.factor == 0:
            count = loop.range.size.constant
            if count is None:
                return Refusal(f"the number of iterations, {loop.range.size}, is not known before the run")
            return Unrolling(count=max(count, 0)) if count <= self.most else Refusal(f"it has {count} iterations")
        if not 1 < self.factor <= self.most:
            return Refusal(f"groups of {self.factor} iterations")
        if not loop.range.step.constant:
            return Refusal(f"the step {loop.range.step} of {loop.param!r} is not a number")
        return Unrolling(*groups_and_rest(loop.range, self.factor, m.uses.ranges_at(loop)), self.factor)

    def apply(self, m: Match, plan: Unrolling, rw: Rewriter) -> tuple[Loop, ...] | list[Block]:
        """Return the loop over groups (the original) and the remainder loop; or the last copy."""
        loop = m[self.loop]
        if plan.groups is None:
            return _written_out(loop, plan.count, rw)
        made: tuple[Loop, ...] = (loop,)
        if plan.rest is not None:
            rest = clone(loop, rw)
            rw.insert_after(loop, rest)
            rw.update(rest, range=plan.rest)
            made = (loop, rest)
        steps = [loop.range.step * number for number in range(1, plan.count)]
        copies = [clone_body(loop.body, {loop.param: sym(loop.param) + step}, rw) for step in steps]
        for copied in copies:
            place_at_end(copied, loop.body, rw)
        rw.update(loop, range=plan.groups)
        return made


def _written_out(loop: Loop, count: int, rw: Rewriter) -> list[Block]:
    """Unroll a loop completely. The last copy is the body itself, so that references into it stay valid."""
    if count == 0:
        rw.erase(loop)
        return []
    for number in range(count - 1):
        place_before(clone_body(loop.body, {loop.param: loop.range.at(number)}, rw), loop, rw)
    rw.substitute_symbols({loop.param: loop.range.at(count - 1)}, within=loop.body)
    return unwrap(loop, rw)


def leaves_iteration(loop: Loop) -> Refusal | None:
    """A jump that skips the rest of an iteration, or of the loop; None if there is none."""
    found = next((jump for jump in jumps(loop.body) if isinstance(jump, Break | Continue)), None)
    return None if found is None else Refusal(f"a {found.kind} inside leaves an iteration", (found,))
