"""Positions of the extrema of columns in one pass: a row of extrema, and a row of where they are."""

from __future__ import annotations

from dcpy.ir import types
from dcpy.ir.expressions.identities import extreme_value
from dcpy.ir.expressions.scalar import Index, ScalarExpr, op
from dcpy.ir.schedules import VECTOR
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, as_expr, min_of
from dcpy.libraries.contraction.contraction import innermost
from dcpy.libraries.fragment import Fragment, Operand

TILE = 512  #: columns whose extrema and positions stay in the first-level cache, beside the elements of a row


def argreduce_columns(f: Fragment, operation: str, x: Operand, axis: int, out: Operand) -> None:
    """Tiles of columns: each element that is better than all above takes their place; the first NaN is best."""
    inner = innermost(x.shape, x.strides)
    others = [dim for dim in range(len(x.shape)) if dim not in (axis, inner)]
    columns = Range(ZERO, x.shape[inner], as_expr(TILE))
    with f.maps([*(Range(ZERO, x.shape[dim]) for dim in others), columns]) as (*fixed, start):
        lanes = Range(start, min_of(start + TILE, x.shape[inner]))
        best, first = f.array("best", x.dtype, (as_expr(TILE),)), f.array("first", types.int64, (as_expr(TILE),))
        with f.map(lanes, VECTOR, "j") as j:
            f.put(best.at(j - start), extreme_value(operation, x.dtype))
            f.put(first.at(j - start), 0)
        with f.loop(Range(ZERO, x.shape[axis]), "k") as k, f.map(lanes, VECTOR, "j") as j:
            place = {**dict(zip(others, fixed, strict=True)), axis: k, inner: j}
            element = x.at(*(place[dim] for dim in range(len(x.shape))))

            def chosen(new: ScalarExpr, old: ScalarExpr, a: ScalarExpr, b: ScalarExpr) -> ScalarExpr:
                better = op("lt" if operation == "min" else "gt", a, b)
                if a.dtype.is_inexact:
                    better = op("or", better, op("and", op("ne", a, a), op("eq", b, b)))
                return op("select", better, new, old)

            own, mine = best.at(j - start), first.at(j - start)
            f.compute(mine, lambda a, b, p, k=k: chosen(Index(k, types.int64), p, a, b), element, own, mine)
            f.compute(own, lambda a, b: chosen(a, b, a, b), element, own)
        with f.map(lanes, VECTOR, "j") as j:
            place = {**dict(zip(others, fixed, strict=True)), inner: j}
            f.put(out.at(*(place[dim] for dim in range(len(x.shape)) if dim != axis)), first.at(j - start))
