"""Interchange of a loop with the points of the maps inside, where each point owns what it touches (`owned_points`)."""

from __future__ import annotations

from dcpy.ir.data import Array
from dcpy.ir.editing.nest_edits import alone_in_state
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop, Region, State
from dcpy.ir.schedules import Schedule
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import is_inside
from dcpy.transforms.fusion.temporaries import shrink
from dcpy.transforms.loops.owned_points import Points


def points_outside(loop: Loop, points: Points, schedule: Schedule, rw: Rewriter) -> Map:
    """Puts a map over the points around a loop, in which bodies stand where maps were; returns it.

    before   loop t = 0:T { map i = 0:N { u[i] = f(A[i], t) };  map j = 0:N { A[j] += u[j] } }
    after    map i = 0:N { loop t = 0:T { u = f(A[i], t);  A[i] += u } }

    A temporary of an iteration becomes one of the point's, with the dimensions that are no point's.
    """
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
    outer = Map(points.params, points.domain, Region(), schedule, span=loop.span)
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
