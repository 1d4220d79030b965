"""RecomputeInKernels: what a point of a kernel would keep in the device's memory is computed again where it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.costs.work_estimates import cost_of_code
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.device_side import kernels
from dcpy.ir.data import Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.gpu.costs import GPU_COSTS, GPU_LIMITS
from dcpy.ir.machine_model import Costs, Limits
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, product_of
from dcpy.ir.tree import dominates, is_inside
from dcpy.transforms.fusion.inlining import Inlining, inline
from dcpy.transforms.fusion.pointwise import only_result
from dcpy.transforms.fusion.recompute_fusion import recomputation
from dcpy.transforms.fusion.temporaries import is_fixed, needed_elsewhere, shrink
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class RecomputeInKernels(GraphPass):
    """Rematerialization: rows between the sums of a kernel are computed twice, where that takes less than their bytes.

    before   map i = 0:N @grid { m = max(x[i, :]);  map k = 0:M { e[k] = exp(x[i, k] - m) }
               s = 0;  map l = 0:M { s += e[l] };  map n = 0:M { y[i, n] = e[n] / s } }
    after    map i = 0:N @grid { m = max(x[i, :])
               s = 0;  map l = 0:M { s += exp(x[i, l] - m) };  map n = 0:M { y[i, n] = exp(x[i, n] - m) / s } }

    This is RecomputeFusion inside of kernels, last rows first. A row that is not known to fit into what the threads of
    a block share is an array of all points in the device's memory, written and read: its elements are computed again
    if the operations take no longer than those bytes, and loads no more of them. What is loaded again is a
    row that the block has just read, which caches hold. (Briggs et al., Rematerialization, PLDI 1992.)
    """

    name: ClassVar[str] = "recompute-in-kernels"
    optional: ClassVar[bool] = True
    costs: Costs = GPU_COSTS
    limits: Limits = GPU_LIMITS
    reads: int = 4  #: places at which an element is read, at most

    def decide(self, rw: Rewriter) -> None:
        """Kernel by kernel, each backwards: what others need is computed once at a place that reads them all."""
        for kernel in kernels(rw.sdfg):
            inside = [node for node in kernel.body.walk_nodes() if isinstance(node, Map)]
            for node in inside:
                _leave_to_points(node, kernel, rw)
            for node in reversed(inside):
                plan = self._plan(node, rw.uses)
                if isinstance(plan, Inlining):
                    rw.remark(kernel, True, f"{plan.tmp!r} is recomputed where it is read")
                    inline(node, plan, rw)
                elif plan is not None:
                    rw.remark(kernel, False, plan.reason)

    def _plan(self, node: Map, uses: Uses) -> Inlining | Refusal | None:
        """Return the plan for recomputing the row that a map writes, if it writes one that could be recomputed."""
        plan = recomputation(node, self.reads, uses)
        if isinstance(plan, Refusal) or not self._is_row(plan.tmp, uses):
            return None
        desc = uses.desc(plan.tmp)
        again = len(plan.places()) - 1
        moved = 2 * desc.dtype.itemsize  # of an element that is stored and loaded
        loaded = again * _bytes_loaded(node, uses)
        if loaded > moved:
            return Refusal(f"{plan.tmp!r} stays: {loaded} bytes would be loaded again for each element")
        tasklets = [inner for inner in node.body.walk_nodes() if isinstance(inner, Tasklet)]
        work = again * sum(cost_of_code(expr, self.costs) for inner in tasklets for _, expr in inner.code)
        if work * self.costs.memory_speed > moved * self.costs.operation_speed:
            return Refusal(f"{plan.tmp!r} stays: {work} units of work would be done again for each element")
        return plan

    def _is_row(self, name: str, uses: Uses) -> bool:
        """Return whether it is an array of each point's own, not known to be shared by the block."""
        desc = uses.desc(name)
        if not isinstance(desc, Array) or not desc.transient:
            return False
        count = product_of(*desc.shape).constant
        return count is None or count * desc.dtype.itemsize > self.limits.stack_bytes


def _leave_to_points(producer: Map, kernel: Map, rw: Rewriter) -> None:
    """Make what a map computes the own of each point of the kernel, where points touch parts of an array that differ.

    ``e[i, k]`` of all points becomes ``e[k]`` of each, where only tasklets of the kernel touch it, each with the
    kernel's parameters as indices, and the map has computed all of the part before others read it: so nothing is left
    from an earlier launch.
    """
    result = only_result(producer, rw.uses)
    if isinstance(result, Refusal) or result.container in kernel.body.containers:
        return
    name = result.container
    users = rw.uses.accessors(name)
    if needed_elsewhere(name, [kernel], rw.uses) or not all(isinstance(user, Tasklet) for user in users):
        return
    tasklets = [user for user in users if isinstance(user, Tasklet)]
    memlets = [memlet for user in tasklets for memlet in (*user.reads(), *user.writes()) if memlet.container == name]
    subsets = [memlet.subset for memlet in memlets]
    regions = kernel.body.walk_regions()
    if not all(is_inside(user, producer) or dominates(producer, user) for user in tasklets):
        return
    inner = {name for region in regions for name in (*region.params, *symbols_assigned_in(region))} - {*kernel.params}
    axes = range(len(result.subset.dims))
    fixed = {axis: str(result.subset.dims[axis]) for axis in axes if is_fixed(axis, subsets, inner)}
    kept = {str(result.subset.dims[axis]): axis for axis in axes if axis not in fixed}
    whole = {param: Range(ZERO, rw.uses.desc(name).shape[axis], ONE) for param, axis in kept.items()}
    computed = dict(zip(producer.params, producer.domain, strict=True))
    if set(kernel.params) <= set(fixed.values()) and computed == whole:
        shrink(name, tuple(kept.values()), kernel, rw)


def _bytes_loaded(node: Map, uses: Uses) -> int:
    """Bytes that are loaded of elements of arrays, for one element of the result."""
    reads = {memlet for inner in node.body.walk_nodes() for memlet in inner.reads()}
    found = {memlet for memlet in reads if memlet.container not in node.body.containers and memlet.subset.dims}
    return sum(uses.desc(memlet.container).dtype.itemsize for memlet in found)
