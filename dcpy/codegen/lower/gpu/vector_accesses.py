"""Vector accesses: a thread that has several neighbours of a row loads and stores them at once, as 16 bytes.

All loads come first, all stores last. Where the place is no multiple of 16 bytes, or fewer elements are left, the
iterations run one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, Item, LirExpr, Name, integer, plus
from dcpy.codegen.lir.traversal import statements
from dcpy.codegen.lir.types import INDEX, TRUTH, Basic, Pointer, VectorType
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.tasklets import point_of
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.data import Space
from dcpy.ir.expressions.scalar import loads_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.schedules import Vector as OfVectors
from dcpy.ir.symbolic import ONE

LowerRegion = Callable[[Context, Region], tree.Body]
BYTES = 16  #: of one access


def lower_wide_map(context: Context, node: Map, body: tree.Body, lower_region: LowerRegion) -> tree.Body | None:
    """The iterations of a map in a kernel as vectors; `body` is one iteration. None where nothing is wide."""
    wide = wide_accesses(context, node)
    if not wide or any(isinstance(statement, tree.CheckFail) for statement in statements(body)):
        return None
    param, (dim,) = context.names.of(node.params[0]), node.domain
    assert isinstance(node.schedule, OfVectors)  # `vector_loads` has checked
    count = node.schedule.width
    lane = Name(context.names.fresh("lane"), INDEX)
    vectors = {memlet: Name(context.names.fresh(f"{memlet.container}_wide"), _type(context, memlet)) for memlet in wide}
    start, stop = context.symbolic(dim.start), context.symbolic(dim.stop)
    places = {memlet: _address(context, memlet, node.params[0], node) for memlet in wide}
    elements: dict[Memlet, LirExpr] = {
        memlet: Item(vector, lane, context.locations[memlet.container].dtype) for memlet, vector in vectors.items()
    }
    with context.by_lanes(elements):
        one = lower_region(context, node.body)
    head: list[tree.Statement] = []
    tail: list[tree.Statement] = []
    for memlet, (is_read, is_written) in wide.items():
        vector, dtype = vectors[memlet], context.locations[memlet.container].dtype
        value = Intrinsic("load_wide", (places[memlet],), vector.type, dtype) if is_read else None
        head.append(tree.Declare(vector.name, vector.type, value, constant=is_read and not is_written))
        if is_written:
            tail.append(tree.Evaluate(Intrinsic("store_wide", (places[memlet], vector), Basic.VOID, dtype)))
    mine = tree.Declare(param, INDEX, plus(start, lane), constant=True)
    lanes = tree.Loop(lane.name, integer(0), integer(count), integer(1), (mine, *one), marks=(tree.Unroll(count),))
    whole = Infix("<=", plus(start, integer(count)), stop, TRUTH)
    aligned = (
        Intrinsic("is_wide", (place,), TRUTH, context.locations[memlet.container].dtype)
        for memlet, place in places.items()
    )
    condition = reduce(lambda left, right: Infix("&&", left, right, TRUTH), aligned, whole)
    single = tree.Loop(param, start, stop, integer(1), body, marks=(tree.Unroll(1),), span=node.span)
    return (tree.If(((condition, (*head, lanes, *tail)),), (single,)),)


def wide_accesses(context: Context, node: Map) -> dict[Memlet, tuple[bool, bool]]:
    """The elements that go on by one with each iteration, and whether they are read and written; or none.

    Vectors stand for memory while the iterations run: so each array that is written is touched in one way only.
    """
    if not isinstance(node.schedule, OfVectors) or node.schedule.width < 2 or len(node.params) != 1:
        return {}
    tasklets = [inner for block in node.body.blocks if isinstance(block, State) for inner in block.nodes]
    if not all(isinstance(block, State) for block in node.body.blocks) or not all(
        isinstance(inner, Tasklet) for inner in tasklets
    ):
        return {}
    found: dict[Memlet, tuple[bool, bool]] = {}
    ways: dict[str, set[Memlet]] = {}
    written: set[str] = set()
    if any(True for inner in tasklets for expr in inner.exprs() for _ in loads_of(expr)):
        return {}
    for inner in tasklets:
        for memlet, writes in (*((m, False) for m in inner.reads()), *((m, True) for m in inner.writes())):
            place = context.locations[memlet.container]
            kind = place.base.type
            if not isinstance(kind, Pointer) or kind.space is not Space.GLOBAL:
                continue
            memory = memory_of(memlet.container, context.uses.desc)
            ways.setdefault(memory, set()).add(replace(memlet, wcr=""))
            written |= {memory} if writes else set()
            if node.params[0] not in memlet.subset.symbols:
                if writes:
                    return {}
                continue
            fits = place.dtype.itemsize * node.schedule.width == BYTES and place.dtype.kind in "iuf"
            if memlet.wcr or place.viewed or not fits or place.step(point_of(memlet.subset), node.params[0]) is not ONE:
                return {}
            is_read, is_written = found.get(memlet, (False, False))
            found[memlet] = (is_read or (not writes and not is_written), is_written or writes)
    return {} if any(len(ways[memory]) > 1 for memory in written) or node.domain[0].step is not ONE else found


def _type(context: Context, memlet: Memlet) -> VectorType:
    return VectorType(context.locations[memlet.container].dtype)


def _address(context: Context, memlet: Memlet, param: str, node: Map) -> LirExpr:
    """The address of the first iteration's element."""
    first = memlet.subset.subs({param: node.domain[0].start})
    return context.locations[memlet.container].address(point_of(first), context.symbolic)
