"""Dot and ger recognition: products inside maps become products of a matrix and a vector, and those become products of
matrices.

A product reads its operands once; many that share one read it again and again. So loop fission takes the products of a
map out of it, and what they are together is one product of a higher level of BLAS. (Goto and van de Geijn, Anatomy of
High-Performance Matrix Multiplication, 2008: what levels 2 and 3 gain.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.editing.nest_edits import alone_in_state, expand_map, reorder_axes, tiles_and_tile, wrap_in_loop
from dcpy.ir.expressions.scalar import Ref, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.schedules import Undecided
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, sym
from dcpy.ir.tree import owners_around, region_of
from dcpy.libraries.blas.nodes import Dot, Gemm, Gemv
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class RecognizedProduct:
    """A product of a map, and which of its vectors moves along which axis with which parameter."""

    product: Dot | Gemv
    moving: str
    axis: int
    param: str


@dataclass(frozen=True)
class GemvFromDots(Transformation[RecognizedProduct]):
    """Make one product of a matrix and a vector of the dots in a map that share a vector.

    before   map j = 0:M { dot (x <- A[0:K], y <- B[0:K, j]) -> (result -> t); C[j] = f(t) }
    after    gemv (a <- B[0:K, 0:M], x <- A[0:K]) -> (y -> ts[0:M]) {trans_a}
             map j = 0:M { t = ts[j]; C[j] = f(t) }

    Applies to a map over one parameter where just one vector moves with it, a step at a time, where no iteration
    changes an operand before it uses it, and where the number of iterations is proved not to be negative. Of a map over
    two, where each moves a vector of its own, it takes the dots along one; gemm-from-vectors goes on with the other.
    """

    name: ClassVar[str] = "gemv-from-dots"
    map = capture(Map)
    pattern = one(map)

    def plan(self, m: Match) -> RecognizedProduct | Refusal:
        """A dot, and the vector that moves; or why none can be lifted."""
        node = m[self.map]
        if any(isinstance(owner, Map) for owner in owners_around(node)):
            return Refusal("a map around it already uses the threads that the product would use")
        found = _first_lifted(node, Dot, ("x", "y"), m.uses)
        if isinstance(found, Refusal):
            return found
        values = _range_of(node, found.param)
        if not m.uses.ranges_at(node).proves_nonneg(values.stop - values.start):
            return Refusal(f"the range {values} may be inside out")
        return found

    def apply(self, m: Match, plan: RecognizedProduct, rw: Rewriter) -> Node:
        """Return the product of a matrix and a vector."""
        node, dot, param = m[self.map], plan.product, plan.param
        if len(node.params) > 1:
            others = tuple(name for name in node.params if name != param)
            reorder_axes(node, (*others, param), rw)
            node = expand_map(node, len(others), rw)
        (values,), state = node.domain, node.state
        assert state is not None
        shared = dot.inputs["y" if plan.moving == "x" else "x"]
        matrix, is_transposed = matrix_of(dot.inputs[plan.moving], plan.axis, param, values)
        dtype = rw.uses.desc(dot.outputs["result"].container).dtype
        results = rw.declare_fresh("products", Array.packed(dtype, (values.size,), transient=True), state.region)
        whole = Memlet(results, Subset.whole((values.size,)))
        product = Gemv({"a": matrix, "x": shared}, {"y": whole}, trans_a=is_transposed, span=dot.span)
        rw.add_node_before(node, product)
        own = Memlet(results, Subset.point(sym(param) - values.start))
        code = (("out", Ref("product", dtype)),)
        rw.replace(dot, Tasklet({"product": own}, {"out": dot.outputs["result"]}, code, span=dot.span))
        return product


@dataclass(frozen=True)
class GemmFromVectors(Transformation[RecognizedProduct]):
    """Make products of matrices of the products of a matrix with a vector in a map, block by block.

    before   map i = 0:M { gemv (a <- A[0:K, i:M], x <- B[0:K, i]) -> (y -> t) {trans_a}; C[i, i:M] = f(t) }
    after    loop b = 0:M:128 {
               gemm (a <- B[0:K, b:e], b <- A[0:K, b:M]) -> (c -> ts[0:e - b, 0:M - b]) {trans_a}  # e = min(b + 128, M)
               map i = b:e { t = ts[i - b, i - b:M - b]; C[i, i:M] = f(t) } }

    The matrix may be another part in each iteration, if the ends of its kept dimension are linear: a block takes the
    hull. `rows` iterations make a block, so that what they compute more than before, and keep, is bounded. Applies to
    a map over one parameter, inside no other one, where the vector moves a step at a time and no iteration changes an
    operand before it uses it. What the products are added to may change: the sums stay where they are.
    """

    name: ClassVar[str] = "gemm-from-vectors"
    map = capture(Map)
    pattern = one(map)

    rows: int = 128  #: iterations of a block

    def plan(self, m: Match) -> RecognizedProduct | Refusal:
        """A product, and how its vector moves; or why none can be lifted."""
        node = m[self.map]
        if any(isinstance(owner, Map) for owner in owners_around(node)):
            return Refusal("a map around it already uses the threads that the product would use")
        found = _first_lifted(node, Gemv, ("x",), m.uses)
        if isinstance(found, Refusal):
            return found
        assert isinstance(found.product, Gemv)
        (param,), (values,) = node.params, node.domain
        kept = kept_axis(found.product)
        matrix = found.product.inputs["a"].subset
        others = (dim for axis, dim in enumerate(matrix.dims) if axis != kept and param in dim.symbols)
        if any(True for _ in others):
            return Refusal(f"{found.product.inputs['a']} moves with {param!r} along what is summed over")
        rows = range_at(matrix, kept)
        hull = _hull(rows, param, values)
        if hull is None:
            return Refusal(f"the ends of {rows} are not linear in {param!r}")
        if not m.uses.ranges_at(found.product).proves_nonneg(rows.stop - rows.start):
            return Refusal(f"{rows} may be empty, and then the hull of all is not part of the matrix")
        return found

    def apply(self, m: Match, plan: RecognizedProduct, rw: Rewriter) -> Node:
        """Return the product of matrices."""
        node, gemv = m[self.map], plan.product
        assert isinstance(gemv, Gemv)
        (values,), (param,) = node.domain, node.params
        block = values
        if not rw.uses.ranges_at(node).proves_le(values.size, self.rows):
            start = rw.fresh_name(f"{param}_block")
            blocks, block = tiles_and_tile(values, self.rows, start, rw.uses.ranges_at(node))
            wrap_in_loop(alone_in_state(node, rw), start, blocks, rw)
            rw.update(node, domain=(block,))
        kept = kept_axis(gemv)
        matrix = gemv.inputs["a"]
        hull = _hull(range_at(matrix.subset, kept), param, block)
        assert hull is not None
        dims = [hull if axis == kept else dim for axis, dim in enumerate(matrix.subset.dims)]
        vectors, is_transposed = matrix_of(gemv.inputs["x"], plan.axis, param, block)
        dtype, shape = rw.uses.desc(gemv.outputs["y"].container).dtype, (block.size, hull.size)
        results = rw.declare_fresh("products", Array.packed(dtype, shape, transient=True), region_of(node))
        factors = {name: memlet for name, memlet in gemv.inputs.items() if name == "alpha"}
        product = Gemm(
            {"a": vectors, "b": replace(matrix, subset=Subset(tuple(dims))), **factors},
            {"c": Memlet(results, Subset.whole(shape))},
            alpha=gemv.alpha,
            trans_a=is_transposed,
            trans_b=not gemv.trans_a,
            span=gemv.span,
        )
        rw.add_node_before(node, product)
        mine = range_at(matrix.subset, kept)
        part = Range(mine.start - hull.start, mine.stop - hull.start)
        _take(gemv, Memlet(results, Subset((sym(param) - block.start, part))), node, rw)
        return product


def _take(gemv: Gemv, own: Memlet, node: Map, rw: Rewriter) -> None:
    """Let an iteration of a map take its own result from where it is now; copy it if more than reads see it.

    A product that adds to what is there becomes a map that does.
    """
    out = gemv.outputs["y"]
    if gemv.summand in gemv.inputs:
        (size,), param = out.subset.shape, rw.fresh_name("p")
        there, new = (replace(memlet, subset=memlet.subset.compose(Subset.point(sym(param)))) for memlet in (out, own))
        dtype = rw.uses.desc(out.container).dtype
        code = (("out", op("add", Ref("there", dtype), Ref("new", dtype))),)
        added = Tasklet({"there": there, "new": new}, {"out": there}, code, span=gemv.span)
        rw.replace(gemv, Map((param,), (Range(ZERO, size),), Region([State(nodes=[added])]), span=gemv.span))
        return
    is_own = out.container in node.body.containers and out.subset == Subset.whole(rw.uses.desc(out.container).shape)
    if not is_own or len(rw.uses.writers(out.container)) > 1 or rw.uses.views_of(out.container):
        rw.replace(gemv, Copy(own, out, span=gemv.span))
        return

    def moved(memlet: Memlet) -> Memlet:
        if memlet.container != out.container:
            return memlet
        return replace(memlet, container=own.container, subset=own.subset.compose(memlet.subset))

    rw.erase(gemv)
    for reader in list(node.body.walk_nodes()):
        rw.replace_memlets(reader, moved)
    rw.undeclare_unused([out.container])


def _first_lifted(
    node: Map, kind: type[Dot | Gemv], vectors: tuple[str, ...], uses: Uses
) -> RecognizedProduct | Refusal:
    """The first product of a kind in a map that can be lifted, going by its vectors; or why there is none."""
    if len(node.params) > len(vectors) or not isinstance(node.schedule, Undecided):
        return Refusal("the map has too many parameters, or a schedule")
    if any(set(node.params) & set(values.symbols) or values.step is not ONE for values in node.domain):
        return Refusal("the ranges of the map depend on each other, or have steps")
    match node.body.blocks:
        case [State(nodes=nodes)]:
            products = [inner for inner in nodes if isinstance(inner, kind)]
        case _:
            return Refusal("the body is more than one state")
    reasons: list[Refusal] = []
    for product in products:
        found = _lifted(product, node, vectors, uses)
        if isinstance(found, RecognizedProduct):
            return found
        reasons.append(found)
    return next(iter(reasons), Refusal(f"there is no {kind.kind} inside"))


def _lifted(product: Dot | Gemv, node: Map, vectors: tuple[str, ...], uses: Uses) -> RecognizedProduct | Refusal:
    if "beta" in product.inputs or getattr(product, "beta", 1) != 1:
        return Refusal("the product scales what is there")
    if "alpha" in product.inputs and set(node.params) & set(product.inputs["alpha"].subset.symbols):
        return Refusal(f"the factor {product.inputs['alpha']} is another one in each iteration")
    found: list[RecognizedProduct] = []
    for param in node.params:
        moving = [name for name in vectors if param in product.inputs[name].subset.symbols]
        if len(moving) != 1:
            return Refusal(f"{len(moving)} vectors move with {param!r}")
        vector = product.inputs[moving[0]]
        axes = [axis for axis, dim in enumerate(vector.subset.dims) if param in dim.symbols]
        index = vector.subset.dims[axes[0]]
        form = index.linear_in(param) if isinstance(index, Expr) else None
        if len(axes) != 1 or form is None or form[0] is not ONE:
            return Refusal(f"{vector} does not move one step at a time with {param!r}")
        found.append(RecognizedProduct(product, moving[0], axes[0], param))
    if len({one.moving for one in found}) < len(found):
        return Refusal("one vector moves with all parameters")
    return _changed_before(product, node, uses) or found[-1]


def _changed_before(product: Dot | Gemv, node: Map, uses: Uses) -> Refusal | None:
    """Return whether an iteration writes what a product in it reads before that, or has it for itself."""
    state = product.state
    assert state is not None
    summand = product.summand if isinstance(product, Gemv) else ""  # which is added where it is
    operands = [memlet for name, memlet in product.inputs.items() if name != summand]
    for memlet in operands:
        if memlet.container in node.body.containers:
            return Refusal(f"each iteration has its own {memlet.container!r}")
    read = {name for memlet in operands for name in uses.overlapping(memlet.container)}
    for before in state.nodes[: state.index(product)]:
        for name in names_in(before, uses)[1]:
            if name in read:
                return Refusal(f"{name!r}, which it reads, is written before it", (before,))
    return None


def matrix_of(vector: Memlet, axis: int, param: str, values: Range) -> tuple[Memlet, bool]:
    """All vectors of a map as a matrix, and whether each of them is a column of it."""
    index = vector.subset.dims[axis]
    assert isinstance(index, Expr)
    offset = index - sym(param)
    dims = list(vector.subset.dims)
    along = next(number for number, dim in enumerate(dims) if isinstance(dim, Range))
    dims[axis] = Range(values.start + offset, values.stop + offset)
    return replace(vector, subset=Subset(tuple(dims))), along < axis


def _range_of(node: Map, param: str) -> Range:
    return node.domain[node.params.index(param)]


def kept_axis(product: Gemv) -> int:
    """The axis of the container of the matrix along which the result goes."""
    first, second = range_axes(product.inputs["a"].subset.dims)
    return second if product.trans_a else first


def range_axes(dims: tuple[DimSubset, ...]) -> Iterator[int]:
    """The dimensions that are kept."""
    return (axis for axis, dim in enumerate(dims) if isinstance(dim, Range))


def range_at(subset: Subset, axis: int) -> Range:
    """Return the range along a kept dimension."""
    dim = subset.dims[axis]
    assert isinstance(dim, Range)
    return dim


def _hull(part: Range, param: str, values: Range) -> Range | None:
    """Return a range that contains `part` for all values of a parameter; None where its ends are not linear in it."""
    if part.step is not ONE:
        return part if param not in part.symbols else None
    ends: list[Expr] = []
    for end, is_start in ((part.start, True), (part.stop, False)):
        form = end.linear_in(param)
        slope = None if form is None else form[0].constant
        if slope is None:
            return None
        first = values.start if (slope >= 0) == is_start else values.stop - 1
        ends.append(end.subs({param: first}))
    return Range(*ends)
