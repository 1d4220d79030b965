"""OverlappedTiles: the sweeps of some time steps are one kernel, whose blocks have their tiles in shared memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.device_side import run_by_host
from dcpy.ir.data import Allocation, Array, Space
from dcpy.ir.editing.nest_edits import unwrap
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.gpu.costs import GPU_COSTS, GPU_LIMITS
from dcpy.ir.machine_model import Costs, Limits
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop, State
from dcpy.ir.schedules import BLOCK, GRID
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Match
from dcpy.transforms.gpu.loops.overlapped_tiling_cost import OverlappedTiling, best_tiling
from dcpy.transforms.gpu.loops.unswitching import InvariantConditions, unswitched
from dcpy.transforms.gpu.placement.offloadable import why_on_host
from dcpy.transforms.loops.loop_versioning import all_hold
from dcpy.transforms.loops.sweeps import Sweeps
from dcpy.transforms.loops.time_tiling import TimeTiling
from dcpy.transforms.maps.map_of_copy import elementwise
from dcpy.transforms.passes import GraphPass

AXES = (2, 3, 1)  #: of the grids that are tiled: all of their dimensions


@dataclass(frozen=True)
class OverlappedTiles(GraphPass):
    """Overlapped tiling: a block computes a tile of all grids for some time steps, with what it needs around it.

    before   loop t = 0:T { map i, j { E[i, j] -= f(H[i, j], H[i - 1, j]) }
                            map i, j { H[i, j] -= g(E[i, j], E[i + 1, j]) } }
    after    loop u = 0:T:4 { map I = 0:N:32, J = 0:M:32 @grid {
               data e: f64[40, 40] @shared;  data h: f64[40, 40] @shared
               e, h = E, H[I - 4:I + 36, J - 4:J + 36]
               loop t = u:min(T, u + 4) { both maps on e, h }
               E', H'[I:I + 32, J:J + 32] = e, h[4:36, 4:36] } }

    This is TimeTiling, whose bands of steps read one copy of each grid, and write another one. How many steps a tile
    makes is what a model of bytes and of points that several tiles compute finds cheapest (`overlapped_tiling_cost`),
    if that is at most four fifths of what the sweeps cost one by one. Tiles of several steps are for grids of more than
    `points` points and for two bands at least: that is proved, or asked before the loop. Applies where the tiles fit
    into shared memory. (Holewinski, Pouchet and Sadayappan, High-performance code generation for stencil computations
    on GPU architectures, ICS 2012.)
    """

    name: ClassVar[str] = "overlapped-tiles"
    optional: ClassVar[bool] = True
    costs: Costs = GPU_COSTS
    limits: Limits = GPU_LIMITS
    points: int = 4096

    def decide(self, rw: Rewriter) -> None:
        """Loop by loop."""
        for loop in list(_loops(rw)):
            reason = self._try(loop, rw)
            if reason:
                rw.remark(loop, False, f"one kernel per sweep: {reason}")

    def _try(self, loop: Loop, rw: Rewriter) -> Refusal | None:
        match = Match(rw.sdfg, rw.uses, {"loop": loop})
        plan = _plan(match)
        best = plan if isinstance(plan, Refusal) else self._best(plan, rw.uses)
        if isinstance(best, Refusal):
            return best
        assert isinstance(plan, Sweeps)
        needed = self._needed(loop, plan, best, rw) if best.steps > 1 else ()
        if isinstance(needed, Refusal):
            return needed
        if needed:
            loop = unswitched(loop, InvariantConditions((), (all_hold([needed], rw.sdfg.sizes),)), rw)
            match = Match(rw.sdfg, rw.uses, {"loop": loop})
        tiling = TimeTiling(steps=best.steps, sizes=best.sizes)
        plan = tiling.plan(match)
        assert isinstance(plan, Sweeps)
        _, tiles, steps = tiling.apply(match, plan, rw)
        if best.steps == 1:
            rw.substitute_symbols({steps.param: steps.range.start}, within=steps.body)
            unwrap(steps, rw)
        _make_kernel(tiles, rw)
        how = f"{best.steps} steps" if best.steps > 1 else f"{len(plan.sweeps)} sweeps of a step"
        sizes = " x ".join(map(str, best.sizes))
        rw.remark(steps, True, f"{how} are one kernel, in tiles of {sizes}; {best.bytes_per_point:.1f} bytes a point")
        return None

    def _best(self, plan: Sweeps, uses: Uses) -> OverlappedTiling | Refusal:
        for sweep in plan.sweeps:
            if reason := why_on_host(sweep.node, uses):
                return reason
        if not any(any(plan.reach(axis)) for axis in range(len(plan.sizes))):
            return Refusal("no point reads its neighbours: loops-into-kernels gives each point a thread for all steps")
        return best_tiling(plan, self.costs, self.limits, uses)

    def _needed(self, loop: Loop, plan: Sweeps, best: OverlappedTiling, rw: Rewriter) -> tuple[Expr, ...] | Refusal:
        """Return the values that must not be negative, beside what is proved, for several bands and enough points."""
        least = math.ceil(self.points ** (1 / len(plan.sizes)))
        ranges = rw.uses.ranges_at(loop)
        needed = []
        for value in (loop.range.size - 2 * best.steps, *(size - least for size in plan.sizes)):
            if ranges.proves_lt(value, ZERO):
                return Refusal(f"{loop.range.size} steps on {' x '.join(map(str, plan.sizes))} points are too few")
            if not ranges.proves_nonneg(value):
                needed.append(value)
        return tuple(dict.fromkeys(needed))


def _plan(match: Match) -> Sweeps | Refusal:
    """The sweeps of a step along all dimensions of their grids."""
    reasons = []
    for axes in AXES:
        plan = TimeTiling(steps=1, sizes=(1,) * axes).plan(match)
        if isinstance(plan, Sweeps) and any(len(match.uses.desc(grid.array).shape) != axes for grid in plan.grids):
            plan = Refusal(f"a grid has other dimensions than {axes}")
        if isinstance(plan, Sweeps):
            return plan
        reasons.append(plan)
    return reasons[0]


def _loops(rw: Rewriter) -> Iterator[Loop]:
    """Loops of the host, outermost first."""
    for block in run_by_host(rw.sdfg.body):
        if isinstance(block, Loop) and not any(isinstance(owner, Map) for owner in owners_around(block)):
            yield block


def _make_kernel(tiles: Map, rw: Rewriter) -> None:
    """Make a map over tiles a kernel: threads of a block share its buffers, and the iterations of its maps."""
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
