"""Products as maps without schedules: what any target can fuse with its neighbours, and then schedule."""

from __future__ import annotations

from dcpy.ir import types
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import ScalarExpr, cast, op
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO
from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.blas.expand.pure import Factor, updating
from dcpy.libraries.blas.nodes import Gemv
from dcpy.libraries.contraction import accumulator_dtype


@expands(Gemv, "maps")
def gemv(node: Gemv, f: Fragment) -> None:
    """A map over the rows around one over the products of each."""
    a, x, y = Factor(f.input("a"), node.trans_a), Factor(f.input("x")), f.output("y")
    add, multiply = ("or", "and") if y.dtype == types.bool_ else ("add", "mul")
    dtype = accumulator_dtype(add, y.dtype)

    def product(left: ScalarExpr, right: ScalarExpr) -> ScalarExpr:
        return op(multiply, cast(left, dtype), cast(right, dtype))

    with f.map(Range(ZERO, a.shape[0])) as i:
        acc = f.scalar("acc", dtype)
        f.put(acc.at(), identity_value(add, dtype))
        with f.map(Range(ZERO, a.shape[1]), param="k") as k:
            f.compute(acc.at(), product, a.at_dims(0, 1)((i, k)), x.at_dims(0)((k,)), wcr=add)
        updating(node, f, y, "y")(f, (i,), acc.at())
