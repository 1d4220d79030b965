"""Halo validity: at each node, how much of the halos of arrays surely is what the neighbours have.

A forward analysis over the region tree, as that of available copies. A write makes a halo invalid, an update makes as
much of it valid as it sends, a copy to a whole array fills all that there is room for; a map that also runs iterations
of the neighbours leaves as much valid as it runs. Loops are taken as any number of iterations: what holds inside of one
holds at its beginning and behind its body. Maps write boxes, and what is outside of the box stays as valid as it was.
Undefined elements are valid.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.communication import HaloUpdate
from dcpy.ir.data import Array, Data, Lifetime
from dcpy.ir.distribution import Distribution
from dcpy.ir.field_roles import Role
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Block, Branch, Dataflow, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE
from dcpy.ir.tree import Element, jumps
from dcpy.transforms.distributed.accesses import Anchor, NodeAccess, anchors_of, node_accesses
from dcpy.transforms.distributed.resolved_placement import Reach, home_of, placed, reach_of, room_needed

Widths = tuple[tuple[int, int], ...]  # before and behind, along each dimension


@dataclass(frozen=True, slots=True)
class Halo:
    """Elements beyond those of a rank: how many along each dimension, and whether those along two at a time as well."""

    widths: Widths
    corners: bool = False

    @property
    def has_corners(self) -> bool:
        """Return whether there are elements that are beyond along two dimensions."""
        return sum(map(any, self.widths)) > 1

    def covers(self, other: Halo) -> bool:
        """Return whether it has all that another one has."""
        wide = all(a >= c and b >= d for (a, b), (c, d) in zip(self.widths, other.widths, strict=True))
        return wide and (self.corners or not (other.corners and other.has_corners))

    def joined(self, other: Halo) -> Halo:
        """Return the union of both halos."""
        pairs = zip(self.widths, other.widths, strict=True)
        return Halo(tuple((max(a, c), max(b, d)) for (a, b), (c, d) in pairs), self.corners or other.corners)

    def common(self, other: Halo) -> Halo:
        """Return the intersection of both halos."""
        pairs = zip(self.widths, other.widths, strict=True)
        return Halo(tuple((min(a, c), min(b, d)) for (a, b), (c, d) in pairs), self.corners and other.corners)

    def refreshed(self, by: Halo) -> Halo:
        """Return the halo that is surely valid after an update of `by`, which covers `by` in any case."""
        if self.covers(by):
            return self
        return by if by.covers(self) or (by.corners and by.has_corners) else Halo(self.joined(by).widths)


Valid = Mapping[str, Halo]  # of each array that has some of it
Box = tuple[Range | None, ...]  # of indices; None: any
SEVERAL: Box = ()  # boxes have been written that are not the same


@dataclass(frozen=True, slots=True)
class Validity:
    """Valid part of an array's halo: everywhere, and outside of the one box that has been written since."""

    halo: Halo
    outside: Halo
    box: Box | None = None

    @classmethod
    def of(cls, halo: Halo) -> Validity:
        """Nothing has been written since."""
        return cls(halo, halo)

    def refreshed(self, by: Halo) -> Validity:
        """The validity after an update."""
        return Validity(self.halo.refreshed(by), self.outside.refreshed(by), self.box)

    def written(self, box: Box, run: Halo, whole: bool) -> Validity:
        """The validity after a map that writes in a box, with halo elements in `run`; all, if it is `whole`."""
        outside = self.outside if self.box in (None, box) else self.halo
        return Validity((outside if whole else self.halo).common(run), outside, box)

    def common(self, other: Validity) -> Validity:
        """Return the validity that holds on both of two paths."""
        halo = self.halo.common(other.halo)
        boxes = {box for box in (self.box, other.box) if box is not None}
        if len(boxes) > 1 or SEVERAL in boxes:
            return Validity(halo, halo, SEVERAL)
        return Validity(halo, self.outside.common(other.outside), boxes.pop() if boxes else None)


Found = Mapping[str, Validity]


def valid_halos(uses: Uses, unfilled: Collection[Copy] = ()) -> dict[Element, Valid]:
    """The valid halos when each node begins that is in no map, if the copies in `unfilled` fill no halo."""
    walk = _HaloDataflow(uses, unfilled, {})
    walk.region(uses.sdfg.body, {})
    return {node: {name: each.halo for name, each in found.items()} for node, found in walk.found.items()}


def updated(node: HaloUpdate) -> dict[str, Halo]:
    """Return the halos that an update makes valid."""
    return {name: Halo(widths, node.corners) for name, widths in node.widths().items()}


def fills(copy: Copy, uses: Uses) -> Widths:
    """The halo that a copy fills; () for none."""
    desc = uses.desc(copy.dst.container)
    if copy.dst.wcr or copy.dst.dynamic or not isinstance(desc, Array) or desc.distribution is None:
        return ()
    return desc.distribution.halo if copy.dst.subset == Subset.whole(desc.shape) else ()


@dataclass(frozen=True, slots=True)
class _HaloDataflow:
    """One pass over the tree; each method returns what is valid behind a part."""

    uses: Uses
    unfilled: Collection[Copy]
    found: dict[Element, Found]

    def region(self, region: Region, valid: Found) -> Found:
        for name, desc in region.containers.items():
            if begins_undefined(desc) and isinstance(desc, Array) and desc.distribution and desc.distribution.halo:
                valid = {**valid, name: Validity.of(Halo(desc.distribution.halo, True))}
        for block in region.blocks:
            if isinstance(block, State):
                for node in block.nodes:
                    self.found[node] = valid
                    valid = self.node(node, valid)
            elif isinstance(block, Branch):
                ends = [self.region(arm, valid) for arm in block.regions()]
                ends += [] if block.otherwise is not None else [valid]
                valid = _common(ends) if not _is_left(block) else without(block, valid, self.uses)
            elif isinstance(block, Dataflow):  # their order is not known
                valid = {}
                self.region(block.body, valid)
            elif block.regions():
                valid = self.loop(block, valid)
            else:
                valid = without(block, valid, self.uses)
        return valid

    def loop(self, block: Block, valid: Found) -> Found:
        """Return the validity at the start of each iteration and behind the loop; with exits, of unwritten arrays."""
        left = _is_left(block)
        valid = without(block, valid, self.uses) if left else valid
        while True:
            ends = [self.region(region, valid) for region in block.regions()]
            again = valid if left else _common([valid, *ends])
            if again == valid:
                return valid
            valid = again

    def node(self, node: Node, valid: Found) -> Found:
        if isinstance(node, HaloUpdate):
            more = updated(node).items()
            new = {name: valid[name].refreshed(by) if name in valid else Validity.of(by) for name, by in more}
            return {**valid, **new}
        left = without(node, valid, self.uses)
        if isinstance(node, Map):
            return {**left, **after_map(node, reach_of(node), valid, self.uses)}
        room = fills(node, self.uses) if isinstance(node, Copy) and node not in self.unfilled else ()
        return {**left, node.dst.container: Validity.of(Halo(room, True))} if room and isinstance(node, Copy) else left


def begins_undefined(desc: Data) -> bool:
    """Return whether the elements of a container are undefined where its region begins, so that any are as valid as
    others.
    """
    return isinstance(desc, Array) and desc.transient and not desc.alias and desc.lifetime is Lifetime.SCOPE


def without(element: Element, valid: Found, uses: Uses) -> Found:
    """Return the valid halos behind an element that writes at unknown places."""
    if not valid:
        return valid
    written = {access.memory for access in accesses_in(element, uses) if access.is_write}
    return {name: halo for name, halo in valid.items() if memory_of(name, uses.desc) not in written}


def _common(ends: list[Found]) -> Found:
    first, *others = ends
    return {
        name: reduce(Validity.common, [end[name] for end in others], found)
        for name, found in first.items()
        if all(name in end for end in others)
    }


# -- maps ------------------------------------------------------------------------------------------------------------


def after_map(node: Map, reach: Reach, valid: Found, uses: Uses) -> Found:
    """Return the validity of the arrays that a map writes, if ranks run iterations of neighbours as far as `reach`."""
    accesses = [access for access in node_accesses(node, uses) if access.is_write]
    found: dict[str, Validity] = {}
    for name in dict.fromkeys(access.container for access in accesses):
        mine = [access for access in accesses if access.container == name]
        others = [access for access in accesses if access.container != name]
        memory = memory_of(name, uses.desc)
        if name not in valid or any(memory_of(access.container, uses.desc) == memory for access in others):
            continue
        writes = [write_of(access, node, reach, uses) for access in mine]
        if all(write is not None for write in writes):
            after = [valid[name].written(*write) for write in writes if write is not None]
            found[name] = reduce(Validity.common, after)
    return found


def write_of(access: NodeAccess, node: Map, reach: Reach, uses: Uses) -> tuple[Box, Halo, bool] | None:
    """The box in which an access writes, how far beyond what a rank owns, and whether each element of that surely.

    None where that is not known: where another rank writes than the one that owns the element.
    """
    where = placed(access.container, uses)
    if not isinstance(where, Distribution):
        return None
    _, home, _ = home_of(node, uses)
    ranges = dict(zip(node.params, node.domain, strict=True))
    box: list[Range | None] = []
    widths: list[tuple[int, int]] = []
    for axis, anchor in zip(where.axes, anchors_of(access, node.params), strict=True):
        if axis is not None and (anchor is None or room_needed(axis, anchor, home.get(anchor.label)) != (0, 0)):
            return None
        widths.append(reach.get(anchor.label, (0, 0)) if axis is not None and anchor is not None else (0, 0))
        box.append(_written(ranges[anchor.label], anchor, uses) if anchor is not None else None)
    return tuple(box), Halo(tuple(widths), True), None not in box and _is_sure(access, node)


def _written(values: Range, anchor: Anchor, uses: Uses) -> Range | None:
    """The indices that are written where a parameter has these values; None where they change as the program runs."""
    found = Range(values.start + anchor.low, values.stop + anchor.low, values.step)
    fixed = anchor.low is anchor.high and all(name in uses.sdfg.symbols for name in found.symbols)
    return found if fixed and values.step is ONE else None


def _is_sure(access: NodeAccess, node: Map) -> bool:
    """Return whether each iteration writes, and no two parameters are in one index."""
    if access.memlet.wcr or access.memlet.dynamic:
        return False
    direct = [inner for block in node.body.blocks if isinstance(block, State) for inner in block.nodes]
    named = [name for name in node.params if name in access.memlet.subset.symbols]
    return len(named) == len(access.memlet.subset.dims) and any(
        operand.memlet == access.memlet and operand.role is not Role.READ
        for inner in direct
        if isinstance(inner, Tasklet)
        for operand in inner.operands()
    )


def _is_left(block: Block) -> bool:
    """Return whether control may leave a block, or an iteration of it, from inside."""
    return any(True for region in block.regions() for _ in jumps(region))
