"""FormKernels: each point of a kernel becomes the work of one thread, and no two threads write the same element."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.device_side import kernels
from dcpy.ir.analysis.parallelism.thread_parameters import free_params
from dcpy.ir.data import Allocation, Array, Data, Lifetime, Scalar, Space, packed_strides
from dcpy.ir.editing.nest_edits import expand_map, reorder_axes
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.gpu.costs import GPU_LIMITS
from dcpy.ir.machine_model import Limits
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.schedules import SEQUENTIAL, Sequential, ThreadBlock, Unrolled, Warp
from dcpy.ir.symbolic import product_of
from dcpy.transforms.api import Match
from dcpy.transforms.gpu.kernels.range_hulls import hull_of
from dcpy.transforms.loops.scalar_expansion import ScalarExpansion
from dcpy.transforms.maps.map_of_copy import copy_as_maps
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class FormKernels(GraphPass):
    """Leaves a kernel the parameters that threads can have, and makes all inside of it one thread's.

    before   map i = 0:N, j = 0:M @grid { s[j] += A[i, j] }
    after    map j = 0:M @grid { map i = 0:N @sequential { s[j] += A[i, j] } }

    A parameter whose iterations combine values in one place goes inside: each thread owns what it combines into. Only
    where the data choose the place, and the order does not show, threads meet, and updates are atomic. Scalars of an
    iteration become registers, small arrays of constant size the thread's own; larger ones get a dimension for each
    parameter of the kernel, and are in the memory of the device, next to each other for neighbouring threads.
    Kernels that have maps of threads already keep them.
    """

    name: ClassVar[str] = "form-kernels"
    limits: Limits = GPU_LIMITS
    any_order: bool = False  #: floats may be combined in the order in which threads come

    def decide(self, rw: Rewriter) -> None:
        """Kernel by kernel."""
        for kernel in kernels(rw.sdfg):
            if not _is_formed(kernel):
                _own(kernel, self.any_order, rw)
            for node in list(kernel.body.walk_nodes()):
                if isinstance(node, Map) and not isinstance(node.schedule, Sequential | Unrolled | ThreadBlock | Warp):
                    rw.update(node, schedule=SEQUENTIAL)
                elif isinstance(node, Copy):
                    copy_as_maps(node, rw, SEQUENTIAL)
            for region in list(kernel.body.walk_regions()):
                for name, desc in list(region.containers.items()):
                    self._allocate(name, desc, kernel, rw)

    def _allocate(self, name: str, desc: Data, kernel: Map, rw: Rewriter) -> None:
        """A private container: in registers, in the thread's own memory, or as a part of an array of all threads."""
        if not isinstance(desc, Scalar | Array) or desc.space is Space.SHARED:
            return
        count = product_of(*desc.shape).constant
        if not desc.shape and not rw.uses.views_of(name):
            rw.redeclare(name, replace(desc, allocation=Allocation.REGISTER))
        elif count is not None and count * desc.dtype.itemsize <= self.limits.stack_bytes:
            rw.redeclare(name, replace(desc, allocation=Allocation.STACK))
        else:
            _outside(name, kernel, rw)


def _is_formed(kernel: Map) -> bool:
    return any(isinstance(node, Map) and isinstance(node.schedule, ThreadBlock) for node in kernel.body.walk_nodes())


def _own(kernel: Map, any_order: bool, rw: Rewriter) -> None:
    """Move parameters inside that share targets, or whose ranges blocks cannot be made of."""
    free = free_params(kernel, rw.uses, any_order=any_order)
    kept = _divisible(kernel, free, rw)
    inside = tuple(param for param in kernel.params if param not in kept)
    if not inside or not kept:
        return
    reorder_axes(kernel, (*kept, *inside), rw)
    rw.update(expand_map(kernel, len(kept), rw), schedule=SEQUENTIAL)
    for param in inside:
        reason = "its range depends on others" if param in free else "iterations combine values in one place"
        rw.remark(kernel, False, f"one thread runs all of {param}: {reason}")


def _divisible(kernel: Map, free: tuple[str, ...], rw: Rewriter) -> tuple[str, ...]:
    """Free parameters with ranges of their own, and perhaps one whose range depends on these, which comes last."""
    ranges = dict(zip(kernel.params, kernel.domain, strict=True))
    own = tuple(param for param in free if set(kernel.params).isdisjoint(ranges[param].symbols))
    for param in reversed(free):
        mentioned = {other: ranges[other] for other in kernel.params if other in ranges[param].symbols}
        if mentioned and set(mentioned) <= set(own) and hull_of(ranges[param], mentioned, kernel, rw) is not None:
            return (*own, param)
    return own


def _outside(name: str, kernel: Map, rw: Rewriter) -> None:
    """Give a private array a dimension for each parameter, of which the last one is the fastest in memory."""
    if rw.uses.home(name) is not kernel.body:
        rw.move_container(name, kernel.body)
    desc = rw.uses.desc(name)
    if isinstance(desc, Array):
        rw.redeclare(name, replace(desc, lifetime=Lifetime.SCOPE, strides=packed_strides(desc.shape)))
    rank = len(desc.shape)
    step = ScalarExpansion(container=name)
    match = Match(rw.sdfg, rw.uses, {"scope": kernel})
    step.apply(match, step.plan(match), rw)  # type: ignore[arg-type]  # what may not be expanded stayed on the host
    expanded = rw.uses.desc(name)
    assert isinstance(expanded, Array)
    points, own = expanded.shape[: len(kernel.params)], expanded.shape[len(kernel.params) :]
    assert len(own) == rank
    turned = packed_strides((*own, *points))
    rw.redeclare(name, replace(expanded, strides=(*turned[rank:], *turned[:rank])))
    rw.remark(kernel, False, f"the part of {name!r} that belongs to a thread is in global memory, not in registers")
