"""Cache lines: how many of them accesses touch while some of the axes around them run, in numbers.

An access is an address that moves by a fixed number of bytes with each iteration of each axis, whatever dimensions its
container has. Tiles, joined axes, diagonals and transposed layouts need no rules of their own then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LINE = 64  #: bytes that move between levels of memory at once
NEAR = 2048  #: bytes from one access to the next one, below which the hardware sees what comes: half of a page
Move = tuple[int, int]  #: bytes from one iteration to the next one, and how many iterations there are


@dataclass(frozen=True, slots=True)
class AddressPattern:
    """Address pattern of one access: `base` bytes from the first element, `steps` bytes along each axis around it.

    One access may be of many elements: `inside` has the moves between these. Where only the run knows the place, it is
    `scattered` over the `size` bytes of its container.
    """

    container: str
    base: int
    steps: tuple[int, ...]
    itemsize: int
    size: int
    inside: tuple[Move, ...] = ()
    writes: bool = False
    scattered: bool = False

    @property
    def jumps(self) -> bool:
        """Return whether each line that it needs is far from the one before: the processor does not prefetch it."""
        moves = [*(abs(step) for step in self.steps), *(abs(step) for step, count in self.inside if count > 1)]
        return self.scattered or (bool(moves) and moves[-1] >= NEAR)

    @property
    def bytes(self) -> int:
        """Bytes of one access."""
        total = self.itemsize
        for _, count in self.inside:
            total *= count
        return total


@dataclass(frozen=True, slots=True)
class _ByteRuns:
    """Runs of `extent` bytes each, repeated: `rows` are the moves between them, smallest first."""

    extent: int
    rows: tuple[Move, ...]

    def units(self, unit: int) -> float:
        """Return the number of lines of `unit` bytes, or of pages."""
        extent, count = self.extent, 1.0
        for step, times in self.rows:
            if step < unit:
                extent += step * (times - 1)
            else:
                count *= times
        return count * max(1.0, extent / unit)

    def covers(self, offset: int) -> bool:
        """Return whether a run so many bytes further on lies where one of these does, but for the edges."""
        for step, count in reversed(self.rows):
            away = round(offset / step)
            if abs(away) < count:
                offset -= away * step
        return abs(offset) < max(self.extent, LINE)


def lines_by_container(
    accesses: Iterable[tuple[AddressPattern, Sequence[int]]], depth: int, unit: int = LINE
) -> dict[str, float]:
    """Distinct lines that accesses touch while their axes from number `depth` on run, by container.

    Each pattern comes with the number of iterations of all axes around it. Pages are lines of another size.
    """
    found: dict[str, dict[_ByteRuns, list[int]]] = {}
    total: dict[str, float] = {}
    most: dict[str, float] = {}
    for pattern, trips in accesses:
        most[pattern.container] = max(1.0, pattern.size / unit)
        if pattern.scattered:
            times = _product(trips[depth:])
            total[pattern.container] = total.get(pattern.container, 0.0) + times
            continue
        shape = _shape_of(pattern, trips, depth)
        bases = found.setdefault(pattern.container, {}).setdefault(shape, [])
        if not any(shape.covers(pattern.base - base) for base in bases):
            bases.append(pattern.base)
    for container, shapes in found.items():
        total[container] = total.get(container, 0.0) + sum(
            shape.units(unit) * len(bases) for shape, bases in shapes.items()
        )
    return {container: min(lines, most[container]) for container, lines in total.items()}


def _shape_of(pattern: AddressPattern, trips: Sequence[int], depth: int) -> _ByteRuns:
    """Return the elements that one pattern touches, from the smallest move to the largest."""
    moves = [*zip(pattern.steps[depth:], trips[depth:], strict=True), *pattern.inside]
    extent = pattern.itemsize
    rows: list[Move] = []
    for step, count in sorted((abs(step), count) for step, count in moves if step and count > 1):
        if not rows and step <= max(extent, LINE):
            extent += step * (count - 1)
        elif rows and step % rows[-1][0] == 0 and step <= rows[-1][0] * rows[-1][1]:
            last, times = rows[-1]
            rows[-1] = (last, times + step // last * (count - 1))
        else:
            rows.append((step, count))
    return _ByteRuns(extent, tuple(rows))


def _product(numbers: Iterable[int]) -> float:
    total = 1.0
    for number in numbers:
        total *= number
    return total
