"""Reductions as maps without schedules: what any target can fuse with its neighbours, and then schedule."""

from __future__ import annotations

from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.contraction import accumulator_dtype, innermost
from dcpy.libraries.reduce.nodes import Reduce


@expands(Reduce, "maps")
def reduce_maps(node: Reduce, f: Fragment) -> None:
    """A map over the results around one over what each of them combines.

    One result is that of the results of all rows, so that a map over the rows is there to be fused.
    """
    x, out = f.input("x"), f.output("out")
    axes = tuple(sorted(node.axes))
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    if kept or not axes:
        combined(node, f, x, kept, out)
    elif len(axes) == 1:
        f.decline("it has one result of one row: there is no nest to fuse with")
    else:
        inner = innermost(x.shape, x.strides)
        first = next(axis for axis in axes if axis != inner)
        dtype = accumulator_dtype(node.op, out.dtype)
        rows, total = f.array("rows", dtype, (x.shape[first],)), f.scalar("total", dtype)
        combined(node, f, x, [first], rows)
        f.add(Reduce({"x": rows.memlet}, {"out": total.memlet}, node.op, (0,)))
        f.put(out.at(), total.at())


def combined(node: Reduce, f: Fragment, x: Operand, kept: list[int], out: Operand) -> None:
    """Combines all but the dimensions that are `kept`."""
    axes = [axis for axis in range(len(x.shape)) if axis not in kept]
    dtype = accumulator_dtype(node.op, out.dtype)
    with f.maps([Range(ZERO, x.shape[axis]) for axis in kept]) as outer:
        acc = f.scalar("acc", dtype)
        f.put(acc.at(), identity_value(node.op, dtype))
        with f.maps([Range(ZERO, x.shape[axis]) for axis in axes], param="k") as inner:
            place = dict(zip([*kept, *axes], [*outer, *inner], strict=True))
            f.put(acc.at(), x.at(*(place[axis] for axis in range(len(x.shape)))), wcr=node.op)
        f.put(out.at(*outer), acc.at())
