"""Copies as maps over their elements: for threads, which have no memcpy."""

from __future__ import annotations

from dataclasses import replace

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Ref
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.schedules import GRID, SEQUENTIAL, Schedule
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, sym


def copy_inside(node: Copy, rw: Rewriter) -> None:
    """A copy by one thread, as a tasklet or a sequential map; if source and target may overlap, the copy stays."""
    if node.src.container == node.dst.container and not node.src.subset.disjoint(
        node.dst.subset, rw.uses.ranges_at(node)
    ):
        return
    loop = elementwise(node.src, node.dst, node, rw, SEQUENTIAL)
    if loop.params:
        rw.replace(node, loop)
    else:
        rw.replace(node, *_only_state(loop))


def _only_state(loop: Map) -> list[Node]:
    (state,) = loop.body.blocks
    assert isinstance(state, State)
    nodes = list(state.nodes)
    state.nodes.clear()
    return nodes


def elementwise(source: Memlet, target: Memlet, node: Copy, rw: Rewriter, schedule: Schedule = GRID) -> Map:
    """A map that copies element by element."""
    sizes = target.subset.shape
    params = tuple(rw.fresh_name("c") for _ in sizes)
    point = Subset.point(*map(sym, params))
    desc = rw.uses.desc(source.container)
    one, other = (replace(memlet, subset=memlet.subset.compose(point)) for memlet in (source, target))
    tasklet = Tasklet({"a": one}, {"out": other}, (("out", Ref("a", desc.dtype)),), span=node.span)
    body = Region([State(nodes=[tasklet], span=node.span)])
    return Map(params, tuple(Range(ZERO, size) for size in sizes), body, schedule, span=node.span)
