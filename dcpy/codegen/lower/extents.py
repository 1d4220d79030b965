"""How many elements arrays have, strides considered."""

from __future__ import annotations

from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, integer, times
from dcpy.codegen.lir.types import INDEX
from dcpy.codegen.lower.context import Context
from dcpy.ir.data import Array, Scalar
from dcpy.ir.symbolic import ONE, Expr, max_of, product_of


def buffer_size(context: Context, desc: Array) -> LirExpr:
    """How many elements the buffer of an array has; a size that may be negative counts as 0."""
    if desc.axes is not None:
        total: LirExpr = integer(1)
        of_arrays = all(symbol in context.sdfg.sizes for size in desc.shape for symbol in size.symbols)
        for size in desc.shape:
            known = size if context.ranges.proves_nonneg(size) else max_of(size, 0)
            total = times(total, context.symbolic(known)) if of_arrays else _product(total, context.symbolic(known))
        return total
    return context.symbolic(max_of(extent(desc), 0))


def _product(left: LirExpr, right: LirExpr) -> LirExpr:
    """The product of sizes that may be any integers: given by the caller, or computed."""
    product = times(left, right)
    return Intrinsic("product_of_sizes", (left, right), INDEX) if product == Infix("*", left, right, INDEX) else product


def extent(desc: Scalar | Array) -> Expr:
    """Elements from the first to the last one, strides considered."""
    if isinstance(desc, Scalar) or desc.axes is not None:
        return product_of(*desc.shape)
    last = ONE
    for size, stride in zip(desc.shape, desc.strides, strict=True):
        last = last + (size - 1) * stride
    return last
