"""Copies as maps over their elements: for threads, which have no memcpy."""

from __future__ import annotations

from dataclasses import replace

from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.data import Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Ref
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.schedules import GRID, SEQUENTIAL, Schedule
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, sym


def copy_as_maps(node: Copy, rw: Rewriter, schedule: Schedule = GRID) -> None:
    """Replace a copy by maps over its elements; by way of a temporary where source and target may overlap.

    before   copy A[0:N] -> B[0:2*N:2]        after   map c = 0:N @grid { B[2*c] = A[c] }

    With a sequential schedule, a copy of one element becomes a tasklet.
    """
    steps = [(node.src, node.dst)]
    if _may_overlap(node, rw):
        assert node.state is not None
        assert node.state.region is not None
        desc = rw.uses.desc(node.src.container)
        fresh = Array.packed(desc.dtype, node.src.subset.shape, transient=True, span=node.span)
        name = rw.declare_fresh(f"{node.dst.container}_new", fresh, node.state.region)
        between = Memlet(name, Subset.whole(fresh.shape))
        steps = [(node.src, between), (between, node.dst)]
    loops = [elementwise(source, target, node, rw, schedule) for source, target in steps]
    whole = schedule is not SEQUENTIAL or all(loop.params for loop in loops)
    rw.replace(node, *(loops if whole else (inner for loop in loops for inner in _only_state(loop))))


def _may_overlap(node: Copy, rw: Rewriter) -> bool:
    mine, its = (memory_of(memlet.container, rw.uses.desc) for memlet in (node.src, node.dst))
    if mine != its:
        return False
    same = node.src.container == node.dst.container
    return not (same and node.src.subset.disjoint(node.dst.subset, rw.uses.ranges_at(node)))


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
