"""OverlappedTiles: all sweeps of a time step are one kernel, whose blocks have their tiles in shared memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.access_relations import names_in
from dcpy.ir.analysis.sides import run_by_host
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.data import Allocation, Array, Space
from dcpy.ir.editing.nest_edits import unwrap
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine import GPU_COSTS, GPU_LIMITS, Costs, Limits
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop, State
from dcpy.ir.schedules import BLOCK, GRID
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Match
from dcpy.transforms.gpu.kernels_of_nodes import elementwise
from dcpy.transforms.gpu.offloadable import why_on_host
from dcpy.transforms.loops.sweeps import Sweeps
from dcpy.transforms.loops.time_tiling import TimeTiling
from dcpy.transforms.passes import GraphPass

AXES = 2  #: of the grids that are tiled


@dataclass(frozen=True)
class OverlappedTiles(GraphPass):
    """Overlapped tiling: a block computes a tile of all grids of a time step, with what it needs around it.

    before   loop t = 0:T { map i, j { E[i, j] -= f(H[i, j], H[i - 1, j]) }
                            map i, j { H[i, j] -= g(E[i, j], E[i + 1, j]) } }
    after    loop t = 0:T { map I = 0:N:32, J = 0:M:32 @grid { data e: f64[34, 34] @shared;  data h: f64[34, 34] @shared
                              e, h = E, H[I - 1:I + 33, J - 1:J + 33];  both maps on e and h
                              E', H'[I:I + 32, J:J + 32] = e, h[1:33, 1:33] } }

    This is TimeTiling for one step, where one pass over the grids moves at most four fifths of what the sweeps
    move one by one; steps read one copy of each grid, and write another one. Applies where the tiles fit into shared
    memory. (Holewinski, Pouchet and Sadayappan, High-performance code generation for stencil computations on GPU
    architectures, ICS 2012.)
    """

    name: ClassVar[str] = "overlapped-tiles"
    costs: Costs = GPU_COSTS
    limits: Limits = GPU_LIMITS

    def decide(self, rw: Rewriter) -> None:
        """Loop by loop."""
        size = self.costs.warp
        tiling = TimeTiling(steps=1, sizes=(size,) * AXES)
        for loop in list(_loops(rw)):
            match = Match(rw.sdfg, rw.uses, {"loop": loop})
            plan = tiling.plan(match)
            reason = plan if isinstance(plan, Refusal) else self._why_not(plan, size, rw.uses)
            if isinstance(reason, Refusal) or isinstance(plan, Refusal):
                rw.remark(loop, False, f"sweep by sweep: {reason}")
                continue
            _, tiles, step = tiling.apply(match, plan, rw)
            rw.substitute_symbols({step.param: step.range.start}, within=step.body)
            unwrap(step, rw)
            _make_kernel(tiles, rw)
            rw.remark(loop, True, f"{len(plan.sweeps)} sweeps of a step are one kernel, in tiles of {size} x {size}")

    def _why_not(self, plan: Sweeps, size: int, uses: Uses) -> Refusal | None:
        for sweep in plan.sweeps:
            if reason := why_on_host(sweep.node, uses):
                return reason
        if not any(any(plan.reach(axis)) for axis in range(AXES)):
            return Refusal("no point needs its neighbours: loops-into-kernels gives each a thread for all steps")
        before = sum(_planes(sweep.node, uses) for sweep in plan.sweeps)
        outside = [grid for grid in plan.grids if not grid.is_own]
        written = {grid.array for grid in plan.grids}
        read = {name for sweep in plan.sweeps for name in names_in(sweep.node, uses)[0] if _is_plane(name, uses)}
        after = 2 * len(outside) + len(read - written)
        if 5 * after > 4 * before:
            return Refusal(f"one pass would move {after} grids, and the sweeps move {before}")
        if any(len(uses.desc(grid.array).shape) != AXES for grid in plan.grids):
            return Refusal(f"a grid has other dimensions than {AXES}")
        around = [size + sum(plan.reach(axis)) for axis in range(AXES)]
        needed = sum(math.prod(around) * uses.desc(grid.array).dtype.itemsize for grid in plan.grids)
        if needed > self.limits.shared_bytes // 5:  # several blocks beside each other
            return Refusal(f"tiles take {needed} bytes of shared memory")
        return None


def _loops(rw: Rewriter) -> Iterator[Loop]:
    """Loops of the host, outermost first."""
    for block in run_by_host(rw.sdfg.body):
        if isinstance(block, Loop) and not any(isinstance(owner, Map) for owner in owners_around(block)):
            yield block


def _planes(node: Map, uses: Uses) -> int:
    """How many grids a sweep moves: what it reads, and what it writes; parts of a lower dimension do not count."""
    if len(node.params) < AXES:
        return 0
    reads, writes = names_in(node, uses)
    return sum(_is_plane(name, uses) for names in (reads, writes) for name in names)


def _is_plane(name: str, uses: Uses) -> bool:
    return len(uses.desc(name).shape) >= AXES


def _make_kernel(tiles: Map, rw: Rewriter) -> None:
    """Makes a map over tiles a kernel: threads of a block share its buffers, and the iterations of its maps."""
    rw.update(tiles, schedule=GRID)
    for name, desc in list(tiles.body.containers.items()):
        if isinstance(desc, Array):
            rw.redeclare(name, replace(desc, space=Space.SHARED, allocation=Allocation.STACK))
    for state in [block for block in tiles.body.walk_blocks() if isinstance(block, State)]:
        for node in list(state.nodes):
            if any(isinstance(owner, Map) and owner is not tiles for owner in owners_around(node)):
                continue
            if isinstance(node, Copy):
                rw.replace(node, elementwise(node.src, node.dst, node, rw, BLOCK))
            elif isinstance(node, Map):
                rw.update(node, schedule=BLOCK)
