"""Bernstein's conditions for parts of a program that run at the same time: what one writes no other one touches.

Elements of a stream have two ends: one part may push to a queue that another one pops from, but no two to one end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dcpy.ir.analysis.footprints import Footprint, Variable
from dcpy.ir.analysis.integer_sets import meet, meet_across
from dcpy.ir.analysis.touches import touches_in
from dcpy.ir.data import Stream
from dcpy.ir.nodes import Node
from dcpy.ir.region import Loop, Region
from dcpy.ir.symbolic import Ranges
from dcpy.ir.tree import Element, owners_around, subtree
from dcpy.ir.uses import Uses

WRITES, READS, PUSHES, POPS = "writes", "reads", "pushes to", "pops from"


@dataclass(frozen=True, slots=True)
class Part:
    """One of several that run at the same time; with `points` one for each point of a domain."""

    name: str
    body: Region
    points: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """What a part does to elements of a memory; the footprint is that of one point."""

    part: Part
    container: str
    memory: str
    how: str
    footprint: Footprint | None
    place: Element


def conflicts(parts: Sequence[Part], uses: Uses, ranges: Ranges) -> Iterator[tuple[Use, Use]]:
    """Pairs of uses that are not shown to touch different elements, the first of each two parts and container."""
    found = [(part, list(uses_of(part, uses))) for part in parts]
    for position, (part, mine) in enumerate(found):
        for other, theirs in found[position:]:
            reported: dict[str, None] = {}
            for use in mine:
                for second in theirs:
                    if (part is other and not part.points) or use.memory in reported:
                        continue
                    if _excluded(use, second) and not _apart(use, second, ranges):
                        reported[use.memory] = None
                        yield use, second


def uses_of(part: Part, uses: Uses) -> Iterator[Use]:
    """All that a part does to what it does not declare itself."""
    for touch in touches_in(part.body, uses):
        if not isinstance(uses.desc(touch.root), Stream):
            how = WRITES if touch.is_write else READS
            yield Use(part, touch.container, touch.memory, how, touch.footprint(), touch.place)
    private = {name for region in part.body.walk_regions() for name in region.containers}
    for element in subtree(part.body):
        for how, memlets in ((POPS, element.reads()), (PUSHES, element.writes())):
            for memlet in memlets:
                name = memlet.container
                if isinstance(uses.desc(name), Stream) and name not in private:
                    footprint = Footprint(memlet.subset, _loops_around(element, part.body))
                    yield Use(part, name, name, how, footprint, element)


def _loops_around(element: Element, within: Region) -> tuple[Variable, ...]:
    """The parameters of the loops around a use of a stream, outermost first; what else may change has no range."""
    found: list[Variable] = []
    for owner in owners_around(element, within):
        if isinstance(owner, Loop):
            found.append((owner.param, owner.range))
        elif isinstance(owner, Node):
            found += [(name, None) for name in owner.regions()[0].params]
    return tuple(reversed(found))


def _excluded(first: Use, second: Use) -> bool:
    """Whether the two may not touch one element at the same time."""
    if first.memory != second.memory:
        return False
    if first.how in (PUSHES, POPS):
        return first.how == second.how
    return WRITES in (first.how, second.how)


def _apart(first: Use, second: Use, ranges: Ranges) -> bool:
    if first.footprint is None or second.footprint is None:
        return False
    if first.part is second.part:  # two copies of it: at different points
        return meet_across(first.footprint, second.footprint, first.part.points, ranges).is_no
    mine, its = _of_all_copies(first.footprint, first.part), _of_all_copies(second.footprint, second.part)
    return meet(mine, its, ranges).is_no


def _of_all_copies(footprint: Footprint, part: Part) -> Footprint:
    return replace(footprint, over=(*part.points, *footprint.over))
