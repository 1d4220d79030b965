"""LoopFusion: fusion of two adjacent loops, the second one shifted by some iterations if necessary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.dependence.dependence_vectors import dependences_between
from dcpy.ir.analysis.dependence.loop_dependences import iterations_have_order
from dcpy.ir.analysis.dependence.loop_nests import Axis
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Index, ScalarExpr, op
from dcpy.ir.region import Branch, Loop, Region
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, Ranges, max_of, min_of, sym
from dcpy.transforms.api import Match, Refusal, Transformation, capture, consecutive


@dataclass(frozen=True)
class LoopFusion(Transformation[Range]):
    """Loop fusion (jamming): run the iterations of two loops in turn, those of the second one `shift` later.

    before   loop i = 0:N { B[i] = f(A[i]) }
             loop j = 1:N { C[j] = g(B[j], B[j - 1]) }
    after    loop i = 0:N { B[i] = f(A[i])
                            if 1 <= i { C[i] = g(B[i], B[i - 1]) } }

    Applies to loops in steps of one where no iteration of the second one, as early as it then runs, meets one of the
    first that comes later: what it reads ahead needs a shift (loop alignment). Where their ranges differ, a condition
    says which of the two runs. (Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)
    """

    name: ClassVar[str] = "loop-fusion"
    first = capture(Loop)
    second = capture(Loop)
    pattern = consecutive(first, second)
    settles = False

    shift: int = 0  #: iterations by which the second loop runs later

    def plan(self, m: Match) -> Range | Refusal:
        """The range of the fused loop. Refuses dependences that fusion would reverse, and names the accesses."""
        first, second = m[self.first], m[self.second]
        if first.range.step is not ONE or second.range.step is not ONE:
            return Refusal("a loop does not go in steps of one")
        if first.schedule != second.schedule:
            return Refusal(f"schedules differ: {first.schedule} and {second.schedule}")
        for loop in (first, second):
            obstacle = iterations_have_order(loop.body, loop.body, m.uses)
            if obstacle:
                return obstacle
        later = _later(second.range, self.shift)
        ranges = m.uses.ranges_at(first)
        start, stop = min_of(first.range.start, later.start), max_of(first.range.stop, later.stop)
        fused = Range(ranges.simplify(start), ranges.simplify(stop))
        ours = accesses_of_body(first, m.uses)
        aligned = {second.param: sym(first.param) - self.shift}
        theirs = [access.subs(aligned) for access in accesses_of_body(second, m.uses)]
        axis = Axis(Loop(first.param, fused, Region()))
        return dependences_between(ours, theirs, (axis,), ranges).obstacle("d0 < 0") or fused

    def apply(self, m: Match, plan: Range, rw: Rewriter) -> Loop:
        """Return the fused loop, which is the first one."""
        first, second = m[self.first], m[self.second]
        ranges = rw.uses.ranges_at(first).bind(first.param, plan.start, plan.stop - 1)
        mine = _condition(first.param, first.range, ranges)
        its = _condition(first.param, _later(second.range, self.shift), ranges)
        rw.substitute_symbols({second.param: sym(first.param) - self.shift}, within=second.body)
        _guard(first.body, mine, rw)
        _guard(second.body, its, rw)
        rw.hoist_containers(second.body, first.body)
        rw.move_blocks(list(second.body.blocks), first.body)
        rw.update(first, range=plan)
        rw.forward(second, first)
        rw.erase(second)
        return first


def _later(values: Range, shift: int) -> Range:
    return Range(values.start + shift, values.stop + shift)


def _condition(param: str, values: Range, ranges: Ranges) -> ScalarExpr | None:
    """The condition that a value of the fused loop is in the range of one loop; None if all are."""
    tests = []
    if not ranges.proves_le(values.start, sym(param)):
        tests.append(op("le", Index(values.start), Index(sym(param))))
    if not ranges.proves_lt(sym(param), values.stop):
        tests.append(op("lt", Index(sym(param)), Index(values.stop)))
    return None if not tests else tests[0] if len(tests) == 1 else op("and", *tests)


def _guard(body: Region, condition: ScalarExpr | None, rw: Rewriter) -> None:
    """Guard a body by a condition."""
    if condition is None:
        return
    inside = Region()
    blocks = list(body.blocks)
    rw.insert(Branch([(condition, inside)]), body, 0)
    rw.hoist_containers(body, inside)
    rw.move_blocks(blocks, inside)
