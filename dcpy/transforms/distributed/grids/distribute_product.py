"""DistributeProduct: a product of arrays that each rank has runs in blocks on a grid (the paper's PBLAS expansion)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.data import Array
from dcpy.ir.distribution import Axis, Blocked, Distribution, Root
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, LibraryNode, Map, Node
from dcpy.ir.region import State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ceil_div
from dcpy.ir.tree import owners_around, region_of
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.distributed.communication.insert_communication import serve
from dcpy.transforms.distributed.grids.grid_operations import TwoAxes, grid_of_two_axes
from dcpy.transforms.distributed.grids.grid_products import letters_of, product_on_grid
from dcpy.transforms.distributed.grids.specialize_products import specialize
from dcpy.transforms.distributed.grids.strategies import covers
from dcpy.transforms.distributed.resolved_placement import placed


@dataclass(frozen=True, slots=True)
class LabelAxes:
    """Along which axis of a grid each label is, by operand."""

    grid: TwoAxes
    axes: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class DistributeProduct(Transformation[LabelAxes]):
    """Run a product in blocks on a grid of two axes: scatter its matrices, and gather its result.

    before   blas.matmul (a <- A[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0:N, 0:M])
    after    copy A[0:N, 0:K] -> A_part[0:N, 0:K]          # on pblas(block 0, block 1); and so for B
             blas.matmul (a <- A_part[0:N, 0:K], b <- B_part[0:K, 0:M]) -> (c -> C_part[0:N, 0:M])
             copy C_part[0:N, 0:M] -> C[0:N, 0:M]

    Applies to products of two matrices, and of a matrix and a vector, of arrays that are in blocks nowhere. The product
    with a vector is combined along the columns of the grid. A grid with two axes that is there is taken; else one is
    declared, ``pblas[pblas_p0, pblas_p1]``, whose sizes are symbols. `remove-redundant-communication` takes out copies.
    """

    name: ClassVar[str] = "distribute-product"
    everywhere: ClassVar[bool] = True
    product = capture(LibraryNode)
    pattern = one(product)

    grid: str = ""  #: the name of the grid; without it, the first one of two axes

    def plan(self, m: Match) -> LabelAxes | Refusal:
        node, uses = m[self.product], m.uses
        axes = _axes_of(node)
        if axes is None:
            return Refusal("it is no product of two matrices, or of a matrix and a vector")
        if any(isinstance(owner, Map) for owner in owners_around(node)):
            return Refusal("it is inside of a map, which runs on one rank")
        memlets = _memlets(node)
        for memlet in memlets.values():
            where = placed(memlet.container, uses)
            if isinstance(where, Refusal):
                return where
            if where is not None and not (where.rest and all(isinstance(part, Root) for part in where.rest)):
                return Refusal(f"{memlet.container!r} is distributed already")
            if not isinstance(uses.desc(uses.root(memlet.container)), Array) or memlet.wcr or not covers(memlet):
                return Refusal(f"{memlet} is no block of an array")
        dtypes = {uses.desc(memlet.container).dtype for memlet in memlets.values()}
        if len(dtypes) > 1:
            return Refusal(f"its operands are {' and '.join(sorted(map(str, dtypes)))}: all have to be of one dtype")
        grid = grid_of_two_axes(uses.sdfg, self.grid)
        return grid if isinstance(grid, Refusal) else LabelAxes(grid, axes)

    def apply(self, m: Match, plan: LabelAxes, rw: Rewriter) -> Node:
        node = m[self.product]
        state = node.state
        assert isinstance(state, State)  # nodes are in states
        plan.grid.declare(rw.sdfg)
        inputs, outputs = dict(node.inputs), dict(node.outputs)
        parts: dict[Memlet, Memlet] = {}
        for name, memlet in _memlets(node).items():
            if len(plan.axes[name]) < 2:
                continue  # a vector, of which each rank takes what it needs
            part = parts.get(memlet) or _part(state, memlet, plan, plan.axes[name], rw)
            parts[memlet] = part
            if name in inputs:
                inputs[name] = part
                if memlet not in list(parts)[:-1]:
                    rw.add_node_before(node, Copy(memlet, part))
            if name in outputs:
                outputs[name] = part
                rw.add_node(Copy(part, memlet), state, state.index(node) + 1)
        rw.update(node, inputs=inputs, outputs=outputs)
        if product_on_grid(node, rw.uses) is None:
            specialize(state, node, rw)
            serve(state, node, rw)
        return node


def _memlets(node: LibraryNode) -> dict[str, Memlet]:
    """The operands with labels; the summand is the result."""
    labels = node.index_labels() or {}
    return {name: memlet for name, memlet in (node.inputs | node.outputs).items() if labels.get(name)}


def _axes_of(node: LibraryNode) -> dict[str, tuple[int, ...]] | None:
    """The axes of the dimensions of each operand: rows of the result along the first one, its columns the second."""
    labels = {name: found for name, found in (node.index_labels() or {}).items() if found}
    if letters_of(node) is not None:
        (i, j), (k,) = labels["c"], set(labels["a"]) - set(labels["c"])
        along = {"a": {i: 0, k: 1}, "b": {k: 0, j: 1}, "c": {i: 0, j: 1}}
        return {name: tuple(along[name][label] for label in found) for name, found in labels.items()}
    matrices = [name for name, found in labels.items() if len(found) == 2]
    vectors = [name for name, found in labels.items() if len(found) == 1]
    if node.combination != "add" or len(matrices) != 1 or len(vectors) < 2 or matrices[0] in node.outputs:
        return None
    (result,) = node.outputs
    if result not in labels or not set(labels[result]) < set(labels[matrices[0]]):
        return None
    of_matrix = {label: 0 if label in labels[result] else 1 for label in labels[matrices[0]]}
    return {name: tuple(of_matrix[label] for label in found) for name, found in labels.items()}


def _part(state: State, memlet: Memlet, plan: LabelAxes, axes: tuple[int, ...], rw: Rewriter) -> Memlet:
    """A temporary for a matrix, in blocks."""
    shape = memlet.subset.shape
    blocks: tuple[Axis, ...] = tuple(
        Blocked(axis, ceil_div(size, plan.grid.sizes[axis])) for axis, size in zip(axes, shape, strict=True)
    )
    made = Array.packed(rw.uses.desc(memlet.container).dtype, shape, transient=True)
    made = replace(made, distribution=Distribution(plan.grid.name, blocks))
    return Memlet(rw.declare_fresh(f"{memlet.container}_part", made, region_of(state)), Subset.whole(shape))
