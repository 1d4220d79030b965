"""OverlapExchange: halos arrive while what needs none of them is computed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.communication import CommNode
from dcpy.ir.data import Array
from dcpy.ir.editing.cloning import clone
from dcpy.ir.editing.nest_edits import alone_in_state
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.effects import Effect
from dcpy.ir.field_roles import Role
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Region, State
from dcpy.ir.subsets import DimSubset, Range
from dcpy.ir.symbolic import ONE, Expr, max_of, min_of, sym
from dcpy.ir.tree import subtree
from dcpy.transforms.distributed.accesses import NodeAccess, node_accesses
from dcpy.transforms.passes import GraphPass

Frame = Mapping[str, tuple[int, int]]  # of each parameter, iterations at the start and at the end of its range


@dataclass(frozen=True)
class OverlapExchange(GraphPass):
    """Communication overlapped with computation: the inner iterations of a map run while halos are under way.

    before   comm.exchange (x0 <- A[...]) -> ...             after   comm.begin_exchange (x0 <- A[...]) -> ...
             map i = low:high { B[i] = A[i - 1] + A[i] }             map i = low + 1:high { B[i] = A[i - 1] + A[i] }
                                                                     comm.end_exchange (x0 <- A[...]) -> ...
                                                                     map i = low:min(low + 1, high) { ... }

    Works on programs of one rank. Applies where the map behind an exchange writes none of its arrays, and indexes their
    dimensions with halos by a parameter that counts one by one, plus what is the same for all iterations: as many
    iterations away from the ends of its range as the array has room, no access reaches a halo. Results stay the same
    to the bit. It pays where the network moves data by itself (``dcpy doctor --mpi`` measures that).
    """

    name: ClassVar[str] = "overlap-exchange"

    def decide(self, rw: Rewriter) -> None:
        """Exchange after exchange; what is in front of anything else than a map stays."""
        for region in list(rw.sdfg.body.walk_regions()):
            for exchange, follower in list(_pairs(region)):
                frame = frame_of(exchange, follower, rw.uses)
                rw.remark(exchange, not isinstance(frame, str), frame if isinstance(frame, str) else "")
                if not isinstance(frame, str) and isinstance(follower, Map):
                    _overlap(exchange, follower, frame, rw)


def _pairs(region: Region) -> Iterator[tuple[CommNode, Node | None]]:
    """Each exchange in the states of a region, with the node behind it; None where no node is."""
    row: list[Node | None] = []
    for block in region.blocks:
        row += block.nodes if isinstance(block, State) else [None]
    for node, follower in itertools.pairwise([*row, None]):
        if isinstance(node, CommNode) and node.kind == "comm.exchange":
            yield node, follower


def frame_of(exchange: CommNode, node: Node | None, uses: Uses) -> Frame | str:
    """The iterations of a map that have to wait for an exchange, or why all have to."""
    if not isinstance(node, Map):
        return "no map is behind it"
    if Effect.ORDERED in effects_of(node) or any(isinstance(inner, CommNode) for inner in subtree(node)):
        return "the map has an effect that is seen outside"
    pending = _pending(exchange, uses)
    if isinstance(pending, str):
        return pending
    memories = {memory_of(name, uses.desc) for name in pending}
    frame: dict[str, tuple[int, int]] = {}
    for access in node_accesses(node, uses):
        if memory_of(access.container, uses.desc) not in memories:
            continue
        if access.is_write or access.container not in pending:
            return f"the map writes {access.container!r}, or sees it by another name"
        reason = _enter(access, pending[access.container], node, frame)
        if reason:
            return reason
    return frame or "the map reads nothing that arrives"


def _pending(exchange: CommNode, uses: Uses) -> dict[str, list[tuple[int, int]]] | str:
    """The room along each dimension of each array, on the sides where something arrives."""
    found: dict[str, list[tuple[int, int]]] = {}
    for number, section in enumerate(exchange.sections):  # type: ignore[attr-defined]
        memlet = exchange.inputs[f"x{number}"]
        desc = uses.desc(memlet.container)
        if not isinstance(desc, Array):
            return f"{memlet.container!r} is a view"
        rooms = found.setdefault(memlet.container, [(0, 0)] * len(desc.shape))
        for dim, (part, size) in enumerate(zip(memlet.subset.dims, desc.shape, strict=True)):
            before, behind = section.distribution.halo_of(dim)
            if not before and not behind:
                continue
            assert isinstance(part, Range), "what is exchanged has all dimensions"
            low, high = (part.start + before).constant, (size - part.stop + behind).constant
            if low is None or high is None:
                return f"it is not known how much room {memlet.container!r} has"
            was = rooms[dim]
            rooms[dim] = max(was[0], low if before else 0), max(was[1], high if behind else 0)
    return found


def _enter(access: NodeAccess, rooms: list[tuple[int, int]], node: Map, frame: dict[str, tuple[int, int]]) -> str:
    """Add what one access has to keep away from halos to the frame; return why that is not known."""
    for dim, room in zip(access.memlet.subset.dims, rooms, strict=True):
        if not any(room):
            continue
        label = _parameter(dim, node)
        if label is None:
            return f"{access.memlet} is not known to stay away from what arrives"
        low, high = frame.get(label, (0, 0))
        frame[label] = max(low, room[0]), max(high, room[1])
    return ""


def _parameter(dim: DimSubset, node: Map) -> str | None:
    """The parameter of a map that an index is, but for what is the same for all of its iterations."""
    inside = {name for inner in node.body.walk_regions() for name in inner.params} | set(node.params)
    defined = {name for block in node.body.walk_blocks() for name in block.all_of(Role.DEFINED)}
    for param, values in zip(node.params, node.domain, strict=True):
        edges = (dim, dim) if isinstance(dim, Expr) else (dim.start, dim.stop)
        rest = {name for edge in edges for name in (edge - sym(param)).symbols}
        if values.step is ONE and rest.isdisjoint(inside | defined):
            return param
    return None


def _overlap(exchange: CommNode, node: Map, frame: Frame, rw: Rewriter) -> None:
    """Carry it out: inner iterations in front of the end, then a box at either end of each range."""
    operands = {"inputs": dict(exchange.inputs), "outputs": dict(exchange.outputs)}
    begin, end = (
        LIBRARY_KINDS[kind](**operands, sections=exchange.sections, span=exchange.span)  # type: ignore[attr-defined, call-arg]
        for kind in ("comm.begin_exchange", "comm.end_exchange")
    )
    rw.replace(exchange, begin)
    inner = alone_in_state(node, rw)
    boxes: list[State] = []
    ranges = dict(zip(node.params, node.domain, strict=True))
    middle = dict(ranges)
    for param, (low, high) in frame.items():
        whole = ranges[param]
        start, stop = whole.start + low, whole.stop - high
        ends = ((Range(whole.start, min_of(start, whole.stop)), low), (Range(max_of(start, stop), whole.stop), high))
        for part, width in ends:
            if width:
                boxes.append(_copy(inner, {**middle, param: part}, rw))
        middle[param] = Range(start, stop)
    rw.update(node, domain=tuple(middle[param] for param in node.params))
    rw.insert_after(inner, State("", [end]), *boxes)


def _copy(state: State, ranges: Mapping[str, Range], rw: Rewriter) -> State:
    """The map of a state over other ranges."""
    made = clone(state, rw)
    (node,) = made.nodes
    assert isinstance(node, Map)
    node.domain = tuple(ranges.values())
    return made
