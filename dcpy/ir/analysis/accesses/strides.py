"""Strides: by how many elements an access moves from one iteration to the next."""

from __future__ import annotations

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Scalar, strides_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.symbolic import ZERO, Expr, as_expr


def step_of(memlet: Memlet, param: str, uses: Uses) -> Expr | None:
    """Elements by which an access moves where a parameter grows by one; None where that differs."""
    desc = uses.desc(memlet.container)
    step: Expr = ZERO
    if isinstance(desc, Scalar):
        return step
    for dim, stride in zip(memlet.subset.dims, strides_of(desc), strict=True):
        form = dim.linear_in(param) if isinstance(dim, Expr) else None
        if form is None:
            return None
        step = step + form[0] * as_expr(stride)
    return step
