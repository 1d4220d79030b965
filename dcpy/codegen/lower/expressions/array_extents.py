"""Array extents: how many elements arrays have, strides considered."""

from __future__ import annotations

from dcpy.codegen.lir.expr import LirExpr
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.expressions.size_arithmetic import checked, checked_product
from dcpy.ir.data import Array, Scalar
from dcpy.ir.symbolic import ONE, Expr, max_of, product_of


def buffer_size(context: Context, desc: Array) -> LirExpr:
    """Return the number of elements in the buffer of an array; a size that may be negative counts as 0."""
    if desc.axes is not None:
        return checked_product(context, desc.shape)
    return checked(context, max_of(extent(desc), 0))


def extent(desc: Scalar | Array) -> Expr:
    """Elements from the first to the last one, strides considered."""
    if isinstance(desc, Scalar) or desc.axes is not None:
        return product_of(*desc.shape)
    last = ONE
    for size, stride in zip(desc.shape, desc.strides, strict=True):
        last = last + (size - 1) * stride
    return last
