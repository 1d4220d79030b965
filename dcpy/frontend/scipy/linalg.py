"""``scipy.linalg``: what NumPy's decompositions have already, in SciPy's form, and factors that are used again.

``overwrite_a=True`` allows SciPy to destroy an argument, which no program does. `check_finite` is kept: ValueError.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg as la

from dcpy.frontend.abstract_values.values import TupleValue, Value
from dcpy.frontend.implements import operation
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.frontend.scipy.lapack_memory_order import lying_in_fortran_order
from dcpy.frontend.scipy.unsupported_options import not_compiled
from dcpy.ir import types
from dcpy.ir.symbolic import min_of


def _checked(a: Any, check_finite: bool) -> Any:
    """The array as one of floats; `ValueError` where it holds NaN or infinities."""
    x = np.asarray_chkfinite(a) if check_finite else np.asarray(a)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def _require_square(x: Any) -> None:
    if x.ndim != 2 or x.shape[0] != x.shape[1]:
        raise ValueError("expected square matrix")


@operation
def factored(b: OpBuilder, a: Value) -> Value:
    """The factors of a matrix, and where rows were swapped, counted from 1: the library node ``lapack.lu``."""
    x = b.array(a)
    lu, pivots = b.empty(x.shape, x.dtype), b.empty([min_of(*x.shape)], types.int32)
    info, _ = b.scalar_container(types.int32, "info")
    b.library("lapack.lu", {"a": x}, {"lu": lu, "pivots": pivots, "info": info})
    return TupleValue((lu, pivots))


@operation
def solved_by_factors(builder: OpBuilder, lu: Value, pivots: Value, b: Value) -> Value:
    """The solution by the factors of a matrix: the library node ``lapack.lu_solve``."""
    factors, right = builder.array(lu), builder.array(b)
    x = builder.empty(right.shape, right.dtype)
    swaps = builder.array(builder.cast(builder.array(pivots), types.int32))
    builder.library("lapack.lu_solve", {"lu": factors, "pivots": swaps, "b": right}, {"x": x})
    return x


@operation
def solved_triangle(builder: OpBuilder, a: Value, b: Value, lower: Value, unit: Value) -> Value:
    """The solution by a triangle: the library node ``lapack.solve_triangular``."""
    triangle, right = builder.array(a), builder.array(b)
    x = builder.empty(right.shape, right.dtype)
    fields = {"lower": bool(builder.static(lower, "lower")), "unit": bool(builder.static(unit, "unit_diagonal"))}
    builder.library("lapack.solve_triangular", {"a": triangle, "b": right}, {"x": x}, **fields)
    return x


def _right_side(a: Any, b: Any, check_finite: bool) -> Any:
    """A right side in the dtype of the solution."""
    x = _checked(b, check_finite)
    if x.shape[0] != a.shape[0]:
        raise ValueError("incompatible dimensions")
    return x.astype(np.result_type(a, x))


# -- systems of equations --------------------------------------------------------------------------------------------


@written_in_python(la.solve)
def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, assume_a: Any = None, transposed: bool = False,
) -> Any:  # fmt: skip
    """The solution of ``a @ x = b``. What is assumed of `a` beside its triangle is not made use of."""
    x = _checked(a, check_finite)
    _require_square(x)
    if assume_a in ("sym", "her", "pos", "symmetric", "hermitian", "positive definite"):
        x = _mirrored(x, lower)
    if assume_a in ("upper triangular", "lower triangular"):
        return _by_triangle(x, _right_side(x, b, check_finite), transposed, assume_a == "lower triangular", False)
    return np.linalg.solve(x.T if transposed else x, _checked(b, check_finite))


def _mirrored(x: Any, lower: bool) -> Any:
    """The symmetric matrix of which one triangle is given."""
    kept = np.tril(x) if lower else np.triu(x)
    other = np.tril(x, -1) if lower else np.triu(x, 1)
    return kept + np.conj(other).T


@written_in_python(la.inv)
def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The inverse matrix."""
    x = _checked(a, check_finite)
    _require_square(x)
    return np.linalg.inv(x)


@written_in_python(la.det)
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The determinant."""
    x = _checked(a, check_finite)
    _require_square(x)
    return np.linalg.det(x)


@written_in_python(la.solve_triangular)
def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """The solution by a triangle, of which the other half is not read."""
    x = _checked(a, check_finite)
    _require_square(x)
    right = _right_side(x, b, check_finite)
    if not unit_diagonal and np.any(np.diagonal(x) == 0):
        raise np.linalg.LinAlgError("singular matrix: resolution failed at a diagonal element that is 0")
    if trans in (2, "C"):
        return _by_triangle(np.conj(x), right, True, lower, unit_diagonal)
    return _by_triangle(x, right, trans in (1, "T"), lower, unit_diagonal)


def _by_triangle(x: Any, right: Any, transposed: bool, lower: bool, unit: bool) -> Any:
    triangle = x.astype(right.dtype)
    if transposed:
        return solved_triangle(np.ascontiguousarray(triangle.T), right, not lower, unit)
    return solved_triangle(triangle, right, lower, unit)


@written_in_python(la.lu_factor)
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The two factors in one matrix, and where rows were swapped."""
    lu, pivots = factored(_checked(a, check_finite))
    return lu, pivots - np.int32(1)


@written_in_python(la.lu_solve)
def lu_solve(
    lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Any:  # fmt: skip
    """The solution by what `lu_factor` gives."""
    lu, pivots = lu_and_piv
    right = _right_side(lu, b, check_finite)
    factors = lu.astype(right.dtype)
    if trans == 0:
        return solved_by_factors(factors, pivots + np.int32(1), right)
    turned = np.conj(factors) if trans == 2 else factors
    half = _by_triangle(turned, right, True, False, False)
    found = _by_triangle(turned, half, True, True, True)
    for k in range(len(pivots)):
        place = len(pivots) - 1 - k
        swapped = int(pivots[place])
        kept = found[place].copy()
        found[place] = found[swapped]
        found[swapped] = kept
    return found


@written_in_python(la.lu)
def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False
) -> Any:  # fmt: skip
    """A permutation, a lower triangle with ones on its diagonal, and an upper triangle."""
    factors, pivots = factored(_checked(a, check_finite))
    rows, least = factors.shape[0], min(factors.shape)
    order = np.arange(rows)
    for k in range(least):
        swapped = int(pivots[k]) - 1
        kept = order[k]
        order[k] = order[swapped]
        order[swapped] = kept
    lower = np.tril(factors[:, :least], -1) + np.eye(rows, least, dtype=factors.dtype)
    upper = np.triu(factors[:least])
    if permute_l:
        permuted = np.empty_like(lower)
        permuted[order] = lower
        return permuted, upper
    if p_indices:
        places = np.empty(rows, dtype=np.int32)
        places[order] = np.arange(rows)
        return places, lower, upper
    permutation = np.zeros((rows, rows), dtype=factors.real.dtype)
    permutation[order, np.arange(rows)] = 1
    return permutation, lower, upper


# -- Cholesky --------------------------------------------------------------------------------------------------------


@written_in_python(la.cholesky)
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The triangle whose product with its adjoint is `a`."""
    x = _checked(a, check_finite)
    _require_square(x)
    return np.linalg.cholesky(x, upper=not lower)


@written_in_python(la.cho_factor)
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The triangle, beside what was in the other half, and which half it is."""
    x = _checked(a, check_finite)
    _require_square(x)
    triangle = np.linalg.cholesky(x, upper=not lower)
    return triangle + (np.triu(x, 1) if lower else np.tril(x, -1)), lower


@written_in_python(la.cho_solve)
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """The solution by what `cho_factor` gives."""
    c, lower = c_and_lower
    right = _right_side(c, b, check_finite)
    adjoint = np.conj(c)
    if lower:
        return _by_triangle(adjoint, _by_triangle(c, right, False, True, False), True, True, False)
    return _by_triangle(c, _by_triangle(adjoint, right, True, False, False), False, False, False)


# -- other decompositions --------------------------------------------------------------------------------------------


@written_in_python(la.qr)
def qr(
    a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", pivoting: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """Orthonormal columns and an upper triangle."""
    x = _checked(a, check_finite)
    if pivoting or mode == "raw":
        return not_compiled("scipy.linalg.qr with pivoting or mode='raw'")
    if mode == "r":
        return (np.linalg.qr(x, "complete")[1],)
    q, r = np.linalg.qr(x, "complete" if mode == "full" else "reduced")
    return lying_in_fortran_order(q), r


@written_in_python(la.svd)
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False, check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:  # fmt: skip
    """Singular values and vectors."""
    x = _checked(a, check_finite)
    if not compute_uv:
        return np.linalg.svd(x, compute_uv=False)
    u, s, vh = np.linalg.svd(x, full_matrices)
    return u, s, vh


@written_in_python(la.svdvals)
def svdvals(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Singular values."""
    return np.linalg.svd(_checked(a, check_finite), compute_uv=False)


@written_in_python(la.eigh)
def eigh(
    a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False, overwrite_a: bool = False,
    overwrite_b: bool = False, type: int = 1, check_finite: bool = True, driver: Any = None,
) -> Any:  # fmt: skip
    """Eigenvalues and vectors of a Hermitian matrix; of a pair of them by the Cholesky factor of the second."""
    x = _checked(a, check_finite)
    _require_square(x)
    half: Any = "L" if lower else "U"
    if b is None:
        if eigvals_only:
            return np.linalg.eigvalsh(x, half)
        w, v = np.linalg.eigh(x, half)
        return w, v
    factor = np.linalg.cholesky(_checked(b, check_finite) if lower else _checked(b, check_finite).T)
    inner = np.linalg.solve(factor, _mirrored(x, lower))
    turned = np.conj(np.linalg.solve(factor, np.conj(inner).T)).T
    if eigvals_only:
        return np.linalg.eigvalsh(turned)
    w, y = np.linalg.eigh(turned)
    return w, np.linalg.solve(np.conj(factor).T, y)


@written_in_python(la.eigvalsh)
def eigvalsh(
    a: Any, b: Any = None, *, lower: bool = True, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """Eigenvalues of a Hermitian matrix."""
    return eigh(a, b, lower=lower, eigvals_only=True, check_finite=check_finite)


@written_in_python(la.pinv)
def pinv(a: Any, *, check_finite: bool = True) -> Any:
    """The pseudo-inverse: singular values of no weight count as 0."""
    x = _checked(a, check_finite)
    u, s, vh = np.linalg.svd(x, False)
    limit = np.max(s, initial=0.0) * max(x.shape) * np.finfo(x.dtype).eps
    kept = s > limit
    inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
    return np.conj(vh).T @ (inverse[:, None] * np.conj(u).T).astype(x.dtype)


@written_in_python(la.norm)
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True) -> Any:
    """The norm of a vector or a matrix."""
    return np.linalg.norm(_checked(a, check_finite), ord, axis, keepdims)


# -- functions of matrices -------------------------------------------------------------------------------------------

_DEGREE = 13
_PADE = tuple(
    float(math.factorial(2 * _DEGREE - k) * math.factorial(_DEGREE))
    / float(math.factorial(2 * _DEGREE) * math.factorial(k) * math.factorial(_DEGREE - k))
    for k in range(_DEGREE + 1)
)
_LARGEST_NORM = 5.37  # where the approximation is exact to double precision (Higham, 2005)


@written_in_python(la.expm)
def expm(A: Any) -> Any:  # noqa: N803
    """The exponential of a matrix: a Padé approximation of a part of it, squared again and again."""
    x = _checked(A, False)
    _require_square(x)
    size = np.max(np.sum(np.abs(x), axis=0), initial=0.0)
    halvings = max(0, int(np.ceil(np.log2(size / _LARGEST_NORM)))) if np.isfinite(size) and size > 0 else 0
    small = x / np.float64(2.0) ** halvings if x.dtype.kind == "f" else x / (2.0**halvings)
    identity = np.eye(x.shape[0], dtype=small.dtype)
    square = small @ small
    even = _PADE[12] * square + _PADE[10] * identity
    odd = _PADE[13] * square + _PADE[11] * identity
    for k in (8, 6, 4, 2, 0):
        even = even @ square + _PADE[k] * identity
        odd = odd @ square + _PADE[k + 1] * identity
    odd = small @ odd
    found = np.linalg.solve(even - odd, even + odd)
    for _ in range(halvings):
        found = found @ found
    return found.astype(x.dtype)


@written_in_python(la.block_diag)
def block_diag(*arrs: Any) -> Any:
    """Matrices along the diagonal of one."""
    blocks = [np.atleast_2d(block) for block in arrs]
    rows, columns = 0, 0
    for block in blocks:
        rows += block.shape[0]
        columns += block.shape[1]
    found = np.zeros((rows, columns), dtype=np.result_type(*blocks))
    row, column = 0, 0
    for block in blocks:
        found[row : row + block.shape[0], column : column + block.shape[1]] = block
        row += block.shape[0]
        column += block.shape[1]
    return found


@written_in_python(la.toeplitz)
def toeplitz(c: Any, r: Any = None) -> Any:
    """The matrix with a constant on each diagonal."""
    column = np.ravel(c)
    row = np.conj(column) if r is None else np.ravel(r)
    found = np.empty((column.size, row.size), dtype=np.result_type(column, row))
    for i in range(column.size):
        for j in range(row.size):
            found[i, j] = column[i - j] if i >= j else row[j - i]
    return found
