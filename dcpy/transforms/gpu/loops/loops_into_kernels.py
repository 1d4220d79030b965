"""LoopsIntoKernels: a loop of kernels becomes one kernel, each of whose threads runs the loop for its own point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.device_side import is_kernel, run_by_host
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop
from dcpy.ir.schedules import GRID
from dcpy.ir.tree import is_inside, owners_around
from dcpy.transforms.fusion.inlining import inline
from dcpy.transforms.fusion.recompute_fusion import recomputation
from dcpy.transforms.gpu.loops.unswitching import invariant_conditions_in, is_fallback_loop, unswitched
from dcpy.transforms.loops.carried_values import carry_in_registers
from dcpy.transforms.loops.owned_points import Met, points_of
from dcpy.transforms.loops.points_outside import points_outside
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class LoopsIntoKernels(GraphPass):
    """Loop interchange and fusion: the maps of all kernels of a loop go around it, as one.

    before   loop t = 0:T { map i = 0:N @grid { u[i] = f(A[i], t) };  map j = 0:N @grid { A[j] += u[j] } }
    after    map i = 0:N @grid { own = A[i];  loop t = 0:T { v = f(own, t);  own += v };  A[i] = own }

    Applies where all kernels of a loop of the host have the same points, and each element that the loop writes is one
    point's own: no access to it is another point's (`owned_points`). One launch stands for all those of the loop, what
    the loop carries from iteration to iteration is in registers, and a temporary of an iteration is in no memory. A
    temporary in which points meet is computed again by each that reads it, at most `reads` elements. Where checks and
    branches could stand in the way, a version without them runs if they surely do not (`unswitching`).
    What depends on elements of arrays, or may raise an exception, stays a loop of launches.
    (Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)
    """

    name: ClassVar[str] = "loops-into-kernels"
    optional: ClassVar[bool] = True
    reads: int = 4  #: elements of a temporary that a point computes again, at most

    def decide(self, rw: Rewriter) -> None:
        """Loop by loop, outer ones first."""
        for element in list(run_by_host(rw.sdfg.body)):
            if isinstance(element, Loop) and any(part is element for part in run_by_host(rw.sdfg.body)):
                self._try(element, rw)

    def _try(self, loop: Loop, rw: Rewriter) -> None:
        invariant = invariant_conditions_in(loop, rw.uses)
        if is_fallback_loop(loop, invariant):
            rw.remark(loop, False, "the host launches a kernel in each iteration: a check may fail in its runs")
            return
        points = points_of(loop, rw.uses, invariant.blocks)
        while isinstance(points, Met) and any(self._recomputed(name, loop, rw) for name in points.containers):
            points = points_of(loop, rw.uses, invariant.blocks)
        if not isinstance(points, Refusal) and invariant.blocks:
            loop = unswitched(loop, invariant, rw)
            points = points_of(loop, rw.uses)
        if isinstance(points, Refusal):
            rw.remark(loop, False, f"the host launches a kernel in each iteration: {points}")
            return
        kernel = points_outside([loop], points, GRID, rw)
        rw.remark(kernel, True, f"each thread runs the loop over {loop.param}")
        carry_in_registers(loop, kernel, rw)

    def _recomputed(self, container: str, loop: Loop, rw: Rewriter) -> bool:
        """Return whether a temporary of an iteration, in which points meet, is no longer there."""
        writers = rw.uses.writers(container)
        if not is_inside(rw.uses.home(container), loop) or len(writers) != 1:
            return False
        producer = next((owner for owner in owners_around(writers[0]) if is_kernel(owner)), None)
        plan = recomputation(producer, self.reads, rw.uses) if isinstance(producer, Map) else Refusal("not in a kernel")
        if isinstance(plan, Refusal):
            return False
        assert isinstance(producer, Map)
        inline(producer, plan, rw)
        rw.remark(loop, True, f"{container!r} is recomputed at each point that reads it")
        return True
