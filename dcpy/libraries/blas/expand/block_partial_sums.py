"""Sums of products that several blocks add up: each leaves its part in memory, and parts are added up in their order.

So results have the same bits each time.
"""

from __future__ import annotations

from collections.abc import Callable

from dcpy.ir.expressions.scalar import ScalarExpr, cast, op
from dcpy.ir.schedules import SEQUENTIAL
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.ir.types import DType
from dcpy.libraries.api import Element, Fragment, Operand
from dcpy.libraries.blas.expand.product_contractions import scaled
from dcpy.libraries.blas.nodes import GemvPair


def product_in(dtype: DType) -> Callable[[ScalarExpr, ScalarExpr], ScalarExpr]:
    """A product in the dtype that sums have."""
    return lambda one, other: op("mul", cast(one, dtype), cast(other, dtype))


def zero(f: Fragment, dtype: DType) -> Element:
    """A new scalar that is 0."""
    own = f.scalar("own", dtype)
    f.put(own.at(), 0)
    return own.at()


def totals(node: GemvPair, f: Fragment, output: str, out: Operand, sums: Operand) -> None:
    """``out = alpha * total of each column of sums + beta * out``."""
    parts, size = sums.shape
    with f.map(Range(ZERO, size)) as i:
        acc = zero(f, sums.dtype)
        with f.map(Range(ZERO, parts), SEQUENTIAL, "p") as p:  # few, and neighbours are side by side: one kernel
            f.put(acc, sums.at(p, i), wcr="add")
        store(node, f, output, out, i, acc)


def store(node: GemvPair, f: Fragment, output: str, out: Operand, i: Expr, total: Element) -> None:
    """``out[i] = alpha * total + beta * out[i]``: with the factors and the summand that the product has."""
    names = [name for name in (f"alpha_{output}", f"beta_{output}") if name in node.inputs]
    sources = {"total": total, **{name: f.input(name).at() for name in names}}
    if output in node.inputs:
        sources[output] = f.input(output).at(i)

    def result(*refs: ScalarExpr) -> ScalarExpr:
        known = {name: cast(ref, out.dtype) for name, ref in zip(sources, refs, strict=True)}
        alpha, beta = getattr(node, f"alpha_{output}"), getattr(node, f"beta_{output}")
        found = scaled(known["total"], alpha, known.get(f"alpha_{output}"))
        if output not in known:
            return found
        return op("add", found, scaled(known[output], beta, known.get(f"beta_{output}")))

    f.compute(out.at(i), result, *sources.values())
