"""Halo depths: steps between two exchanges, and how many iterations of their neighbours ranks run.

A backward analysis over the nodes of some steps: what a map needs of its neighbours' elements, an earlier one in these
steps has to compute on this rank as well, and needs more itself. A forward run of halo validity proves the result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.communication import HaloUpdate
from dcpy.ir.distribution import Distribution
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.transforms.distributed.accesses import NodeAccess, anchors_of, node_accesses
from dcpy.transforms.distributed.communication.locality_check import halo_needed, is_filled
from dcpy.transforms.distributed.halos.halo_validity import Found, Halo, Validity, after_map, without, write_of
from dcpy.transforms.distributed.resolved_placement import Reach, home_of, placed


@dataclass(slots=True)
class HaloDepths:
    """Some steps, as one update before them lets them run.

    `reaches` has an entry for each node of all steps, in order. The halos of `update` come when the first step begins,
    those of `ahead` once, before all steps: what maps never write there stays as it is. `rooms` are what arrays need.
    """

    reaches: list[Reach]
    update: dict[str, Halo] = field(default_factory=dict)
    ahead: dict[str, Halo] = field(default_factory=dict)
    rooms: dict[str, Halo] = field(default_factory=dict)


def halo_depths_between(step: Sequence[Node], count: int, fresh: Collection[str], uses: Uses) -> HaloDepths | Refusal:
    """Return how the nodes of `count` steps, in order, run after one update instead of those among them.

    The elements of `fresh` arrays are undefined when a step begins: no rank has others than its neighbours have.
    """
    nodes = [*step] * count
    found = HaloDepths([{}] * len(nodes))
    for position in reversed(range(len(nodes))):
        node = nodes[position]
        reason = "" if isinstance(node, HaloUpdate) else _before(node, position, found, uses)
        if reason:
            return Refusal(reason)
        for name in fresh if position % len(step) == 0 else ():
            found.update.pop(name, None)
    for name in fresh:
        found.ahead.pop(name, None)
    _as_one(found)
    reason = _why_not_valid(nodes, len(step), fresh, found, uses)
    return Refusal(reason) if reason else found


def _as_one(found: HaloDepths) -> None:
    """Make the halos of the update, which have corners all or none, cover those from ahead; drop what is empty."""
    due = {name: halo for name, halo in found.update.items() if any(map(any, halo.widths))}
    due = {name: halo.joined(found.ahead[name]) if name in found.ahead else halo for name, halo in due.items()}
    corners = any(halo.corners and halo.has_corners for halo in due.values())
    found.update = {name: Halo(halo.widths, corners) for name, halo in due.items()}
    for halos in (found.update, found.ahead):
        for name, halo in halos.items():
            _join(found.rooms, name, halo)
    found.rooms = {name: halo for name, halo in found.rooms.items() if any(map(any, halo.widths))}


def _before(node: Node, position: int, found: HaloDepths, uses: Uses) -> str:
    """Enter what has to be there before a node, of what has to be there behind it; return why that cannot be."""
    accesses = node_accesses(node, uses)
    written = {access.container: found.update[access.container] for access in accesses if _is_due(access, found)}
    if not isinstance(node, Map) or node.home is None:
        names = ", ".join(map(repr, written))
        return f"a {node.title or node.kind} writes {names}, of which neighbours need elements" if written else ""
    reach = _reach(node, accesses, written, uses)
    if isinstance(reach, str):
        return reach
    found.reaches[position] = reach
    for name in written:
        del found.update[name]
    for access in accesses:
        where = placed(access.container, uses)
        if not isinstance(where, Distribution):
            continue
        needed = halo_needed(access, where, home_of(node, uses)[1], reach)
        if needed is None:
            return f"it is not known how far {access.memlet} reaches"
        if access.is_read:
            _join(found.update, access.container, needed)
        elif reach:
            _join(found.ahead, access.container, needed)
        _join(found.rooms, access.container, needed)
    return ""


def _is_due(access: NodeAccess, found: HaloDepths) -> bool:
    return access.is_write and access.container in found.update and any(map(any, found.update[access.container].widths))


def _reach(node: Map, accesses: Sequence[NodeAccess], due: Mapping[str, Halo], uses: Uses) -> Reach | str:
    """Return how many iterations of neighbours a map has to run for its needed results; or why it cannot."""
    reach: dict[str, tuple[int, int]] = {}
    for access in accesses:
        if not access.is_write or access.container not in due:
            continue
        for (before, behind), anchor in zip(due[access.container].widths, anchors_of(access, node.params), strict=True):
            if anchor is not None:  # else its place is not known, which is looked at below
                low, high = reach.get(anchor.label, (0, 0))
                reach[anchor.label] = max(low, before), max(high, behind)
    return (_why_not_run(node, accesses, reach, uses) if due else "") or {
        param: pair for param, pair in reach.items() if any(pair)
    }


def _why_not_run(node: Map, accesses: Sequence[NodeAccess], reach: Reach, uses: Uses) -> str:
    """Return why a map cannot run iterations of neighbours."""
    if Effect.ORDERED in effects_of(node):
        return "a map has an effect that is seen outside"
    if node.home is None or node.home.rest or node.home.halo:
        return "a map runs at roots only"
    for access in accesses:
        if access.is_write and write_of(access, node, reach, uses) is None:
            return f"{access.memlet} is not written where it lives alone"
    return ""


def _join(into: dict[str, Halo], name: str, halo: Halo) -> None:
    into[name] = into[name].joined(halo) if name in into else halo


def _why_not_valid(nodes: Sequence[Node], period: int, fresh: Collection[str], steps: HaloDepths, uses: Uses) -> str:
    """Return why a read may be invalid, however often all steps, each of `period` nodes, are repeated."""
    undefined = {name: Validity.of(Halo(steps.rooms[name].widths, True)) for name in fresh if name in steps.rooms}
    begin: Found = {name: Validity.of(halo) for name, halo in steps.ahead.items()}
    while True:
        valid = dict(begin)
        for name, halo in steps.update.items():
            valid[name] = valid[name].refreshed(halo) if name in valid else Validity.of(halo)
        for position, (node, reach) in enumerate(zip(nodes, steps.reaches, strict=True)):
            if position % period == 0:
                valid |= undefined
            if isinstance(node, HaloUpdate):
                continue
            reason = _why_not_read(node, reach, valid, uses)
            if reason:
                return reason
            left = without(node, valid, uses)
            valid = {**left, **(after_map(node, reach, valid, uses) if isinstance(node, Map) else {})}
        again = {name: found.common(valid[name]) for name, found in begin.items() if name in valid}
        if again == begin:
            return ""
        begin = again


def _why_not_read(node: Node, reach: Reach, valid: Found, uses: Uses) -> str:
    if not isinstance(node, Map):
        return ""
    for access in node_accesses(node, uses):
        where = placed(access.container, uses)
        if not access.is_read or not isinstance(where, Distribution) or is_filled(access.container, uses):
            continue
        needed = halo_needed(access, where, home_of(node, uses)[1], reach)
        there = valid.get(access.container, Validity.of(Halo(((0, 0),) * len(where.axes)))).halo
        if needed is None or not there.covers(needed):
            return f"{access.memlet} would be read where it is not known to be valid"
    return ""
