"""Race detection: finds iterations of one map that depend on each other.

The iterations of a map run in no particular order, so no result may depend on one. A detector watches one execution of
one map: it keeps, for each element of memory that the iterations share, which of them touched it and how.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dcpy.base.errors import DataRace
from dcpy.ir.nodes import Map

READ, WRITE = "read", "write"
Seen = dict[str, list[tuple[int, ...]]]  # how -> up to two iterations that did so


@dataclass(slots=True)
class RaceDetector:
    """Watches one execution of `node`. Containers declared inside more than `depth` iterations are private."""

    node: Map
    depth: int
    allows_equal_writes: bool = False  # iterations may write the same value to one element
    iteration: tuple[int, ...] = ()
    accessed: dict[int, Seen] = field(default_factory=dict)
    values: dict[int, object] = field(default_factory=dict)  # written last

    def note(self, places: Iterable[int], how: str, container: str, values: Sequence[object] = ()) -> None:
        """The current iteration touches elements of a container: `READ`, `WRITE`, or a conflict resolution's name.

        `DataRace` where another iteration did so in a way that makes the order matter. `values` are those written.
        """
        for position, place in enumerate(places):
            access = self.accessed.setdefault(place, {})
            if self.allows_equal_writes and how == WRITE and position < len(values):
                if WRITE in access and access.keys() == {WRITE} and self.values.get(place) == values[position]:
                    continue
                self.values[place] = values[position]
            for other_how, iterations in access.items():
                if how == other_how and how != WRITE:
                    continue
                for other in iterations:
                    if other != self.iteration:
                        self._report(container, how, other_how, other)
            seen = access.setdefault(how, [])
            if len(seen) < 2 and self.iteration not in seen:
                seen.append(self.iteration)

    def _report(self, container: str, how: str, other_how: str, other: tuple[int, ...]) -> None:
        here, there = (", ".join(map(str, point)) for point in (self.iteration, other))
        params = ", ".join(self.node.params)
        raise DataRace(
            f"two iterations of the map over ({params}) touch one element of {container!r}",
            span=self.node.span,
            notes=(f"iteration ({there}): {_spell(other_how)}", f"iteration ({here}): {_spell(how)}"),
            help="make it a loop (`for i in range(...)`), or write with a conflict resolution (`+=`)",
        )


def _spell(how: str) -> str:
    return how if how in (READ, WRITE) else f"write with conflict resolution {how!r}"
