"""HistogramPrivatization: what the data scatter is combined in copies that a block of threads has for itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.parallelism.conflict_resolutions import conflict_resolutions
from dcpy.ir.analysis.parallelism.thread_parameters import is_orderless
from dcpy.ir.data import Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Const, Index, op
from dcpy.ir.gpu.costs import GPU_COSTS, GPU_LIMITS
from dcpy.ir.machine_model import Costs, Limits
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Branch
from dcpy.ir.schedules import Sequential
from dcpy.ir.symbolic import ONE, Expr
from dcpy.ir.tree import is_inside, owners_around
from dcpy.transforms.gpu.blocks.block_shapes import version_for
from dcpy.transforms.gpu.blocks.private_copies import ROUNDS, PrivateCopies
from dcpy.transforms.gpu.placement.offloadable import why_on_host
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True, slots=True)
class HistogramUpdate:
    """The tasklet that combines, and the element that the data choose."""

    tasklet: Tasklet
    target: Memlet

    @property
    def index(self) -> Expr:
        """Index of the element."""
        (index,) = self.target.subset.dims
        assert isinstance(index, Expr)
        return index


@dataclass(frozen=True)
class HistogramPrivatization(GraphPass):
    """Privatization of a histogram: each block combines in a copy in shared memory, then the copies are combined.

    before   map i = 0:N { let k = p[i]; h[k] += w[i] }
    after    map c = 0:N:4096 @grid {
               mine[0:n] = 0
               loop r = 0:16 {
                 map i = c + 256*r:c + 256*r + 256 @block { bins[i - ...] = p[i];  values[i - ...] = w[i] }
                 map u = 0:256 @block { for all s: if bins[s] % 256 == u { mine[bins[s]] += values[s] } } }
               copies[c // 4096, 0:n] = mine[0:n] }
             map b = 0:n { map q = 0:ceil(N / 4096) { h[b] += copies[q, b] } }

    A bin belongs to one thread of a block, which takes what falls into it in the order of the iterations: each run has
    the same bits. Integers are combined by atomic updates of the block's copy, which need no owners. Applies to maps of
    one parameter that combine values once in an iteration, in an element of an array of one dimension, where its size
    fits (it is asked where it is not known). (Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 2022.)
    """

    name: ClassVar[str] = "histogram-privatization"
    optional: ClassVar[bool] = True
    costs: Costs = GPU_COSTS
    limits: Limits = GPU_LIMITS

    def decide(self, rw: Rewriter) -> None:
        """Map by map; those that have nothing of the kind have no remark."""
        if self.costs.block <= 1:
            return
        for node in [node for node in rw.sdfg.body.walk_nodes() if isinstance(node, Map)]:
            found = self.scatter_of(node, rw.uses)
            if found is None:
                continue
            if isinstance(found, Refusal):
                rw.remark(node, False, f"no private copies: {found}")
                continue
            rw.remark(node, True, f"each block has a copy of {found.target.container!r}")
            size = rw.uses.desc(found.target.container).shape[0]
            if size.constant is None:
                fits = op("le", Index(size), Const(self._most(found, rw.uses), types.int64))
                node = version_for(node, fits, rw)
                again = self.scatter_of(node, rw.uses)
                assert isinstance(again, HistogramUpdate)  # it is a copy
                found = again
            self._privatize(node, found, rw)

    def scatter_of(self, node: Map, uses: Uses) -> HistogramUpdate | Refusal | None:
        """Return the scatter of a map; None where it does not scatter, or is no kernel."""
        if any(isinstance(owner, Map) for owner in owners_around(node)) or isinstance(node.schedule, Sequential):
            return None
        chosen = {name for region in node.body.walk_regions() for name in symbols_assigned_in(region)}
        scattered = [
            memlet
            for memlet in conflict_resolutions(uses, node).resolved
            if not chosen.isdisjoint(memlet.subset.symbols) and uses.desc(memlet.container).shape != (ONE,)
        ]
        if not scattered or why_on_host(node, uses) is not None:
            return None
        names = {memlet.container for memlet in scattered}
        if len(names) > 1:
            return Refusal(f"it scatters to {' and '.join(sorted(names))}")
        found = _only_update(node, scattered[0].container, uses)
        return found if isinstance(found, Refusal) else self._why_not(node, found, uses) or found

    def _why_not(self, node: Map, found: HistogramUpdate, uses: Uses) -> Refusal | None:
        desc = uses.desc(found.target.container)
        (values,) = node.domain[:1]
        if len(node.params) > 1 or values.step is not ONE:
            return Refusal("it has several parameters, or does not go up one by one")
        if not isinstance(desc, Array) or len(desc.shape) != 1 or len(uses.overlapping(found.target.container)) > 1:
            return Refusal(f"{found.target.container!r} is no array of one dimension of its own")
        count, size = values.size.constant, desc.shape[0].constant
        if count is not None and count <= ROUNDS * self.costs.block:
            return Refusal("it is short")
        if size is not None and size > self._most(found, uses):
            return Refusal(f"{found.target.container!r} does not fit into the memory that a block shares")
        return None

    def _most(self, found: HistogramUpdate, uses: Uses) -> int:
        """Elements of a copy: several blocks are to fit beside each other."""
        return self.limits.shared_bytes // 7 // uses.desc(found.target.container).dtype.itemsize // 64 * 64

    def _privatize(self, node: Map, found: HistogramUpdate, rw: Rewriter) -> None:
        copies = PrivateCopies(node, found.target, self._most(found, rw.uses), self.costs.block, rw)
        if is_orderless(rw.uses.desc(found.target.container).dtype):
            copies.by_atomic_updates(found.tasklet, found.index)
        else:
            copies.by_owners(found.tasklet, found.index)


def _only_update(node: Map, name: str, uses: Uses) -> HistogramUpdate | Refusal:
    """The one place in the body of a map that touches a container, if no loop repeats it."""
    accessors = [element for element in uses.accessors(name) if is_inside(element, node)]
    tasklet = accessors[0]
    if len(accessors) > 1 or not isinstance(tasklet, Tasklet) or len(tasklet.outputs) != 1:
        return Refusal(f"{name!r} is accessed at several places")
    for owner in owners_around(tasklet):
        if owner is node:
            break
        if not isinstance(owner, Branch):
            return Refusal(f"a {owner.kind} inside combines more than once", (owner,))
    (target,) = tasklet.outputs.values()
    if not target.wcr or not all(isinstance(dim, Expr) for dim in target.subset.dims):
        return Refusal(f"{name!r} is also accessed in another way")
    return HistogramUpdate(tasklet, target)
