"""Axis orders: which order of a map's parameters the model of time prefers, whatever the sizes are.

Sizes are not known when a program is compiled. So each order is priced for arrays of several sizes, and the one counts
that is nowhere far from the best: the ratio to the fastest order of a size, at its worst size, is to be small.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence

from dcpy.base.assumptions import NOTHING
from dcpy.ir.analysis.accesses.strides import step_of
from dcpy.ir.analysis.costs.nest_time import seconds_in_order
from dcpy.ir.analysis.parallelism.conflict_resolutions import conflict_resolutions
from dcpy.ir.data import Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine_model import Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import State
from dcpy.ir.schedules import SEQUENTIAL, VECTOR, Unrolled
from dcpy.ir.symbolic import Expr, Ranges

SIZES = (12, 150, 2000)  #: of each dimension that is not known: in the first cache, in the second, in none
MOST = 4  #: parameters whose orders are compared
WORTH = 1.25  #: so many times as fast is another order, before a nest leaves the one that it has


def preferred_order(
    node: Map, order: Sequence[str], rw: Rewriter, costs: Costs, *, vector: bool, short: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the order of the parameters of a rectangular map of tasklets: `order` where none is clearly better.

    `vector`: whether its last parameter gets vectors, which none gets that is known to be `short` unless it has them.
    Floats that are combined keep their order along the parameters that combine them.
    """
    order = tuple(order)
    if not 1 < len(order) <= MOST or not _is_flat(node) or _follows_memory(node, order, rw):
        return order
    by = VECTOR if vector else SEQUENTIAL
    orders = [order, *(each for each in _others(node, order, rw) if each[-1] not in short or each[-1] == order[-1])]
    worst = dict.fromkeys(orders, 0.0)
    for size in SIZES:
        sizes = dict(_sizes(size, rw))
        times = {each: seconds_in_order(node, each, sizes, rw.uses, costs, by) for each in orders}
        least = min(times.values())
        if least > 0:  # else there are no iterations for arrays of this size
            worst = {each: max(worst[each], times[each] / least) for each in orders}
    best = min(orders, key=worst.__getitem__)
    return best if worst[order] > WORTH * worst[best] else order


def _is_flat(node: Map) -> bool:
    """Return whether there is nothing inside but tasklets, in maps that are written out or not."""
    written_out = (inner for inner in node.body.walk_nodes() if not isinstance(inner, Tasklet))
    return all(isinstance(inner, Map) and isinstance(inner.schedule, Unrolled) for inner in written_out) and all(
        isinstance(block, State) for block in node.body.walk_blocks()
    )


def _sizes(size: int, rw: Rewriter) -> Iterator[tuple[str, int]]:
    """A value for each size of which nobody has said what is typical, as far as it may be so large or small."""
    for name in (*rw.sdfg.sizes, *rw.sdfg.arguments):
        assumed = rw.sdfg.assumed.get(name, NOTHING)
        if assumed.typical is None:
            least = size if assumed.least is None else max(size, assumed.least)
            yield name, least if assumed.most is None else min(least, assumed.most)


def _follows_memory(node: Map, order: Sequence[str], rw: Rewriter) -> bool:
    """Return whether no access moves further with a parameter than with one before it: then no order is better."""
    ranges = rw.uses.ranges_at(rw.sdfg.body)
    memlets = [memlet for memlet in dict.fromkeys(_memlets(node)) if not _is_plain(memlet, order, rw)]
    shapes = dict.fromkeys(rw.uses.desc(memlet.container).shape for memlet in memlets)
    for size in dict.fromkeys(itertools.chain(*shapes)):  # what is accessed has elements
        ranges = ranges if size.constant is not None else ranges.narrowed(size - 1)
    return all(_is_sorted(memlet, order, rw, ranges) for memlet in memlets)


def _is_plain(memlet: Memlet, order: Sequence[str], rw: Rewriter) -> bool:
    """Return whether an array in C order is accessed at the parameters themselves, in their order: most are."""
    desc = rw.uses.desc(memlet.container)
    if not isinstance(desc, Array) or desc.axes != tuple(range(len(desc.shape))):
        return False
    named = [dim.name for dim in memlet.subset.dims if isinstance(dim, Expr) and dim.terms]
    return named == [param for param in order if param in named]


def _is_sorted(memlet: Memlet, order: Sequence[str], rw: Rewriter, ranges: Ranges) -> bool:
    steps = [step_of(memlet, param, rw.uses) for param in order if param in memlet.subset.symbols]
    return all(
        outer is not None and inner is not None and ranges.proves_le(inner, outer)
        for outer, inner in itertools.pairwise(steps)
    )


def _others(node: Map, order: tuple[str, ...], rw: Rewriter) -> Iterator[tuple[str, ...]]:
    """The other orders that leave what is combined in its order, and vectors out of it unless they are there now."""
    folded = [memlet for memlet in conflict_resolutions(rw.uses, node).resolved if _is_rounded(memlet, rw)]
    summed = [param for param in order if any(param not in memlet.subset.symbols for memlet in folded)]
    for other in itertools.permutations(order):
        if other == order or [param for param in other if param in summed] != summed:
            continue
        if other[-1] not in summed or other[-1] == order[-1]:
            yield other


def _is_rounded(memlet: Memlet, rw: Rewriter) -> bool:
    return rw.uses.desc(memlet.container).dtype.is_inexact


def _memlets(node: Map) -> Iterator[Memlet]:
    for inner in node.body.walk_nodes():
        if isinstance(inner, Tasklet):
            yield from inner.reads()
            yield from inner.writes()
