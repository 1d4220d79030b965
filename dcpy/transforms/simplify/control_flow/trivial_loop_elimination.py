"""TrivialLoopElimination: a loop that runs once is its body; a loop that never runs is nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.region import Break, Continue, Loop
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import is_inside, jumps
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.simplify.control_flow.trivial_map_elimination import never_runs, runs_once


@dataclass(frozen=True)
class TrivialLoopElimination(Transformation[Expr | None]):
    """Put the body of a loop that runs once where the loop was; erase a loop that never runs.

    before   loop i = 2:3 { B[i] = A[i] }        after   B[2] = A[2]
             loop j = 0:0 { ... }

    Applies when the range is proved to have one value or none. A break or continue of this loop keeps it.
    """

    name: ClassVar[str] = "trivial-loop-elimination"
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> Expr | Refusal | None:
        """The one value of the parameter; None where there is none.

        Refuses loops that may run more than once, or whose control flow needs a loop.
        """
        loop = m[self.loop]
        ranges = m.uses.ranges_at(loop)
        if any(not is_inside(user, loop.body) for user in m.uses.users(loop.param)):
            return Refusal(f"symbol {loop.param!r} is used after the loop")
        if never_runs(loop.range, ranges):
            return None
        if not runs_once(loop.range, ranges):
            return Refusal(f"{loop.range} is not proved to have one value, or none")
        if any(isinstance(jump, Break | Continue) for jump in jumps(loop.body)):
            return Refusal("a break or continue belongs to it")
        changed = _reassigned(loop, m.uses)
        return Refusal(f"symbol {changed!r} of its bounds is assigned inside") if changed else loop.range.start

    def apply(self, m: Match, plan: Expr | None, rw: Rewriter) -> None:
        """Substitute the single value and inline the body."""
        loop = m[self.loop]
        if plan is None:
            rw.erase_unreachable(loop)
            return
        rw.substitute_symbols({loop.param: plan}, loop.body)
        rw.inline_region(loop.body, loop)


def _reassigned(loop: Loop, uses: Uses) -> str:
    """A symbol that the parameter's value mentions and the body changes; "" where there is none."""
    if not uses.users(loop.param) and not uses.described_by(loop.param):
        return ""
    return next((name for name in symbols_assigned_in(loop.body) if name in loop.range.start.symbols), "")
