"""Halo validity: at each node, how much of the halos of arrays surely is what the neighbours have.

A forward analysis over the region tree, as that of available copies. A write makes a halo invalid, an update makes as
much of it valid as it sends, a copy to a whole array fills all that there is room for. Loops are taken as any number of
iterations: what holds inside of one holds at its beginning and behind its body.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from dcpy.ir.analysis.access_relations import accesses_in
from dcpy.ir.analysis.memory import memory_of
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.comm import Update
from dcpy.ir.data import Array
from dcpy.ir.nodes import Copy, Node
from dcpy.ir.region import Block, Branch, Dataflow, Region, State
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import Element, jumps

Widths = tuple[tuple[int, int], ...]  # before and behind, along each dimension


@dataclass(frozen=True, slots=True)
class Halo:
    """Elements beyond those of a rank: how many along each dimension, and whether those along two at a time as well."""

    widths: Widths
    corners: bool = False

    @property
    def has_corners(self) -> bool:
        """Whether there are elements that are beyond along two dimensions."""
        return sum(map(any, self.widths)) > 1

    def covers(self, other: Halo) -> bool:
        """Whether it has all that another one has."""
        wide = all(a >= c and b >= d for (a, b), (c, d) in zip(self.widths, other.widths, strict=True))
        return wide and (self.corners or not (other.corners and other.has_corners))

    def joined(self, other: Halo) -> Halo:
        """What has all of both."""
        pairs = zip(self.widths, other.widths, strict=True)
        return Halo(tuple((max(a, c), max(b, d)) for (a, b), (c, d) in pairs), self.corners or other.corners)

    def common(self, other: Halo) -> Halo:
        """What both have."""
        pairs = zip(self.widths, other.widths, strict=True)
        return Halo(tuple((min(a, c), min(b, d)) for (a, b), (c, d) in pairs), self.corners and other.corners)

    def refreshed(self, by: Halo) -> Halo:
        """What is surely valid after an update of `by`; that covers `by` in any case."""
        if self.covers(by):
            return self
        return by if by.covers(self) or (by.corners and by.has_corners) else Halo(self.joined(by).widths)


Valid = Mapping[str, Halo]  # of each array that has some of it


def valid_halos(uses: Uses, unfilled: Collection[Copy] = ()) -> dict[Element, Valid]:
    """For each node that is in no map, what is valid when it begins, if the copies in `unfilled` fill no halo."""
    walk = _Walk(uses, unfilled, {})
    walk.region(uses.sdfg.body, {})
    return walk.found


def updated(node: Update) -> dict[str, Halo]:
    """What an update makes valid."""
    return {name: Halo(widths, node.corners) for name, widths in node.widths().items()}


def fills(copy: Copy, uses: Uses) -> Widths:
    """The halo that a copy fills; () for none."""
    desc = uses.desc(copy.dst.container)
    if copy.dst.wcr or copy.dst.dynamic or not isinstance(desc, Array) or desc.distribution is None:
        return ()
    return desc.distribution.halo if copy.dst.subset == Subset.whole(desc.shape) else ()


@dataclass(frozen=True, slots=True)
class _Walk:
    """One pass over the tree; each method returns what is valid behind a part."""

    uses: Uses
    unfilled: Collection[Copy]
    found: dict[Element, Valid]

    def region(self, region: Region, valid: Valid) -> Valid:
        for block in region.blocks:
            if isinstance(block, State):
                for node in block.nodes:
                    self.found[node] = valid
                    valid = self.node(node, valid)
            elif isinstance(block, Branch):
                ends = [self.region(arm, valid) for arm in block.regions()]
                ends += [] if block.otherwise is not None else [valid]
                valid = _common(ends) if not _is_left(block) else _without(block, valid, self.uses)
            elif isinstance(block, Dataflow):  # who waits for whom is not known
                valid = {}
                self.region(block.body, valid)
            elif block.regions():
                valid = self.loop(block, valid)
            else:
                valid = _without(block, valid, self.uses)
        return valid

    def loop(self, block: Block, valid: Valid) -> Valid:
        """What holds when each iteration begins, hence behind the loop; if left inside, what it does not write."""
        left = _is_left(block)
        valid = _without(block, valid, self.uses) if left else valid
        while True:
            ends = [self.region(region, valid) for region in block.regions()]
            again = valid if left else _common([valid, *ends])
            if again == valid:
                return valid
            valid = again

    def node(self, node: Node, valid: Valid) -> Valid:
        if isinstance(node, Update):
            more = {name: valid[name].refreshed(by) if name in valid else by for name, by in updated(node).items()}
            return {**valid, **more}
        left = _without(node, valid, self.uses)
        room = fills(node, self.uses) if isinstance(node, Copy) and node not in self.unfilled else ()
        return {**left, node.dst.container: Halo(room, True)} if room and isinstance(node, Copy) else left


def _without(element: Element, valid: Valid, uses: Uses) -> Valid:
    if not valid:
        return valid
    written = {access.memory for access in accesses_in(element, uses) if access.is_write}
    return {name: halo for name, halo in valid.items() if memory_of(name, uses.desc) not in written}


def _common(ends: list[Valid]) -> Valid:
    first, *others = ends
    return {
        name: _meet(halo, [end[name] for end in others])
        for name, halo in first.items()
        if all(name in end for end in others)
    }


def _meet(halo: Halo, others: list[Halo]) -> Halo:
    for other in others:
        halo = halo.common(other)
    return halo


def _is_left(block: Block) -> bool:
    """Whether control may leave a block, or an iteration of it, from inside."""
    return any(True for region in block.regions() for _ in jumps(region))
