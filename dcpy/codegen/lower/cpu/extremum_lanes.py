"""Extremum lanes: a maximum or minimum of floats is folded in many lanes, which are folded into one at the end.

g++ makes no vectors of extrema of floats, as NaN stays, but it makes some of a loop over lanes::

    double lanes[16];
    for (int64_t lane = 0; lane < 16; lane++) lanes[lane] = -inf;
    for (int64_t piece = 0; piece < N; piece += 16) {
        const int64_t first = min(piece, N - 16);
        for (int64_t lane = 0; lane < 16; lane++) lanes[lane] = maximum(lanes[lane], A[first + lane]);
    }
    for (int64_t lane = 0; lane < 8; lane++) lanes[lane] = maximum(lanes[lane], lanes[lane + 8]);
    ...

The last piece may begin in the one before it: an extremum that takes a value twice is the same. So nothing else may be
written. Fewer iterations than there are lanes are folded in those of one vector, and even fewer run as they are: there
each waits for the one before, so that rows of a dozen elements gain, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Item, LirExpr, Name, Operation, integer, plus, times
from dcpy.codegen.lir.intrinsics import ORDER
from dcpy.codegen.lir.reduction_operators import ReductionOperator
from dcpy.codegen.lir.types import INDEX, TRUTH, Pointer
from dcpy.codegen.lower.context import Accumulator, Context
from dcpy.codegen.lower.expressions.loop_ranges import within
from dcpy.ir.analysis.accesses.memory_access import Mode
from dcpy.ir.analysis.parallelism.conflict_resolutions import ConflictResolutions, location
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.symbolic import ONE, Ranges
from dcpy.ir.tree import subtree
from dcpy.ir.types import DType

LowerRegion = Callable[[Context, Region], tree.Body]
BYTES = 128  #: of the lanes: two vectors of the widest processors, so that one is folded while the other one waits
SHORT_BYTES = 32  #: of the lanes where there are too few iterations for all


def folds_in_lanes(context: Context, node: Map, writes: ConflictResolutions, places: Sequence[Memlet]) -> bool:
    """Return whether a map does nothing but fold extrema of floats into these places."""
    if not places or not context.on_host:
        return False
    if any(memlet.wcr not in ("min", "max") or _dtype(context, memlet) not in ORDER for memlet in places):
        return False
    if any(access.mode is not Mode.READ and location(access.memlet) not in places for access in writes.accesses):
        return False
    plain = all(part is node or isinstance(part, State | Tasklet) for part in subtree(node))
    return plain and node.domain[-1].step == ONE


def extremum_lanes(
    context: Context, node: Map, accumulators: Mapping[Memlet, Accumulator], lower_region: LowerRegion
) -> tree.Body:
    """The loop over the innermost parameter of a map, which folds into the accumulators by way of lanes."""
    domain = node.domain[-1]
    known, size = domain.size.constant, max(_dtype(context, memlet).itemsize for memlet in accumulators)
    counts = [each // size for each in (BYTES, SHORT_BYTES) if known is None or known >= each // size]
    if known is not None and counts:
        return (tree.Compound(_pieces(context, node, accumulators, lower_region, counts[0])),)
    start, stop = context.symbolic(domain.start), context.symbolic(domain.stop)
    with context.knowing(_inside(context, node)):
        alone = lower_region(context, node.body)
    short = tree.Loop(context.names.of(node.params[-1]), start, stop, integer(1), alone, span=node.span)
    there = plus(stop, times(start, integer(-1)))
    cases = [
        (Infix(">=", there, integer(count), TRUTH), _pieces(context, node, accumulators, lower_region, count))
        for count in counts
    ]
    return (tree.If(tuple(cases), (short,)),) if cases else (short,)


def _inside(context: Context, node: Map) -> Ranges:
    """The ranges of symbols and parameters inside of a map."""
    ranges = context.ranges
    for param, dim in zip(node.params, node.domain, strict=True):
        ranges = within(ranges, param, dim)
    return ranges


def _pieces(
    context: Context, node: Map, accumulators: Mapping[Memlet, Accumulator], lower_region: LowerRegion, count: int
) -> tree.Body:
    """The fold in `count` lanes."""
    fresh, domain = context.names.fresh, node.domain[-1]
    variable = context.names.of(node.params[-1])
    lane, piece, first = (Name(fresh(stem), INDEX) for stem in ("lane", f"{variable}_piece", f"{variable}_first"))
    lanes = {
        memlet: Name(fresh(f"{context.names.of(memlet.container)}_lanes"), Pointer(_dtype(context, memlet)))
        for memlet in accumulators
    }
    items = {memlet: Item(array, lane, _dtype(context, memlet)) for memlet, array in lanes.items()}
    folded = {m: Accumulator(items[m], of.dtype, of.op) for m, of in accumulators.items()}
    with context.knowing(_inside(context, node)), context.accumulating(folded):
        side_by_side = lower_region(context, node.body)
    start, stop = context.symbolic(domain.start), context.symbolic(domain.stop)
    last = plus(stop, integer(-count))

    def each(width: int, *body: tree.Statement) -> tree.Loop:
        return tree.Loop(lane.name, integer(0), integer(width), integer(1), body, marks=(tree.Simd(),), span=node.span)

    def fold(memlet: Memlet, target: LirExpr, value: LirExpr) -> tree.Statement:
        return tree.Update(target, value, _operator(accumulators[memlet]))

    halves = [1 << power for power in reversed(range(count.bit_length() - 1))]
    return (
        *(tree.StackBuffer(array.name, _dtype(context, memlet), count) for memlet, array in lanes.items()),
        each(count, *(tree.Assign(items[m], _operator(accumulators[m]).neutral) for m in lanes)),
        tree.Loop(piece.name, start, stop, integer(count), (
            tree.Declare(first.name, INDEX, Operation("min", (piece, last), INDEX, INDEX), constant=True),
            each(count, tree.Declare(variable, INDEX, plus(first, lane), constant=True), *side_by_side),
        ), span=node.span),
        *(each(half, *(fold(m, items[m], _moved(items[m], half)) for m in lanes)) for half in halves),
        *(fold(m, accumulators[m].variable, Item(lanes[m], integer(0), items[m].type)) for m in lanes),
    )  # fmt: skip


def _dtype(context: Context, memlet: Memlet) -> DType:
    return context.locations[memlet.container].dtype


def _operator(accumulator: Accumulator) -> ReductionOperator:
    return ReductionOperator(accumulator.op, accumulator.dtype)


def _moved(item: Item, by: int) -> Item:
    return Item(item.base, plus(item.index, integer(by)), item.type)
