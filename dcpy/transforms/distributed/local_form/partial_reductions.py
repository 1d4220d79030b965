"""Partial reductions: copies of arrays of which ranks hold partial sums, as MPI's allreduce and reduce-scatter.

To a root, parts go as messages, and are combined there: it is the only one that waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from dcpy.ir.data import Array, Data
from dcpy.ir.distribution import Blocked, Distribution, Partial, Root, Section
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Node
from dcpy.ir.region import State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.ir.tree import region_of


class ReducedPart(Protocol):
    """A rank's part of a container."""

    @property
    def where(self) -> Distribution: ...
    @property
    def shape(self) -> tuple[Expr, ...]: ...
    @property
    def desc(self) -> Data: ...


def is_combined(where: Distribution, target: Distribution | None) -> bool:
    """Return whether ranks have parts that are combined on several ranks, and not at a root alone."""
    at_root = target is not None and any(isinstance(part, Root) for part in target.rest)
    return not at_root and any(isinstance(part, Partial) for part in where.rest)


def combine_parts(node: Copy, locals_: Mapping[str, ReducedPart], rw: Rewriter) -> None:
    """Replace a copy out of parts: those along axes of the grid are combined there, and go where the target is.

    A collective of the grid reaches its ranks alone; where others have copies, too, they get them by a copy behind it.
    """
    source, target = locals_[node.src.container], locals_.get(node.dst.container)
    parts = [part for part in source.where.rest if isinstance(part, Partial)]
    others = tuple(part for part in source.where.rest if not isinstance(part, Partial))
    group = {"op": parts[0].op, "grid": source.where.grid, "span": node.span}
    along = tuple(sorted(part.axis for part in parts))
    minus, x = replace(source.where, rest=others, halo=()), _all_of(node.src.container, source)
    whole = node.src.subset == Subset.whole(source.shape) and not node.dst.wcr
    whole = whole and target is not None and node.dst.subset == Subset.whole(target.shape)
    if whole and target is not None:
        out = _all_of(node.dst.container, target)
        if target.where == minus:
            rw.replace(node, _node("comm.allreduce", x, out, along=along, **group))
            return
        if len(parts) == 1 and _is_dealt_out(minus, target.where, along[0]):
            rw.replace(node, _node("comm.reduce_scatter", x, out, along=along, **group))
            return
    total = _total(node, source, rw)
    rw.add_node_before(node, _node("comm.allreduce", x, total, along=along, **group))
    rw.replace(node, _to_target(node, total, minus, source, target, rw))


def _node(kind: str, x: Memlet, out: Memlet, **fields: object) -> Node:
    return LIBRARY_KINDS[kind](inputs={"x": x}, outputs={"out": out}, **fields)  # type: ignore[arg-type]


def _all_of(name: str, local: ReducedPart) -> Memlet:
    assert isinstance(local.desc, Array)  # what is distributed, and no view
    return Memlet(name, Subset.whole(local.desc.shape))


def _is_dealt_out(minus: Distribution, target: Distribution, axis: int) -> bool:
    """Return whether rows of what is combined are in blocks along the axis, one for each rank, and all else is the
    same.
    """
    first = target.axes[0] if target.axes else None
    rows = isinstance(first, Blocked) and first.axis == axis and first.offset is ZERO and minus.axes[0] is None
    return rows and replace(target, axes=(None, *target.axes[1:])) == minus


def _total(node: Copy, source: ReducedPart, rw: Rewriter) -> Memlet:
    """Room for what is combined, on each rank."""
    assert isinstance(source.desc, Array)  # what is distributed, and no view
    assert isinstance(node.state, State)  # nodes are in states
    made = Array.packed(source.desc.dtype, source.desc.shape, transient=True)
    return Memlet(rw.declare_fresh(f"{node.src.container}_sum", made, region_of(node.state)), Subset.whole(made.shape))


def _to_target(
    node: Copy, total: Memlet, minus: Distribution, source: ReducedPart, target: ReducedPart | None, rw: Rewriter
) -> Node:
    """The copy behind it: of what each rank has, if the target is there; else a message."""
    name, same = node.dst.container, node.src.subset == node.dst.subset == Subset.whole(source.shape)
    if target is not None and target.where == minus and same and not minus.rest:
        return Copy(total, replace(_all_of(name, target), wcr=node.dst.wcr), span=node.span)
    shape = rw.uses.desc(name).shape if target is None else target.shape
    out = Memlet(name, Subset.whole(shape)) if target is None else _all_of(name, target)
    return LIBRARY_KINDS["comm.copy"](
        inputs={"src": total}, outputs={"dst": out}, source=Section(source.shape, node.src.subset, minus),
        target=Section(shape, node.dst.subset, None if target is None else target.where), wcr=node.dst.wcr,
        span=node.span,
    )  # type: ignore[call-arg]  # fmt: skip
