"""Declared maps: do iterations of a map that a program declares depend on each other, for all sizes?

A claim is proved, disproved, or left to the program: where the answer depends on run-time values, or is yes for some
sizes only, only the interpreter finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_dependences import by_memory, first_conflict
from dcpy.ir.analysis.polyhedral.footprints import Variable
from dcpy.ir.analysis.polyhedral.integer_sets import always_overlap, distance
from dcpy.ir.expressions.scalar import symbols_of
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.symbolic import Ranges

_MOST = 24  # accesses of one container that are looked at in pairs


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses of one element by different iterations of a map; at least the first one writes."""

    first: MemoryAccess
    second: MemoryAccess
    gap: int | None  #: how many iterations later the second is, where that is one number

    def __str__(self) -> str:
        return f"one iteration {self.first}, {'another one' if not self.gap else self._other()} {self.second}"

    def _other(self) -> str:
        assert self.gap is not None
        count = abs(self.gap)
        return f"the one {count if count > 1 else 'right'} {'after' if self.gap > 0 else 'before'} it"


def are_independent(node: Map, uses: Uses) -> bool:
    """Return whether it is proved that no iteration touches what another one writes (conflict resolutions apart)."""
    points = tuple(zip(node.params, node.domain, strict=True))
    groups = by_memory(accesses_of_body(node, uses)).values()
    return all(first_conflict(group, points, uses.ranges_at(node)).is_no for group in groups)


def certain_race(node: Map, uses: Uses) -> Race | None:
    """Two accesses that surely meet, as soon as the map has some iterations; None where there are none."""
    points = tuple(zip(node.params, node.domain, strict=True))
    ranges = uses.ranges_at(node)
    for group in by_memory(accesses_of_body(node, uses)).values():
        sure = [access for access in group if access.is_sure()][:_MOST]
        for pair in combinations_with_replacement(sure, 2):
            first, second = sorted(pair, key=lambda access: not access.is_write)
            if _surely_meet(first, second, points, ranges):
                gap = None
                if len(points) == 1 and first.subset is not None and second.subset is not None:
                    gap = distance(first.subset, second.subset, node.params[0])
                return Race(first, second, gap)
    return None


def _surely_meet(first: MemoryAccess, second: MemoryAccess, points: Sequence[Variable], ranges: Ranges) -> bool:
    if not first.is_write or (first.wcr and first.wcr == second.wcr) or first.root != second.root:
        return False
    if second.is_write and first.place is second.place and _writes_one_value(first):
        return False
    ours, theirs = first.footprint(), second.footprint()
    return ours is not None and theirs is not None and always_overlap(ours, theirs, points, ranges)


def _writes_one_value(access: MemoryAccess) -> bool:
    """Return whether all iterations write the same: then it does not matter which is the last."""
    return isinstance(access.place, Tasklet) and not access.place.inputs and not any(
        symbols_of(expr) for _, expr in access.place.code
    )
