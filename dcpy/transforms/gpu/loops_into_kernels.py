"""LoopsIntoKernels: a loop of kernels becomes one kernel, each of whose threads runs the loop for its own point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.sides import is_kernel, run_by_host
from dcpy.ir.data import Array
from dcpy.ir.editing.nest_edits import alone_in_state
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop, Region, State
from dcpy.ir.schedules import GRID
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import is_inside, owners_around
from dcpy.transforms.fusion.inlining import inline
from dcpy.transforms.fusion.recompute_fusion import recomputation
from dcpy.transforms.fusion.temporaries import shrink
from dcpy.transforms.gpu.carried_values import carry_in_registers
from dcpy.transforms.gpu.owned_points import Met, Points, points_of
from dcpy.transforms.gpu.settled_loops import is_the_slow_one, settled_in, version_of
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
    branches could stand in the way, a version without them runs if they surely do not (`settled_loops`).
    What depends on elements of arrays, or may raise an exception, stays a loop of launches.
    (Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)
    """

    name: ClassVar[str] = "loops-into-kernels"
    reads: int = 4  #: elements of a temporary that a point computes again, at most

    def decide(self, rw: Rewriter) -> None:
        """Loop by loop, outer ones first."""
        for element in list(run_by_host(rw.sdfg.body)):
            if isinstance(element, Loop) and any(part is element for part in run_by_host(rw.sdfg.body)):
                self._try(element, rw)

    def _try(self, loop: Loop, rw: Rewriter) -> None:
        settled = settled_in(loop, rw.uses)
        if is_the_slow_one(loop, settled):
            rw.remark(loop, False, "a loop of launches: it is for runs in which a check may fail")
            return
        points = points_of(loop, rw.uses, settled.blocks)
        while isinstance(points, Met) and any(self._recomputed(name, loop, rw) for name in points.containers):
            points = points_of(loop, rw.uses, settled.blocks)
        if not isinstance(points, Refusal) and settled.blocks:
            loop = version_of(loop, settled, rw)
            points = points_of(loop, rw.uses)
        if isinstance(points, Refusal):
            rw.remark(loop, False, f"a loop of launches: {points}")
            return
        kernel = _interchanged(loop, points, rw)
        rw.remark(kernel, True, f"each thread runs the loop over {loop.param}")
        carry_in_registers(loop, kernel, rw)

    def _recomputed(self, container: str, loop: Loop, rw: Rewriter) -> bool:
        """Whether a temporary of an iteration, in which points meet, is no longer there."""
        writers = rw.uses.writers(container)
        if not is_inside(rw.uses.home(container), loop) or len(writers) != 1:
            return False
        producer = next((owner for owner in owners_around(writers[0]) if is_kernel(owner)), None)
        plan = recomputation(producer, self.reads, rw.uses) if isinstance(producer, Map) else Refusal("not in a kernel")
        if isinstance(plan, Refusal):
            return False
        assert isinstance(producer, Map)
        inline(producer, plan, rw)
        rw.remark(loop, True, f"{container!r} is computed again by each point that reads it")
        return True


def _interchanged(loop: Loop, points: Points, rw: Rewriter) -> Map:
    """The kernel around a loop, in which bodies stand where kernels were."""
    region = loop.region
    assert region is not None
    for kernel, shift in zip(points.kernels, points.shifts, strict=True):
        values = {
            own: sym(name) + by
            for own, name, by in zip(kernel.params, points.params, shift, strict=True)
            if sym(own) != sym(name) + by
        }
        if values:
            rw.substitute_symbols(values, within=kernel.body)
        _unfold(kernel, rw)
    outer = Map(points.params, points.domain, Region(), GRID, span=loop.span)
    rw.insert_before(loop, State(nodes=[outer], span=loop.span))
    rw.move_blocks([loop], outer.body)
    for name, dims in points.owned.items():
        home = rw.uses.home(name)
        if not is_inside(home, loop):
            continue
        desc = rw.uses.desc(name)
        assert isinstance(desc, Array)
        kept = tuple(axis for axis in range(len(desc.shape)) if axis not in dims)
        if kept:
            rw.move_container(name, region)
        else:
            shrink(name, kept, outer, rw)
            rw.move_container(name, home)
    return outer


def _unfold(kernel: Map, rw: Rewriter) -> None:
    """Puts the body of a kernel where the kernel is."""
    state = alone_in_state(kernel, rw)
    region = state.region
    assert region is not None
    position = region.index(state)
    rw.hoist_containers(kernel.body, region)
    rw.move_blocks(list(kernel.body.blocks), region, position)
    rw.erase(state)
