"""LoopPeeling: the first or last iterations of a loop become a loop of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.editing.cloning import clone
from dcpy.ir.region import Loop
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Ranges, max_of, min_of
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.strip_mining import broken_out_of


@dataclass(frozen=True, slots=True)
class Peeling:
    """The range of the peeled iterations, and the range of the others."""

    peeled: Range
    others: Range


@dataclass(frozen=True)
class LoopPeeling(Transformation[Peeling]):
    """Loop peeling (index set splitting): run the first, or last, iterations in a loop of their own.

    before   loop i = 0:N { B[i] = f(A[i], i) }
    after    loop i_1 = 0:min(1, N) { B[i_1] = f(A[i_1], i_1) }
             loop i = 1:N { B[i] = f(A[i], i) }

    Keeps the order of everything. What is true of the first iterations alone, such as a condition on `i`, can be
    decided in each loop then. Needs a step that is a number, and a loop that nothing breaks out of. (Wolfe, High
    Performance Compilers for Parallel Computing, 1996.)
    """

    name: ClassVar[str] = "loop-peeling"
    loop = capture(Loop)
    pattern = one(loop)
    settles = False

    count: int = 1  #: iterations that are peeled off
    last: bool = False  #: the last ones instead of the first

    def plan(self, m: Match) -> Peeling | Refusal:
        """The two ranges."""
        loop = m[self.loop]
        if self.count < 1:
            return Refusal(f"{self.count} iterations")
        if not loop.range.step.constant:
            return Refusal(f"the step {loop.range.step} of {loop.param!r} is not a number")
        ranges = m.uses.ranges_at(loop)
        found = _last(loop.range, self.count, ranges) if self.last else _first(loop.range, self.count, ranges)
        return broken_out_of(loop) or found

    def apply(self, m: Match, plan: Peeling, rw: Rewriter) -> tuple[Loop, Loop]:
        """Return both loops, in order; the loop of the other iterations is the original."""
        loop = m[self.loop]
        peeled = clone(loop, rw)
        if self.last:
            rw.insert_after(loop, peeled)
        else:
            rw.insert_before(loop, peeled)
        rw.update(peeled, range=plan.peeled)
        rw.update(loop, range=plan.others)
        return (loop, peeled) if self.last else (peeled, loop)


def _first(values: Range, count: int, ranges: Ranges) -> Peeling:
    middle = values.start + values.step * count
    rises = (values.step.constant or 1) > 0
    end = min_of(middle, values.stop) if rises else max_of(middle, values.stop)
    return Peeling(Range(values.start, ranges.simplify(end), values.step), Range(middle, values.stop, values.step))


def _last(values: Range, count: int, ranges: Ranges) -> Peeling:
    kept = ranges.simplify(max_of(values.size_within(ranges) - count, 0))
    middle = values.start + kept * values.step
    return Peeling(Range(middle, values.stop, values.step), Range(values.start, middle, values.step))
