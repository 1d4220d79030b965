"""Pipelined scan: each rank scans its block, and combines it with the results of earlier blocks.

Each rank scans its block; the last results of the blocks before it are combined (exscan), and then with its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcpy.ir.data import Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Const, Ref, cast, op
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, max_of, sym
from dcpy.ir.tree import region_of
from dcpy.transforms.distributed.resolved_placement import Home

Indices = tuple[Expr, ...]


def scan_across_ranks(node: Any, grid: str, home: Home, rw: Rewriter) -> None:
    """Behind a node of the local form whose `carried` label is dealt out: what its block lacks of those before it."""
    axis = home.get(node.carried)
    if axis is None:
        return
    ((name, out),) = node.outputs.items()
    dtype, shape = rw.uses.desc(out.container).dtype, out.subset.shape
    dim = node.index_labels()[name].index(node.carried)
    lines = (*shape[:dim], *shape[dim + 1 :])
    last, before = (
        rw.declare_fresh(f"{out.container}_{what}", Array.packed(dtype, lines, transient=True), region_of(node.state))
        for what in ("last", "before")
    )
    whole = tuple(Range(ZERO, size) for size in shape)
    at_end = (*whole[:dim], Range(max_of(0, shape[dim] - 1), shape[dim]), *whole[dim + 1 :])  # none in an empty block
    value = Ref("value", dtype)

    def of_line(container: str, at: Indices) -> Memlet:
        return Memlet(container, Subset((*at[:dim], *at[dim + 1 :])))

    def element(at: Indices) -> Memlet:
        return Memlet(out.container, out.subset.compose(Subset(at)))

    def take(at: Indices) -> Tasklet:
        return Tasklet({"value": element(at)}, {"out": of_line(last, at)}, (("out", value),))

    def add(at: Indices) -> Tasklet:
        both = cast(op(node.combination, Ref("first", dtype), value), dtype)
        return Tasklet({"first": of_line(before, at), "value": element(at)}, {"out": element(at)}, (("out", both),))

    everything = Subset.whole(lines)
    exscan = LIBRARY_KINDS["comm.exscan"](
        inputs={"x": Memlet(last, everything)}, outputs={"out": Memlet(before, everything)},
        op=node.combination, grid=grid, along=(axis.axis,), span=node.span,
    )  # type: ignore[call-arg]  # fmt: skip
    identity = Const(identity_value(node.combination, dtype), dtype)

    def fill(container: str) -> Node:
        domain = tuple(Range(ZERO, size) for size in lines)
        return _each(domain, lambda at: Tasklet({}, {"out": Memlet(container, Subset(at))}, (("out", identity),)), rw)

    steps = [fill(last), fill(before), _each(at_end, take, rw), exscan, _each(whole, add, rw)]
    place = node.state.index(node) + 1
    for number, step in enumerate(steps):
        rw.add_node(step, node.state, place + number)


def _each(domain: tuple[Range, ...], write: Callable[[Indices], Tasklet], rw: Rewriter) -> Node:
    """A map over all points of a domain; without dimensions, what is written there."""
    params = tuple(rw.fresh_name("i") for _ in domain)
    task = write(tuple(map(sym, params)))
    return Map(params, domain, Region((State("", [task]),))) if params else task
