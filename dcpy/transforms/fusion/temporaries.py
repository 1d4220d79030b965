"""Privatization: temporaries between fused maps become private to an iteration, with the dimensions needed there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Scalar, packed_strides
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Load, ScalarExpr, rewrite
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import is_inside

KEEP = "; keep_intermediate=True fuses and stores it"


def needed_elsewhere(tmp: str, maps: Sequence[Map], uses: Uses) -> Refusal | None:
    """The reason that the temporary is needed outside of the maps; None if it is not."""
    if not uses.is_private(tmp) or not isinstance(uses.desc(tmp), Array) or len(uses.overlapping(tmp)) > 1:
        return Refusal(f"{tmp!r} must stay in memory: it is an argument, a result, or has views{KEEP}")
    inside = [node.body for node in maps]
    for accessor in uses.accessors(tmp):
        if all(not is_inside(accessor, body) for body in inside):
            return Refusal(f"{tmp!r} is used by other statements, too{KEEP}", (accessor,))
    return None


def is_fixed(axis: int, subsets: Sequence[Subset | None], inner: set[str]) -> bool:
    """Return whether all accesses have the same index along a dimension, constant in an iteration."""
    dims = {None if subset is None else subset.dims[axis] for subset in subsets}
    return len(dims) == 1 and all(isinstance(dim, Expr) and inner.isdisjoint(dim.symbols) for dim in dims)


def shrink(tmp: str, kept: tuple[int, ...], node: Map | Loop, rw: Rewriter) -> None:
    """Make the temporary private to the body of a map or loop, with only the dimensions that vary inside."""

    def shrunk(subset: Subset) -> Subset:
        return Subset(tuple(subset.dims[axis] for axis in kept))

    def shrink_memlet(memlet: Memlet) -> Memlet:
        return replace(memlet, subset=shrunk(memlet.subset)) if memlet.container == tmp else memlet

    def shrink_load(part: ScalarExpr) -> ScalarExpr | None:
        if isinstance(part, Load) and part.container == tmp:
            return replace(part, indices=tuple(part.indices[axis] for axis in kept))
        return None

    for accessor in rw.uses.accessors(tmp):
        if isinstance(accessor, Node):
            rw.replace_memlets(accessor, shrink_memlet)
        else:
            rw.rewrite_exprs(accessor, lambda expr: rewrite(expr, shrink_load))
    desc = rw.uses.desc(tmp)
    if isinstance(desc, Array):  # the plan saw to it
        shape = tuple(desc.shape[axis] for axis in kept)
        small = Scalar(desc.dtype, transient=True, allocation=desc.allocation, span=desc.span)
        rw.privatize(tmp, node.body, replace(desc, shape=shape, strides=packed_strides(shape)) if kept else small)
