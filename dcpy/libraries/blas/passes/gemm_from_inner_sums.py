"""Gemm from inner sums: points that sum up products, and do more with the sum, read it from a product of matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.expressions.scalar import Ref, op
from dcpy.ir.field_roles import Axes
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import State
from dcpy.ir.schedules import Undecided
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, sym
from dcpy.ir.tree import owners_around
from dcpy.libraries.blas.nodes import Gemm
from dcpy.libraries.blas.passes.gemm_from_sums import (
    GemmFromSums,
    SumOfProducts,
    product_to,
    sum_of_terms,
    why_no_product,
)
from dcpy.libraries.blas.passes.gemm_recognition import GemmRecognition
from dcpy.transforms.api import Match, Rewriter, Transformation, capture, one
from dcpy.transforms.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class InnerProduct:
    """The map that sums up; all sums as a product, without its result; its sizes, and where a point finds its own."""

    inner: Map
    product: Gemm
    shape: tuple[Expr, ...]
    place: tuple[Expr, ...]


@dataclass(frozen=True)
class GemmFromInnerSums(Transformation[InnerProduct]):
    """Take sums of products out of the points of a map: all of them are one product of matrices.

    before   map i = 0:N, j = 0:M { s = b[j]; map k = 0:K { s (add) <- A[i, k]*B[k, j] }; C[i, j] = max(s, 0) }
    after    gemm (a <- A[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> products[0:N, 0:M])
             map i = 0:N, j = 0:M { s = b[j]; s = s + products[i, j]; C[i, j] = max(s, 0) }

    Applies to nests of maps over two parameters, inside no other one, of tasklets around one sum in a variable of the
    point, whose factors the nest does not write. The order of sums may change (`gemm-from-sums`). A layer of a neural
    network is such a nest.
    """

    name: ClassVar[str] = "gemm-from-inner-sums"
    map = capture(Map)
    pattern = one(map)

    few: int = 8  #: elements of a dimension that stays in registers

    def plan(self, m: Match) -> InnerProduct | Refusal:
        """The product."""
        node, uses = m[self.map], m.uses
        if any(isinstance(owner, Map) for owner in owners_around(node)):
            return Refusal("a map around it already uses the threads that the product would use")
        point, axes = _innermost(node)
        if len(axes) != 2 or not isinstance(node.schedule, Undecided):
            return Refusal("the nest has not two parameters")
        found = _inner_sum(point, axes, uses)
        if isinstance(found, Refusal):
            return found
        inner, summed = found
        refusal = why_no_product(summed.axes, node, uses, self.few)
        if refusal is not None:
            return refusal
        shape = tuple(values.size for _, values in axes)
        place = tuple(sym(name) - values.start for name, values in axes)
        product = product_to(Memlet("", Subset.whole(shape)), tuple(name for name, _ in axes), summed, uses)
        return product if isinstance(product, Refusal) else InnerProduct(inner, product, shape, place)

    def apply(self, m: Match, plan: InnerProduct, rw: Rewriter) -> Node:
        """Return the product."""
        node, inner = m[self.map], plan.inner
        (target,) = (memlet for tasklet in inner.body.walk_nodes() for memlet in tasklet.writes())
        dtype = rw.uses.desc(target.container).dtype
        products = rw.declare_fresh("products", Array.packed(dtype, plan.shape, transient=True), m.state.region)
        c = Memlet(products, Subset.whole(plan.shape))
        product = Gemm(
            plan.product.inputs, {"c": c}, alpha=plan.product.alpha, beta=plan.product.beta,
            trans_a=plan.product.trans_a, trans_b=plan.product.trans_b, span=inner.span,
        )  # fmt: skip
        rw.add_node_before(node, product)
        own, at = replace(target, wcr=""), Memlet(products, Subset(plan.place))
        code = (("o", op("add", Ref("s", dtype), Ref("product", dtype))),)
        rw.replace(inner, Tasklet({"s": own, "product": at}, {"o": own}, code, span=inner.span))
        return product


def _innermost(node: Map) -> tuple[Map, Axes]:
    """The innermost map of a perfect nest, and the axes of the nest."""
    axes: Axes = node.iteration_space()
    while True:
        match node.body.blocks:
            case [State(nodes=[Map() as inner])] if not node.body.containers and isinstance(inner.schedule, Undecided):
                node, axes = inner, (*axes, *inner.iteration_space())
            case _:
                return node, axes


def _inner_sum(point: Map, axes: Axes, uses: Uses) -> tuple[Map, SumOfProducts] | Refusal:
    """The map in a point that sums up products into one of its variables, with what it sums up."""
    match point.body.blocks:
        case [State(nodes=nodes)]:
            maps = [inner for inner in nodes if isinstance(inner, Map)]
        case _:
            return Refusal("a point is more than one state")
    if len(maps) != 1 or not all(isinstance(inner, Map | Tasklet) for inner in nodes):
        return Refusal("a point is not tasklets around one sum")
    (inner,) = maps
    match inner.body.blocks:
        case [State(nodes=[Tasklet() as tasklet])] if not inner.body.containers and len(inner.params) == 1:
            found = sum_of_terms(tasklet, (*axes, *inner.iteration_space()))
        case _:
            return Refusal("a point is not tasklets around one sum")
    if isinstance(found, Refusal):
        return found
    target = found.target
    if target.container not in point.body.containers or target.subset.dims:
        return Refusal("the sum is in no variable of the point")
    if uses.desc(target.container).dtype != uses.desc(found.factors[0].container).dtype:
        return Refusal("the operands have several dtypes, or are no floats")
    near = {name for each in nodes for memlet in each.writes() for name in uses.overlapping(memlet.container)}
    if any(memlet.container in near for memlet in found.factors):
        return Refusal("the nest writes a factor")
    return inner, replace(found, is_new=True)


RAISE_PRODUCTS = Pipeline("raise-products", GemmRecognition(), GemmFromSums(), GemmFromInnerSums())
