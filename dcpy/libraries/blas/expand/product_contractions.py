"""Contractions of products: sizes, summed dimensions, and stored values of products of matrices and vectors.

`maps` and `cpu` beside this module write them as loops; the cblas expansions fall back to those of `cpu`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dcpy.ir import types
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op
from dcpy.ir.nodes import Node
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.ir.types import DType
from dcpy.libraries.api import Element, Fragment, Operand
from dcpy.libraries.blas.nodes import Dot, Gemm, Gemv, Ger
from dcpy.libraries.contraction.contraction import Contraction, Indices, accumulator_dtype, innermost, short_dtype

Store = Callable[[Fragment, Indices, Element], Node]


def gemm(node: Gemm, f: Fragment, c: Operand, *, short: bool = False) -> Contraction:
    """``c[i, j]``, summed over k. Where `short`, products of short floats are taken as they are."""
    a, b = ContractionOperand(f.input("a"), node.trans_a), ContractionOperand(f.input("b"), node.trans_b)
    sizes = (*a.shape, b.shape[1])  # i, k, j
    strides = ((*a.strides, ZERO), (ZERO, *b.strides))
    factors = (a.at_dims(0, 1), b.at_dims(1, 2))
    return _product(sizes, (1,), strides, factors, c.dtype, updating(node, f, c, "c"), short)


def gemv(node: Gemv, f: Fragment, y: Operand, *, short: bool = False) -> Contraction:
    """``y[i]``, summed over k."""
    a, x = ContractionOperand(f.input("a"), node.trans_a), ContractionOperand(f.input("x"))
    strides = (a.strides, (ZERO, *x.strides))
    factors = (a.at_dims(0, 1), x.at_dims(1))
    return _product(a.shape, (1,), strides, factors, y.dtype, updating(node, f, y, "y"), short)


def dot(node: Dot, f: Fragment, result: Operand, *, short: bool = False) -> Contraction:
    """``result``, summed over k."""
    x, y = ContractionOperand(f.input("x")), ContractionOperand(f.input("y"))
    factors = (x.at_dims(0), y.at_dims(0))
    store = updating(node, f, result, "")
    return _product(x.shape, (0,), (x.strides, y.strides), factors, result.dtype, store, short)


def ger(node: Ger, f: Fragment, a: Operand) -> Contraction:
    """``a[i, j]``, nothing summed."""
    x, y = ContractionOperand(f.input("x")), ContractionOperand(f.input("y"))
    factors = (x.at_dims(0), y.at_dims(1))
    return _product((*x.shape, *y.shape), (), (), factors, a.dtype, updating(node, f, a, "a"))


class ContractionOperand:
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


def _product(
    sizes: Sequence[Expr],
    summed: tuple[int, ...],
    strides: Sequence[Sequence[Expr]],
    factors: tuple[Callable[[Indices], Element], Callable[[Indices], Element]],
    dtype: DType,
    store: Store,
    is_short: bool = False,
) -> Contraction:
    add, multiply = ("or", "and") if dtype == types.bool_ else ("add", "mul")
    accumulator, inner = accumulator_dtype(add, dtype) if summed else dtype, innermost(sizes, *strides)
    short = short_dtype(dtype, accumulator) if is_short else None
    factor = short or accumulator

    def element(f: Fragment, target: Element, indices: Indices, wcr: str) -> Node:
        def product(a: ScalarExpr, b: ScalarExpr) -> ScalarExpr:
            return op(multiply, cast(a, factor), cast(b, factor))

        return f.compute(target, product, *(one(indices) for one in factors), wcr=wcr)

    identity = identity_value(add, accumulator)
    return Contraction(tuple(sizes), summed, inner, add, accumulator, identity, element, store, short)
