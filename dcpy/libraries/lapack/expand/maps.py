"""Solvers and decompositions as loops over columns, with maps inside: for all four precisions, without a library.

They are the textbook's algorithms, in the order in which LAPACK's unblocked routines compute: Gaussian elimination with
the largest pivot, Cholesky column by column, Householder's reflections. Singular and eigenvalues need LAPACK. Columns
(or rows) follow each other in a loop; what one needs of the others are maps and sums, for any target to schedule.
"""

from __future__ import annotations

from collections.abc import Callable

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, Load, ScalarExpr, cast, op
from dcpy.ir.library.expansions import Expansion
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr, min_of
from dcpy.ir.types import DType
from dcpy.libraries.api import Element, Fragment, Operand, expands
from dcpy.libraries.lapack.nodes import (
    Cholesky,
    Inverse,
    LapackNode,
    Lu,
    LuSolve,
    Qr,
    Slogdet,
    Solve,
    SolveTriangular,
)

Term = Callable[..., ScalarExpr]  # of the values of operands
DTYPES = (types.float32, types.float64, types.complex64, types.complex128)


def _loops(kind: type[LapackNode]) -> Callable[[Callable[..., None]], Expansion]:
    """The expansion ``maps`` of a kind of node."""

    def declare(write: Callable[..., None]) -> Expansion:
        def checked(node: LapackNode, f: Fragment) -> None:
            dtype = f.input(node.matrix).dtype
            if dtype not in DTYPES:
                f.decline(f"takes {', '.join(map(str, DTYPES))}, not {dtype}")
            write(node, f)

        return expands(kind, "maps", fuses=False)(checked)

    return declare


@_loops(Cholesky)
def cholesky(node: Cholesky, f: Fragment) -> None:
    """Column by column; each is the rest of the matrix that the columns before it leave."""
    a, out, info = f.input("a"), f.output("l"), f.output("info")
    start_with_triangle(f, a, out, node.upper)
    f.put(info.at(), 0)

    def at(i: Expr, j: Expr) -> Element:
        return out.at(j, i) if node.upper else out.at(i, j)

    n = a.shape[0]
    with f.loop(Range(ZERO, n), "j") as j:
        known = Range(ZERO, j)
        length = _sum(f, a.dtype.real, known, lambda k: (at(j, k),), squared)
        f.compute(at(j, j), lambda x, y: op("sub", x, cast(y, x.dtype)), at(j, j), length)
        _note_first(f, info, lambda d: op("not", op("gt", real(d), Const(0, real(d).dtype))), out.at(j, j), j + 1)
        f.compute(out.at(j, j), lambda d: cast(op("sqrt", real(d)), d.dtype), out.at(j, j))
        with f.map(Range(j + 1, n), param="i") as i:
            total = _sum(f, a.dtype, known, lambda k: (at(i, k), at(j, k)), _times_conjugate)
            f.compute(at(i, j), _rest_over, at(i, j), total, out.at(j, j))


@_loops(Lu)
def lu(node: Lu, f: Fragment) -> None:
    """Column by column: the largest element is the pivot, multiples of its row are subtracted from those below."""
    a, out, pivots, info = f.input("a"), f.output("lu"), f.output("pivots"), f.output("info")
    m, n = a.shape
    f.add(Copy(a.memlet, out.memlet))
    f.put(info.at(), 0)
    with f.loop(Range(ZERO, min_of(m, n)), "k") as k:
        pivot = _largest_below(f, out, k)
        f.compute(pivots.at(k), lambda: cast(Index(pivot + 1), types.int32))
        _swap_rows(f, out, k, pivot)
        _note_first(f, info, lambda d: op("eq", d, Const(0, d.dtype)), out.at(k, k), k + 1)
        regular, _ = f.branch(op("ne", _load(out.at(k, k)), Const(0, out.dtype)))
        with f.inside(regular), f.map(Range(k + 1, m), param="i") as i:
            f.compute(out.at(i, k), lambda x, d: op("div", x, d), out.at(i, k), out.at(k, k))
            with f.map(Range(k + 1, n), param="j") as j:
                f.compute(out.at(i, j), _minus_product, out.at(i, j), out.at(i, k), out.at(k, j))


@_loops(SolveTriangular)
def solve_triangular(node: SolveTriangular, f: Fragment) -> None:
    """Row by row, each from those solved before."""
    solve_triangular_loops(node, f, f.input("b"), f.output("x"))


def solve_triangular_loops(node: SolveTriangular, f: Fragment, b: Operand, x: Operand) -> None:
    """``a @ x = b``; `b` may be `x` itself."""
    a = f.input("a")
    n = a.shape[0]
    with f.loop(Range(ZERO, n), "step") as step:
        i = step if node.lower else n - 1 - step
        known = Range(ZERO, i) if node.lower else Range(i + 1, n)
        with f.maps([Range(ZERO, size) for size in x.shape[1:]], param="j") as rest:
            total = _sum(f, x.dtype, known, lambda k: (a.at(i, k), x.at(k, *rest)), _times)
            if node.unit:
                f.compute(x.at(i, *rest), lambda y, t: op("sub", y, t), b.at(i, *rest), total)
            else:
                f.compute(x.at(i, *rest), _rest_over, b.at(i, *rest), total, a.at(i, i))


@_loops(LuSolve)
def lu_solve(node: LuSolve, f: Fragment) -> None:
    """Rows in the order of the pivots, and two triangles to solve."""
    lu, b, x = f.input("lu"), f.input("b"), f.output("x")
    swapped, half = f.array("swapped", x.dtype, x.shape), f.array("half", x.dtype, x.shape)
    f.add(Copy(b.memlet, swapped.memlet))
    with f.loop(Range(ZERO, lu.shape[0]), "i") as i:
        _swap_rows(f, swapped, i, f.symbol("pivot", f.input("pivots").at(i)) - 1)
    f.add(SolveTriangular({"a": lu.memlet, "b": swapped.memlet}, {"x": half.memlet}, lower=True, unit=True))
    f.add(SolveTriangular({"a": lu.memlet, "b": half.memlet}, {"x": x.memlet}))


@_loops(Solve)
def solve(node: Solve, f: Fragment) -> None:
    """An LU decomposition, and what it solves."""
    a, b, x = f.input("a"), f.input("b"), f.output("x")
    factors, pivots = f.array("factors", a.dtype, a.shape), f.array("pivots", types.int32, a.shape[:1])
    lu_outputs = {"lu": factors.memlet, "pivots": pivots.memlet, "info": f.output("info").memlet}
    f.add(Lu({"a": a.memlet}, lu_outputs))
    f.add(LuSolve({"lu": factors.memlet, "pivots": pivots.memlet, "b": b.memlet}, {"x": x.memlet}))


@_loops(Inverse)
def inverse(node: Inverse, f: Fragment) -> None:
    """The solutions for the columns of the identity."""
    a, out = f.input("a"), f.output("inverse")
    identity = f.array("identity", a.dtype, a.shape)
    start_with_identity(f, identity)
    f.add(Solve({"a": a.memlet, "b": identity.memlet}, {"x": out.memlet, "info": f.output("info").memlet}))


@expands(Slogdet, "maps", fuses=False)
def slogdet(node: Slogdet, f: Fragment) -> None:
    """Compute it from the diagonal of an LU decomposition, and how many rows were swapped."""
    a, sign, logdet = f.input("a"), f.output("sign"), f.output("logdet")
    n = a.shape[0]
    factors = f.array("factors", a.dtype, a.shape, order="F")  # as LAPACK leaves them
    pivots, info = f.array("pivots", types.int32, (n,)), f.scalar("info", types.int32)
    f.add(Lu({"a": a.memlet}, {"lu": factors.memlet, "pivots": pivots.memlet, "info": info.memlet}))
    turns, size = f.scalar("turns", a.dtype), f.scalar("size", logdet.dtype)
    f.put(turns.at(), 1)
    f.put(size.at(), 0)

    def turn(d: ScalarExpr, p: ScalarExpr) -> ScalarExpr:
        unit = op("div", d, cast(magnitude(d), d.dtype)) if d.dtype.kind == "c" else op("sign", d)
        is_swapped = op("ne", cast(p, types.int64), Index(i + 1))
        return op("select", is_swapped, op("neg", unit), unit)

    regular, singular = f.branch(op("eq", _load(info.at()), Const(0, types.int32)))
    with f.inside(regular), f.map(Range(ZERO, n)) as i:
        f.compute(turns.at(), turn, factors.at(i, i), pivots.at(i), wcr="mul")
        f.compute(size.at(), lambda d: op("log", magnitude(d)), factors.at(i, i), wcr="add")
    with f.inside(singular):
        f.put(turns.at(), 0)
        f.put(size.at(), float("-inf"))
    f.put(sign.at(), turns.at())
    f.put(logdet.at(), size.at())


@_loops(Qr)
def qr(node: Qr, f: Fragment) -> None:
    """A reflection per column, which makes it 0 below the diagonal; ``q`` is their product."""
    a, r = f.input("a"), f.output("r")
    m, n = a.shape
    count = min_of(m, n)
    work, tau = f.array("reflections", a.dtype, a.shape), f.array("tau", a.dtype, (count,))
    f.add(Copy(a.memlet, work.memlet))
    with f.loop(Range(ZERO, count), "k") as k:
        _reflection(f, work, tau, k)
        with f.map(Range(k + 1, n), param="j") as j:
            _reflect(f, work, k, work, j, tau.at(k), conjugated=True)
    start_with_triangle(f, work, r, is_upper=True)
    if "q" not in node.outputs:
        return
    q = f.output("q")
    start_with_identity(f, q)
    with f.loop(Range(ZERO, count), "step") as step:
        k = count - 1 - step
        with f.map(Range(k, q.shape[1]), param="j") as j:
            _reflect(f, work, k, q, j, tau.at(k), conjugated=False)


def _reflection(f: Fragment, work: Operand, tau: Operand, k: Expr) -> None:
    """Make column `k` a vector, whose first element, 1, is not stored: the column's length is there; and `tau`."""
    dtype, real_dtype = work.dtype, work.dtype.real
    length, alpha = f.scalar("length", real_dtype), f.scalar("alpha", dtype)
    below = _sum(f, real_dtype, Range(k + 1, work.shape[0]), lambda i: (work.at(i, k),), squared)
    f.put(alpha.at(), work.at(k, k))

    def signed_length(d: ScalarExpr, rest: ScalarExpr) -> ScalarExpr:
        total = op("sqrt", op("add", squared(d), rest))
        return op("neg", op("copysign", total, real(d)))

    f.compute(length.at(), signed_length, alpha.at(), below)
    nothing_below = op("eq", _load(below), Const(0, real_dtype))
    if dtype.kind == "c":
        imaginary = op("imag", _load(alpha.at()))
        nothing_below = op("and", nothing_below, op("eq", imaginary, Const(0, real_dtype)))
    done, needed = f.branch(nothing_below)
    with f.inside(done):
        f.put(tau.at(k), 0)
    with f.inside(needed):
        f.compute(
            tau.at(k),
            lambda d, b: op("div", op("sub", cast(b, dtype), d), cast(b, dtype)),
            alpha.at(),
            length.at(),
        )
        with f.map(Range(k + 1, work.shape[0]), param="i") as i:
            f.compute(
                work.at(i, k),
                lambda x, d, b: op("div", x, op("sub", d, cast(b, dtype))),
                work.at(i, k),
                alpha.at(),
                length.at(),
            )
        f.compute(work.at(k, k), lambda b: cast(b, dtype), length.at())


def _reflect(
    f: Fragment, vectors: Operand, k: Expr, target: Operand, j: Expr, tau: Element, *, conjugated: bool
) -> None:
    """``column j -= tau * v * (v^H @ column j)`` for the vector `k`; with the conjugate of `tau` where asked."""
    below = Range(k + 1, vectors.shape[0])
    total = _sum(f, target.dtype, below, lambda i: (target.at(i, j), vectors.at(i, k)), _times_conjugate)
    factor = conjugate if conjugated else _same
    f.compute(total, lambda t, x, s: op("mul", factor(t), op("add", x, s)), tau, target.at(k, j), total)
    f.compute(target.at(k, j), lambda x, s: op("sub", x, s), target.at(k, j), total)
    with f.map(below, param="i") as i:
        f.compute(target.at(i, j), _minus_product, target.at(i, j), vectors.at(i, k), total)


# -- parts -----------------------------------------------------------------------------------------------------------


def start_with_triangle(f: Fragment, a: Operand, out: Operand, is_upper: bool) -> None:
    """`out` is a triangle of `a`, as far as its sizes go; 0 elsewhere."""
    with f.maps([Range(ZERO, size) for size in out.shape]) as (i, j):
        inside = op("ge" if is_upper else "le", Index(j), Index(i))
        f.compute(out.at(i, j), lambda x: op("select", inside, x, Const(0, x.dtype)), a.at(i, j))


def start_with_identity(f: Fragment, out: Operand) -> None:
    """1 on the diagonal, 0 elsewhere."""
    one, nothing = Const(1, out.dtype), Const(0, out.dtype)
    with f.maps([Range(ZERO, size) for size in out.shape]) as (i, j):
        f.compute(out.at(i, j), lambda: op("select", op("eq", Index(i), Index(j)), one, nothing))


def _sum(
    f: Fragment, dtype: DType, terms: Range, operands: Callable[[Expr], tuple[Element, ...]], term: Term
) -> Element:
    """A scalar that takes up one term per index."""
    total = f.scalar("total", dtype).at()
    f.put(total, 0)
    with f.map(terms, param="k") as k:
        f.compute(total, term, *operands(k), wcr="add")
    return total


def _largest_below(f: Fragment, matrix: Operand, k: Expr) -> Expr:
    """The first row from `k` on with the largest element in column `k`, or a NaN; sizes are those of LAPACK."""
    best, place, rows = f.scalar("best", matrix.dtype.real), f.scalar("place", types.int64), matrix.shape[0]
    f.put(best.at(), 0)
    with f.map(Range(k, rows), param="i") as i:
        f.compute(best.at(), _size, matrix.at(i, k), wcr="max")

    def found(x: ScalarExpr, b: ScalarExpr) -> ScalarExpr:
        size = _size(x)
        is_best = op("or", op("eq", size, b), op("ne", size, size))
        return op("select", is_best, Index(i), Index(rows))

    f.compute(place.at(), lambda: Index(rows))
    with f.map(Range(k, rows), param="i") as i:
        f.compute(place.at(), found, matrix.at(i, k), best.at(), wcr="min")
    return f.symbol("pivot", place.at())


def _swap_rows(f: Fragment, matrix: Operand, one: Expr, other: Expr) -> None:
    differ, _ = f.branch(op("ne", Index(one), Index(other)))
    with f.inside(differ), f.maps([Range(ZERO, size) for size in matrix.shape[1:]], param="j") as rest:
        kept = f.scalar("kept", matrix.dtype)
        f.put(kept.at(), matrix.at(one, *rest))
        f.put(matrix.at(one, *rest), matrix.at(other, *rest))
        f.put(matrix.at(other, *rest), kept.at())


def _note_first(
    f: Fragment, info: Operand, failed: Callable[[ScalarExpr], ScalarExpr], element: Element, number: Expr
) -> None:
    """``info`` becomes `number` where it is 0 yet and the element `failed`."""

    def noted(seen: ScalarExpr, value: ScalarExpr) -> ScalarExpr:
        is_first = op("and", op("eq", seen, Const(0, types.int32)), failed(value))
        return op("select", is_first, cast(Index(number), types.int32), seen)

    f.compute(info.at(), noted, info.at(), element)


def _load(element: Element) -> Load:
    memlet: Memlet = element.memlet
    return Load(memlet.container, memlet.subset.indices, element.dtype)


def conjugate(x: ScalarExpr) -> ScalarExpr:
    """The complex conjugate; real numbers are their own."""
    return op("conj", x) if x.dtype.kind == "c" else x


def real(x: ScalarExpr) -> ScalarExpr:
    """The real part."""
    return op("real", x) if x.dtype.kind == "c" else x


def magnitude(x: ScalarExpr) -> ScalarExpr:
    """The absolute value."""
    return op("cabs" if x.dtype.kind == "c" else "abs", x)


def squared(x: ScalarExpr) -> ScalarExpr:
    """The square of the absolute value."""
    return real(op("mul", x, conjugate(x)))


def _size(x: ScalarExpr) -> ScalarExpr:
    """Return the size by which pivots are chosen: the sum of the parts' absolute values."""
    return op("add", op("abs", op("real", x)), op("abs", op("imag", x))) if x.dtype.kind == "c" else op("abs", x)


def _same(x: ScalarExpr) -> ScalarExpr:
    return x


def _minus_product(x: ScalarExpr, a: ScalarExpr, b: ScalarExpr) -> ScalarExpr:
    return op("sub", x, op("mul", a, b))


def _times(a: ScalarExpr, b: ScalarExpr) -> ScalarExpr:
    return op("mul", a, b)


def _times_conjugate(a: ScalarExpr, b: ScalarExpr) -> ScalarExpr:
    return op("mul", a, conjugate(b))


def _rest_over(x: ScalarExpr, total: ScalarExpr, d: ScalarExpr) -> ScalarExpr:
    return op("div", op("sub", x, total), d)
