"""``numpy.linalg``: systems of equations, determinants, decompositions. Each is a library node of `libraries.lapack`.

A node is of one matrix; stacks of matrices are maps. Behind a node that may find no result stands a check that raises
``LinAlgError``. As NumPy, everything is computed in double precision; results of float32 are rounded afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, TupleValue, Value, dtype_of, integer, scalar_expr
from dcpy.frontend.implements import implements, operation
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.broadcasting import broadcast_shapes
from dcpy.frontend.lower.functions.enclosing_calls import argument_of
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.linear_algebra.products_and_diagonals import matrix_at
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE, TRUE
from dcpy.frontend.numpy.statistics.reductions import AND, reduced
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, Load, ScalarExpr, op
from dcpy.ir.region import Region
from dcpy.ir.symbolic import ZERO, Expr, max_of, min_of, sym
from dcpy.ir.types import DType

LOWER = Static("L")
MAGNITUDES = (np.abs, np.absolute, abs)  # they give real numbers in either case
REDUCED = Static("reduced")
WORKS_IN = {types.float32: types.float64, types.complex64: types.complex128}

Shape = Sequence[Expr]


@implements(np.linalg.cholesky)
def cholesky(b: OpBuilder, a: Value, /, *, upper: Value = FALSE) -> Value:
    """The triangle whose product with its adjoint is `a`, of which one triangle is read."""
    x, n, result = _square(b, a)
    fields = {"upper": bool(b.static(upper, "upper"))}
    outputs = {"l": ((n, n), x.dtype)}
    found = _nodes(b, "lapack.cholesky", {"a": x}, outputs, "Matrix is not positive definite", **fields)
    return b.cast(found["l"], result)


@implements(np.linalg.solve)
def solve(builder: OpBuilder, a: Value, b: Value) -> Value:
    """The solution of ``a @ x = b`` for a vector, or for the columns of matrices."""
    right = builder.array(b)
    x, n, result = _square(builder, a, right)
    if not right.rank:
        raise builder.error("solve: b has no dimensions", notes=("NumPy raises ValueError here",), help="divide by a")
    right = builder.array(builder.cast(right, x.dtype))
    core = min(right.rank, 2)
    form = "(m,m),(m)->(m)" if core == 1 else "(m,m),(m,n)->(m,n)"
    message = f"solve{1 if core == 1 else ''}: Input operand 1 has a mismatch in its core dimension 0, with gufunc"
    sizes = [right.shape[-core], n]
    message = f"{message} signature {form} (size {{0}} is different from {{1}})"
    builder.same_size(sizes[0], n, message, sizes)
    outputs = {"x": ((n, *right.shape[right.rank - core + 1 :]), x.dtype)}
    found = _nodes(builder, "lapack.solve", {"a": x, "b": right}, outputs, "Singular matrix")
    return builder.cast(found["x"], result)


@implements(np.linalg.inv)
def inv(b: OpBuilder, a: Value) -> Value:
    """The inverse matrix."""
    x, n, result = _square(b, a)
    found = _nodes(b, "lapack.inverse", {"a": x}, {"inverse": ((n, n), x.dtype)}, "Singular matrix")
    return b.cast(found["inverse"], result)


@operation
def inverse_or_nan(b: OpBuilder, a: Value) -> Value:
    """The inverse of one matrix, or NaN everywhere where there is none."""
    x, n, result = _square(b, a)
    if x.rank > 2:
        raise b.error("norms of inverses of stacks are not supported", help="use a loop over the matrices")
    out = b.empty((n, n), x.dtype)
    target, info = b.scalar_container(types.int32, "info")
    b.library("lapack.inverse", {"a": x}, {"inverse": out, "info": target})

    def kept(element: ScalarExpr, problem: ScalarExpr) -> ScalarExpr:
        return op("select", op("eq", problem, Const(0, types.int32)), element, Const(float("nan"), x.dtype))

    return b.cast(b.elementwise(kept, out, info), result)


@implements(np.linalg.slogdet)
def slogdet(b: OpBuilder, a: Value) -> Value:
    """The sign of the determinant, and the logarithm of its absolute value."""
    sign, logarithm, result = _signed_logarithm(b, a)
    return TupleValue((b.cast(sign, result), b.cast(logarithm, result.real)), names=("sign", "logabsdet"))


@implements(np.linalg.det)
def det(b: OpBuilder, a: Value) -> Value:
    """The determinant."""
    sign, logarithm, result = _signed_logarithm(b, a)
    return b.cast(b.ufunc(np.multiply, sign, b.ufunc(np.exp, logarithm)), result)


def _signed_logarithm(b: OpBuilder, a: Value) -> tuple[Value, Value, DType]:
    x, _, result = _square(b, a)
    outputs: Mapping[str, tuple[Shape, DType]] = {"sign": ((), x.dtype), "logdet": ((), x.dtype.real)}
    found = _nodes(b, "lapack.slogdet", {"a": x}, outputs)
    return found["sign"], found["logdet"], result


@implements(np.linalg.qr)
def qr(b: OpBuilder, a: Value, mode: Value = REDUCED) -> Value:
    """Orthonormal columns times an upper triangle; of that, the triangle only where ``mode="r"``."""
    wanted = b.static(mode, "mode")
    if wanted not in ("reduced", "complete", "r"):
        raise b.error(f"np.linalg.qr has no mode {wanted!r} here", help='write mode="reduced", "complete" or "r"')
    x, (m, n), result = _matrices(b, a)
    inner = m if wanted == "complete" else min_of(m, n)
    outputs = {"q": ((m, inner), x.dtype), "r": ((inner, n), x.dtype)}
    if wanted == "r":
        del outputs["q"]
    found = _nodes(b, "lapack.qr", {"a": x}, outputs, complete=wanted == "complete")
    parts = {name.upper(): b.cast(value, result) for name, value in found.items()}
    return parts["R"] if wanted == "r" else _named(parts)


@implements(np.linalg.svd)
def svd(
    b: OpBuilder, a: Value, full_matrices: Value = TRUE, compute_uv: Value = TRUE, hermitian: Value = FALSE
) -> Value:
    """Singular values and vectors. `hermitian` promises more than is made use of."""
    with_vectors = bool(b.static(compute_uv, "compute_uv"))
    is_full = bool(b.static(full_matrices, "full_matrices"))
    if b.static(hermitian, "hermitian"):
        _square(b, a)
    x, (m, n), result = _matrices(b, a)
    least = min_of(m, n)
    u, vt = ((m, m if is_full else least), x.dtype), ((n if is_full else least, n), x.dtype)
    outputs = {"u": u, "s": ((least,), x.dtype.real), "vt": vt}
    if not with_vectors:
        outputs = {"s": outputs["s"]}
    found = _nodes(b, "lapack.svd", {"a": x}, outputs, "SVD did not converge", full=is_full)
    values = b.cast(found["s"], result.real)
    if not with_vectors:
        return values
    return _named({"U": b.cast(found["u"], result), "S": values, "Vh": b.cast(found["vt"], result)})


@implements(np.linalg.svdvals)
def svdvals(b: OpBuilder, x: Value, /) -> Value:
    """Singular values."""
    return svd(b, x, compute_uv=FALSE)


@implements(np.linalg.eigh)
def eigh(b: OpBuilder, a: Value, UPLO: Value = LOWER) -> Value:  # noqa: N803  (NumPy's name)
    """Eigenvalues and vectors of Hermitian matrices, of which one triangle is read."""
    values, vectors = _of_hermitian(b, a, UPLO, True)
    return _named({"eigenvalues": values, "eigenvectors": vectors})


@implements(np.linalg.eigvalsh)
def eigvalsh(b: OpBuilder, a: Value, UPLO: Value = LOWER) -> Value:  # noqa: N803  (NumPy's name)
    """Eigenvalues of Hermitian matrices."""
    return _of_hermitian(b, a, UPLO, False)[0]


def _of_hermitian(b: OpBuilder, a: Value, triangle: Value, with_vectors: bool) -> tuple[Value, Value]:
    side = str(b.static(triangle, "UPLO")).upper()
    if side not in ("L", "U"):
        raise b.error("UPLO argument must be 'L' or 'U'", notes=("NumPy raises ValueError here",))
    x, n, result = _square(b, a)
    outputs = {"w": ((n,), x.dtype.real)} | ({"v": ((n, n), x.dtype)} if with_vectors else {})
    found = _nodes(b, "lapack.eigh", {"a": x}, outputs, "Eigenvalues did not converge", upper=side == "U")
    values = b.cast(found["w"], result.real)
    return values, b.cast(found["v"], result) if with_vectors else values


@implements(np.linalg.eig)
def eig(b: OpBuilder, a: Value) -> Value:
    """Eigenvalues and vectors of complex matrices."""
    values, vectors = _of_complex(b, a, "eig")
    return _named({"eigenvalues": values, "eigenvectors": vectors})


@implements(np.linalg.eigvals)
def eigvals(b: OpBuilder, a: Value) -> Value:
    """Eigenvalues of complex matrices."""
    return _of_complex(b, a, "eigvals")[0]


def _of_complex(b: OpBuilder, a: Value, name: str) -> tuple[Value, Value]:
    given = dtype_of(b.array(a))
    if given.kind != "c" and name == "eigvals" and argument_of(b) in MAGNITUDES:
        a = b.cast(a, types.complex64 if given == types.float32 else types.complex128)
    elif given.kind != "c":
        raise b.error(
            f"np.linalg.{name} of a real matrix gives real or complex numbers, depending on their values",
            notes=("a compiled program has to know the dtypes of all its arrays",),
            help=f"write np.linalg.{name}(a.astype(np.complex128)), or np.linalg.{name}h(a) where a is symmetric"
            if name == "eig"
            else "write np.linalg.eigvals(a.astype(np.complex128)), np.abs(np.linalg.eigvals(a)), or "
            "np.linalg.eigvalsh(a) where a is symmetric",
        )
    x, n, result = _square(b, a)
    is_finite = reduced(b, AND, b.ufunc(np.isfinite, x))
    b.check(scalar_expr(b.hold(is_finite)), "LinAlgError", "Array must not contain infs or NaNs")
    outputs = {"w": ((n,), x.dtype)} | ({"v": ((n, n), x.dtype)} if name == "eig" else {})
    found = _nodes(b, "lapack.eig", {"a": x}, outputs, "Eigenvalues did not converge")
    values = b.cast(found["w"], result)
    return values, b.cast(found["v"], result) if name == "eig" else values


@implements(np.linalg.lstsq)
def lstsq(builder: OpBuilder, a: Value, b: Value, rcond: Value = NONE) -> Value:
    """The least-squares solution, the residuals (none where `a` has not full rank), the rank, the singular values."""
    right = builder.array(b)
    x, (m, n), result = _matrices(builder, a, right)
    if x.rank != 2 or right.rank not in (1, 2):
        message = f"{max(x.rank, right.rank)}-dimensional array given. Array must be two-dimensional"
        raise builder.error(message, notes=("NumPy raises LinAlgError here",), help="use a loop over the matrices")
    right, is_vector = builder.array(builder.cast(right, x.dtype)), right.rank == 1
    if is_vector:
        right = builder.expand(right, 1)
    _require_same(builder, m, right.shape[0], "Incompatible dimensions")
    real, columns = x.dtype.real, right.shape[1]
    outputs: dict[str, tuple[Shape, DType]] = {"x": ((n, columns), x.dtype), "residuals": ((columns,), real)}
    outputs |= {"rank": ((), types.int32), "s": ((min_of(m, n),), real)}
    inputs = {"a": x, "b": right, "rcond": _tolerance(builder, rcond, max_of(m, n), real)}
    found = _nodes(builder, "lapack.lstsq", inputs, outputs, "SVD did not converge in Linear Least Squares")
    solution, rank = builder.array(found["x"]), found["rank"]
    if is_vector:
        solution = matrix_at(solution.transposed((1, 0)), [ZERO])
    residuals = _known_residuals(builder, builder.array(found["residuals"]), rank, m, n)
    shown = result.real
    singular = builder.cast(found["s"], shown)
    return TupleValue((builder.cast(solution, result), builder.cast(residuals, shown), rank, singular))


def _tolerance(b: OpBuilder, rcond: Value, size: Expr, real: DType) -> ArrayValue:
    """`rcond` as a scalar container; by default the rounding error of as many operations as the longer side has."""
    if rcond == NONE:
        rcond = b.ufunc(np.multiply, Static(np.finfo(real.numpy).eps), integer(size))
    target, _ = b.scalar_container(real, "rcond")
    b.store(target, b.cast(rcond, real))
    return target


def _known_residuals(b: OpBuilder, residuals: ArrayValue, rank: Value, m: Expr, n: Expr) -> ArrayValue:
    """All or none of the residuals: there are some for more equations than unknowns, of full rank."""
    is_full = op("eq", elementwise.convert(scalar_expr(rank), types.int64), Index(n))
    is_tall = op("gt", Index(m), Index(n))
    columns = residuals.shape[0]
    count = op("select", op("and", is_full, is_tall), Index(columns), Const(0, types.int64))
    size = b.emit.assign_symbol("residuals", count, 0, columns)
    return b.generate((size,), residuals.dtype, lambda i: residuals.load([i.value]))


# -- operands and nodes ----------------------------------------------------------------------------------------------


def _matrices(b: OpBuilder, *values: Value) -> tuple[ArrayValue, tuple[Expr, Expr], DType]:
    """The first value as matrices of the dtype to compute in, their sizes, and the dtype of results."""
    arrays = [b.array(value) for value in values]
    x = arrays[0]
    if x.rank < 2:
        message = f"{x.rank}-dimensional array given. Array must be at least two-dimensional"
        raise b.error(message, notes=("NumPy raises LinAlgError here",))
    result = types.float32
    for array in arrays:
        dtype = array.dtype
        if dtype == types.float16:
            raise b.error("array type float16 is unsupported in linalg", notes=("NumPy raises TypeError here",),
                          help="convert it: a.astype(np.float32)")  # fmt: skip
        result = types.from_numpy(np.result_type(result.numpy, dtype.numpy if dtype.is_inexact else np.float64))
    m, n = (b.exact(size) for size in x.shape[-2:])
    return b.array(b.cast(x, WORKS_IN.get(result, result))), (m, n), result


def _square(b: OpBuilder, *values: Value) -> tuple[ArrayValue, Expr, DType]:
    x, (m, n), result = _matrices(b, *values)
    _require_same(b, m, n, "Last 2 dimensions of the array must be square")
    return x, n, result


def _require_same(b: OpBuilder, left: Expr, right: Expr, message: str) -> None:
    """``LinAlgError`` unless two sizes agree."""
    left, right = b.exact(left), b.exact(right)
    if left is right:
        return
    if b.emit.ranges.proves_ne(left, right):
        raise WillRaise("LinAlgError", message)
    b.check(op("eq", Index(left), Index(right)), "LinAlgError", message)


def _named(parts: Mapping[str, Value]) -> TupleValue:
    return TupleValue(tuple(parts.values()), names=tuple(parts))


def _nodes(
    b: OpBuilder,
    kind: str,
    inputs: Mapping[str, ArrayValue],
    outputs: Mapping[str, tuple[Shape, DType]],
    failure: str = "",
    **fields: Any,
) -> dict[str, Value]:
    """A node of `kind`, or a map over stacks of matrices; by output, its values.

    All inputs but vectors and scalars have two dimensions and those of the stack; `outputs` are of one matrix. With
    `failure`, the node has an ``info``, and ``LinAlgError`` is raised with that text where it is not 0.
    """
    cores = {name: min(value.rank, 2) for name, value in inputs.items()}
    stack = broadcast_shapes(b, [value.shape[: value.rank - cores[name]] for name, value in inputs.items()])
    stack = tuple(b.exact(size) for size in stack)
    targets: dict[str, ArrayValue] = {}
    found: dict[str, Value] = {}
    for name, (shape, dtype) in outputs.items():
        if stack or shape:
            targets[name] = b.empty((*stack, *shape), dtype, name=name)
            found[name] = targets[name]
        else:
            targets[name], found[name] = b.scalar_container(dtype, name)
    if not stack:
        _node(b, kind, inputs, targets, failure, fields)
        return found
    params, domain = elementwise.domain(b, stack)
    point = [sym(name) for name in params]
    wide = {
        name: b.broadcast_to(value, (*stack, *value.shape[value.rank - cores[name] :])) if value.rank > 2 else value
        for name, value in inputs.items()
    }
    body = Region()
    with b.emit.inside(body):
        parts = {name: matrix_at(value, point) if inputs[name].rank > 2 else value for name, value in wide.items()}
        _node(b, kind, parts, {name: matrix_at(out, point) for name, out in targets.items()}, failure, fields)
    b.emit.map_region(params, domain, body)
    return found


def _node(
    b: OpBuilder,
    kind: str,
    inputs: Mapping[str, ArrayValue],
    outputs: Mapping[str, ArrayValue],
    failure: str,
    fields: Mapping[str, Any],
) -> None:
    if not failure:
        b.library(kind, inputs, outputs, **fields)
        return
    info, _ = b.scalar_container(types.int32, "info")
    b.library(kind, inputs, {**outputs, "info": info}, **fields)
    b.check(op("eq", Load(info.container, (), types.int32), Const(0, types.int32)), "LinAlgError", failure)
