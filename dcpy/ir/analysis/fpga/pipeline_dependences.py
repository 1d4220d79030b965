"""Dependences through memory in a pipeline: how many iterations lie between two that touch the same element.

A tool without a proof waits until what an iteration has written is there, before the next one starts. What is proved
here may be promised to it. With loops i, k, t around an access to ``s[t]``, iterations with different t never meet, so
those that do are as many iterations apart as t has values. Integer sets decide; what they cannot prove is not
promised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import prod

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import Footprint, Variable
from dcpy.ir.analysis.polyhedral.integer_sets import overlap_across
from dcpy.ir.data import Array
from dcpy.ir.field_roles import Runs
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop
from dcpy.ir.symbolic import Ranges
from dcpy.ir.tree import owners_around


@dataclass(frozen=True, slots=True)
class IterationDistance:
    """Iterations that meet at an element of a container are so many apart, or more; 0: there are none."""

    container: str
    distance: int


def iteration_distances(loop: Loop | Map, uses: Uses) -> Iterator[IterationDistance]:
    """Yield the proved distances of each array that iterations of a pipelined loop of a process both read and write."""
    axes = _axes(loop)
    if axes is None:
        return
    groups: dict[str, list[MemoryAccess]] = {}
    for access in accesses_of_body(loop, uses):
        if not access.of_queue:
            groups.setdefault(access.memory, []).append(access)
    ranges = uses.ranges_at(next(owner for owner in owners_around(loop) if owner.concurrent))
    for group in groups.values():
        if _is_shared(group, uses) and (distance := _distance(group, axes, ranges)) is not None:
            yield IterationDistance(group[0].root, distance)


def _axes(loop: Loop | Map) -> list[Variable] | None:
    """All loops of the process around, outermost first, and the loop itself; None where one has no known range."""
    found: list[Variable] = list(loop.iteration_space())
    for owner in owners_around(loop):
        if owner.concurrent:
            return None if any(values is None for _, values in found) else found
        if owner.runs is Runs.AGAIN:
            return None
        found = [*owner.iteration_space(), *found]
    return None  # it is in no process


def _is_shared(group: Sequence[MemoryAccess], uses: Uses) -> bool:
    """Return whether an array by one name is read and written, and is neither a queue nor registers."""
    desc = uses.desc(group[0].root)
    if not isinstance(desc, Array) or any(part.style == "complete" for part in desc.partition):
        return False
    if any(access.container != group[0].container or access.root != access.container for access in group):
        return False
    reads = any(access.mode in (Mode.READ, Mode.COMBINE) for access in group)
    return reads and any(access.is_write for access in group)


def _distance(group: Sequence[MemoryAccess], axes: Sequence[Variable], ranges: Ranges) -> int | None:
    """The least number of iterations between two that meet; None where nothing is proved."""
    footprints = [(access.footprint(), access.is_write) for access in group]
    if any(footprint is None or footprint.is_run_time for footprint, _ in footprints):
        return None
    best: int | None = None
    for inner in range(1, len(axes) + 1):
        around, points = axes[: len(axes) - inner], axes[len(axes) - inner :]
        counts = [values.size.constant for _, values in points if values is not None]
        pairs = combinations_with_replacement(footprints, 2)
        meets = any(
            not overlap_across(_within(ours, around), _within(theirs, around), points, ranges).is_no
            for (ours, writes), (theirs, others) in pairs
            if (writes or others) and ours is not None and theirs is not None
        )
        if meets:
            return best
        numbers = [count for count in counts if count is not None]
        best = prod(numbers) if len(numbers) == len(counts) else best
    return 0


def _within(footprint: Footprint, around: Sequence[Variable]) -> Footprint:
    """The footprint while loops further outside go on, too."""
    return Footprint(footprint.subset, (*around, *footprint.over))
