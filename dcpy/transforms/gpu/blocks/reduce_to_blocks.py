"""ReduceToBlocks: rows, columns and whole sums are the work of several threads, which walk along memory together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.device_side import kernels
from dcpy.ir.analysis.parallelism.conflict_resolutions import conflict_resolutions, reducible
from dcpy.ir.analysis.parallelism.thread_parameters import free_params
from dcpy.ir.data import Allocation, Array, Data, Scalar, Space, View
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.gpu.costs import GPU_COSTS, GPU_LIMITS
from dcpy.ir.machine_model import Costs, Limits
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop, State, While
from dcpy.ir.schedules import Sequential, ThreadBlock
from dcpy.ir.symbolic import product_of
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Match
from dcpy.transforms.gpu.blocks.block_programs import (
    KernelStatement,
    depends,
    is_in_one,
    make_block_program,
    spread_over_blocks,
)
from dcpy.transforms.gpu.blocks.block_shapes import (
    Shape,
    is_short,
    shape_for,
    short_rows,
    take_points,
    version_for,
    warps,
)
from dcpy.transforms.loops.scalar_expansion import ScalarExpansion
from dcpy.transforms.passes import GraphPass

EACH = 64  #: terms that a thread adds up, where several blocks share a sum


@dataclass(frozen=True)
class ReduceToBlocks(GraphPass):
    """Parallel reduction: several threads of a block share a point of a kernel, in a shape that follows memory.

    before   map i = 0:N @grid { s = 0;  map k = 0:M { s += A[i, k] };  B[i] = sqrt(s) }
    after    map i = 0:N @grid {
               map t = 0:256 @block { own = 0;  map k = t:M:256 { own += A[i, k] };  parts[t] = own }
               map u = 0:16 @block { own = 0;  map v = 0:16 { own += parts[u + 16*v] };  few[u] = own }
               map t = 0:1 @block { s = 0;  map v = 0:16 { s += few[v] };  B[i] = sqrt(s) } }

    Applies where the body is tasklets and maps, each of which either combines values in places that all its iterations
    share, or in none; where threads of a kernel with one point per thread would not walk along memory, or points are
    few. Rows of at most 1024 elements get a warp each; of unknown length, there are two versions. Columns are taken 32
    at a time, with 8 threads for each. Long sums of few points are those of several blocks, which a second kernel adds
    up. The order of a sum is fixed: each run has the same bits. (Harris, Optimizing parallel reduction in CUDA, 2007.)
    """

    name: ClassVar[str] = "reduce-to-blocks"
    optional: ClassVar[bool] = True
    costs: Costs = GPU_COSTS
    limits: Limits = GPU_LIMITS

    def decide(self, rw: Rewriter) -> None:
        """Kernel by kernel."""
        for kernel in kernels(rw.sdfg):
            if any(
                isinstance(node, Map) and isinstance(node.schedule, ThreadBlock) for node in kernel.body.walk_nodes()
            ):
                continue  # another pass has shared it already
            found = statements_of(kernel, rw)
            shape = found if isinstance(found, Refusal) else self._shape(kernel, found, rw)
            if isinstance(shape, Refusal) or isinstance(found, Refusal):
                if any(isinstance(node, Map) for node in kernel.body.walk_nodes()):
                    rw.remark(kernel, False, f"one thread per point: {shape}")
                continue
            if shape.points == 1 and (condition := short_rows(kernel, self._long(found), self.costs)) is not None:
                version = version_for(kernel, condition, rw)
                self._form(version, warps(version, self.costs), rw)
            self._form(kernel, shape, rw)

    def _form(self, kernel: Map, shape: Shape, rw: Rewriter) -> None:
        found = statements_of(kernel, rw)
        assert not isinstance(found, Refusal)
        rw.remark(kernel, True, str(shape))
        for statement in _long_sums(kernel, found, shape, rw):
            blocks = spread_over_blocks(kernel, statement, _length(statement, shape.threads * EACH), rw)
            along = blocks.params[1] if shape.along else ""
            self._share(blocks, replace(shape, along=along), rw)
            rw.remark(statement.node, True, "several blocks compute partial sums, and one block adds these up")
        self._share(kernel, shape, rw)

    def _shape(self, kernel: Map, statements: Sequence[KernelStatement], rw: Rewriter) -> Shape | Refusal:
        long = self._long(statements)
        sums = any(statement.targets for statement in statements if statement.node in long)
        return shape_for(kernel, long, sums, self.costs, rw)

    def _long(self, statements: Sequence[KernelStatement]) -> list[Map]:
        return [each.node for each in statements if isinstance(each.node, Map) and not is_short(each.node)]

    def _share(self, kernel: Map, shape: Shape, rw: Rewriter) -> None:
        found = statements_of(kernel, rw)
        assert not isinstance(found, Refusal)
        make_block_program(kernel, found, shape.threads, rw)
        for name, desc in list(kernel.body.containers.items()):
            self._place(name, desc, kernel, rw)
        if shape.points > 1:
            take_points(kernel, shape, rw)

    def _place(self, name: str, desc: Data, kernel: Map, rw: Rewriter) -> None:
        """Place a point's private data: in one thread, shared by the block, or as a part of an array of all points."""
        if not isinstance(desc, Scalar | Array) or desc.space is Space.SHARED:
            return
        alone = is_in_one(name, kernel, rw)
        if alone is not None and alone.domain[0].size.constant == 1:
            rw.move_container(name, alone.body)
            return
        count = product_of(*desc.shape).constant
        if count is not None and count * desc.dtype.itemsize <= self.limits.stack_bytes:
            array = Array.packed(desc.dtype, desc.shape, transient=True, span=desc.span)
            rw.redeclare(name, replace(array, space=Space.SHARED, allocation=Allocation.STACK))
            return
        step = ScalarExpansion(container=name)
        match = Match(rw.sdfg, rw.uses, {"scope": kernel})
        step.apply(match, step.plan(match), rw)  # type: ignore[arg-type]  # what may not be expanded stayed on the host


def _long_sums(kernel: Map, statements: Sequence[KernelStatement], shape: Shape, rw: Rewriter) -> list[KernelStatement]:
    """Sums that are worth several blocks, where points are few: in no loop, and of nothing that the kernel makes."""
    around = any(isinstance(owner, Loop | While) for owner in owners_around(kernel))
    few = shape.side_by_side or all(dim.size.constant == 1 for dim in kernel.domain)
    if around or not few:
        return []
    found = []
    for number, statement in enumerate(statements):
        node, before = statement.node, [other.node for other in statements[:number]]
        if statement.targets and isinstance(node, Map) and not depends(node, before, rw):
            count = product_of(*(dim.size for dim in node.domain)).constant
            number_step = node.domain[0].step.constant
            if (count is None or count > shape.threads * EACH) and number_step is not None:
                found.append(statement)
    return found


def _length(statement: KernelStatement, length: int) -> int:
    """Values of the first parameter for one block: it goes through all of the others."""
    assert isinstance(statement.node, Map)
    return length if len(statement.node.params) == 1 else EACH


def statements_of(kernel: Map, rw: Rewriter) -> tuple[KernelStatement, ...] | Refusal:
    """Return the statements of a kernel's point, in order; or why threads of a block cannot share them."""
    free = free_params(kernel, rw.uses, any_order=True)
    if isinstance(kernel.schedule, Sequential) or set(free) != set(kernel.params):
        return Refusal("several threads add to the same element")
    if any(not set(kernel.params).isdisjoint(dim.symbols) for dim in kernel.domain):
        return Refusal("a range depends on another parameter")
    for block in kernel.body.blocks:
        if not isinstance(block, State):
            return Refusal(f"there is a {block.kind} inside", (block,))
    if any(isinstance(desc, View) for desc in kernel.body.containers.values()):
        return Refusal("there is a view of an array that each point has for itself")
    found = [_statement(node, rw) for node in _nodes(kernel)]
    refused = next((each for each in found if isinstance(each, Refusal)), None)
    return refused or tuple(each for each in found if isinstance(each, KernelStatement))


def _nodes(kernel: Map) -> Iterator[Node]:
    for block in kernel.body.blocks:
        if isinstance(block, State):
            yield from block.nodes


def _statement(node: Node, rw: Rewriter) -> KernelStatement | Refusal:
    if isinstance(node, Tasklet):
        return KernelStatement(node)
    if not isinstance(node, Map) or isinstance(node.schedule, Sequential):
        return Refusal(f"there is a {node.kind} inside that one thread runs", (node,))
    writes = conflict_resolutions(rw.uses, node)
    if not writes.resolved:
        return KernelStatement(node)
    shared = reducible(writes)
    if set(shared) != set(writes.resolved) or any(access.is_write and not access.wcr for access in writes.accesses):
        return Refusal("some iterations combine values in a place that others do not", (node,))
    return KernelStatement(node, tuple(writes.resolved))
