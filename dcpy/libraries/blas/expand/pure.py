"""Products of matrices and vectors as loops: for every dtype, everywhere.

Each is a contraction; `libraries.contraction` orders the loops so that the innermost one runs along memory: i-k-j for
matrices in C order. The loops are also what the cblas expansions fall back to (`libraries.blas.expand.cblas`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dcpy.ir import types
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op
from dcpy.ir.nodes import Node
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.ir.types import DType
from dcpy.libraries.api import Element, Fragment, Operand, expands
from dcpy.libraries.blas.nodes import Dot, Gemm, Gemv, Ger
from dcpy.libraries.contraction import Contraction, Indices, accumulator_dtype, contract, innermost, short_dtype

Store = Callable[[Fragment, Indices, Element], Node]


@expands(Gemm, "pure")
def gemm(node: Gemm, f: Fragment) -> None:
    """Loops over rows, the summed dimension, columns."""
    gemm_loops(node, f, f.output("c"))


@expands(Gemv, "pure")
def gemv(node: Gemv, f: Fragment) -> None:
    """A dot product per row, or a sum of columns, whichever runs along memory."""
    gemv_loops(node, f, f.output("y"))


@expands(Dot, "pure")
def dot(node: Dot, f: Fragment) -> None:
    """A sum of products, in parallel blocks."""
    dot_loops(node, f, f.output("result"))


@expands(Ger, "pure")
def ger(node: Ger, f: Fragment) -> None:
    """One product per element."""
    ger_loops(node, f, f.output("a"))


def gemm_loops(node: Gemm, f: Fragment, c: Operand) -> None:
    """``c[i, j]``, summed over k."""
    a, b = Factor(f.input("a"), node.trans_a), Factor(f.input("b"), node.trans_b)
    sizes = (*a.shape, b.shape[1])  # i, k, j
    strides = ((*a.strides, ZERO), (ZERO, *b.strides))
    _contract(f, sizes, (1,), strides, a.at_dims(0, 1), b.at_dims(1, 2), c.dtype, updating(node, f, c, "c"))


def gemv_loops(node: Gemv, f: Fragment, y: Operand) -> None:
    """``y[i]``, summed over k."""
    a, x = Factor(f.input("a"), node.trans_a), Factor(f.input("x"))
    strides = (a.strides, (ZERO, *x.strides))
    _contract(f, a.shape, (1,), strides, a.at_dims(0, 1), x.at_dims(1), y.dtype, updating(node, f, y, "y"))


def dot_loops(node: Dot, f: Fragment, result: Operand) -> None:
    """``result``, summed over k."""
    x, y = Factor(f.input("x")), Factor(f.input("y"))
    store = updating(node, f, result, "")
    _contract(f, x.shape, (0,), (x.strides, y.strides), x.at_dims(0), y.at_dims(0), result.dtype, store)


def ger_loops(node: Ger, f: Fragment, a: Operand) -> None:
    """``a[i, j]``, nothing summed."""
    x, y = Factor(f.input("x")), Factor(f.input("y"))
    sizes = (*x.shape, *y.shape)
    _contract(f, sizes, (), (), x.at_dims(0), y.at_dims(1), a.dtype, updating(node, f, a, "a"))


class Factor:
    """An operand of a product, perhaps transposed, indexed by the dimensions of the contraction."""

    def __init__(self, operand: Operand, is_transposed: bool = False) -> None:
        order = slice(None, None, -1 if is_transposed else 1)
        self.operand, self.order = operand, order
        self.shape: tuple[Expr, ...] = operand.shape[order]
        self.strides: tuple[Expr, ...] = operand.strides[order]

    def at_dims(self, *dims: int) -> Callable[[Indices], Element]:
        """The element at the given dimensions of a contraction's indices."""
        return lambda indices: self.operand.at(*[indices[dim] for dim in dims][self.order])


def updating(node: Gemm | Gemv | Ger | Dot, f: Fragment, out: Operand, summand: str) -> Store:
    """Stores ``alpha * value + beta * summand``: with the factors and the summand that the node has."""

    def store(f: Fragment, kept: Indices, value: Element) -> Node:
        sources = {"value": value}
        for scalar in ("alpha", "beta"):
            if scalar in node.inputs:
                sources[scalar] = f.input(scalar).at()
        if summand in node.inputs:
            sources[summand] = f.input(summand).at(*kept)

        def total(*refs: ScalarExpr) -> ScalarExpr:
            known = {name: cast(ref, out.dtype) for name, ref in zip(sources, refs, strict=True)}
            result = scaled(known["value"], getattr(node, "alpha", 1), known.get("alpha"))
            if summand in known:
                added = scaled(known[summand], getattr(node, "beta", 1), known.get("beta"))
                result = op("add", result, added)
            return result

        return f.compute(out.at(*kept), total, *sources.values())

    return store


def scaled(value: ScalarExpr, number: complex, factor: ScalarExpr | None = None) -> ScalarExpr:
    """``number * factor * value``, without the factors that are 1 or missing."""
    if factor is not None:
        value = op("mul", factor, value)
    return value if number == 1 else op("mul", Const(number, value.dtype), value)


def _contract(
    f: Fragment,
    sizes: Sequence[Expr],
    summed: tuple[int, ...],
    strides: Sequence[Sequence[Expr]],
    left: Callable[[Indices], Element],
    right: Callable[[Indices], Element],
    dtype: DType,
    store: Store,
) -> None:
    add, multiply = ("or", "and") if dtype == types.bool_ else ("add", "mul")
    accumulator, inner = accumulator_dtype(add, dtype), innermost(sizes, *strides)
    short = short_dtype(dtype, accumulator)
    factor = short or accumulator

    def element(f: Fragment, target: Element, indices: Indices, wcr: str) -> Node:
        def product(a: ScalarExpr, b: ScalarExpr) -> ScalarExpr:
            return op(multiply, cast(a, factor), cast(b, factor))

        return f.compute(target, product, left(indices), right(indices), wcr=wcr)

    contract(
        f,
        Contraction(
            tuple(sizes),
            summed,
            inner,
            add,
            accumulator,
            identity_value(add, accumulator),
            element,
            store,
            short,
        ),
    )
