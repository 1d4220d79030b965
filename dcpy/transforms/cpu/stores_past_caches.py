"""Non-temporal stores: large results bypass the caches, which keep data that is read again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.base.figures import figure_text
from dcpy.ir.analysis.costs.work_estimates import work_of
from dcpy.ir.analysis.parallelism.nontemporal_stores import streamed_bytes, streamed_store
from dcpy.ir.editing.nest_edits import expand_map, split_axis
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Loop
from dcpy.ir.schedules import Parallel, Vector
from dcpy.ir.tree import owners_around
from dcpy.transforms.passes import GraphPass

TILE = 1024  # elements that a thread takes at a time, of a map that has but one parameter
BOUND_BY_MEMORY = 64  # units of work on an element: where it takes more, its store is not waited for
SHORT = 1024  # bytes of a row: of less, the lines at its ends that are not written whole are too large a part
DIMENSIONS = 2  # of arrays that have long rows where they are large: those of a cube of 32 MiB have 161 elements


@dataclass(frozen=True)
class StoresPastCaches(GraphPass):
    """Set the size in bytes from which the results of vector loops bypass the caches.

    before   map i = 0:N @parallel { map j = 0:M @vector { B[i, j] = f(A[i, j]) } }
    after    map i = 0:N @parallel { map j = 0:M @vector{streamed_above = 33554432} { B[i, j] = f(A[i, j]) } }

    The size is compared at run time: a small result stays in the caches. A map over one parameter, for both threads and
    vectors, is divided into tiles first. (Intel 64 and IA-32 Architectures Optimization Reference Manual, 9.4.)
    """

    name: ClassVar[str] = "stores-past-caches"
    optional: ClassVar[bool] = True
    costs: Costs = COSTS

    def decide(self, rw: Rewriter) -> None:
        """Decide for each map whose innermost parameter is vectorized."""
        for node in [each for each in rw.sdfg.body.walk_nodes() if isinstance(each, Map)]:
            schedule = node.schedule
            shared = isinstance(schedule, Parallel) and schedule.width != 1 and not schedule.chunk
            shared = shared and len(node.params) == 1  # a user's chunk size stays
            if (shared or (isinstance(schedule, Vector) and not schedule.streamed_above)) and self._pays(node, rw):
                vector = _divided(node, rw) if shared else node
                assert isinstance(vector.schedule, Vector)  # that is what was asked, or made
                rw.update(vector, schedule=replace(vector.schedule, streamed_above=self._cached_bytes))

    @property
    def _cached_bytes(self) -> int:
        return self.costs.processor.l3_bytes or self.costs.processor.l2_bytes

    def _pays(self, node: Map, rw: Rewriter) -> bool:
        """Return whether the map stores rows that may be long."""
        memlet = streamed_store(node, rw.uses)
        if memlet is None or len(memlet.subset.dims) > DIMENSIONS or _reads_neighbours(node):
            return False
        size = streamed_bytes(memlet, node, rw.uses)
        loops = [owner for owner in owners_around(node) if isinstance(owner, Loop)]
        if any(not set(size.symbols).isdisjoint({loop.param, *loop.range.symbols}) for loop in loops):
            return False  # as often as it is long: sizes at which that pays take days
        if size.constant is not None and size.constant <= self._cached_bytes:
            return False
        row, itemsize = node.domain[-1].size.constant, rw.uses.desc(memlet.container).dtype.itemsize
        if row is not None and row * itemsize < SHORT:
            return False
        if work_of(node, rw.sdfg, self.costs)[1] > BOUND_BY_MEMORY:
            return False
        bound = figure_text(self._cached_bytes, "B")
        rw.remark(node, True, f"{memlet.container!r} is written straight to memory if it has more than {bound}")
        return True


def _reads_neighbours(node: Map) -> bool:
    """Return whether a loop reads several elements of one array: it is bound by loads, not by memory."""
    nodes = [each for each in node.body.walk_nodes() if isinstance(each, Tasklet)]
    read = {memlet for each in nodes for memlet in each.reads() if node.params[-1] in memlet.subset.symbols}
    return len({memlet.container for memlet in read}) < len(read)


def _divided(node: Map, rw: Rewriter) -> Map:
    """Divide a map into tiles for threads; return the inner map, for vectors."""
    schedule = node.schedule
    assert isinstance(schedule, Parallel)  # the caller asked
    split_axis(node, node.params[0], TILE, rw)
    inner = expand_map(node, 1, rw)
    rw.update(node, schedule=replace(schedule, width=1))
    rw.update(inner, schedule=Vector(schedule.width))
    return inner
