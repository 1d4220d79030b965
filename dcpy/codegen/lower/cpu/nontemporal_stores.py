"""Non-temporal stores: a vector loop with large results writes a few lines, which then go past the caches.

Whether they are too large is known when the loop runs; where they are not, it writes where it always does::

    const bool streams = 8*N > 33554432;
    alignas(64) double lines[128];
    const int64_t before = streams ? dcpy_bytes_into_line(B)/8 : 0;
    const int64_t step = streams ? 128 : N + before;
    for (int64_t i_tile = -before; i_tile < N; i_tile += step) {
        const int64_t first = max(0, i_tile), count = min(N, i_tile + step) - first;
        double *to = streams ? lines : &B[first];
        for (int64_t k = 0; k < count; k++) { const int64_t i = first + k; to[k] = f(A[i]); }
        if (streams) dcpy_store_past_caches(&B[first], lines, count*8);
    }

Tiles begin where cache lines do. A few lines are enough: loads of the next ones overlap with the stores.
"""

from __future__ import annotations

from collections.abc import Callable

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Conditional, Infix, Intrinsic, Item, LirExpr, Name, Operation, integer, plus, times
from dcpy.codegen.lir.traversal import expressions, parts, statements
from dcpy.codegen.lir.types import INDEX, TRUTH, Basic, Pointer
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.tasklets import point_of
from dcpy.ir.analysis.parallelism.nontemporal_stores import streamed_bytes, streamed_store
from dcpy.ir.data import Space
from dcpy.ir.nodes import Map
from dcpy.ir.region import Region
from dcpy.ir.schedules import Vector
from dcpy.ir.symbolic import ONE, sym

LowerRegion = Callable[[Context, Region], tree.Body]
BYTES = 1024  #: that are computed before they are stored past the caches


def streamed_row(
    context: Context, node: Map, marks: tuple[tree.Mark, ...], lower_region: LowerRegion
) -> tree.Body | None:
    """The loop over the innermost parameter of a map, some of whose results are stored so; None where none are."""
    if not isinstance(node.schedule, Vector) or not node.schedule.streamed_above or context.kernel is not None:
        return None
    memlet = streamed_store(node, context.uses)
    if memlet is None:
        return None
    place, param, domain = context.locations[memlet.container], node.params[-1], node.domain[-1]
    dtype, kind = place.dtype, place.base.type
    if not isinstance(kind, Pointer) or kind.space is not Space.HOST or place.viewed or BYTES % dtype.itemsize:
        return None
    if place.step(point_of(memlet.subset), param) is not ONE:
        return None
    variable, fresh = context.names.of(param), context.names.fresh
    streams, before = Name(fresh("streams"), TRUTH), Name(fresh("before"), INDEX)
    lines, to = Name(fresh("lines"), Pointer(dtype)), Name(fresh("to"), Pointer(dtype))
    step, tile = Name(fresh(f"{variable}_step"), INDEX), Name(fresh(f"{variable}_tile"), INDEX)
    first, count, k = Name(fresh(f"{variable}_first"), INDEX), Name(fresh("count"), INDEX), Name(fresh("k"), INDEX)
    context.names.adopt(first.name)
    with context.by_lanes({memlet: Item(to, k, dtype)}):
        body = lower_region(context, node.body)
    start, stop = context.symbolic(domain.start), context.symbolic(domain.stop)
    begin, here = (
        place.address(point_of(memlet.subset.subs({param: value})), context.symbolic)
        for value in (domain.start, sym(first.name))
    )
    written = context.symbolic(streamed_bytes(memlet, node, context.uses))
    many = Infix(">", written, integer(node.schedule.streamed_above), TRUTH)
    into_line = Intrinsic("elements_into_line", (begin,), INDEX, dtype)
    whole = plus(plus(stop, times(start, integer(-1))), before)
    rest = Infix("-", _operation("min", stop, plus(tile, step)), first, INDEX)
    some = integer(BYTES // dtype.itemsize)
    vectors = tree.Loop(
        k.name, integer(0), count, integer(1),
        (tree.Declare(variable, INDEX, plus(first, k), constant=True), *body), marks=marks, span=node.span,
    )  # fmt: skip
    store = tree.Evaluate(Intrinsic("store_past_caches", (here, lines, count), Basic.VOID, dtype))
    tiles = tree.Loop(tile.name, plus(start, times(before, integer(-1))), stop, step, (
        tree.Declare(first.name, INDEX, _operation("max", start, tile), constant=True),
        tree.Declare(count.name, INDEX, rest, constant=True),
        tree.Declare(to.name, to.type, Conditional(streams, lines, here, to.type)),
        vectors,
        tree.If(((streams, (store,)),)),
    ), span=node.span)  # fmt: skip
    return (
        tree.StackBuffer(lines.name, dtype, BYTES // dtype.itemsize),
        tree.Declare(streams.name, TRUTH, many, constant=True),
        tree.Declare(before.name, INDEX, Conditional(streams, into_line, integer(0), INDEX), constant=True),
        tree.Declare(step.name, INDEX, Conditional(streams, some, whole, INDEX), constant=True),
        tiles,
    )


def _operation(name: str, left: LirExpr, right: LirExpr) -> LirExpr:
    return Operation(name, (left, right), INDEX, INDEX)


def with_fence(body: tree.Body) -> tree.Body:
    """Return the body of a thread, with a fence behind it if it stores past the caches."""
    calls = (part for each in statements(body) for expr in expressions(each) for part in parts(expr))
    if any(isinstance(each, Intrinsic) and each.name == "store_past_caches" for each in calls):
        return (*body, tree.Evaluate(Intrinsic("stores_are_seen", (), Basic.VOID)))
    return body
