"""PlaceTemporaries: what is computed from distributed arrays lives where they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.distributed.ownership import shifted
from dcpy.ir.data import Array, View
from dcpy.ir.distribution import Axis, Distribution
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map, Node
from dcpy.transforms.distributed.accesses import NodeAccess, anchors_of, node_accesses, outermost_nodes
from dcpy.transforms.distributed.resolved_placement import holds_all, placed, shown_by
from dcpy.transforms.passes import GraphPass

Dealt = dict[str, tuple[str, Axis]]  # of a label: the grid, and how its values are dealt out


@dataclass(frozen=True)
class PlaceTemporaries(GraphPass):
    """Gives temporaries the distribution of the operands that they are computed from.

    before   A: f64[N, K] on g(block 0, whole)            after   t: f64[N, M] transient on g(block 0, whole)
             t: f64[N, M] transient;  blas.matmul A, B -> t

    A dimension follows what has the same index: a parameter of a map, or a label of a library node. Of operands that
    are dealt out otherwise, the first one counts, results before what is read. Arguments stay where they are.
    """

    name: ClassVar[str] = "place-temporaries"

    def decide(self, rw: Rewriter) -> None:
        """Decide as often as something new is placed: from a result, what it is computed from may follow.

        Shifts by known numbers come first: what is shifted by another number is aligned with little else.
        """
        nodes = [node for _, node in outermost_nodes(rw.sdfg)]
        for known in (True, False):
            while any([_place_written(node, known, rw) for node in nodes]):
                pass


def _place_written(node: Node, known: bool, rw: Rewriter) -> bool:
    accesses = node_accesses(node, rw.uses)
    labels = node.params if isinstance(node, Map) else ()
    changed = False
    for access in accesses:
        where = _followed(access, labels, accesses, known, rw.uses) if access.is_write else None
        name = access.container
        if where is not None and isinstance(rw.uses.desc(name), View):
            name, where = _base_of(name, where, rw.uses)
        desc = rw.uses.desc(name)
        if where is not None and isinstance(desc, Array):
            rw.redeclare(name, replace(desc, distribution=where))
            changed = True
    return changed


def _base_of(name: str, wanted: Distribution, uses: Uses) -> tuple[str, Distribution | None]:
    """Return a view's base, and the distribution that gives the view `wanted`: that of an array of the same shape."""
    view = uses.desc(name)
    assert isinstance(view, View)  # the caller has looked
    shape = uses.desc(view.of).shape
    for other in uses.containers():
        where = placed(other, uses) if uses.desc(other).shape == shape else None
        if isinstance(where, Distribution) and not where.rest:
            plain = where.without_halo()
            if shown_by(name, view, plain, uses) == wanted:
                return view.of, plain
    return view.of, None


def _followed(
    access: NodeAccess, labels: Sequence[str], accesses: Sequence[NodeAccess], known: bool, uses: Uses
) -> Distribution | None:
    """Return the distribution of an access's result as the operands have it; with `known`, by constant shifts only."""
    desc = uses.desc(access.container)
    kept = uses.desc(desc.of) if isinstance(desc, View) else desc
    if not isinstance(kept, Array) or not kept.transient or kept.distribution is not None or access.memlet.wcr:
        return None
    dealt = _dealt(accesses, labels, uses)
    grid, axes = "", list[Axis]()
    for anchor, size in zip(anchors_of(access, tuple(labels)), desc.shape, strict=True):
        its, axis = dealt.get(anchor.label, ("", None)) if anchor is not None else ("", None)
        if anchor is None or axis is None or anchor.low is not anchor.high or grid not in ("", its):
            axes.append(None)
            continue
        moved = shifted(axis, -anchor.low)
        taken = any(other is not None and other.axis == axis.axis for other in axes)
        if known and moved is not None and moved.offset.constant is None:
            return None
        fits = moved is not None and holds_all(moved, size, its, uses)
        axes.append(None if taken or not fits else moved)
        grid = its if axes[-1] is not None else grid
    return Distribution(grid, tuple(axes)) if grid else None


def _dealt(accesses: Sequence[NodeAccess], labels: Sequence[str], uses: Uses) -> Dealt:
    """Return the distribution of the values of each label, as the operands have it."""
    found: Dealt = {}
    for access in sorted(accesses, key=lambda access: not access.is_write):
        where = placed(access.container, uses)
        if not isinstance(where, Distribution) or where.rest:
            continue
        for axis, anchor in zip(where.axes, anchors_of(access, tuple(labels)), strict=True):
            if axis is not None and anchor is not None and anchor.low is anchor.high:
                found.setdefault(anchor.label, (where.grid, shifted(axis, anchor.low)))
    return found
