"""Reductions as maps without schedules: what any target can fuse with its neighbours, and then schedule."""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir import types
from dcpy.ir.expressions.identities import extreme_value
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.contraction.contraction import Indices, accumulator_dtype, innermost
from dcpy.libraries.contraction.maps import contract
from dcpy.libraries.reduce.expand.reduction_contractions import (
    NOWHERE,
    counted,
    look,
    look_for_flag,
    put_found,
    reduction,
)
from dcpy.libraries.reduce.nodes import ArgReduce, Reduce


@expands(Reduce, "maps")
def reduce_maps(node: Reduce, f: Fragment) -> None:
    """A map over the results around one over what each of them combines.

    One result of several axes is that of the results of all rows, so that a map over the rows is there to be fused.
    """
    x, out = f.input("x"), f.output("out")
    axes = tuple(sorted(node.axes))
    if len(axes) < len(x.shape) or len(axes) < 2:
        contract(f, reduction(node.op, x, axes, out))
        return
    inner = innermost(x.shape, x.strides)
    first = next(axis for axis in axes if axis != inner)
    dtype = accumulator_dtype(node.op, out.dtype)
    rows, total = f.array("rows", dtype, (x.shape[first],)), f.scalar("total", dtype)
    contract(f, reduction(node.op, x, [axis for axis in axes if axis != first], rows))
    f.add(Reduce({"x": rows.memlet}, {"out": total.memlet}, node.op, (0,)))
    f.put(out.at(), total.at())


@expands(ArgReduce, "maps")
def argreduce_maps(node: ArgReduce, f: Fragment) -> None:
    """A map over the results around two: the extremum, then the first position that holds it (or a NaN).

    Of truth values the extremum is known beforehand, and one is left.
    """
    x, out = f.input("x"), f.output("out")
    axes = tuple(sorted(node.axes))
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    with f.maps([Range(ZERO, x.shape[axis]) for axis in kept]) as outer:
        if x.dtype == types.bool_:
            first = f.scalar("first", types.int64)
            f.put(first.at(), NOWHERE.value)
            with f.maps([Range(ZERO, x.shape[axis]) for axis in axes], param="k") as inner:
                indices = _in_order(kept, axes, outer, inner)
                look_for_flag(f, node.op, first.at(), x.at(*indices), counted(x, axes, indices))
            put_found(f, out.at(*outer), first.at())
            return
        best, first = f.scalar("best", x.dtype), f.scalar("first", types.int64)
        f.put(best.at(), extreme_value(node.op, x.dtype))
        f.put(first.at(), NOWHERE.value)
        for is_found in (False, True):
            with f.maps([Range(ZERO, x.shape[axis]) for axis in axes], param="k") as inner:
                indices = _in_order(kept, axes, outer, inner)
                if is_found:
                    look(f, first.at(), x.at(*indices), best.at(), counted(x, axes, indices), "min")
                else:
                    f.put(best.at(), x.at(*indices), wcr=node.op)
        f.put(out.at(*outer), first.at())


def _in_order(kept: Sequence[int], axes: Sequence[int], outer: Indices, inner: Indices) -> list[Expr]:
    """One index for each dimension of the operand."""
    place = dict(zip([*kept, *axes], [*outer, *inner], strict=True))
    return [place[axis] for axis in range(len(place))]
