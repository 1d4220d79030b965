"""MapToGrid: the points of a kernel are divided among blocks of threads; neighbours in memory go to neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.strides import step_of
from dcpy.ir.analysis.device_side import kernels
from dcpy.ir.data import Scalar
from dcpy.ir.editing.nest_edits import expand_map, reorder_axes, set_axes, tiles_and_tile
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.gpu.costs import GPU_COSTS
from dcpy.ir.machine_model import Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Region
from dcpy.ir.schedules import BLOCK, ThreadBlock
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, max_of, min_of, sym
from dcpy.transforms.gpu.kernels.range_hulls import hull_of
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class MapToGrid(GraphPass):
    """Strip-mines a kernel: a map over blocks around one over the threads of each, whose last parameter is `x`.

    before   map j = 0:M, i = 0:N @grid { B[i, j] = A[i, j] }
    after    map i_tile = 0:N:8, j_tile = 0:M:32 @grid {
               map i = i_tile:min(N, i_tile + 8), j = j_tile:min(M, j_tile + 32) @block { B[i, j] = A[i, j] } }

    `x` is the parameter that most bytes follow in steps of one element. One parameter: blocks of `costs.block` threads;
    two or more: `costs.warp` along x, and as many rows as fill a block. A dimension of few points, as a number, gets no
    more threads than that. A range that depends on another parameter is divided over all that it may be.
    """

    name: ClassVar[str] = "map-to-grid"
    costs: Costs = GPU_COSTS

    def decide(self, rw: Rewriter) -> None:
        """Kernel by kernel; those that have a map of threads stay as they are."""
        for kernel in kernels(rw.sdfg):
            if any(
                isinstance(node, Map) and isinstance(node.schedule, ThreadBlock) for node in kernel.body.walk_nodes()
            ):
                continue
            _reorder(kernel, rw)
            _divide(kernel, _threads(kernel, self.costs), rw)


def _reorder(kernel: Map, rw: Rewriter) -> None:
    """Put the parameter that accesses follow in steps of one element last, where ranges are independent."""
    if len(kernel.params) == 1 or any(not set(kernel.params).isdisjoint(dim.symbols) for dim in kernel.domain):
        return
    scores = {param: bytes_along(param, kernel.body, rw) for param in kernel.params}
    best = max(scores.values())
    fastest = next(param for param in reversed(kernel.params) if scores[param] == best)
    if best > 0 and fastest != kernel.params[-1]:
        reorder_axes(kernel, (*(param for param in kernel.params if param != fastest), fastest), rw)
    rw.remark(kernel, best > 0, f"adjacent threads run along {kernel.params[-1]}")


def bytes_along(param: str, body: Region, rw: Rewriter) -> int:
    """Bytes of accesses in steps of one element along a parameter, less those in other steps."""
    total = 0
    for node in body.walk_nodes():
        for memlet in (*node.reads(), *node.writes()) if isinstance(node, Tasklet) else ():
            total += _of_access(memlet, param, rw)
    return total


def _of_access(memlet: Memlet, param: str, rw: Rewriter) -> int:
    desc = rw.uses.desc(memlet.container)
    if isinstance(desc, Scalar) or param not in memlet.subset.symbols:
        return 0
    return desc.dtype.itemsize * (1 if step_of(memlet, param, rw.uses) is ONE else -1)


def _threads(kernel: Map, costs: Costs) -> dict[str, int]:
    """Return a block's threads along each parameter; parameters that all points of a block share have none."""
    rectangular = not any(set(kernel.params) & set(dim.symbols) for dim in kernel.domain)
    ranges = dict(zip(kernel.params, kernel.domain, strict=True))
    divided = [param for param in kernel.params if ranges[param].step.constant is not None]
    if not divided or divided[-1] != kernel.params[-1]:
        return {}
    *others, fastest = divided
    if not others or not rectangular:
        return {fastest: _fitting(ranges[fastest], costs.block)}
    columns = _fitting(ranges[fastest], costs.warp)
    rows = _fitting(ranges[others[-1]], costs.block // columns)
    if columns * rows < costs.block:  # few rows: more columns
        columns = _fitting(ranges[fastest], costs.block // rows)
    return {others[-1]: rows, fastest: columns}


def _fitting(values: Range, most: int) -> int:
    """Threads along a range: `most`, or the power of two that holds all its points."""
    count = values.size.constant
    while count is not None and most > 1 and most // 2 >= count:
        most //= 2
    return max(most, 1)


def _divide(kernel: Map, threads: Mapping[str, int], rw: Rewriter) -> None:
    ranges = dict(zip(kernel.params, kernel.domain, strict=True))
    grid: dict[str, Range] = {}
    block: dict[str, Range] = {}
    for param, values in ranges.items():
        if param not in threads:
            grid[param] = values
            continue
        tile = rw.fresh_name(f"{param}_tile")
        others = {name: ranges[name] for name in kernel.params if name in values.symbols}
        if others:
            grid[tile], block[param] = _divided_hull(values, others, threads[param], tile, kernel, rw)
        else:
            grid[tile], block[param] = tiles_and_tile(values, threads[param], tile, rw.uses.ranges_at(kernel))
    if not block:  # nothing can be divided: each block is one thread
        tile = rw.fresh_name("t")
        block[tile] = Range(sym(tile) - sym(tile), ONE)
    inner = expand_map(kernel, 0, rw)
    set_axes(inner, block, rw)
    set_axes(kernel, grid, rw)
    rw.update(inner, schedule=BLOCK)
    rw.remark(kernel, True, f"blocks of {' x '.join(str(threads.get(param, 1)) for param in block)} threads")


def _divided_hull(
    values: Range, others: Mapping[str, Range], size: int, tile: str, kernel: Map, rw: Rewriter
) -> tuple[Range, Range]:
    """Tiles of all values of a range, for all values of its parameters, and its part of the tile."""
    hull = hull_of(values, others, kernel, rw)
    assert hull is not None  # `FormKernels` leaves no other
    tiles, within = tiles_and_tile(hull, size, tile, rw.uses.ranges_at(kernel))
    return tiles, Range(max_of(within.start, values.start), min_of(within.stop, values.stop), values.step)

