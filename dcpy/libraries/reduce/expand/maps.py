"""Reductions as maps without schedules: what any target can fuse with its neighbours, and then schedule."""

from __future__ import annotations

from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO
from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.contraction import accumulator_dtype, innermost
from dcpy.libraries.reduce.nodes import Reduce


@expands(Reduce, "maps")
def reduce_maps(node: Reduce, f: Fragment) -> None:
    """A map over the results around one over what each of them combines. Only for results that are sums of rows."""
    x, out = f.input("x"), f.output("out")
    axes = tuple(sorted(node.axes))
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    if not kept or not axes:
        f.decline("it has one result, or nothing to combine: there is no nest to fuse with")
    if innermost(x.shape, x.strides) in kept:
        f.decline("its results lie side by side: whole rows are combined at a time")
    dtype = accumulator_dtype(node.op, out.dtype)
    with f.maps([Range(ZERO, x.shape[axis]) for axis in kept]) as outer:
        acc = f.scalar("acc", dtype)
        f.put(acc.at(), identity_value(node.op, dtype))
        with f.maps([Range(ZERO, x.shape[axis]) for axis in axes], param="k") as inner:
            place = dict(zip([*kept, *axes], [*outer, *inner], strict=True))
            f.put(acc.at(), x.at(*(place[axis] for axis in range(len(x.shape)))), wcr=node.op)
        f.put(out.at(*outer), acc.at())
