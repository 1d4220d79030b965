"""Stacked products: products that share a factor become one; a product of a single row or column becomes that of a
vector.

Two transformations; `libraries.blas.passes.gemm_epilogues.FOLD_PRODUCTS` applies them with its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import aligned_box
from dcpy.ir.data import View, strides_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Region, State
from dcpy.ir.schedules import Undecided
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, sym
from dcpy.libraries.blas.nodes import Gemm, Gemv
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class StackedRows:
    """All rows that a memlet touches over the iterations of a map, as one matrix: `count` of them, `step` apart."""

    container: str
    box: Subset
    offset: Expr
    count: Expr
    step: Expr
    length: Expr
    stride: Expr


Stacked = tuple[Gemm | Gemv, StackedRows, StackedRows]  # the product, the rows of its left factor and of its result


@dataclass(frozen=True)
class MergeStackedProducts(Transformation[Stacked]):
    """Make one product of many that share their right factor.

    before   map i = 0:N { gemm (a <- A[i, 0:R, 0:K], b <- B[0:K, 0:M]) -> (c -> C[i, 0:R, 0:M]) }
    after    view A_rows: f64[N*R, K] of A;  view C_rows: f64[N*R, M] of C
             gemm (a <- A_rows[0:N*R, 0:K], b <- B[0:K, 0:M]) -> (c -> C_rows[0:N*R, 0:M])

    A product of vectors with a matrix becomes one of matrices likewise. Applies where the map does nothing else, where
    its iterations touch rows that follow each other at one distance, and where the result does not overlap a factor.
    """

    name: ClassVar[str] = "merge-stacked-products"
    stack = capture(Map)
    pattern = one(stack)

    def plan(self, m: Match) -> Stacked | Refusal:
        """The product, the rows of its left factor and of its result; or why not."""
        stack = m[self.stack]
        match stack.body.blocks:
            case [State(nodes=[Gemm() | Gemv() as product])]:
                pass
            case _:
                return Refusal("the body is not just one product")
        if not isinstance(stack.schedule, Undecided) or stack.body.containers:
            return Refusal("the map has a schedule, or containers of its own")
        stacked, shared, result = ("a", "b", "c") if isinstance(product, Gemm) else ("x", "a", "y")
        if product.summand in product.inputs or (isinstance(product, Gemm) and product.trans_a):
            return Refusal("the product adds to what is there, or its left factor is transposed")
        for name, memlet in product.inputs.items():
            if name != stacked and set(stack.params) & set(memlet.subset.symbols):
                return Refusal(f"{memlet} is another one in each iteration")
        target = product.outputs[result]
        for name in (stacked, shared):
            if product.inputs[name].container in m.uses.overlapping(target.container):
                return Refusal(f"the result overlaps {product.inputs[name].container!r}")
        left, right = (_rows_of(memlet, stack, m.uses) for memlet in (product.inputs[stacked], target))
        if left is None or right is None:
            return Refusal(
                f"the rows of {product.inputs[stacked] if left is None else target} do not follow each other"
            )
        return product, left, right

    def apply(self, m: Match, plan: Stacked, rw: Rewriter) -> Node:
        """Return the product, which takes the place of the map."""
        product, first, result = plan
        region = m.state.region
        memlets = [_seen_as_matrix(rows, rw, region) for rows in (first, result)]
        shared = product.inputs["b" if isinstance(product, Gemm) else "a"]
        scalars = {name: memlet for name, memlet in product.inputs.items() if name in ("alpha", "beta")}
        transposed = product.trans_b if isinstance(product, Gemm) else not product.trans_a
        merged = Gemm(
            {"a": memlets[0], "b": shared, **scalars},
            {"c": memlets[1]},
            alpha=product.alpha,
            beta=product.beta,
            trans_b=transposed,
            span=product.span,
        )
        rw.replace(m[self.stack], merged)
        return merged


@dataclass(frozen=True)
class NarrowProduct(Transformation[Legal]):
    """Let a product of a single row, or column, be that of a matrix and a vector, which packs nothing.

    before   gemm (a <- A[0:1, 0:K], b <- B[0:K, 0:M]) -> (c -> C[0:1, 0:M])
    after    gemv (a <- B[0:K, 0:M], x <- A[0, 0:K]) -> (y -> C[0, 0:M]) {trans_a}

    Always legal: the size says so.
    """

    name: ClassVar[str] = "narrow-product"
    product = capture(Gemm)
    pattern = one(product)

    def plan(self, m: Match) -> Legal | Refusal:
        """Return whether the result has one row, or one column."""
        rows, columns = m[self.product].outputs["c"].subset.shape
        return LEGAL if ONE in (rows, columns) else Refusal(f"the result has {rows} rows and {columns} columns")

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> Node:
        """Return the product."""
        gemm = m[self.product]
        is_row = gemm.outputs["c"].subset.shape[0] is ONE
        vector, matrix = ("a", "b") if is_row else ("b", "a")
        transposed = {"a": gemm.trans_a, "b": gemm.trans_b}
        dropped = 0 if is_row else 1
        inputs = {
            "a": gemm.inputs[matrix],
            "x": _without(gemm.inputs[vector], dropped != transposed[vector]),
            **{name: memlet for name, memlet in gemm.inputs.items() if name in ("alpha", "beta")},
        }
        if "c" in gemm.inputs:
            inputs["y"] = _without(gemm.inputs["c"], bool(dropped))
        outputs = {"y": _without(gemm.outputs["c"], bool(dropped))}
        flag = transposed[matrix] != is_row
        narrow = Gemv(inputs, outputs, alpha=gemm.alpha, beta=gemm.beta, trans_a=flag, span=gemm.span)
        rw.replace(gemm, narrow)
        return narrow


def _without(memlet: Memlet, second: bool) -> Memlet:
    """A memlet of two dimensions without the first, or the `second`, which has one element."""
    axes = [axis for axis, dim in enumerate(memlet.subset.dims) if isinstance(dim, Range)]
    dims = list(memlet.subset.dims)
    unit = dims[axes[second]]
    assert isinstance(unit, Range)
    dims[axes[second]] = unit.start
    return replace(memlet, subset=Subset(tuple(dims)))


@dataclass(frozen=True, slots=True)
class StackedAccess:
    """Access of a memlet over the iterations of a map: sizes and distances, its own and those of iterations."""

    start: Expr
    own: tuple[tuple[Expr, Expr], ...]
    outer: tuple[tuple[Expr, Expr], ...]
    box: Subset


def levels_of(memlet: Memlet, stack: Map, uses: Uses) -> StackedAccess | None:
    """None where the memlets of iterations are not at one distance from each other, or differ in size."""
    desc = uses.desc(memlet.container)
    address = desc.offset if isinstance(desc, View) else ZERO
    levels: list[tuple[Expr, Expr]] = []  # sizes and distances, from the rows inwards
    for dim, stride in zip(memlet.subset.dims, strides_of(desc), strict=True):
        if isinstance(dim, Range):
            levels.append((dim.size, stride * dim.step))
        address = address + (dim.start if isinstance(dim, Range) else dim) * stride
    outer: list[tuple[Expr, Expr]] = []
    for param, values in zip(stack.params, stack.domain, strict=True):
        outer.append((values.size, address.subs({param: sym(param) + 1}) - address))
        if values.step is not ONE:
            return None
    start = address.subs({param: values.start for param, values in zip(stack.params, stack.domain, strict=True)})
    moving = {name for size, step in (*levels, *outer) for name in (*size.symbols, *step.symbols)} | {*start.symbols}
    box = aligned_box(memlet.subset, stack.iteration_space())
    if box is None or moving & set(stack.params):
        return None
    return StackedAccess(start, tuple(levels), tuple(outer), box.subset)


def _rows_of(memlet: Memlet, stack: Map, uses: Uses) -> StackedRows | None:
    """Return the rows that a memlet touches over all iterations; None where they are no matrix."""
    levels = levels_of(memlet, stack, uses)
    if levels is None:
        return None
    *rows, (length, across) = levels.own
    found = merged([*levels.outer, *rows])
    return None if found is None else StackedRows(memlet.container, levels.box, levels.start, *found, length, across)


def merged(levels: Sequence[tuple[Expr, Expr]]) -> tuple[Expr, Expr] | None:
    """Number and distance of rows, where each level continues where the one inside it ends."""
    count, step = ONE, ZERO
    for size, distance in reversed([level for level in levels if level[0] is not ONE]):
        if count is not ONE and distance is not count * step:
            return None
        count, step = count * size, distance if count is ONE else step
    return count, step


def _seen_as_matrix(rows: StackedRows, rw: Rewriter, region: Region | None) -> Memlet:
    shape, strides = (rows.count, rows.length), (rows.step, rows.stride)
    return seen_as(rows.container, rows.box, shape, strides, rows.offset, "rows", rw, region)


def seen_as(
    container: str,
    box: Subset,
    shape: tuple[Expr, ...],
    strides: tuple[Expr, ...],
    offset: Expr,
    stem: str,
    rw: Rewriter,
    region: Region | None,
) -> Memlet:
    """All of a new view, which shows elements of a part of a container."""
    base, seen = rw.uses.desc(container), container
    if box != Subset.whole(base.shape):
        seen = rw.declare_fresh(f"{container}_view", View.slice(seen, base, box), region)
    name = rw.declare_fresh(f"{container}_{stem}", View(seen, base.dtype, shape, strides, offset), region)
    return Memlet(name, Subset.whole(shape))
