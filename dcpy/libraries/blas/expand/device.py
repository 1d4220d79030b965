"""Products for devices with many threads: a map over the results around one over the products that each adds up.

Nothing is tiled, nothing has a schedule: how results and sums are divided among blocks and threads is for the passes of
the target to decide.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir import types
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import ScalarExpr, cast, op
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.blas.expand.pure import Factor, ger_loops, updating
from dcpy.libraries.blas.nodes import Dot, Gemm, Ger
from dcpy.libraries.contraction import accumulator_dtype


@expands(Gemm, "device", on=("gpu",))
def gemm(node: Gemm, f: Fragment) -> None:
    """A map over rows and columns."""
    a, b = Factor(f.input("a"), node.trans_a), Factor(f.input("b"), node.trans_b)
    _products(node, f, f.output("c"), "c", (a.shape[0], b.shape[1]), a, b)


@expands(Dot, "device", on=("gpu",))
def dot(node: Dot, f: Fragment) -> None:
    """A map over the products: one sum."""
    _products(node, f, f.output("result"), "", (), Factor(f.input("x")), Factor(f.input("y")))


@expands(Ger, "device", on=("gpu",))
def ger(node: Ger, f: Fragment) -> None:
    """One product per element."""
    ger_loops(node, f, f.output("a"))


def _products(
    node: Gemm | Dot, f: Fragment, out: Operand, summand: str, kept: Sequence[Expr], left: Factor, right: Factor
) -> None:
    """``out[i, j] = sum(left[i, k] * right[k, j])``; without the dimensions that factors have none of."""
    add, multiply = ("or", "and") if out.dtype == types.bool_ else ("add", "mul")
    dtype = accumulator_dtype(add, out.dtype)

    def product(one: ScalarExpr, other: ScalarExpr) -> ScalarExpr:
        return op(multiply, cast(one, dtype), cast(other, dtype))

    with f.maps([Range(ZERO, size) for size in kept]) as place:
        acc = f.scalar("acc", dtype)
        f.put(acc.at(), identity_value(add, dtype))
        with f.map(Range(ZERO, left.shape[-1]), param="k") as k:
            row, column = (*place[:1], k), (k, *place[1:])
            mine, its = left.at_dims(*range(len(row)))(row), right.at_dims(*range(len(column)))(column)
            f.compute(acc.at(), product, mine, its, wcr=add)
        updating(node, f, out, summand)(f, place, acc.at())
