"""LoopReversal: a loop runs its iterations last to first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dependence.loop_dependences import loop_dependences
from dcpy.ir.region import Loop
from dcpy.ir.subsets import Range
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class LoopReversal(Transformation[Range]):
    """Loop reversal: run the iterations of a loop in the opposite order.

    before   loop i = 0:N { B[i] = f(A[i]) }
    after    loop i = N - 1:-1:-1 { B[i] = f(A[i]) }

    Applies when the loop carries no dependence: no iteration touches what another one writes, except to combine
    values, or in a temporary that each fills before it reads it. It turns (<, >) into (>, >), and so prepares
    interchange or fusion. (Wolfe, High Performance Compilers for Parallel Computing, 1996.)
    """

    name: ClassVar[str] = "loop-reversal"
    loop = capture(Loop)
    pattern = one(loop)
    settles = False

    def plan(self, m: Match) -> Range | Refusal:
        """The new range. Refuses iterations that may depend on each other, naming the two accesses."""
        loop = m[self.loop]
        if not loop.range.step.constant:
            return Refusal(f"the step {loop.range.step} of {loop.param!r} is not a number")
        answer = loop_dependences(loop, m.uses).answer
        return reversed_range(loop.range) if answer.is_no else Refusal(answer.reason)

    def apply(self, m: Match, plan: Range, rw: Rewriter) -> Loop:
        """Return the loop."""
        rw.update(m[self.loop], range=plan)
        return m[self.loop]


def reversed_range(values: Range) -> Range:
    """The same values, last first; empty where there are none. The step is a number."""
    rises = (values.step.constant or 1) > 0
    return Range(values.last, values.start - 1 if rises else values.start + 1, -values.step)
