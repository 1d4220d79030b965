"""Locality check: whether a rank has the elements that a node accesses there; as a reason why not, for refusals and
copies.
"""

from __future__ import annotations

from collections.abc import Mapping

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.distribution import Axis, Cyclic, Distribution, Partial, Root
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Const
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Node, Tasklet
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ZERO
from dcpy.ir.tree import subtree
from dcpy.transforms.distributed.accesses import Anchor, NodeAccess, anchors_of
from dcpy.transforms.distributed.halos.halo_validity import Halo, Widths, valid_halos
from dcpy.transforms.distributed.resolved_placement import Home, Reach, reach_of, room_needed, roots_of


def locality_problem(access: NodeAccess, where: Distribution | None, home: Home, node: Node, uses: Uses) -> str:
    """Return why a rank that runs `node` lacks elements of a touch, or writes one of several copies; else ""."""
    if access.labels is not None and _is_dealt_otherwise(access, where, home):
        return "it is not dealt out as the others are"
    if where is None:
        return "each rank has a copy, and only one writes it" if access.is_write and home else ""
    if not access.memlet.subset.dims and where.axes:
        return "it is distributed"
    return _why_beyond(access, where, home, node, uses) or _why_not_alone(access, where, home, node)


def _why_beyond(access: NodeAccess, where: Distribution, home: Home, node: Node, uses: Uses) -> str:
    """Return why indices may be beyond the rank's elements."""
    rooms: list[tuple[int, int]] = []
    reach = reach_of(node)
    for dim, (axis, anchor) in enumerate(zip(where.axes, anchors_of(access, tuple(home)), strict=True)):
        room = _room(axis, anchor, home, reach)
        if room is None:
            return f"dimension {dim} is distributed, and {access.memlet.subset.dims[dim]} is not known to be there"
        if access.is_write and _room(axis, anchor, home, {}) != (0, 0):
            return f"along dimension {dim} it writes elements that other ranks own"
        rooms.append(room)
    needed = Halo(tuple(rooms), True)
    if not any(map(any, rooms)):
        return ""
    # What is only written needs room; that it is valid then follows from what is read.
    there = _halo_at(node, access.container, where, uses) if access.is_read else Halo(where.halo or _none(where), True)
    if there.covers(needed):
        return ""
    for dim, ((before, behind), (low, high)) in enumerate(zip(rooms, there.widths, strict=True)):
        if before > low or behind > high:
            return f"along dimension {dim} it reaches {max(before, behind)} elements beyond those of the rank"
    return "it reaches elements beyond those of the rank along two dimensions"


def _room(axis: Axis, anchor: Anchor | None, home: Home, reach: Reach) -> tuple[int, int] | None:
    if axis is None:
        return 0, 0
    if anchor is None or anchor.label not in home:
        return None
    return room_needed(axis, anchor, home[anchor.label], reach.get(anchor.label, (0, 0)))


def halo_needed(access: NodeAccess, where: Distribution, home: Home, reach: Reach) -> Halo | None:
    """Return the halo that a touch needs beyond the elements of a rank; None where that is not known."""
    anchors = anchors_of(access, tuple(home))
    rooms = [_room(axis, anchor, home, reach) for axis, anchor in zip(where.axes, anchors, strict=True)]
    known = tuple(room for room in rooms if room is not None)
    return Halo(known, sum(map(any, known)) > 1) if len(known) == len(rooms) else None


def _why_not_alone(access: NodeAccess, where: Distribution, home: Home, node: Node) -> str:
    """Return why other ranks have another value, or none."""
    partial = {part.axis: part.op for part in where.rest if isinstance(part, Partial)}
    dealt = {axis.axis for axis in home.values() if axis is not None}
    if access.is_write and not dealt <= {axis.axis for axis in where.axes if axis is not None} | set(partial):
        return "several ranks write it, each a copy of its own"
    if access.is_write and partial and (reason := _why_no_part(access, partial, dealt, node)):
        return reason
    if partial and access.is_read and not access.memlet.wcr:
        return "its value is still to be combined"
    roots = tuple(part for part in where.rest if isinstance(part, Root))
    return "only some ranks have it" if roots and roots != roots_of(node) else ""


def _why_no_part(access: NodeAccess, partial: Mapping[int, str], dealt: set[int], node: Node) -> str:
    """Return why a node's result is no rank's part of a combination, nor the identity that parts start from."""
    operation = access.memlet.wcr if access.labels is None else node.combination
    if access.labels is None and not operation:
        identity = all(_is_identity(node, access.memlet, op) for op in partial.values())
        return "" if identity and dealt.isdisjoint(partial) else "each rank would write it, and it would count for each"
    if any(op != operation for op in partial.values()):
        return f"a {node.kind} makes no parts of it that are combined so"
    return "" if partial.keys() <= dealt else "each rank would make all of it, and not a part"


def _is_identity(node: Node, written: Memlet, operation: str) -> bool:
    """Return whether a node writes just the identity of an operation there."""
    for part in subtree(node):
        outputs = part.outputs if isinstance(part, Tasklet) else {}
        for name, memlet in outputs.items():
            value = dict(part.code)[name] if memlet is written and isinstance(part, Tasklet) else None
            if isinstance(value, Const):
                return value == Const(identity_value(operation, value.dtype), value.dtype)
    return False


def _is_dealt_otherwise(access: NodeAccess, where: Distribution | None, home: Home) -> bool:
    """Return whether a label is dealt out cyclically, and an operand does not have just that in one piece on each rank.
    """
    for dim, anchor in enumerate(anchors_of(access, ())):
        dealt = anchor is not None and isinstance(home.get(anchor.label), Cyclic)
        if dealt and anchor is not None and (where is None or where.axes[dim] is None or anchor.low is not ZERO):
            return True
    return False


def _halo_at(node: Node, container: str, where: Distribution, uses: Uses) -> Halo:
    """Return the halo of a rank that is valid when a node begins."""
    nothing = Halo(_none(where))
    if not where.halo:
        return nothing
    if is_filled(container, uses):
        return Halo(where.halo, True)
    return valid_halos(uses).get(node, {}).get(container, nothing)


def _none(where: Distribution) -> Widths:
    return ((0, 0),) * len(where.axes)


def is_filled(container: str, uses: Uses) -> bool:
    """Return whether the halo of an array has the elements of the neighbours whenever it is read: only copies write it.
    """
    desc = uses.desc(container)
    if not isinstance(desc, Array) or not desc.transient or uses.views_of(container):
        return False
    whole = Subset.whole(desc.shape)
    return all(isinstance(writer, Copy) and writer.dst.subset == whole for writer in uses.writers(container))
