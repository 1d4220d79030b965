"""LoopDistribution: the first part of a loop's body runs for all iterations before the second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.dependence.dependence_vectors import dependences_between
from dcpy.ir.analysis.dependence.loop_dependences import iterations_have_order
from dcpy.ir.analysis.dependence.loop_nests import axes_of
from dcpy.ir.region import Loop, Region
from dcpy.ir.symbolic import sym
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.cuts import BodyPartition, cut_blocks, cut_of, shared_by


@dataclass(frozen=True)
class LoopDistribution(Transformation[BodyPartition]):
    """Loop distribution (loop fission): give each part of a body a loop of its own.

    before   loop i = 1:N { A[i] = f(A[i - 1]); B[i] = g(A[i]) }
    after    loop i = 1:N { A[i] = f(A[i - 1]) }
             loop i_1 = 1:N { B[i_1] = g(A[i_1]) }

    The first part has `at` blocks of the body; nodes, where it is one state. Applies when no iteration of the first
    part depends on an earlier one of the second, and nothing that belongs to one iteration passes from the first to
    the second (scalar-expansion gives it an element for each). (Kuck et al., Dependence Graphs and Compiler
    Optimizations, POPL 1981.)
    """

    name: ClassVar[str] = "loop-distribution"
    loop = capture(Loop)
    pattern = one(loop)

    at: int = 1  #: blocks, or nodes, of the first part

    def plan(self, m: Match) -> BodyPartition | Refusal:
        """The parts. Refuses dependences from the second part to the first, naming the accesses."""
        loop = m[self.loop]
        axes = axes_of(loop)
        if not axes[0].sign:
            return Refusal(f"the step {loop.range.step} of {loop.param!r} is not a number")
        cut = cut_of(loop.body, self.at)
        if isinstance(cut, Refusal):
            return cut
        obstacle = iterations_have_order(loop.body, loop.body, m.uses) or shared_by(cut, loop.body, m.uses)
        if obstacle:
            return obstacle
        accesses = accesses_of_body(loop, m.uses)
        first = [access for access in accesses if cut.is_first(access.place)]
        second = [access for access in accesses if not cut.is_first(access.place)]
        found = dependences_between(second, first, axes, m.uses.ranges_at(loop)).obstacle("d0 > 0")
        return found or cut

    def apply(self, m: Match, plan: BodyPartition, rw: Rewriter) -> tuple[Loop, Loop]:
        """Return both loops; the first one is the original."""
        loop = m[self.loop]
        second = Loop(rw.fresh_name(loop.param), loop.range, Region(), loop.schedule, span=loop.span)
        rw.insert_after(loop, second)
        cut_blocks(plan, loop.body, second.body, rw)
        rw.substitute_symbols({loop.param: sym(second.param)}, within=second.body)
        return loop, second
