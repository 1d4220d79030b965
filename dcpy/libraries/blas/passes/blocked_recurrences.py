"""Blocked recurrences: in a loop that reads its own earlier results, the part that a block of iterations does not write
becomes one product.

Row by row, a recurrence reads all rows that it needs again and again. Most of them are far: no iteration near it writes
them, so a block of iterations multiplies with them at once. (Golub and Van Loan, Matrix Computations, 1996: block
algorithms.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.editing.cloning import clone
from dcpy.ir.editing.nest_edits import set_axes, tiles_and_tile, wrap_in_loop
from dcpy.ir.expressions.scalar import Index, Ref, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Branch, Loop, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, const, sym
from dcpy.ir.tree import owners_around
from dcpy.libraries.blas.nodes import Dot, Gemm, Gemv
from dcpy.libraries.blas.passes.dot_ger_recognition import (
    GemmFromVectors,
    GemvFromDots,
    kept_axis,
    matrix_of,
    range_at,
    range_axes,
)
from dcpy.libraries.blas.passes.fused_products import SinglePassProducts
from dcpy.libraries.blas.passes.gemm_epilogues import FoldSum
from dcpy.libraries.blas.passes.right_looking_updates import RightLookingUpdates
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.pipeline import Pipeline, repeat


@dataclass(frozen=True, slots=True)
class BlockedRecurrence:
    """A product in a loop: along which axes it sums, and along which its vector moves, a step with the parameter.

    What does not move is a matrix, of `Gemv`, or a vector, of `Dot`. `fixed` and `vector` are names of inputs.
    """

    product: Gemv | Dot
    param: str
    fixed: str
    vector: str
    summed: int  # axis of what does not move
    along: int  # axis of the vector
    moving: int  # axis of the vector
    is_start: bool  # whether the sum begins at another place in each iteration; else it ends there

    @property
    def out(self) -> Memlet:
        (memlet,) = self.product.outputs.values()
        return memlet

    def parts(self, block: Range) -> tuple[Range, Range]:
        """Return an iteration's summed range as two: near (others of its block may write it), and far for all."""
        terms = range_at(self.product.inputs[self.fixed].subset, self.summed)
        if self.is_start:
            border = terms.start.subs({self.param: block.stop - 1})
            return Range(terms.start, border), Range(border, terms.stop)
        border = terms.stop.subs({self.param: block.start})
        return Range(border, terms.stop), Range(terms.start, border)

    def operands(self, terms: Range) -> tuple[Memlet, Memlet]:
        """Return the fixed factor and the vector, restricted to these terms."""
        fixed, vector = self.product.inputs[self.fixed], self.product.inputs[self.vector]
        return _with(fixed, self.summed, terms), _with(vector, self.along, terms)

    def of_block(self, vectors: Memlet, fixed: Memlet, far: Memlet, is_transposed: bool) -> Gemm | Gemv:
        """The product of all vectors of a block with what does not move."""
        span = self.product.span
        if isinstance(self.product, Dot):
            return Gemv({"a": vectors, "x": fixed}, {"y": far}, trans_a=is_transposed, span=span)
        flags = {"trans_a": is_transposed, "trans_b": not self.product.trans_a}
        return Gemm({"a": vectors, "b": fixed}, {"c": far}, alpha=self.product.alpha, **flags, span=span)


@dataclass(frozen=True)
class BlockedRecurrences(Transformation[BlockedRecurrence]):
    """Let a block of iterations multiply at once with what none of them writes.

    before   loop i = 0:N { gemv (a <- B[i + 1:N, 0:M], x <- A[i, i + 1:N], y <- B[i, 0:M]) -> (y -> B[i, 0:M]) {..} }
    after    loop b = 0:N:64 {
               gemm (a <- A[b:e, e:N], b <- B[e:N, 0:M]) -> (c -> far[0:e - b, 0:M])  # e = min(b + 64, N)
               loop i = b:e {
                 gemv (a <- B[i + 1:e, 0:M], x <- A[i, i + 1:e], y <- B[i, 0:M]) -> (y -> B[i, 0:M]) {..}
                 map p = 0:M { B[i, p] += far[i - b, p] } } }

    before   loop i = 0:N { dot (x <- L[i, 0:i], y <- x[0:i]) -> (result -> t);  x[i] = f(b[i], t) }
    after    loop b = 0:N:64 {
               gemv (a <- L[b:e, 0:b], x <- x[0:b]) -> (y -> far[0:e - b])
               loop i = b:e { dot (x <- L[i, b:i], y <- x[b:i]) -> (result -> t);  t += far[i - b]
                              x[i] = f(b[i], t) } }

    Applies to a loop of one state, inside of no map, where the terms of a product begin, or end, a step later in each
    iteration, and where nothing in the loop writes what is far for its block. The order of the terms is another one.
    Where only the run time knows whether iterations are `few`, there is a version for that, too.
    """

    name: ClassVar[str] = "blocked-recurrences"
    loop = capture(Loop)
    pattern = one(loop)

    rows: int = 64  #: iterations of a block
    few: int = 128  #: iterations that are left as they are

    def plan(self, m: Match) -> BlockedRecurrence | Refusal:
        """A product whose far part a block can take at once; or why there is none."""
        loop, uses = m[self.loop], m.uses
        if loop.range.step is not ONE:
            return Refusal(f"the range {loop.range} has steps")
        if any(isinstance(owner, Map) for owner in owners_around(loop)):
            return Refusal("a map around it already uses the threads that the product would use")
        most = max(self.few, self.rows)
        if uses.ranges_at(loop).proves_le(loop.range.size, most):
            return Refusal(f"there are no more than {most} iterations")
        if self._is_for_few(loop):
            return Refusal("this version is for few iterations")
        match loop.body.blocks:
            case [State(nodes=nodes)]:
                products = [node for node in nodes if isinstance(node, Gemv | Dot)]
            case _:
                return Refusal("the body is more than one state")
        reasons: list[Refusal] = []
        for product, fixed, vector in _operands(products):
            found = _recurrence(product, fixed, vector, loop, uses)
            reason = found if isinstance(found, Refusal) else _written_far(found, loop, uses)
            if isinstance(found, BlockedRecurrence) and reason is None:
                return found
            reasons += [reason] if reason is not None else []
        return next(iter(reasons), Refusal(f"there is no {Gemv.kind} inside, and no {Dot.kind}"))

    def apply(self, m: Match, plan: BlockedRecurrence, rw: Rewriter) -> Node:
        """Return the product of the block."""
        loop, product, param = m[self.loop], plan.product, plan.param
        state = product.state
        assert state is not None
        if not rw.uses.ranges_at(loop).proves_lt(self.few, loop.range.size):
            rest, region = clone(loop, rw), Region()
            rw.insert_before(loop, Branch([(self._many(loop), region)], Region([rest]), span=loop.span))
            rw.move_blocks([loop], region)
        start = rw.fresh_name(f"{param}_block")
        blocks, block = tiles_and_tile(loop.range, self.rows, start, rw.uses.ranges_at(loop))
        around = wrap_in_loop(loop, start, blocks, rw)
        set_axes(loop, {param: block}, rw)
        near, far = plan.parts(block)
        fixed, vector = plan.operands(far)
        vectors, is_transposed = matrix_of(vector, plan.moving, param, block)
        dtype, shape = rw.uses.desc(plan.out.container).dtype, (block.size, *plan.out.subset.shape)
        results = rw.declare_fresh("far", Array.packed(dtype, shape, transient=True), around.body)
        together = plan.of_block(vectors, fixed, Memlet(results, Subset.whole(shape)), is_transposed)
        rw.insert_before(loop, State(nodes=[together]))
        inputs = dict(zip((plan.fixed, plan.vector), plan.operands(near), strict=True))
        rw.update(product, inputs={**product.inputs, **inputs})
        own = Subset((sym(param) - block.start, *(Range(ZERO, size) for size in shape[1:])))
        rw.add_node(_added(plan.out, Memlet(results, own), product, rw), state, state.index(product) + 1)
        return together

    def _many(self, loop: Loop) -> ScalarExpr:
        return op("lt", Index(const(self.few)), Index(loop.range.size))

    def _is_for_few(self, loop: Loop) -> bool:
        """Return whether it is the version that runs where iterations are few."""
        owner = None if loop.region is None else loop.region.owner
        return isinstance(owner, Branch) and owner.otherwise is loop.region and owner.cases[0][0] == self._many(loop)


def _operands(products: Sequence[Gemv | Dot]) -> Iterator[tuple[Gemv | Dot, str, str]]:
    """Each product, with what may not move, and the vector that may."""
    for product in products:
        yield from [(product, "a", "x")] if isinstance(product, Gemv) else [(product, "y", "x"), (product, "x", "y")]


def _added(out: Memlet, far: Memlet, product: Gemv | Dot, rw: Rewriter) -> Node:
    """``out += far``, element by element."""
    params = [rw.fresh_name("p") for _ in out.subset.shape]
    at = Subset.point(*map(sym, params))
    there, more = (replace(memlet, subset=memlet.subset.compose(at)) for memlet in (out, far))
    dtype = rw.uses.desc(out.container).dtype
    code = (("out", op("add", Ref("there", dtype), Ref("more", dtype))),)
    node = Tasklet({"there": there, "more": more}, {"out": there}, code, span=product.span)
    domain = tuple(Range(ZERO, size) for size in out.subset.shape)
    return Map(tuple(params), domain, Region([State(nodes=[node])]), span=product.span) if params else node


def _recurrence(product: Gemv | Dot, fixed: str, vector: str, loop: Loop, uses: Uses) -> BlockedRecurrence | Refusal:
    a, x, param = product.inputs[fixed], product.inputs[vector], loop.param
    if "alpha" in product.inputs:
        return Refusal(f"the factor {product.inputs['alpha']} may be another one in each iteration")
    dtypes = {uses.desc(memlet.container).dtype for memlet in (a, x, *product.outputs.values())}
    if len(dtypes) > 1 or not next(iter(dtypes)).is_inexact:
        return Refusal("the operands have several dtypes, or are no floats")
    kept = kept_axis(product) if isinstance(product, Gemv) else None
    summed = next(axis for axis in range_axes(a.subset.dims) if axis != kept)
    if any(param in dim.symbols for axis, dim in enumerate(a.subset.dims) if axis != summed):
        return Refusal(f"{a} moves with {param!r} along more than what is summed over")
    terms = range_at(a.subset, summed)
    moving = [end for end in (terms.start, terms.stop) if param in end.symbols]
    if terms.step is not ONE or len(moving) != 1 or not _moves_a_step(moving[0], param):
        return Refusal(f"neither begins nor ends {terms} one step later with {param!r}")
    if not uses.ranges_at(product).proves_nonneg(terms.stop - terms.start):
        return Refusal(f"{terms} may be inside out")
    (along,) = range_axes(x.subset.dims)
    others = [axis for axis, dim in enumerate(x.subset.dims) if axis != along and param in dim.symbols]
    index = x.subset.dims[others[0]] if len(others) == 1 else None
    if range_at(x.subset, along).size != terms.size or not isinstance(index, Expr) or not _moves_a_step(index, param):
        return Refusal(f"{x} does not move one step at a time with {param!r}")
    if range_at(x.subset, along) != terms:
        return Refusal(f"{x} and {a} begin at different places")
    return BlockedRecurrence(product, param, fixed, vector, summed, along, others[0], moving[0] is terms.start)


def _moves_a_step(index: Expr, param: str) -> bool:
    form = index.linear_in(param)
    return form is not None and form[0] is ONE


def _written_far(found: BlockedRecurrence, loop: Loop, uses: Uses) -> Refusal | None:
    """Return whether anything in a block of iterations may write what is far for the block."""
    first, last = sym(f"{loop.param}'"), sym(f"{loop.param}''")  # no names of programs: any block
    _, far = found.parts(Range(first, last + 1))
    matrix, vector = found.operands(far)
    vectors, _ = matrix_of(vector, found.moving, found.param, Range(first, last + 1))
    for node in loop.body.walk_nodes():
        ranges = uses.ranges_at(node).assuming(sym(loop.param) - first, last - sym(loop.param))
        for memlet, read in _conflicts(node, (matrix, vectors), loop, uses):
            if memlet.container != read.container or not memlet.subset.disjoint(read.subset, ranges):
                return Refusal(f"an iteration writes {memlet}, which may be far for another one of its block", (node,))
    return None


def _conflicts(node: Node, operands: tuple[Memlet, ...], loop: Loop, uses: Uses) -> Iterator[tuple[Memlet, Memlet]]:
    for memlet in node.writes():
        if memlet.container not in loop.body.containers:
            near = uses.overlapping(memlet.container)
            yield from ((memlet, read) for read in operands if read.container in near)


def _with(memlet: Memlet, axis: int, values: Range) -> Memlet:
    dims = [values if at == axis else dim for at, dim in enumerate(memlet.subset.dims)]
    return replace(memlet, subset=Subset(tuple(dims)))


LIFT_PRODUCTS = Pipeline(
    "lift-products",
    RightLookingUpdates(),
    repeat(GemvFromDots(), GemmFromVectors()),
    FoldSum(),
    BlockedRecurrences(),
    SinglePassProducts(),
)
