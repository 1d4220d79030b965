"""ExtremumReduction: ``if x > m: m = x`` in a loop is a maximum (idiom recognition)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import leavers
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dependence.element_interference import may_access
from dcpy.ir.data import Array, Scalar
from dcpy.ir.expressions.identities import extreme_value
from dcpy.ir.expressions.scalar import Const, Load, Ref, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Tasklet
from dcpy.ir.region import Branch, Loop, Region, State
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import is_inside, owners_around
from dcpy.transforms.api import Capture, Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.kept_extrema import Extremum, extremum_of


@dataclass(frozen=True)
class ExtremumReduction(Transformation["tuple[Extremum, Loop]"]):
    """Turn a branch that keeps the largest (or smallest) value into a reduction into a variable of the loop.

    before   loop i = 0:N { if A[i] > m { m = A[i] } }     after   best = -inf
                                                                   loop i = 0:N { best (max)= A[i] }
                                                                   if best > m { m = best }

    So with ``m = select(A[i] > m, A[i], m)``, which is what ``m = max(m, A[i])`` does. A NaN is never larger: it counts
    as -inf, and an ``m`` that is NaN stays NaN, as with the branch. Which of two zeros with different signs is kept may
    change. Applies when nothing else in the loop touches ``m``, which is one element in all iterations (others of its
    array may be read), and nothing leaves the loop early.
    """

    name: ClassVar[str] = "extremum-reduction"
    branch: ClassVar[Capture[Branch | Tasklet]] = capture(Branch, Tasklet)
    pattern = one(branch)

    def plan(self, m: Match) -> tuple[Extremum, Loop] | Refusal:
        """The updated element, and its loop. Refuses other branches, with the reason."""
        branch, uses = m[self.branch], m.uses
        found = extremum_of(branch, uses)
        if found is None:
            return Refusal("it does not assign what it found to be larger, or smaller, than the variable")
        loop = _loop_around(branch, found)
        if loop is None:
            return Refusal("no loop around it keeps one element")
        if any(leavers(loop.body)):
            return Refusal("something inside may leave the loop early")
        return _why_not(found, loop, uses) or (found, loop)

    def apply(self, m: Match, plan: tuple[Extremum, Loop], rw: Rewriter) -> None:
        branch, (found, loop) = m[self.branch], plan
        dtype = found.value.dtype
        best = rw.declare_fresh("best", Scalar(dtype, transient=True), loop.region)
        whole = Memlet(best, Subset())
        worst = Const(extreme_value(found.kind, dtype), dtype)
        value = found.code
        if dtype.is_inexact:
            value = op("select", op("eq", value, value), value, worst)
        step = Tasklet(found.inputs, {"out": replace(whole, wcr=found.kind)}, (("out", value),), span=branch.span)
        rw.replace(branch, step if isinstance(branch, Tasklet) else State(nodes=[step], span=branch.span))
        if found.copy is not None:
            rw.erase(found.copy)
        start = Tasklet({}, {"out": whole}, (("out", worst),), span=loop.span)
        keep = Tasklet({"x": whole}, {"out": found.kept}, (("out", Ref("x", dtype)),), span=branch.span)
        kept = Load(found.kept.container, found.kept.subset.indices, dtype)
        condition = op(found.comparison, Load(best, (), dtype), kept)
        rw.insert_before(loop, State(nodes=[start], span=loop.span))
        rw.insert_after(loop, Branch([(condition, Region([State(nodes=[keep])]))], span=branch.span))


def _loop_around(branch: Branch | Tasklet, found: Extremum) -> Loop | None:
    """The loop directly around a branch, if the branch updates the same element in all iterations."""
    owner = next(owners_around(branch), None)
    if not isinstance(owner, Loop) or owner.region is None:
        return None
    changing = {owner.param, *symbols_assigned_in(owner.body)}
    return owner if changing.isdisjoint(found.kept.subset.symbols) else None


def _why_not(found: Extremum, loop: Loop, uses: Uses) -> Refusal | None:
    """Another access to the updated element; None if there is none."""
    desc = uses.desc(found.kept.container)
    if not isinstance(desc, Scalar | Array) or desc.dtype != found.value.dtype:
        return Refusal(f"{found.kept.container!r} is no array of that dtype")
    for name in uses.overlapping(found.kept.container):
        for accessor in uses.accessors(name):
            is_own = accessor in found.own
            if is_inside(accessor, loop.body) and may_access(accessor, found.kept, loop, uses, is_own=is_own):
                if is_own:
                    return Refusal("the value is computed from what is kept")
                return Refusal(f"{name!r} is also touched by {accessor.kind} in the loop", (accessor,))
    return None
