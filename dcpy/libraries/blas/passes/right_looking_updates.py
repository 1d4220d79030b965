"""Right-looking updates: each element of a recurrence adds its contributions as soon as it is known (from left-looking
dots).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, strides_of
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Const, Ref, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Loop, Region, State
from dcpy.ir.schedules import VECTOR
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, Expr, Ranges, sym
from dcpy.libraries.blas.nodes import Dot
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class RightLookingUpdate:
    """The dot of a loop, its factor that the loop computes, and the other one, as elements ``[k]`` and ``[k, j]``."""

    dot: Dot
    known: Memlet  # at the loop's own index
    factor: Memlet
    axis: int  # of the factor, along which is summed


@dataclass(frozen=True)
class RightLookingUpdates(Transformation[RightLookingUpdate]):
    """Loop interchange of a forward substitution: from dots along columns to updates along rows.

    before   loop j = 0:N { dot (x <- X[0:j], y <- A[0:j, j]) -> (result -> t); X[j] = f(t) }
    after    sums[0:N] = 0
             loop j = 0:N { t = sums[j]; X[j] = f(t)
                            map p = j + 1:N { sums[p] = sums[p] + X[j]*A[j, p] } }

    Applies where the dot takes all that earlier iterations have computed, where an iteration writes its own element of
    that alone beside what is private to it, where the loop does not change the matrix, and where the rows of the matrix
    lie along memory, and columns do not. (Dongarra, Gustavson and Karp, Implementing Linear Algebra Algorithms for
    Dense Matrices on a Vector Pipeline Machine, 1984.)
    """

    name: ClassVar[str] = "right-looking-updates"
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> RightLookingUpdate | Refusal:
        """Return the updates to push, and their targets."""
        loop, uses = m[self.loop], m.uses
        match loop.body.blocks:
            case [State(nodes=[Dot() as dot, *rest])] if loop.range.step is ONE:
                pass
            case _:
                return Refusal("the body is not one state that begins with a dot")
        if not all(isinstance(node, Tasklet) for node in rest):
            return Refusal("there is more than tasklets behind the dot")
        if dot.outputs["result"].container not in loop.body.containers:
            return Refusal("the dot's result is seen outside of the iteration")
        ranges = uses.ranges_at(loop)
        if not ranges.proves_nonneg(loop.range.stop - loop.range.start):
            return Refusal(f"the range {loop.range} may be inside out")
        for ours, theirs in (("x", "y"), ("y", "x")):
            found = _push(dot, dot.inputs[ours], dot.inputs[theirs], loop, uses)
            if found is not None:
                return _changed(found, loop, uses, ranges) or found
        return Refusal("it is no product of what earlier iterations computed and columns of a matrix stored by rows")

    def apply(self, m: Match, plan: RightLookingUpdate, rw: Rewriter) -> Loop:
        """Return the loop."""
        loop, dot = m[self.loop], plan.dot
        state = dot.state
        assert state is not None
        assert loop.region is not None
        values, dtype = loop.range, rw.uses.desc(dot.outputs["result"].container).dtype
        sums = rw.declare_fresh("sums", Array.packed(dtype, (values.size,), transient=True), loop.region)

        def at(index: Expr) -> Memlet:
            return Memlet(sums, Subset.point(index - values.start))

        start, later = rw.fresh_name(loop.param), rw.fresh_name(loop.param)
        nothing = (("out", Const(identity_value("add", dtype), dtype)),)
        zero = Region([State(nodes=[Tasklet({}, {"out": at(sym(start))}, nothing, span=dot.span)])])
        rw.insert_before(loop, State(nodes=[Map((start,), (values,), zero, VECTOR, span=dot.span)]))
        sum_, known, factor = Ref("sum", dtype), Ref("known", dtype), Ref("factor", dtype)
        taken = Tasklet({"sum": at(sym(loop.param))}, {"out": dot.outputs["result"]}, (("out", sum_),), span=dot.span)
        rw.replace(dot, taken)
        row = _with(plan.factor.subset.subs({loop.param: sym(later)}), {plan.axis: sym(loop.param)})
        inputs = {"sum": at(sym(later)), "known": plan.known, "factor": replace(plan.factor, subset=row)}
        code = (("out", op("add", sum_, op("mul", known, factor))),)
        added = Tasklet(inputs, {"out": at(sym(later))}, code, span=dot.span)
        rest = Range(sym(loop.param) + 1, values.stop)
        rw.add_node(Map((later,), (rest,), Region([State(nodes=[added])]), VECTOR, span=dot.span), state)
        return loop


def _push(dot: Dot, ours: Memlet, theirs: Memlet, loop: Loop, uses: Uses) -> RightLookingUpdate | None:
    """Return whether one factor is what earlier iterations wrote, and the other one a column of a matrix stored by
    rows.
    """
    before, index = Range(loop.range.start, sym(loop.param)), sym(loop.param)
    (mine,), (axis,) = _ranges(ours), _ranges(theirs)
    moving = [at for at, dim in enumerate(ours.subset.dims) if at != mine and loop.param in dim.symbols]
    along = [at for at, dim in enumerate(theirs.subset.dims) if at != axis and loop.param in dim.symbols]
    if moving or len(along) != 1 or ours.subset.dims[mine] != before or theirs.subset.dims[axis] != before:
        return None
    column = theirs.subset.dims[along[0]]
    if column is not index or strides_of(uses.desc(theirs.container))[along[0]] is not ONE:
        return None
    return RightLookingUpdate(dot, replace(ours, subset=_with(ours.subset, {mine: index})), theirs, axis)


def _ranges(memlet: Memlet) -> list[int]:
    return [axis for axis, dim in enumerate(memlet.subset.dims) if isinstance(dim, Range)]


def _with(subset: Subset, dims: Mapping[int, DimSubset]) -> Subset:
    return Subset(tuple(dims.get(axis, dim) for axis, dim in enumerate(subset.dims)))


def _changed(push: RightLookingUpdate, loop: Loop, uses: Uses, ranges: Ranges) -> Refusal | None:
    """Return whether an iteration writes anything else of the factors than its own element of what the loop computes.
    """
    dtypes = {uses.desc(memlet.container).dtype for memlet in (push.known, push.factor, *push.dot.outputs.values())}
    if len(dtypes) > 1 or not next(iter(dtypes)).is_inexact:
        return Refusal("the operands have several dtypes, or are no floats")
    index = sym(loop.param)
    moving = {axis: loop.range for axis, dim in enumerate(push.factor.subset.dims) if dim is index}
    matrix = _with(push.factor.subset, {**moving, push.axis: loop.range})
    for node in loop.body.walk_nodes():
        for memlet in (memlet for memlet in node.writes() if memlet.container not in loop.body.containers):
            if memlet.container in uses.overlapping(push.known.container) and (
                memlet.wcr or (memlet.container, memlet.subset) != (push.known.container, push.known.subset)
            ):
                return Refusal(f"an iteration writes {memlet}, not just {push.known}", (node,))
            if memlet.container in uses.overlapping(push.factor.container):
                swept = _with(
                    memlet.subset, {axis: loop.range for axis, dim in enumerate(memlet.subset.dims) if dim is index}
                )
                fixed = loop.param not in swept.symbols and memlet.container == push.factor.container
                if not fixed or not swept.disjoint(matrix, ranges):
                    return Refusal(f"an iteration writes {memlet}, which may be part of {push.factor}", (node,))
    return None
