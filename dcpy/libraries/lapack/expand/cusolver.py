"""Factorizations and solutions through cuSOLVER or hipSOLVER, in place, on matrices stored by columns; `trsm` of BLAS.

An operand is copied once, by a kernel, into such a matrix. What NumPy raises ``LinAlgError`` for is in ``info``, which
stays on the device until the frontend's check reads it.
"""

from __future__ import annotations

from collections.abc import Callable

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Index, ScalarExpr
from dcpy.ir.library.expansions import Expansion
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, ForeignCall
from dcpy.ir.symbolic import ONE, Expr
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.blas.expand.cblas import LETTERS, Matrix
from dcpy.libraries.lapack.expand.maps import solve_triangular_loops, start_with_identity, start_with_triangle
from dcpy.libraries.lapack.expand.openblas import distance, leading
from dcpy.libraries.lapack.nodes import Cholesky, Inverse, LapackNode, Lu, LuSolve, Solve, SolveTriangular
from dcpy.libraries.vendor.call_operands import AS_IT_IS, ON_DEVICE, VendorCall, number, refuse_in_maps

ENVIRONMENT, PRODUCTS = "gpu.solver", "gpu.blas"
SMALL = 32  #: rows of a matrix; up to here kernels of dcpy's own are as quick as the calls


class Solver:
    """Matrices by columns in memory of the device, and calls that work on them in place."""

    def __init__(self, f: Fragment, node: LapackNode, for_small: str = "kernels of dcpy's own") -> None:
        refuse_in_maps(f)
        self.f = f
        operand = f.input(node.matrix)
        self.dtype = operand.dtype
        if self.dtype not in LETTERS:
            f.decline(f"takes {', '.join(map(str, LETTERS))}, not {self.dtype}")
        rows = operand.shape[0].constant
        if rows is not None and rows <= SMALL:
            f.decline(f"{rows} rows are work for {for_small}")
        self._info: Operand | None = None

    def matrix(self, operand: Operand) -> Operand:
        """A copy of a matrix, or of a vector as it is."""
        work = self.f.array("work", operand.dtype, operand.shape, order="F")
        self.f.add(Copy(operand.memlet, work.memlet))
        return work

    def empty(self, rows: Expr, columns: Expr) -> Operand:
        """An uninitialized matrix."""
        return self.f.array("work", self.dtype, (rows, columns), order="F")

    def getrf(self, a: Operand, pivots: Operand) -> None:
        """``a`` becomes its factors; ``info`` is the node's."""
        m, n = a.shape
        arguments = (Index(m), Index(n), "a", Index(distance(a)), "pivots", "info")
        outputs = {"a": a.memlet, "pivots": pivots.memlet, "info": self.info.memlet}
        self.call("getrf", *arguments, inputs={"a": a.memlet}, outputs=outputs)

    def getrs(self, lu: Operand, pivots: Operand, x: Operand) -> None:
        """``x`` becomes the solution for the right sides that it holds."""
        n, columns, ld = _right_side(x)
        arguments = (number(AS_IT_IS), Index(n), Index(columns), "lu", Index(distance(lu)), "pivots", "x", Index(ld))
        inputs = {"lu": lu.memlet, "pivots": pivots.memlet, "x": x.memlet}
        self.call("getrs", *arguments, inputs=inputs, outputs={"x": x.memlet})

    @property
    def info(self) -> Operand:
        """Output of ``info``: the node's own, or a scratch place."""
        if self._info is None:
            is_asked = "info" in self.f.node.outputs
            self._info = self.f.output("info") if is_asked else self.f.array("info", types.int32, (), outermost=True)
        return self._info

    def call(
        self, routine: str, *arguments: str | ScalarExpr, inputs: dict[str, Memlet], outputs: dict[str, Memlet]
    ) -> None:
        """``dcpy_routine(type, …)``."""
        letter = number(ord(LETTERS[self.dtype]))
        self.f.add(ForeignCall(f"dcpy_{routine}", (letter, *arguments), inputs, outputs, ENVIRONMENT))


def _right_side(x: Operand) -> tuple[Expr, Expr, Expr]:
    """Rows, columns, and the distance of columns, of a matrix or of a vector, which is one column."""
    return (*x.shape, distance(x)) if len(x.shape) == 2 else (x.shape[0], ONE, leading(x.shape[0]))


def uses_solver(node: type[LapackNode]) -> Callable[[Callable[..., None]], Expansion]:
    """The expansion ``cusolver`` of a kind of node."""
    return expands(node, "cusolver", environment=ENVIRONMENT, on=ON_DEVICE, fuses=False)


@uses_solver(Cholesky)
def cholesky(node: Cholesky, f: Fragment) -> None:
    """``potrf`` on the triangle, zeros elsewhere."""
    solver = Solver(f, node)
    a, out = f.input("a"), f.output("l")
    work = solver.empty(*a.shape)
    start_with_triangle(f, a, work, node.upper)
    both = {"a": work.memlet}
    arguments = (number(not node.upper), Index(a.shape[0]), "a", Index(distance(work)), "info")
    solver.call("potrf", *arguments, inputs=both, outputs=both | {"info": solver.info.memlet})
    f.add(Copy(work.memlet, out.memlet))


@uses_solver(Lu)
def lu(node: Lu, f: Fragment) -> None:
    """``getrf``."""
    solver = Solver(f, node)
    work, out, rows = solver.matrix(f.input("a")), f.output("lu"), f.output("pivots")
    pivots = f.array("pivots", types.int32, rows.shape)
    solver.getrf(work, pivots)
    f.add(Copy(work.memlet, out.memlet))
    f.add(Copy(pivots.memlet, rows.memlet))


@uses_solver(LuSolve)
def lu_solve(node: LuSolve, f: Fragment) -> None:
    """``getrs``."""
    solver = Solver(f, node)
    factors, x = solver.matrix(f.input("lu")), solver.matrix(f.input("b"))
    pivots = f.array("pivots", types.int32, f.input("pivots").shape)
    f.add(Copy(f.input("pivots").memlet, pivots.memlet))
    solver.getrs(factors, pivots, x)
    f.add(Copy(x.memlet, f.output("x").memlet))


@uses_solver(Solve)
def solve(node: Solve, f: Fragment) -> None:
    """``getrf`` and ``getrs``."""
    solver = Solver(f, node)
    a, x = solver.matrix(f.input("a")), solver.matrix(f.input("b"))
    pivots = f.array("pivots", types.int32, (a.shape[0],))
    solver.getrf(a, pivots)
    solver.getrs(a, pivots, x)
    f.add(Copy(x.memlet, f.output("x").memlet))


@uses_solver(Inverse)
def inverse(node: Inverse, f: Fragment) -> None:
    """``getrf``, and the solutions for the columns of the identity, as NumPy does."""
    solver = Solver(f, node)
    a = solver.matrix(f.input("a"))
    x = solver.empty(*a.shape)
    start_with_identity(f, x)
    pivots = f.array("pivots", types.int32, (a.shape[0],))
    solver.getrf(a, pivots)
    solver.getrs(a, pivots, x)
    f.add(Copy(x.memlet, f.output("inverse").memlet))


@expands(SolveTriangular, "cublas", environment=PRODUCTS, on=ON_DEVICE, fuses=False)
def solve_triangular(node: SolveTriangular, f: Fragment) -> None:
    """``trsm``: ``xᵀ aᵀ = bᵀ`` for right-hand sides by rows."""
    out = f.output("x")
    call = VendorCall(f, out.dtype)
    a = call.matrix(f.input("a"))
    f.add(Copy(f.input("b").memlet, out.memlet))
    x = _right_sides(call, out)

    def foreign() -> ForeignCall:
        on_right = not x.is_transposed
        transposed, lower = a.is_transposed != x.is_transposed, node.lower == a.is_transposed
        sizes = (x.columns, x.rows) if on_right else (x.rows, x.columns)
        arguments: tuple[str | ScalarExpr, ...] = (
            call.type, *map(number, (on_right, lower, transposed, node.unit)),
            *map(call.size, sizes), "a", call.size(a.ld), "x", call.size(x.ld),
        )  # fmt: skip
        inputs = {"a": a.memlet, "x": x.memlet}
        return ForeignCall("dcpy_trsm", arguments, inputs, {"x": x.memlet}, PRODUCTS)

    call.emit(foreign, lambda: solve_triangular_loops(node, f, out, out))


def _right_sides(call: VendorCall, out: Operand) -> Matrix:
    """A matrix; or a vector, which is a matrix of one column."""
    if len(out.shape) == 2:
        return call.matrix(out, written=True, summed_up=True)
    vector = call.vector(out, written=True, summed_up=True)
    return Matrix(vector.memlet, vector.size, ONE, False, vector.step)
