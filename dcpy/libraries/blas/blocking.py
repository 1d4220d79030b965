"""Products in loops whose iterations need what others wrote: what a block of iterations does not write is one product.

Row by row, a recurrence reads all rows that it needs again and again. Most of them are far: no iteration near it writes
them, so a block of iterations multiplies with them at once. (Golub and Van Loan, Matrix Computations, 1996: block
algorithms.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.uses import Uses
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
from dcpy.libraries.blas.folding import FoldSum
from dcpy.libraries.blas.lifting import LiftDots, LiftVectors, kept_axis, matrix_of, range_at, range_axes
from dcpy.libraries.blas.nodes import Gemm, Gemv
from dcpy.libraries.blas.pushing import PushSums
from dcpy.libraries.blas.single_pass import SinglePassProducts
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.pipeline import Pipeline, repeat


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A product in a loop: along which axes it sums, and along which its vector moves, a step with the parameter."""

    product: Gemv
    param: str
    summed: int  # axis of the matrix
    along: int  # axis of the vector
    moving: int  # axis of the vector
    is_start: bool  # whether the sum begins at another place in each iteration; else it ends there

    def parts(self, block: Range) -> tuple[Range, Range]:
        """What an iteration sums over: what is near, which others of its block may write, and what is far for all."""
        terms = range_at(self.product.inputs["a"].subset, self.summed)
        if self.is_start:
            border = terms.start.subs({self.param: block.stop - 1})
            return Range(terms.start, border), Range(border, terms.stop)
        border = terms.stop.subs({self.param: block.start})
        return Range(border, terms.stop), Range(terms.start, border)

    def operands(self, terms: Range) -> tuple[Memlet, Memlet]:
        """Matrix and vector, as far as these terms go."""
        a, x = self.product.inputs["a"], self.product.inputs["x"]
        return _with(a, self.summed, terms), _with(x, self.along, terms)


@dataclass(frozen=True)
class BlockProducts(Transformation[Recurrence]):
    """Let a block of iterations multiply at once with what none of them writes.

    before   loop i = 0:N { gemv (a <- B[i + 1:N, 0:M], x <- A[i, i + 1:N], y <- B[i, 0:M]) -> (y -> B[i, 0:M]) {..} }
    after    loop b = 0:N:64 {
               gemm (a <- A[b:e, e:N], b <- B[e:N, 0:M]) -> (c -> far[0:e - b, 0:M])  # e = min(b + 64, N)
               loop i = b:e {
                 gemv (a <- B[i + 1:e, 0:M], x <- A[i, i + 1:e], y <- B[i, 0:M]) -> (y -> B[i, 0:M]) {..}
                 map p = 0:M { B[i, p] += far[i - b, p] } } }

    Applies to a loop of one state, inside of no map, where the terms of a product begin, or end, a step later in each
    iteration, and where nothing in the loop writes what is far for its block. The order of the terms is another one.
    Where only the run time knows whether iterations are `few`, there is a version for that, too.
    """

    name: ClassVar[str] = "block-products"
    loop = capture(Loop)
    pattern = one(loop)

    rows: int = 64  #: iterations of a block
    few: int = 128  #: iterations that are left as they are

    def plan(self, m: Match) -> Recurrence | Refusal:
        """A product whose far part a block can take at once; or why there is none."""
        loop, uses = m[self.loop], m.uses
        if loop.range.step is not ONE:
            return Refusal(f"the range {loop.range} has steps")
        if any(isinstance(owner, Map) for owner in owners_around(loop)):
            return Refusal("a map around it has the threads that the product would use")
        most = max(self.few, self.rows)
        if uses.ranges_at(loop).proves_le(loop.range.size, most):
            return Refusal(f"there are no more than {most} iterations")
        if self._is_for_few(loop):
            return Refusal("this version is for few iterations")
        match loop.body.blocks:
            case [State(nodes=nodes)]:
                products = [node for node in nodes if isinstance(node, Gemv)]
            case _:
                return Refusal("the body is more than one state")
        reasons: list[Refusal] = []
        for product in products:
            found = _recurrence(product, loop, uses)
            reason = found if isinstance(found, Refusal) else _written_far(found, loop, uses)
            if isinstance(found, Recurrence) and reason is None:
                return found
            reasons += [reason] if reason is not None else []
        return next(iter(reasons), Refusal(f"there is no {Gemv.kind} inside"))

    def apply(self, m: Match, plan: Recurrence, rw: Rewriter) -> Node:
        """Returns the product of matrices."""
        loop, gemv, param = m[self.loop], plan.product, plan.param
        state = gemv.state
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
        matrix, vector = plan.operands(far)
        vectors, is_transposed = matrix_of(vector, plan.moving, param, block)
        out = gemv.outputs["y"]
        dtype, shape = rw.uses.desc(out.container).dtype, (block.size, *out.subset.shape)
        results = rw.declare_fresh("far", Array.packed(dtype, shape, transient=True), around.body)
        inputs, whole = {"a": vectors, "b": matrix}, Memlet(results, Subset.whole(shape))
        flags = {"trans_a": is_transposed, "trans_b": not gemv.trans_a}
        product = Gemm(inputs, {"c": whole}, alpha=gemv.alpha, **flags, span=gemv.span)
        rw.insert_before(loop, State(nodes=[product]))
        a, x = plan.operands(near)
        rw.update(gemv, inputs={**gemv.inputs, "a": a, "x": x})
        own = Subset((sym(param) - block.start, Range(ZERO, shape[1])))
        rw.add_node(_added(out, Memlet(results, own), gemv, rw), state, state.index(gemv) + 1)
        return product

    def _many(self, loop: Loop) -> ScalarExpr:
        return op("lt", Index(const(self.few)), Index(loop.range.size))

    def _is_for_few(self, loop: Loop) -> bool:
        """Whether it is the version that runs where iterations are few."""
        owner = None if loop.region is None else loop.region.owner
        return isinstance(owner, Branch) and owner.otherwise is loop.region and owner.cases[0][0] == self._many(loop)


def _added(out: Memlet, far: Memlet, gemv: Gemv, rw: Rewriter) -> Map:
    """``out += far``, element by element."""
    param, dtype = rw.fresh_name("p"), rw.uses.desc(out.container).dtype
    there, more = (replace(memlet, subset=memlet.subset.compose(Subset.point(sym(param)))) for memlet in (out, far))
    code = (("out", op("add", Ref("there", dtype), Ref("more", dtype))),)
    tasklet = Tasklet({"there": there, "more": more}, {"out": there}, code, span=gemv.span)
    return Map((param,), (Range(ZERO, out.subset.shape[0]),), Region([State(nodes=[tasklet])]), span=gemv.span)


def _recurrence(product: Gemv, loop: Loop, uses: Uses) -> Recurrence | Refusal:
    a, x, param = product.inputs["a"], product.inputs["x"], loop.param
    if "alpha" in product.inputs:
        return Refusal(f"the factor {product.inputs['alpha']} may be another one in each iteration")
    dtypes = {uses.desc(memlet.container).dtype for memlet in (a, x, product.outputs["y"])}
    if len(dtypes) > 1 or not next(iter(dtypes)).is_inexact:
        return Refusal("the operands have several dtypes, or are no floats")
    summed = next(axis for axis in range_axes(a.subset.dims) if axis != kept_axis(product))
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
    return Recurrence(product, param, summed, along, others[0], moving[0] is terms.start)


def _moves_a_step(index: Expr, param: str) -> bool:
    form = index.linear_in(param)
    return form is not None and form[0] is ONE


def _written_far(found: Recurrence, loop: Loop, uses: Uses) -> Refusal | None:
    """Whether anything in a block of iterations may write what is far for the block."""
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
    PushSums(),
    repeat(LiftDots(), LiftVectors()),
    FoldSum(),
    BlockProducts(),
    SinglePassProducts(),
)
