"""Cost model of overlapped tiling: the tile size and number of time steps that make a step cheapest.

Per point of a grid and step. Memory moves each grid as often as the sweeps say, or once for a tile with its halo; the
chip does all accesses of all sweeps, those of points in halos too, which several tiles compute. A block loads, computes
and stores one after the other, so what these take adds up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body, names_in
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.machine_model import Costs, Limits
from dcpy.ir.nodes import Map
from dcpy.ir.refusal import Refusal
from dcpy.transforms.loops.sweeps import Sweeps

STEPS = (1, 2, 4, 8, 16, 32)  #: of a tile, at most
ON_CHIP = 7  #: so many times the bytes of memory pass between threads and what is on the chip; a plan, not measured
BLOCKS = 5  #: whose tiles are on one multiprocessor beside each other, at least


@dataclass(frozen=True, slots=True)
class OverlappedTiling:
    """Tiles of these sizes make so many steps. `bytes_per_point`: that memory moves for a point of a grid and step."""

    steps: int
    sizes: tuple[int, ...]
    bytes_per_point: float
    time: float  #: picoseconds for a point and step


def sizes_of_tiles(axes: int, costs: Costs) -> Iterator[tuple[int, ...]]:
    """Tiles whose rows are a multiple of a warp's."""
    warp = costs.warp
    if axes == 1:
        yield from ((warp * factor,) for factor in (8, 16, 32))
    elif axes == 2:
        yield (warp, warp)
    else:
        yield from ((warp // 4, warp // 4, warp), (warp // 4, warp // 2, warp))


def best_tiling(sweeps: Sweeps, costs: Costs, limits: Limits, uses: Uses) -> OverlappedTiling | Refusal:
    """The tiling whose steps are cheapest; refused where sweeps that are launched one by one cost hardly more."""
    before = sweep_by_sweep(sweeps, costs, uses)
    found = [
        _tiling(sweeps, steps, sizes, costs, uses)
        for sizes in sizes_of_tiles(len(sweeps.sizes), costs)
        for steps in STEPS
        if shared_bytes(sweeps, steps, sizes, uses) <= limits.shared_bytes // BLOCKS
    ]
    if not found:
        least = min(shared_bytes(sweeps, 1, sizes, uses) for sizes in sizes_of_tiles(len(sweeps.sizes), costs))
        return Refusal(f"tiles take {least} bytes of shared memory")
    best = min(found, key=lambda tiling: tiling.time)
    if 5 * best.time > 4 * before.time:
        moved = f"{best.bytes_per_point:.0f} bytes per point and step, single sweeps {before.bytes_per_point:.0f}"
        return Refusal(f"tiles would move {moved}")
    return best


def sweep_by_sweep(sweeps: Sweeps, costs: Costs, uses: Uses) -> OverlappedTiling:
    """Return the cost of a step where each sweep reads and writes grids in memory."""
    moved = sum(_bytes_of_planes(sweep.node, len(sweeps.sizes), uses) for sweep in sweeps.sweeps)
    accesses = sum(_bytes_of_accesses(sweep.node, len(sweeps.sizes), uses) for sweep in sweeps.sweeps)
    return OverlappedTiling(0, (), moved, _time(moved, accesses, costs))


def shared_bytes(sweeps: Sweeps, steps: int, sizes: Sequence[int], uses: Uses) -> int:
    """Bytes of the buffers of a tile, for all grids."""
    around = math.prod(size + steps * sum(sweeps.reach(axis)) for axis, size in enumerate(sizes))
    return sum(around * uses.desc(grid.array).dtype.itemsize for grid in sweeps.grids)


def _tiling(sweeps: Sweeps, steps: int, sizes: tuple[int, ...], costs: Costs, uses: Uses) -> OverlappedTiling:
    points = math.prod(sizes)
    around = math.prod(size + steps * sum(sweeps.reach(axis)) for axis, size in enumerate(sizes)) / points
    kept = sum(uses.desc(grid.array).dtype.itemsize for grid in sweeps.grids if not grid.is_own)
    written = {grid.array for grid in sweeps.grids}
    read = {name for sweep in sweeps.sweeps for name in names_in(sweep.node, uses)[0]} - written
    others = sum(uses.desc(name).dtype.itemsize for name in read if _is_grid(name, len(sizes), uses))
    moved = kept * (around + 1) / steps + others
    accesses = 0.0
    for number, sweep in enumerate(sweeps.sweeps):
        own = _bytes_of_accesses(sweep.node, len(sizes), uses)
        for left in range(steps):
            accesses += own * _share(sweeps, number, left, sizes) / steps
    return OverlappedTiling(steps, sizes, moved, _time(moved, accesses, costs))


def _share(sweeps: Sweeps, number: int, left: int, sizes: Sequence[int]) -> float:
    """Return how many points a sweep computes for each one of a tile, when `left` steps come afterwards."""
    found = 1.0
    for axis, size in enumerate(sizes):
        found *= (size + left * sum(sweeps.reach(axis)) + sum(sweeps.reach(axis, after=number))) / size
    return found


def _time(moved: float, accesses: float, costs: Costs) -> float:
    return 1e6 * (moved + accesses / ON_CHIP) / costs.memory_speed


def _bytes_of_planes(node: Map, axes: int, uses: Uses) -> int:
    """Return the bytes that a sweep moves for a point, of the grids that it reads and writes; edges do not count."""
    if len(node.params) < axes:
        return 0
    names = (name for names in names_in(node, uses) for name in names if _is_grid(name, axes, uses))
    return sum(uses.desc(name).dtype.itemsize for name in names)


def _bytes_of_accesses(node: Map, axes: int, uses: Uses) -> int:
    """Return the bytes that the threads of a sweep read and write for a point."""
    if len(node.params) < axes:
        return 0
    accesses = [access for access in accesses_of_body(node, uses) if _is_grid(access.root, axes, uses)]
    return sum(uses.desc(access.root).dtype.itemsize for access in accesses)


def _is_grid(name: str, axes: int, uses: Uses) -> bool:
    return len(uses.desc(name).shape) >= axes
