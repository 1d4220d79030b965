"""Batched GEMM: stacks of matrix products become one node, which a library computes by one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Region, State
from dcpy.ir.schedules import Undecided
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.tree import owners_around
from dcpy.libraries.blas.nodes import BatchedGemm, Gemm
from dcpy.libraries.blas.passes.stacked_products import StackedAccess, levels_of, merged, seen_as
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class MatrixStack:
    """The matrices that a memlet names over the iterations of a map: one for all where `step` is None."""

    memlet: Memlet
    levels: StackedAccess | None = None
    count: Expr = ONE
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """A map around a product, and what the operands are over its iterations."""

    map: Map
    stacks: dict[str, MatrixStack]


@dataclass(frozen=True)
class BatchProducts(Transformation[Batch]):
    """Make one node of the products of stacks of matrices.

    before   map i = 0:N { gemm (a <- A[i, 0:M, 0:K], b <- B[i, 0:K, 0:L]) -> (c -> C[i, 0:M, 0:L]) }
    after    batched_gemm (a <- A[0:N, 0:M, 0:K], b <- B[0:N, 0:K, 0:L]) -> (c -> C[0:N, 0:M, 0:L])

    Threads of a kernel cannot call a library, which has one call for all of them. Applies where the map does nothing
    else, and where the matrices of each operand follow each other at one distance, or are one.
    """

    name: ClassVar[str] = "batch-products"
    product = capture(Gemm)
    pattern = one(product)

    def plan(self, m: Match) -> Batch | Refusal:
        """The map around it, and the stacks."""
        product = m[self.product]
        stack = next(owners_around(product), None)
        if not isinstance(stack, Map):
            return Refusal("it is inside of no map")
        match stack.body.blocks:
            case [State(nodes=[Gemm()])]:
                pass
            case _:
                return Refusal("the map does more than one product of matrices")
        if not isinstance(stack.schedule, Undecided) or stack.body.containers:
            return Refusal("the map has a schedule, or containers of its own")
        if any(isinstance(owner, Map) for owner in owners_around(stack)):
            return Refusal("the map is inside of another one, whose threads cannot call a library")
        for name in ("alpha", "beta"):
            if name in product.inputs and set(stack.params) & set(product.inputs[name].subset.symbols):
                return Refusal(f"{product.inputs[name]} is another one in each iteration")
        stacks: dict[str, MatrixStack] = {}
        for name, memlet in {"a": product.inputs["a"], "b": product.inputs["b"], **product.outputs}.items():
            found = _stack_of(memlet, stack, m.uses)
            if found is None:
                return Refusal(f"the matrices {memlet} do not follow each other at one distance")
            stacks[name] = found
        if stacks["c"].step is None:
            return Refusal("all write one matrix")
        return Batch(stack, stacks)

    def apply(self, m: Match, plan: Batch, rw: Rewriter) -> Node:
        """Return the node, which takes the place of the map."""
        product, stack = m[self.product], plan.map
        assert stack.state is not None
        region = stack.state.region
        memlets = {name: _seen_as_stack(found, stack, rw, region) for name, found in plan.stacks.items()}
        inputs = {name: memlets.get(name, memlet) for name, memlet in product.inputs.items()}
        flags = {"trans_a": product.trans_a, "trans_b": product.trans_b}
        outputs = {"c": memlets["c"]}
        batch = BatchedGemm(inputs, outputs, alpha=product.alpha, beta=product.beta, **flags, span=product.span)
        rw.replace(stack, batch)
        return batch


def _stack_of(memlet: Memlet, stack: Map, uses: Uses) -> MatrixStack | None:
    if not set(stack.params) & set(memlet.subset.symbols):
        return MatrixStack(memlet)
    levels = levels_of(memlet, stack, uses)
    found = levels and merged(levels.outer)
    return MatrixStack(memlet, levels, *found) if found else None


def _seen_as_stack(found: MatrixStack, stack: Map, rw: Rewriter, region: Region | None) -> Memlet:
    """The memlet with the whole range of the map for its parameter, or that of a view of three dimensions."""
    memlet, levels = found.memlet, found.levels
    if levels is None or found.step is None:
        return memlet
    index, *rest = memlet.subset.dims
    if len(stack.params) == 1 and index is sym(stack.params[0]) and len(memlet.subset.shape) == len(rest):
        return Memlet(memlet.container, Subset((stack.domain[0], *rest)))
    (rows, down), (columns, across) = levels.own
    shape, strides = (found.count, rows, columns), (found.step, down, across)
    return seen_as(memlet.container, levels.box, shape, strides, levels.start, "stack", rw, region)
