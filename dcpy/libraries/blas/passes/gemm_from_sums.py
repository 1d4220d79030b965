"""Gemm from sums: maps that sum up products of two elements, term by term, become products of matrices."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import AlignedBox, aligned_box
from dcpy.ir.expressions.scalar import Const, Ref
from dcpy.ir.field_roles import Axes
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import State
from dcpy.ir.schedules import Undecided
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE
from dcpy.ir.tree import owners_around
from dcpy.libraries.blas.nodes import Gemm
from dcpy.libraries.blas.passes.gemm_recognition import product_of
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class SumOfProducts:
    """``target (add) <- number*factors`` at each point of `axes`; `is_new`: what the target had before is not read."""

    target: Memlet
    factors: tuple[Memlet, ...]
    number: complex
    axes: Axes
    is_new: bool = False


@dataclass(frozen=True)
class GemmFromSums(Transformation[Gemm]):
    """Make a product of matrices of a map that sums up products of their elements.

    before   map i = 0:N, j = 0:M, k = 0:K { C[i, j] (add) <- A[i, k]*B[k, j] }
    after    gemm (a <- A[0:N, 0:K], b <- B[0:K, 0:M], c <- C[0:N, 0:M]) -> (c -> C[0:N, 0:M])

    A sum may also be in a variable of the point, which is 0 at first and then stored. Factors may lie transposed, and a
    scalar may be a third one. Applies to nests of maps that do nothing else, inside no other one, whose operands are
    floats of one dtype, where the result overlaps no factor. The order of sums may change, and the scalar is multiplied
    with them. Where two dimensions have a few elements, loops in registers are as quick.
    """

    name: ClassVar[str] = "gemm-from-sums"
    map = capture(Map)
    pattern = one(map)

    few: int = 8  #: elements of a dimension that stays in registers

    def plan(self, m: Match) -> Gemm | Refusal:
        """The product."""
        node, uses = m[self.map], m.uses
        if any(isinstance(owner, Map) for owner in owners_around(node)):
            return Refusal("a map around it already uses the threads that the product would use")
        found = _sum_of(node)
        if isinstance(found, Refusal):
            return found
        return why_no_product(found.axes, node, uses, self.few) or _product(found, uses)

    def apply(self, m: Match, plan: Gemm, rw: Rewriter) -> Node:
        """Return the product, which takes the place of the map."""
        plan.span = m[self.map].span
        rw.replace(m[self.map], plan)
        return plan


def why_no_product(axes: Axes, node: Map, uses: Uses, few: int) -> Refusal | None:
    """The reason that sums over these axes are no product of matrices, or none that a library is quicker at."""
    ranges = uses.ranges_at(node)
    if not all(values.step is ONE for _, values in axes):
        return Refusal("a range has a step")
    if not all(ranges.proves_nonneg(values.stop - values.start) for _, values in axes):
        return Refusal("a range may be inside out")
    sizes = [values.size.constant for _, values in axes]
    if sum(size is not None and size <= few for size in sizes) > 1:
        return Refusal("two of the three dimensions have a few elements")
    return None


def _sum_of(node: Map) -> SumOfProducts | Refusal:
    """The sum that a nest of maps adds to its targets, or stores there."""
    axes: Axes = node.iteration_space()
    while True:
        match node.body.blocks:
            case [State(nodes=[Map() as inner])] if not node.body.containers and isinstance(inner.schedule, Undecided):
                node, axes = inner, (*axes, *inner.iteration_space())
            case [State(nodes=[Tasklet() as tasklet])] if not node.body.containers:
                return sum_of_terms(tasklet, axes)
            case [State(nodes=[Tasklet() as first, Map() as inner, Tasklet() as last])]:
                return _stored(first, inner, last, node, axes)
            case _:
                return Refusal("the body is not one sum")


def sum_of_terms(tasklet: Tasklet, axes: Axes) -> SumOfProducts | Refusal:
    """Return what a tasklet adds at each point of some axes, as products of elements."""
    match (*tasklet.outputs.values(),), tasklet.code:
        case (Memlet(wcr="add") as target,), ((_, value),):
            found = product_of(value, 1)
            if found is None:
                return Refusal("it adds more than products of elements")
            number, names = found
            return SumOfProducts(target, tuple(tasklet.inputs[name] for name in names), number, axes)
    return Refusal("it does not add to one element")


def _stored(first: Tasklet, inner: Map, last: Tasklet, node: Map, axes: Axes) -> SumOfProducts | Refusal:
    """The sum of `inner`, if it starts at 0 in a variable of the point, which is stored as it is."""
    match inner.body.blocks:
        case [State(nodes=[Tasklet() as tasklet])] if not inner.body.containers:
            found = sum_of_terms(tasklet, (*axes, *inner.iteration_space()))
        case _:
            return Refusal("the body is not one sum")
    if isinstance(found, Refusal):
        return found
    name = found.target.container
    starts = (first.inputs, [each.container for each in first.outputs.values()], [expr for _, expr in first.code])
    match starts, (*last.inputs.items(),), (*last.outputs.values(),), last.code:
        case (({}, [start], [Const(value=0)]), ((read, Memlet(container=kept)),), (target,), ((_, Ref(name=stored)),)):
            alone = {*node.body.containers} == {name} == {start} == {kept}
            if alone and stored == read and not target.wcr and isinstance(inner.schedule, Undecided):
                return replace(found, target=target, is_new=True)
    return Refusal("a sum does not start at 0, or more is done with it than to store it")


def _product(found: SumOfProducts, uses: Uses) -> Gemm | Refusal:
    if not found.factors:
        return Refusal("it adds a number")
    if uses.desc(found.target.container).dtype != uses.desc(found.factors[0].container).dtype:
        return Refusal("the operands have several dtypes, or are no floats")
    near = uses.overlapping(found.target.container)
    if any(memlet.container in near for memlet in found.factors):
        return Refusal(f"a factor overlaps {found.target.container!r}")
    target = aligned_box(replace(found.target, wcr="").subset, found.axes)
    if target is None or not _is_matrix(target):
        return Refusal("the result does not move one step at a time")
    c = replace(found.target, wcr="", subset=target.subset)
    return product_to(c, target.params, found, uses)


def product_to(c: Memlet, order: tuple[str, ...], found: SumOfProducts, uses: Uses) -> Gemm | Refusal:
    """The product of the factors of a sum, to a matrix along whose rows and columns two axes run in this order."""
    dtypes = {uses.desc(memlet.container).dtype for memlet in found.factors}
    if len(dtypes) > 1 or not next(iter(dtypes)).is_inexact:
        return Refusal("the operands have several dtypes, or are no floats")
    params = {name for name, _ in found.axes}
    fixed = [memlet for memlet in found.factors if not params & {*memlet.subset.symbols}]
    matrices = [memlet for memlet in found.factors if memlet not in fixed]
    if len(found.axes) != 3 or len(matrices) != 2 or len(fixed) > 1 or not all(each.subset.is_point for each in fixed):
        return Refusal("a term is not a product of two matrices, and at most one scalar")
    boxes = (aligned_box(memlet.subset, found.axes) for memlet in matrices)
    aligned = [box for box in boxes if box is not None and _is_matrix(box)]
    if len(aligned) != 2:
        return Refusal("a factor does not move one step at a time")
    rows, columns = order
    summed = params - {rows, columns}
    for (a, left), (b, right) in itertools.permutations(zip(matrices, aligned, strict=True)):
        if {*left.params} == {rows, *summed} and {*right.params} == {columns, *summed}:
            inputs = {"a": replace(a, subset=left.subset), "b": replace(b, subset=right.subset)}
            inputs |= {} if found.is_new else {"c": c}
            inputs |= {"alpha": fixed[0]} if fixed else {}
            trans_a, trans_b = left.params[1] == rows, right.params[0] == columns
            return Gemm(inputs, {"c": c}, alpha=found.number, beta=1, trans_a=trans_a, trans_b=trans_b)
    return Refusal("the factors do not share the dimension that is summed")


def _is_matrix(box: AlignedBox) -> bool:
    return len(box.params) == 2 and all(dim.step is ONE for dim in box.subset.dims if isinstance(dim, Range))

