"""Bernstein's conditions for parts of a program that run at the same time: what one writes no other one touches.

Elements of a stream have two ends: one part may push to a queue that another one pops from, but no two to one end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import Footprint, Variable
from dcpy.ir.analysis.polyhedral.integer_sets import overlap, overlap_across
from dcpy.ir.region import Region
from dcpy.ir.symbolic import Ranges


@dataclass(frozen=True, slots=True)
class ConcurrentPart:
    """One of several that run at the same time; with `points` one for each point of a domain."""

    name: str
    body: Region
    points: tuple[Variable, ...] = ()


Use = tuple[ConcurrentPart, MemoryAccess]


def conflicts(parts: Sequence[ConcurrentPart], uses: Uses, ranges: Ranges) -> Iterator[tuple[Use, Use]]:
    """Pairs of uses that are not shown to touch different elements, the first of each two parts and container."""
    found = [(part, accesses_in(part.body, uses)) for part in parts]
    for position, (part, mine) in enumerate(found):
        for other, theirs in found[position:]:
            reported: dict[str, None] = {}
            for access in mine:
                for second in theirs:
                    if (part is other and not part.points) or access.memory in reported:
                        continue
                    if _excluded(access, second) and not _apart((part, access), (other, second), ranges):
                        reported[access.memory] = None
                        yield (part, access), (other, second)


def _excluded(first: MemoryAccess, second: MemoryAccess) -> bool:
    """Return whether the two may not touch one element at the same time."""
    if first.memory != second.memory:
        return False
    if first.of_queue:
        return first.mode is second.mode
    return first.is_write or second.is_write


def _apart(first: Use, second: Use, ranges: Ranges) -> bool:
    (part, mine), (other, its) = first, second
    ours, theirs = mine.footprint(), its.footprint()
    if ours is None or theirs is None:
        return False
    if part is other:  # two copies of it: at different points
        return overlap_across(ours, theirs, part.points, ranges).is_no
    return overlap(_of_all_copies(ours, part), _of_all_copies(theirs, other), ranges).is_no


def _of_all_copies(footprint: Footprint, part: ConcurrentPart) -> Footprint:
    return replace(footprint, over=(*part.points, *footprint.over))
