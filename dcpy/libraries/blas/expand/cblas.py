"""Products of matrices and vectors through cblas: which call, with which arguments, and when it means the same.

`calls(prefix, environment)` declares the four expansions for one library that speaks cblas. An operand is passed where
it lies if one of its dimensions has stride 1, and is packed into a temporary if not. cblas counts in 32 bits, does not
look at a product scaled by 0, and wants positive distances: where this cannot be decided now it is tested at run time,
and the loops of `libraries.blas.expand.cpu` run instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, Load, Ref, ScalarExpr, cast, op
from dcpy.ir.field_roles import Runs
from dcpy.ir.library.expansions import Expansion
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, ForeignCall
from dcpy.ir.schedules import SEQUENTIAL
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, ExprLike, as_expr, max_of
from dcpy.ir.tree import owners_around
from dcpy.ir.types import DType
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.blas.expand import skinny_gemm
from dcpy.libraries.blas.expand.cpu import dot_loops, gemm_loops, gemv_loops, ger_loops, small_gemm_loops
from dcpy.libraries.blas.expand.product_contractions import scaled
from dcpy.libraries.blas.nodes import Dot, Gemm, Gemv, Ger

LETTERS = {types.float32: "s", types.float64: "d", types.complex64: "c", types.complex128: "z"}
ROW_MAJOR, NO_TRANSPOSE, TRANSPOSE, UPPER = 101, 111, 112, 121
INT_MAX = 2**31 - 1
SHORT = 32  #: terms of a sum of products in a loop that takes less time than it takes to call a library
ALONE = 10_000  #: terms above which OpenBLAS sums up with threads: as many sums as threads, whose team often sleeps
SMALL = 8  #: rows, columns and terms of a product in a loop that takes less time than it takes to call a library


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix as cblas sees it: stored by rows with the leading dimension `ld`, and perhaps to be transposed."""

    memlet: Memlet
    rows: Expr  # after the transposition
    columns: Expr
    is_transposed: bool
    ld: Expr

    @property
    def T(self) -> Matrix:
        """The transposed matrix, where it lies."""
        return replace(self, rows=self.columns, columns=self.rows, is_transposed=not self.is_transposed)

    @property
    def flag(self) -> ScalarExpr:
        """CBLAS_TRANSPOSE."""
        return _number(TRANSPOSE if self.is_transposed else NO_TRANSPOSE)


@dataclass(frozen=True, slots=True)
class CblasVector:
    """A vector as cblas sees it."""

    memlet: Memlet
    size: Expr
    step: Expr


class CblasCall:
    """One call: the conditions under which it may be made, the copies around it, and its arguments."""

    def __init__(self, f: Fragment, dtype: DType) -> None:
        self.f = f
        self.dtype = dtype
        self.conditions: list[ScalarExpr] = []
        self.ranges = f.ranges  # what is known where the call is made: under the conditions, too
        self.packed_inputs: list[Copy] = []
        self.packed_outputs: list[Copy] = []
        self.inputs: dict[str, Memlet] = {}
        self.letter = LETTERS[dtype]
        self.is_complex = dtype.kind == "c"

    # -- operands ----------------------------------------------------------------------------------------------

    def matrix(self, operand: Operand, *, written: bool = False, summed_up: bool = False) -> Matrix:
        """An operand where it lies, or packed: `written` after the call, read before it where `summed_up`."""
        rows, columns = operand.shape
        down, across = operand.strides
        for length in (rows, columns):
            self.is_length(length)
        if across is ONE and self._rows_fit(down, columns, rows):
            return Matrix(operand.memlet, rows, columns, False, self._leading(down, columns, rows))
        if down is ONE and self._rows_fit(across, rows, columns):
            return Matrix(operand.memlet, rows, columns, True, self._leading(across, rows, columns))
        packed = self._packed(operand, written=written, summed_up=summed_up)
        return Matrix(packed, rows, columns, False, max_of(columns, 1))

    def vector(self, operand: Operand, *, written: bool = False, summed_up: bool = False) -> CblasVector:
        """The vector as `matrix` has it, for one dimension."""
        (size,), (step,) = operand.shape, operand.strides
        self.is_length(size)
        if step.constant is not None and step.constant < 1:
            return CblasVector(self._packed(operand, written=written, summed_up=summed_up), size, ONE)
        self.at_most(1, step)
        self.fits(step)
        return CblasVector(operand.memlet, size, step)

    def _rows_fit(self, ld: Expr, length: Expr, count: Expr) -> bool:
        """Return whether rows `ld` apart do not overlap, or might not (which the call then asks at run time)."""
        return ld.constant is None or length.constant is None or ld.constant >= length.constant or count is ONE

    def _leading(self, ld: Expr, length: Expr, count: Expr) -> Expr:
        """The leading dimension: never below the length of a row, nor below 1, as cblas demands even of no rows."""
        if count is ONE:
            return max_of(length, 1)
        self.at_most(length, ld)
        self.fits(ld)
        return ld if self.ranges.proves_le(1, ld) else max_of(ld, 1)

    def _packed(self, operand: Operand, *, written: bool, summed_up: bool) -> Memlet:
        fresh = self.f.array(f"{operand.memlet.container}_packed", operand.dtype, operand.shape, outermost=True)
        if not written or summed_up:
            self.packed_inputs.append(Copy(operand.memlet, fresh.memlet))
        if written:
            self.packed_outputs.append(Copy(fresh.memlet, operand.memlet))
        return fresh.memlet

    # -- conditions --------------------------------------------------------------------------------------------

    def is_length(self, size: Expr) -> None:
        """A size must not be negative, as that of an empty slice may be, and must fit 32 bits."""
        self.at_most(0, size)
        self.fits(size)

    def fits(self, value: Expr) -> None:
        """`value` must fit 32 bits."""
        self.at_most(value, INT_MAX)

    def at_most(self, left: ExprLike, right: ExprLike) -> None:
        """``left <= right`` must hold."""
        low, high = as_expr(left), as_expr(right)
        if not self.ranges.proves_le(low, high):
            condition = op("le", _index(low), _index(high))
            if condition not in self.conditions:
                self.conditions.append(condition)
            self.ranges = self.ranges.assuming(high - low)

    def not_zero(self, name: str) -> None:
        """The factor `name` must not be 0: cblas would not look at what it scales, where NaN may be."""
        if getattr(self.f.node, name, 1) == 0:
            self.f.decline(f"with {name} = 0 cblas does not look at what it scales, where NaN may be")
        if name in self.f.node.inputs:
            scalar = self.f.input(name)
            load = Load(scalar.memlet.container, scalar.memlet.subset.indices, scalar.dtype)
            self.conditions.append(op("ne", load, Const(0, scalar.dtype)))

    # -- arguments ---------------------------------------------------------------------------------------------

    def factor(self, name: str) -> str | ScalarExpr:
        """``number * scalar input`` by value; complex ones by address, as cblas takes them."""
        number = getattr(self.f.node, name, 1)
        if name not in self.f.node.inputs:
            return self.constant(name, number)
        scalar = self.f.input(name)
        if self.is_complex:
            stored = self.f.scalar(name, self.dtype)
            self.f.compute(stored.at(), lambda ref: scaled(cast(ref, self.dtype), number), scalar.at())
            self.inputs[name] = stored.memlet
            return name
        self.inputs[name] = scalar.memlet
        return scaled(cast(Ref(name, scalar.dtype), self.dtype), number)

    def constant(self, name: str, number: complex) -> str | ScalarExpr:
        """A number by value; by address for a complex dtype."""
        if not self.is_complex:
            return Const(float(number.real), self.dtype)
        stored = self.f.scalar(name, self.dtype)
        self.f.put(stored.at(), complex(number))
        self.inputs[name] = stored.memlet
        return name

    def emit(
        self,
        arguments: Callable[[], ForeignCall],
        otherwise: Callable[[], None],
        finish: Callable[[], None] | None = None,
    ) -> None:
        """Write copies, call, copies, `finish`; under the conditions, if any, with `otherwise` as the other case."""

        def call() -> None:
            for copy in self.packed_inputs:
                self.f.add(copy)
            self.f.add(arguments())
            for copy in self.packed_outputs:
                self.f.add(copy)
            if finish is not None:
                finish()

        if not self.conditions:
            call()
            return
        condition = self.conditions[0]
        for other in self.conditions[1:]:
            condition = op("and", condition, other)
        holds, fails = self.f.branch(condition)
        with self.f.inside(holds):
            call()
        with self.f.inside(fails):
            otherwise()


def calls(name: str, prefix: str, environment: str) -> dict[str, Expansion]:
    """The expansions `name` of Gemm, Gemv, Dot and Ger through the functions that begin with `prefix`."""

    def expansion(node: Any, write: Callable[..., None], **more: Any) -> Expansion:
        declare = expands(node, name, environment=environment, dtypes=tuple(LETTERS), **more)
        return declare(lambda found, f: write(found, f, prefix, environment))

    return {
        "gemm": expansion(Gemm, _gemm, why_slow=_why_no_gemm),
        "gemv": expansion(Gemv, _gemv, why_slow=_why_no_gemv),
        "dot": expansion(Dot, _dot),
        "ger": expansion(Ger, _ger),
    }


def _why_no_gemm(node: Gemm) -> str:
    terms = node.inputs["a"].subset.shape[0 if node.trans_a else 1]
    short = _is_short(terms) and any(map(_is_short, node.outputs["c"].subset.shape))
    return f"{terms} terms for each element of short rows or columns are quicker in loops" if short else ""


def _why_no_gemv(node: Gemv) -> str:
    (terms,) = node.inputs["x"].subset.shape
    return f"{terms} terms for each element are quicker in loops" if _is_short(terms) else ""


def _is_short(size: Expr) -> bool:
    return size.constant is not None and size.constant <= SMALL


def _gemm(node: Gemm, f: Fragment, prefix: str, environment: str) -> None:
    out = f.output("c")
    has_c = "c" in node.inputs
    start_from_summand(f, out, "c")
    call = CblasCall(f, out.dtype)
    a, b, c = call.matrix(f.input("a")), call.matrix(f.input("b")), call.matrix(out, written=True, summed_up=has_c)
    a, b = a.T if node.trans_a else a, b.T if node.trans_b else b
    by_columns = c.is_transposed
    if by_columns:  # cᵀ = bᵀ aᵀ: the result is stored by columns
        a, b, c = b.T, a.T, c.T
    call.not_zero("alpha")
    if has_c:
        call.not_zero("beta")
    if not has_c and a == b.T:
        syrk = partial(_syrk, call, a, c, prefix, environment)
        call.emit(syrk, lambda: gemm_loops(node, f, out), lambda: mirrored(f, out, by_columns))
        return

    def foreign() -> ForeignCall:
        alpha = call.factor("alpha")
        beta = call.factor("beta") if has_c else call.constant("beta", 0)
        arguments = (
            _number(ROW_MAJOR), a.flag, b.flag, _size(c.rows), _size(c.columns), _size(a.columns),
            alpha, "a", _size(a.ld), "b", _size(b.ld), beta, "c", _size(c.ld),
        )  # fmt: skip
        inputs = {"a": a.memlet, "b": b.memlet, **({"c": c.memlet} if has_c else {}), **call.inputs}
        return ForeignCall(f"{prefix}{call.letter}gemm", arguments, inputs, {"c": c.memlet}, environment)

    def loops() -> None:
        gemm_loops(node, f, out)

    sizes = tuple(dict.fromkeys((c.rows, c.columns, a.columns)))
    is_large = any(size.constant is not None and size.constant > SMALL for size in sizes)
    once = is_large or all(owner.runs is Runs.PERHAPS for owner in owners_around(node))
    if not once:
        larger = [op("lt", Const(SMALL, types.int64), _index(size)) for size in sizes]
        call.conditions.insert(0, reduce(lambda left, right: op("or", left, right), larger))

    def packed() -> None:
        call.emit(foreign, loops if once else lambda: small_gemm_loops(node, f, out))

    def not_thin() -> None:
        large = once and skinny_gemm.is_large(node, f, out)
        _where(f, large, lambda: skinny_gemm.stream(node, f, out), packed)

    _where(f, skinny_gemm.is_thin(node, f, out), lambda: skinny_gemm.stream_thin(node, f, out), not_thin)


def _where(f: Fragment, condition: ScalarExpr | bool, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """Write one of two ways, or both where the condition is one of the run time."""
    if isinstance(condition, bool):
        (then if condition else otherwise)()
        return
    holds, fails = f.branch(condition)
    with f.inside(holds):
        then()
    with f.inside(fails):
        otherwise()


def _syrk(call: CblasCall, a: Matrix, c: Matrix, prefix: str, environment: str) -> ForeignCall:
    """``c = a @ a.T`` in half the time, as NumPy does: the upper half of what is stored."""
    alpha, beta = call.factor("alpha"), call.constant("beta", 0)
    arguments = (
        _number(ROW_MAJOR), _number(UPPER), a.flag, _size(a.rows), _size(a.columns),
        alpha, "a", _size(a.ld), beta, "c", _size(c.ld),
    )  # fmt: skip
    function = f"{prefix}{call.letter}syrk"
    return ForeignCall(function, arguments, {"a": a.memlet, **call.inputs}, {"c": c.memlet}, environment)


def mirrored(f: Fragment, c: Operand, by_columns: bool) -> None:
    """The half of a symmetric matrix that is not there yet: the lower one, or that of the transposed matrix."""
    size = c.shape[0]
    with f.map(Range(ZERO, size)) as low, f.map(Range(low + 1, size), SEQUENTIAL) as high:
        upper, lower = c.at(low, high), c.at(high, low)
        f.put(*((upper, lower) if by_columns else (lower, upper)))


def _gemv(node: Gemv, f: Fragment, prefix: str, environment: str) -> None:
    out = f.output("y")
    has_y = "y" in node.inputs
    start_from_summand(f, out, "y")
    call = CblasCall(f, out.dtype)
    a, x = call.matrix(f.input("a")), call.vector(f.input("x"))
    y = call.vector(out, written=True, summed_up=has_y)
    a = a.T if node.trans_a else a
    call.at_most(1, x.size)  # with nothing to sum up cblas leaves y as it is
    call.not_zero("alpha")
    if has_y:
        call.not_zero("beta")
    stored = a.T if a.is_transposed else a

    def foreign() -> ForeignCall:
        alpha = call.factor("alpha")
        beta = call.factor("beta") if has_y else call.constant("beta", 0)
        arguments = (
            _number(ROW_MAJOR), a.flag, _size(stored.rows), _size(stored.columns),
            alpha, "a", _size(a.ld), "x", _size(x.step), beta, "y", _size(y.step),
        )  # fmt: skip
        inputs = {"a": a.memlet, "x": x.memlet, **({"y": y.memlet} if has_y else {}), **call.inputs}
        return ForeignCall(f"{prefix}{call.letter}gemv", arguments, inputs, {"y": y.memlet}, environment)

    call.emit(foreign, lambda: gemv_loops(node, f, out))


def _dot(node: Dot, f: Fragment, prefix: str, environment: str) -> None:
    out = f.output("result")
    call = CblasCall(f, out.dtype)
    x, y = call.vector(f.input("x")), call.vector(f.input("y"))  # 32 bits are the usual branch
    if call.packed_inputs:
        f.decline("a vector runs backwards: to copy it for cblas takes as long as the loop")
    if any(owner.runs is not Runs.PERHAPS for owner in owners_around(node)):
        call.at_most(SHORT + 1, x.size)
    call.at_most(x.size, ALONE)

    def foreign() -> ForeignCall:
        arguments = (_size(x.size), "x", _size(x.step), "y", _size(y.step))
        inputs, outputs = {"x": x.memlet, "y": y.memlet}, {"result": out.memlet}
        if call.is_complex:
            function = f"{prefix}{call.letter}dotu_sub"
            return ForeignCall(function, (*arguments, "result"), inputs, outputs, environment)
        return ForeignCall(f"{prefix}{call.letter}dot", arguments, inputs, outputs, environment, result="result")

    call.emit(foreign, lambda: dot_loops(node, f, out))


def _ger(node: Ger, f: Fragment, prefix: str, environment: str) -> None:
    if "a" not in node.inputs:
        f.decline("adds to a matrix, and there is none: the loops write each element once")
    out = f.output("a")
    start_from_summand(f, out, "a")
    call = CblasCall(f, out.dtype)
    x, y = call.vector(f.input("x")), call.vector(f.input("y"))
    a = call.matrix(out, written=True, summed_up=True)
    if a.is_transposed:
        x, y, a = y, x, a.T
    call.not_zero("alpha")

    def foreign() -> ForeignCall:
        arguments = (
            _number(ROW_MAJOR), _size(a.rows), _size(a.columns), call.factor("alpha"),
            "x", _size(x.step), "y", _size(y.step), "a", _size(a.ld),
        )  # fmt: skip
        inputs = {"x": x.memlet, "y": y.memlet, "a": a.memlet, **call.inputs}
        function = f"{prefix}{call.letter}ger{'u' if call.is_complex else ''}"
        return ForeignCall(function, arguments, inputs, {"a": a.memlet}, environment)

    call.emit(foreign, lambda: ger_loops(node, f, out))


def start_from_summand(f: Fragment, out: Operand, summand: str) -> None:
    """Copy the matrix that is updated in place to the output, if the output is a temporary."""
    memlet = f.node.inputs.get(summand)
    if memlet is not None and memlet.container != out.memlet.container:
        f.add(Copy(memlet, out.memlet))


def _size(value: Expr) -> ScalarExpr:
    return cast(Index(value), types.int32)


def _index(value: Expr) -> ScalarExpr:
    return Index(value) if value.constant is None else Const(value.constant, types.int64)


def _number(value: int) -> ScalarExpr:
    return Const(value, types.int32)
