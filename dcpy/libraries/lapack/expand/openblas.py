"""Solvers and decompositions through LAPACK, with the routines and the matrix layout that NumPy uses: its very results.

LAPACK works in place, on matrices stored column after column. So an operand is copied once, into such a matrix, and a
result is copied from it, unless the output is stored that way itself. A triangle needs neither: stored by rows it is
the other triangle by columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, Ref, ScalarExpr, cast
from dcpy.ir.library.expansions import Expansion
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, ForeignCall
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, ExprLike, as_expr, max_of, min_of
from dcpy.ir.types import DType
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.blas.environments import OPENBLAS_PREFIX
from dcpy.libraries.blas.expand.cblas import LETTERS, ROW_MAJOR, CblasCall
from dcpy.libraries.lapack.environments import function
from dcpy.libraries.lapack.expand.maps import solve_triangular_loops, squared, start_with_identity, start_with_triangle
from dcpy.libraries.lapack.nodes import (
    Cholesky,
    Eig,
    Eigh,
    Inverse,
    LapackNode,
    Lstsq,
    Lu,
    LuSolve,
    Qr,
    Solve,
    SolveTriangular,
    Svd,
)

COLUMN_MAJOR = 102
NO_TRANSPOSE, UPPER, LOWER, NON_UNIT, UNIT, LEFT = 111, 121, 122, 131, 132, 141
ENVIRONMENT = "lapack.openblas"
BLOCK = 64  # columns that LAPACK works on at a time; none of its routines takes more

Argument = str | ScalarExpr


class Lapack:
    """Matrices stored by columns, and calls that work on them; `finish` copies the results to where they belong."""

    def __init__(self, f: Fragment, node: LapackNode) -> None:
        self.f = f
        self.dtype = f.input(node.matrix).dtype
        if self.dtype not in LETTERS:
            f.decline(f"takes {', '.join(map(str, LETTERS))}, not {self.dtype}")
        self.pending: list[tuple[Operand, Operand]] = []

    def matrix(self, rows: Expr, columns: Expr) -> Operand:
        """A new matrix with undefined contents."""
        return self.f.array("work", self.dtype, (rows, columns), order="F")

    def copied(self, operand: Operand) -> Operand:
        """A copy of a matrix, which the call may overwrite."""
        work = self.matrix(*operand.shape)
        self.f.add(Copy(operand.memlet, work.memlet))
        return work

    def workspace(self, columns: Expr) -> Operand:
        """Room for a block of columns."""
        return self.f.array("space", self.dtype, (max_of(BLOCK * columns, 1),))

    def result(self, connector: str, *, by_rows: bool = False) -> Operand:
        """Return the array to which the call writes an output: the output, or an array that is copied at the end.

        There too if the matrix is stored `by_rows`, where the caller knows what to do with the transposed one.
        """
        out = self.f.output(connector)
        if all(size is ONE for size in out.strides[:1]) and len(out.shape) < 2:
            return out
        if is_by_columns(self.f, out) or (by_rows and is_by_rows(self.f, out)):
            return out
        work = self.f.array("work", out.dtype, out.shape, order="F")
        self.pending.append((work, out))
        return work

    def call(
        self, routine: str, *arguments: Argument | int | Expr, changed: Mapping[str, Operand], **read: Operand
    ) -> None:
        """``info = routine(COLUMN_MAJOR, *arguments)``; `changed` operands are read and written."""
        info = self.f.output("info") if "info" in self.f.node.outputs else self.f.scalar("info", types.int32)
        passed = {name: operand.memlet for name, operand in changed.items()}
        inputs = passed | {name: operand.memlet for name, operand in read.items()}
        name = function(routine, LETTERS[self.dtype])
        args = (number(COLUMN_MAJOR), *(_argument(argument) for argument in arguments))
        outputs = passed | {"info": info.memlet}
        self.f.add(ForeignCall(name, args, inputs, outputs, ENVIRONMENT, result="info"))

    def finish(self) -> None:
        """Copy the results that are stored in another way."""
        for work, out in self.pending:
            self.f.add(Copy(work.memlet, out.memlet))


def is_by_columns(f: Fragment, matrix: Operand) -> bool:
    """Return whether LAPACK can use a matrix where it is stored."""
    if len(matrix.shape) != 2 or matrix.strides[0] is not ONE:
        return False
    return f.ranges.proves_le(matrix.shape[0], matrix.strides[1])


def is_by_rows(f: Fragment, matrix: Operand) -> bool:
    """Return whether LAPACK can use the transposed matrix where it is stored."""
    rows, columns = matrix.strides
    return columns is ONE and f.ranges.proves_le(matrix.shape[1], rows)


def leading(rows: Expr) -> Expr:
    """The leading dimension of a packed matrix: never 0, as LAPACK demands even of no rows."""
    return max_of(rows, 1)


def distance(matrix: Operand) -> Expr:
    """The leading dimension of a matrix of `Lapack`."""
    return max_of(matrix.strides[1], 1)


def number(value: int) -> ScalarExpr:
    """A number of C's type int."""
    return Const(value, types.int32)


def letter(value: str) -> ScalarExpr:
    """An option, by its ASCII code."""
    return Const(ord(value), types.int8)


def _argument(value: Argument | int | Expr) -> Argument:
    if isinstance(value, int):
        return number(value)
    return cast(Index(value), types.int32) if isinstance(value, Expr) else value


def _part(operand: Operand, *sizes: ExprLike) -> Memlet:
    """The first rows and columns."""
    ranges = tuple(Range(ZERO, as_expr(size)) for size in sizes)
    return Memlet(operand.memlet.container, operand.memlet.subset.compose(Subset(ranges)))


def _uses_openblas(node: type[LapackNode]) -> Callable[[Callable[..., None]], Expansion]:
    return expands(node, "openblas", environment=ENVIRONMENT)


@_uses_openblas(Cholesky)
def cholesky(node: Cholesky, f: Fragment) -> None:
    """``potrf`` on the triangle, zeros elsewhere; where it is stored by rows, on the other triangle, by columns.

    With ``a = l @ l.T.conj()``, ``a.T`` is the product of ``l.T.conj().T`` and ``l.T``: just what is stored then.
    """
    lapack = Lapack(f, node)
    a, work = f.input("a"), lapack.result("l", by_rows=True)
    start_with_triangle(f, a, work, node.upper)
    transposed = not is_by_columns(f, work)
    option = letter("U" if node.upper != transposed else "L")
    ld = max_of(work.strides[0], 1) if transposed else distance(work)
    lapack.call("potrf", option, a.shape[0], "l", ld, changed={"l": work})
    lapack.finish()


@_uses_openblas(Lu)
def lu(node: Lu, f: Fragment) -> None:
    """``getrf``."""
    lapack = Lapack(f, node)
    a, work, pivots = f.input("a"), lapack.result("lu"), lapack.result("pivots")
    f.add(Copy(a.memlet, work.memlet))
    lapack.call("getrf", *a.shape, "lu", distance(work), "pivots", changed={"lu": work, "pivots": pivots})
    lapack.finish()


@_uses_openblas(LuSolve)
def lu_solve(node: LuSolve, f: Fragment) -> None:
    """``getrs``, which reads the factors where they are if they are stored by columns."""
    lapack = Lapack(f, node)
    lu, pivots, b, x = f.input("lu"), f.input("pivots"), f.input("b"), lapack.result("x")
    if not is_by_columns(f, lu):
        lu = lapack.copied(lu)
    if pivots.strides[0] is not ONE:
        pivots, scattered = f.array("pivots", types.int32, pivots.shape), pivots
        f.add(Copy(scattered.memlet, pivots.memlet))
    f.add(Copy(b.memlet, x.memlet))
    n, columns, ld = _right_side(x)
    factors = ("lu", distance(lu), "pivots")
    lapack.call("getrs", letter("N"), n, columns, *factors, "x", ld, changed={"x": x}, lu=lu, pivots=pivots)
    lapack.finish()


def _right_side(x: Operand) -> tuple[Expr, Expr, Expr]:
    """Rows, columns, and the distance of columns, of a matrix or of a vector, which is one column."""
    if len(x.shape) == 2:
        return (*x.shape, distance(x))
    return x.shape[0], ONE, leading(x.shape[0])


@_uses_openblas(Solve)
def solve(node: Solve, f: Fragment) -> None:
    """``gesv``."""
    lapack = Lapack(f, node)
    b, x = f.input("b"), lapack.result("x")
    a = lapack.copied(f.input("a"))
    f.add(Copy(b.memlet, x.memlet))
    n, columns, ld = _right_side(x)
    pivots = f.array("pivots", types.int32, (n,))
    changed = {"a": a, "pivots": pivots, "x": x}
    lapack.call("gesv", n, columns, "a", leading(n), "pivots", "x", ld, changed=changed)
    lapack.finish()


@_uses_openblas(Inverse)
def inverse(node: Inverse, f: Fragment) -> None:
    """``getrf`` and ``getri``, which finds a pivot that is 0 again."""
    lapack = Lapack(f, node)
    a, work = f.input("a"), lapack.result("inverse")
    n, ld = a.shape[0], distance(work)
    f.add(Copy(a.memlet, work.memlet))
    pivots = f.array("pivots", types.int32, (n,))
    lapack.call("getrf", n, n, "a", ld, "pivots", changed={"a": work, "pivots": pivots})
    space = lapack.workspace(n)
    changed = {"a": work, "work": space}
    lapack.call("getri_work", n, "a", ld, "pivots", "work", space.shape[0], changed=changed, pivots=pivots)
    lapack.finish()


@_uses_openblas(Qr)
def qr(node: Qr, f: Fragment) -> None:
    """``geqrf``, and ``orgqr`` where ``q`` is wanted."""
    lapack = Lapack(f, node)
    a, r = f.input("a"), f.output("r")
    m, n = a.shape
    count = min_of(m, n)
    work, tau = lapack.copied(a), f.array("tau", a.dtype, (max_of(count, 1),))
    space = lapack.workspace(max_of(n, r.shape[0]))
    changed = {"a": work, "tau": tau, "work": space}
    lapack.call("geqrf_work", m, n, "a", leading(m), "tau", "work", space.shape[0], changed=changed)
    start_with_triangle(f, work, r, is_upper=True)
    if "q" not in node.outputs:
        return
    q = lapack.result("q")
    columns = q.shape[1]
    both = min_of(n, columns)  # of a; what is beyond, LAPACK fills itself
    start_with_identity(f, q)
    f.add(Copy(_part(work, m, both), _part(q, m, both)))
    changed, sizes = {"q": q, "work": space}, (m, columns, count)
    lapack.call("orgqr_work", *sizes, "q", distance(q), "tau", "work", space.shape[0], changed=changed, tau=tau)
    lapack.finish()


@_uses_openblas(Svd)
def svd(node: Svd, f: Fragment) -> None:
    """``gesdd``."""
    lapack = Lapack(f, node)
    m, n = f.input("a").shape
    a, s = lapack.copied(f.input("a")), lapack.result("s")
    changed = {"a": a, "s": s}
    if "u" not in node.outputs:
        unused = lapack.matrix(ONE, ONE)
        changed |= {"u": unused, "vt": unused}
        lds: tuple[Expr, Expr] = (ONE, ONE)
    else:
        u, vt = lapack.result("u"), lapack.result("vt")
        for matrix in (u, vt):
            start_with_identity(f, matrix)  # what there is where `a` has no elements
        changed |= {"u": u, "vt": vt}
        lds = distance(u), distance(vt)
    option = letter("N" if "u" not in node.outputs else "A" if node.full else "S")
    lapack.call("gesdd", option, m, n, "a", leading(m), "s", "u", lds[0], "vt", lds[1], changed=changed)
    lapack.finish()


@_uses_openblas(Eigh)
def eigh(node: Eigh, f: Fragment) -> None:
    """``syevd``, of complex matrices ``heevd``."""
    lapack = Lapack(f, node)
    a, w = f.input("a"), lapack.result("w")
    work = lapack.result("v") if "v" in node.outputs else lapack.matrix(*a.shape)
    f.add(Copy(a.memlet, work.memlet))
    options = letter("V" if "v" in node.outputs else "N"), letter("U" if node.upper else "L")
    lapack.call("syevd", *options, a.shape[0], "v", distance(work), "w", changed={"v": work, "w": w})
    lapack.finish()


@_uses_openblas(Eig)
def eig(node: Eig, f: Fragment) -> None:
    """``geev``."""
    lapack = Lapack(f, node)
    if lapack.dtype.kind != "c":
        f.decline("takes complex matrices only: those of real ones may have complex or real eigenvalues")
    n = f.input("a").shape[0]
    a, w = lapack.copied(f.input("a")), lapack.result("w")
    unused = lapack.matrix(ONE, ONE)
    v = lapack.result("v") if "v" in node.outputs else unused
    options = letter("N"), letter("V" if "v" in node.outputs else "N")
    changed = {"a": a, "w": w, "left": unused, "v": v}
    lapack.call("geev", *options, n, "a", leading(n), "w", "left", ONE, "v", distance(v), changed=changed)
    lapack.finish()


@_uses_openblas(Lstsq)
def lstsq(node: Lstsq, f: Fragment) -> None:
    """``gelsd``, and the residuals from what it leaves below the solution."""
    lapack = Lapack(f, node)
    a, b, x, rcond = f.input("a"), f.input("b"), f.output("x"), f.input("rcond")
    (m, n), columns = a.shape, b.shape[1]
    rows, count = max_of(m, n), max_of(columns, 1)  # gelsd wants at least one column
    work, solution, s, rank = lapack.copied(a), lapack.matrix(rows, count), lapack.result("s"), f.output("rank")
    with f.maps([Range(ZERO, rows), Range(ZERO, count)]) as (i, j):
        f.put(solution.at(i, j), 0)
    f.add(Copy(b.memlet, _part(solution, m, columns)))
    sizes = (m, n, count, "a", leading(m), "b", leading(rows))
    changed = {"a": work, "b": solution, "s": s, "rank": rank}
    lapack.call("gelsd", *sizes, "s", Ref("rcond", rcond.dtype), "rank", changed=changed, rcond=rcond)
    f.add(Copy(_part(solution, n, columns), x.memlet))
    _residuals(f, solution, n, m)
    lapack.finish()


def _residuals(f: Fragment, solution: Operand, n: Expr, m: Expr) -> None:
    """The squared lengths of what is below row `n`."""
    residuals = f.output("residuals")
    with f.map(Range(ZERO, residuals.shape[0]), param="j") as j:
        total = f.scalar("total", residuals.dtype)
        f.put(total.at(), 0)
        with f.loop(Range(n, max_of(n, m)), "i") as i:
            f.compute(total.at(), squared, solution.at(i, j), wcr="add")
        f.put(residuals.at(j), total.at())


@_uses_openblas(SolveTriangular)
def solve_triangular(node: SolveTriangular, f: Fragment) -> None:
    """``trsm`` of cblas, which has matrices stored by rows, too."""
    out = f.output("x")
    dtype: DType = out.dtype
    if dtype not in LETTERS:
        f.decline(f"takes {', '.join(map(str, LETTERS))}, not {dtype}")
    f.add(Copy(f.input("b").memlet, out.memlet))
    call = CblasCall(f, dtype)
    a = call.matrix(f.input("a"))
    if len(out.shape) == 1:
        vector = call.vector(out, written=True, summed_up=True)
        x, rows, columns, ld = vector.memlet, vector.size, ONE, vector.step
    else:
        matrix = call.matrix(out, written=True, summed_up=True)
        if matrix.is_transposed:
            f.decline("takes right-hand sides stored by rows")
        x, rows, columns, ld = matrix.memlet, matrix.rows, matrix.columns, matrix.ld

    def foreign() -> ForeignCall:
        one = call.constant("alpha", 1)
        lower = node.lower != a.is_transposed
        arguments = (
            number(ROW_MAJOR), number(LEFT), number(LOWER if lower else UPPER), a.flag,
            number(UNIT if node.unit else NON_UNIT), _argument(rows), _argument(columns),
            one, "a", _argument(a.ld), "x", _argument(ld),
        )  # fmt: skip
        inputs = {"a": a.memlet, "x": x, **call.inputs}
        return ForeignCall(f"{OPENBLAS_PREFIX}{call.letter}trsm", arguments, inputs, {"x": x}, ENVIRONMENT)

    call.emit(foreign, lambda: solve_triangular_loops(node, f, out, out))
