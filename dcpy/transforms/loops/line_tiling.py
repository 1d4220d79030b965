"""LineTiling: time tiling of one-dimensional stencils, if the grid and the number of steps are large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.data import Array
from dcpy.ir.editing.cloning import clone
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.nodes import Map
from dcpy.ir.region import Branch, Loop, Region
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.scatter_privatization import is_the_other_version
from dcpy.transforms.loops.sweeps import Sweeps
from dcpy.transforms.loops.time_tiling import TimeTiling


@dataclass(frozen=True, slots=True)
class TilingPlan:
    """The sweeps of a time step, their tiling, and the run-time condition under which it pays."""

    sweeps: Sweeps
    tiling: TimeTiling
    condition: ScalarExpr


@dataclass(frozen=True)
class LineTiling(Transformation[TilingPlan]):
    """Overlapped time tiling of lines: `time-tiling` where grids have one dimension, chosen when the program runs.

    before   loop t = 0:T { map i = 1:N - 1 { B[i] = f(A[i - 1], A[i + 1]) }
                            map j = 1:N - 1 { A[j] = B[j] } }
    after    if N >= 10240 and T >= 32 { the same in tiles of 1024 elements, each 32 steps at a time }
             else { loop t = 0:T { ... } }

    A sweep over a line has too little work for a team of threads, and streams through the caches in each step. A tile
    stays in the first-level cache, and threads synchronize once per band of steps. On planes the halo costs as much as
    that gains. Applies where the halo of all steps together is at most an eighth of a tile. (Krishnamoorthy et al.,
    Effective automatic parallelization of stencil computations, PLDI 2007.)
    """

    name: ClassVar[str] = "line-tiling"
    optional: ClassVar[bool] = True
    loop = capture(Loop)
    pattern = one(loop)

    steps: int = 32  #: time steps of a tile
    size: int = 1024  #: elements of a tile
    tiles: int = 10  #: so many are enough for a team

    def plan(self, m: Match) -> TilingPlan | Refusal:
        """The sweeps. Refuses other grids than lines, wide halos, and what `time-tiling` refuses."""
        loop = m[self.loop]
        if any(isinstance(owner, Map) for owner in owners_around(loop)):
            return Refusal("there is a map around it")
        tiling = TimeTiling(steps=self.steps, sizes=(self.size,))
        sweeps = tiling.plan(m)
        if isinstance(sweeps, Refusal):
            return sweeps
        descs = [m.uses.desc(grid.array) for grid in sweeps.grids]
        if not all(isinstance(desc, Array) and len(desc.shape) == 1 for desc in descs):
            return Refusal("a grid has more than one dimension")
        reach = self.steps * sum(sweeps.reach(0))
        if not 0 < reach <= self.size // 8:
            return Refusal(f"tiles of {self.size} elements have a halo of {reach}")
        (length,) = sweeps.sizes
        condition = op("and", _at_least(length, self.size * self.tiles), _at_least(loop.range.size, self.steps))
        if is_the_other_version(loop, condition):
            return Refusal("this version is for few elements, or few steps")
        return TilingPlan(sweeps, tiling, condition)

    def apply(self, m: Match, plan: TilingPlan, rw: Rewriter) -> Loop:
        """Return the loop over bands of steps."""
        loop = m[self.loop]
        region, rest = Region(), Region()
        rw.insert_before(loop, Branch([(plan.condition, region)], rest, span=loop.span))
        rw.insert(clone(loop, rw), rest)
        rw.move_blocks([loop], region)
        bands, _, _ = plan.tiling.apply(Match(m.sdfg, rw.uses, {"loop": loop}), plan.sweeps, rw)
        return bands


def _at_least(value: Expr, least: int) -> ScalarExpr:
    return op("ge", Index(value), Const(least, types.int64))
