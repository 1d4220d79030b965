"""``dcpy.map``: loops whose iterations may run in any order, and at the same time.

In plain Python it iterates like nested ranges, so that a function runs the same without the decorator. That the order
does not matter is the user's word: dcpy combines what iterations add to one element
(`lower.parallel_maps.write_conflicts`), refuses what is wrong whatever the sizes are
(`lower.parallel_maps.independence_claims`), and leaves the rest to the interpreter, which finds out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True)
class MapRange:
    """``dcpy.map[0:M, 0:N]``: iterates over integers, or over tuples where there are several ranges."""

    slices: tuple[slice, ...]

    def __matmul__(self, schedule: Any) -> MapRange:
        """``dcpy.map[0:N] @ dcpy.ScheduleType.Sequential``: in plain Python, as without."""
        return self

    def __iter__(self) -> Iterator[Any]:
        ranges = [range(s.start or 0, s.stop, s.step or 1) for s in self.slices]
        return iter(ranges[0]) if len(ranges) == 1 else itertools.product(*ranges)


@dataclass(frozen=True, eq=False)
class MapScope:
    """The object behind ``dcpy.map`` and ``dcpy.mapscope``."""

    name: str

    def __getitem__(self, slices: slice | tuple[slice, ...]) -> MapRange:
        parts = slices if isinstance(slices, tuple) else (slices,)
        if not all(isinstance(part, slice) and part.stop is not None for part in parts):
            raise TypeError("dcpy.map needs ranges: dcpy.map[0:M, 0:N]")
        return MapRange(parts)

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"@{self!r} decorates a function inside of a program")

    def __repr__(self) -> str:
        return f"dcpy.{self.name}"


map = MapScope("map")  # the names that users type, as dcpy.map
mapscope = MapScope("mapscope")
