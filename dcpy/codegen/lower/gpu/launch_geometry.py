"""Launch geometry: how many threads a block has, and which of its axes the parameters of a map run along.

Geometry is nested maps; nothing of it is stored. A block is as wide as the longest of its maps, as far as that is
known; a map with more iterations than threads gives each thread several, a map with fewer leaves threads idle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcpy.ir.nodes import Map
from dcpy.ir.schedules import ThreadBlock
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr

MOST = 1024  # threads of a block
LARGEST_GRID = 65535  # blocks along y and along z; along x there may be 2^31 - 1
AXES = "zyx"
USUAL = {1: (256,), 2: (8, 32), 3: (2, 4, 32)}  # threads along the axes, where nothing is known of the maps
ALL = "all"  #: of the threads of a block, counted along x, then y, then z


@dataclass(frozen=True, slots=True)
class Geometry:
    """The axes that the maps of a block use, and so many threads along z, y and x."""

    axes: str
    threads: tuple[int, int, int]

    def along(self, axis: str) -> int:
        """The threads along an axis, or all."""
        z, y, x = self.threads
        return z * y * x if axis == ALL else self.threads[AXES.index(axis)]

    def axes_of(self, node: Map) -> tuple[str, ...]:
        """The axis of each parameter of a map of the block; "" for those that each thread runs through."""
        rank, own = len(self.axes), len(node.params)
        if own < rank:
            return (*("",) * (own - 1), ALL)
        return (*("",) * (own - rank), *self.axes)


def geometry_of(grid: Map) -> Geometry:
    """The block that fits the maps inside of a grid's."""
    maps = [node for node in grid.body.walk_nodes() if isinstance(node, Map) and isinstance(node.schedule, ThreadBlock)]
    rank = min(max((len(node.params) for node in maps), default=0), len(AXES))
    if rank == 0:
        return Geometry("", (1, 1, 1))
    found = [_widths(node, rank) for node in maps if len(node.params) >= rank]
    widths = [max(column) for column in zip(*found, strict=True)]
    threads: list[int] = []
    room = MOST
    for width in reversed(widths):
        threads.append(max(min(width, room), 1))
        room //= threads[-1]
    z, y, x = (*(1,) * (len(AXES) - rank), *reversed(threads))
    return Geometry(AXES[-rank:], (z, y, x))


def _widths(node: Map, rank: int) -> tuple[int, ...]:
    """Return the largest numbers of iterations of the last parameters."""
    pairs = zip(node.domain[-rank:], USUAL[rank], strict=True)
    return tuple(usual if (most := most_iterations(dim)) is None else most for dim, usual in pairs)


def most_iterations(values: Range) -> int | None:
    """A constant that bounds the number of iterations: ``min(b + 256, N) - b`` is at most 256."""
    step = values.step.constant
    if step is None or step <= 0:
        return None
    spans = (stop - values.start for stop in _alternatives(values.stop))
    counts = [-(-span.constant // step) for span in spans if span.constant is not None]
    return max(min(counts), 0) if counts else None


def _alternatives(expr: Expr) -> Iterator[Expr]:
    """The expressions of which one is the minimum."""
    if len(expr.terms) == 1:
        ((monomial, factor),) = expr.terms
        if factor == 1 and len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].kind == "min":
            for arg in monomial[0][0].args:
                yield from _alternatives(arg)
            return
    yield expr


def grid_axes(params: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The parameters along each axis of a grid: the last one along x, the one before along y, all others along z."""
    *others, second, last = (*("",) * 2, *params)
    found = {"z": tuple(filter(None, others)), "y": tuple(filter(None, (second,))), "x": (last,)}
    return {axis: names for axis, names in found.items() if names}
