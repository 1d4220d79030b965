"""Interchange of loops with the points of the maps inside, if points are independent (`owned_points`)."""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir.data import Array
from dcpy.ir.editing.nest_edits import alone_in_state
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map
from dcpy.ir.region import Block, Region, State
from dcpy.ir.schedules import Schedule
from dcpy.ir.symbolic import sym
from dcpy.ir.tree import is_inside
from dcpy.transforms.fusion.temporaries import shrink
from dcpy.transforms.loops.owned_points import CommonPoints


def points_outside(row: Sequence[Block], points: CommonPoints, schedule: Schedule, rw: Rewriter) -> Map:
    """Put a map over the points around a loop, or around adjacent blocks, and map bodies in place of maps; return it.

    before   loop t = 0:T { map i = 0:N { u[i] = f(A[i], t) };  map j = 0:N { A[j] += u[j] } }
    after    map i = 0:N { loop t = 0:T { u = f(A[i], t);  A[i] += u } }

    A temporary of an iteration becomes private to a point, and keeps the dimensions that are not the points'.
    """
    region = row[0].region
    assert region is not None
    start, rest = region.index(row[0]), len(region.blocks) - region.index(row[-1]) - 1
    private = [name for kernel in points.kernels if _is_in(kernel, region) for name in kernel.body.containers]
    for kernel, shift in zip(points.kernels, points.shifts, strict=True):
        values = {
            own: sym(name) + by
            for own, name, by in zip(kernel.params, points.params, shift, strict=True)
            if sym(own) != sym(name) + by
        }
        if values:
            rw.substitute_symbols(values, within=kernel.body)
        _unfold(kernel, rw)
    blocks = region.blocks[start : len(region.blocks) - rest]
    outer = Map(points.params, points.domain, Region(), schedule, span=blocks[0].span)
    rw.insert_before(blocks[0], State(nodes=[outer], span=outer.span))
    rw.move_blocks(blocks, outer.body)
    for name in private:
        rw.move_container(name, outer.body)
    for name, dims in points.owned.items():
        home = rw.uses.home(name)
        if home is outer.body or not is_inside(home, outer):
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


def _is_in(kernel: Map, region: Region) -> bool:
    """Return whether a node is in a state of this region itself, not of a nested one."""
    return kernel.state is not None and kernel.state.region is region


def _unfold(kernel: Map, rw: Rewriter) -> None:
    """Replace a kernel by its body."""
    state = alone_in_state(kernel, rw)
    region = state.region
    assert region is not None
    position = region.index(state)
    rw.hoist_containers(kernel.body, region)
    rw.move_blocks(list(kernel.body.blocks), region, position)
    rw.erase(state)
