"""Norms, ranks, powers, pseudo-inverses and chains of products, from decompositions and reductions.

Most are Python functions that the frontend lowers like a user's (see `python_implementations`). The decompositions
themselves are in `decompositions`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value, as_integer, dtype_of, is_number, scalar_expr
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.linear_algebra import products_and_diagonals as linalg
from dcpy.frontend.numpy.linear_algebra.decompositions import inv, inverse_or_nan
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE
from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, cast, op
from dcpy.ir.symbolic import Expr

_NO_VALUE = np._NoValue  # what NumPy's own signature has
_NOMINAL_SIZE = 256
EUCLIDEAN, FROBENIUS, NOT_GIVEN = Static(2), Static("fro"), Static(_NO_VALUE)

# -- norms -----------------------------------------------------------------------------------------------------------


def _inexact(x: Any) -> Any:
    x = np.asarray(x)
    return x if np.issubdtype(x.dtype, np.inexact) else x.astype(np.float64)


def _squared(x: Any) -> Any:
    return np.real(x * np.conj(x)) if np.issubdtype(x.dtype, np.complexfloating) else x * x


def _of_vectors(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    if ord is None or ord == 2:
        return np.sqrt(np.sum(_squared(x), axis=axis, keepdims=keepdims))
    if isinstance(ord, str):
        raise ValueError("Invalid norm order for vectors.")
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(np.real(x).dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    return np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)


def _of_matrices(x: Any, ord: Any, row: int, column: int, keepdims: bool) -> Any:
    rank = np.ndim(x)
    if not (-rank <= row < rank and -rank <= column < rank):
        raise ValueError("axis is out of bounds")
    row, column = row % rank, column % rank
    if row == column:
        raise ValueError("Duplicate axes given.")
    if ord is None or ord == "fro" or ord == "f":
        return np.sqrt(np.sum(_squared(x), axis=(row, column), keepdims=keepdims))
    if ord == 2 or ord == -2 or ord == "nuc":
        values = np.linalg.svdvals(np.moveaxis(x, (row, column), (-2, -1)))
        if ord == 2:
            found = np.max(values, axis=-1, initial=0)
        else:
            found = np.min(values, axis=-1) if ord == -2 else np.sum(values, axis=-1)
        return np.expand_dims(found, (row, column)) if keepdims else found
    if ord != 1 and ord != -1 and ord != np.inf and ord != -np.inf:
        raise ValueError("Invalid norm order for matrices.")
    summed, kept = (row, column) if ord == 1 or ord == -1 else (column, row)
    sums = np.sum(np.abs(x), axis=summed)
    if kept > summed:
        kept -= 1
    found = np.max(sums, axis=kept, initial=0) if ord > 0 else np.min(sums, axis=kept)
    return np.expand_dims(found, (row, column)) if keepdims else found


@written_in_python(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """A norm of vectors or matrices."""
    x = _inexact(x)
    if axis is None:
        if ord is None:
            return _of_vectors(x, None, None, keepdims)
        axis = tuple(range(np.ndim(x)))
    elif not isinstance(axis, tuple):
        axis = (axis,)
    if len(axis) == 1:
        return _of_vectors(x, ord, axis, keepdims)
    if len(axis) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    return _of_matrices(x, ord, axis[0], axis[1], keepdims)


@implements(np.linalg.vector_norm)
def vector_norm(
    b: OpBuilder, x: Value, /, *, axis: Value = NONE, keepdims: Value = FALSE, ord: Value = EUCLIDEAN
) -> Value:
    """A norm of vectors, of all elements by default."""
    return b.call(Static(_vector_norm), x, axis, keepdims, ord)


def _vector_norm(x: Any, axis: Any, keepdims: bool, ord: Any) -> Any:
    return _of_vectors(_inexact(x), ord, axis, keepdims)


@implements(np.linalg.matrix_norm)
def matrix_norm(b: OpBuilder, x: Value, /, *, keepdims: Value = FALSE, ord: Value = FROBENIUS) -> Value:
    """A norm of matrices, in the last two dimensions."""
    return b.call(Static(_matrix_norm), x, keepdims, ord)


def _matrix_norm(x: Any, keepdims: bool, ord: Any) -> Any:
    return _of_matrices(_inexact(x), ord, -2, -1, keepdims)


@written_in_python(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    """The condition number: a norm times that of the inverse; infinite for a matrix that has none."""
    x = np.asarray(x)
    if x.shape[-2] == 0 or x.shape[-1] == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p is None or p == 2:
        values = np.linalg.svdvals(x)
        result = values[..., 0] / values[..., -1]
    elif p == -2:
        values = np.linalg.svdvals(x)
        result = values[..., -1] / values[..., 0]
    else:
        result = np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(inverse_or_nan(x), p, axis=(-2, -1))
    unknown = np.isnan(result) & ~np.any(np.isnan(x), axis=(-2, -1))
    return np.where(unknown, result.dtype.type(np.inf), result)[()]


# -- ranks, inverses, products ---------------------------------------------------------------------------------------


@implements(np.linalg.matrix_rank)
def matrix_rank(
    b: OpBuilder,
    A: Value,  # noqa: N803  (NumPy's name)
    tol: Value = NONE,
    hermitian: Value = FALSE,
    *,
    rtol: Value = NONE,
) -> Value:
    """Return the number of singular values above a tolerance."""
    return b.call(Static(_matrix_rank), A, tol, hermitian, rtol)


def _matrix_rank(A: Any, tol: Any, hermitian: bool, rtol: Any) -> Any:  # noqa: N803
    A = np.asarray(A)  # noqa: N806
    if np.ndim(A) < 2:
        return int(not np.all(A == 0))
    values = np.linalg.svd(A, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        if rtol is not None:
            raise ValueError("`tol` and `rtol` can't be both set.")
        return np.count_nonzero(values > np.asarray(tol)[..., None], axis=-1)
    if rtol is None:
        rtol = max(A.shape[-2], A.shape[-1]) * np.finfo(values.dtype).eps
    largest = np.max(values, axis=-1, keepdims=True, initial=0)
    return np.count_nonzero(values > largest * np.asarray(rtol)[..., None], axis=-1)


@implements(np.linalg.pinv)
def pinv(b: OpBuilder, a: Value, rcond: Value = NONE, hermitian: Value = FALSE, *, rtol: Value = NOT_GIVEN) -> Value:
    """The pseudo-inverse, from the singular values that are larger than `rcond` times the largest."""
    return b.call(Static(_pinv), a, rcond, hermitian, rtol)


def _pinv(a: Any, rcond: Any, hermitian: bool, rtol: Any) -> Any:
    a = np.asarray(a)
    if rcond is None:
        if rtol is _NO_VALUE:
            rcond = 1e-15
        else:
            rcond = max(a.shape[-2], a.shape[-1]) * np.finfo(a.dtype).eps if rtol is None else rtol
    elif rtol is not _NO_VALUE:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    u, s, vt = np.linalg.svd(np.conj(a), full_matrices=False, hermitian=hermitian)
    cutoff = np.asarray(rcond)[..., None] * np.max(s, axis=-1, keepdims=True, initial=0)
    inverted = np.where(s > cutoff, 1 / s, s.dtype.type(0))
    return np.matmul(np.swapaxes(vt, -1, -2), inverted[..., None] * np.swapaxes(u, -1, -2))


def _natural_power(a: Any, n: int) -> Any:
    """A power of a matrix, in the order of NumPy's products."""
    result = np.zeros_like(a)
    result[:] = np.eye(a.shape[-1])
    base, left = a.copy(), n
    is_first = True
    while left > 0:
        if left % 2 == 1:
            result = base.copy() if is_first else result @ base
            is_first = False
        left //= 2
        if left > 0:
            base = base @ base
    return result


def _power(a: Any, n: int) -> Any:
    """A power, of the inverse where the exponent is negative."""
    return _natural_power(np.linalg.inv(a), -n) if n < 0 else _natural_power(a, n)


def _by_count(b: OpBuilder, x: ArrayValue, n: Value) -> Value:
    """A power with an exponent that is known at run time only."""
    if not is_number(n) or not dtype_of(n).is_integer:
        raise WillRaise("TypeError", "exponent must be an integer")
    exponent = as_integer(n)
    natural = exponent is not None and b.emit.ranges.proves_nonneg(exponent)
    if not natural and not x.dtype.is_inexact:  # NumPy's result would be one of floats
        is_natural = op("ge", cast(scalar_expr(n), types.int64), Const(0, types.int64))
        b.check(is_natural, "ValueError", "Integers to negative integer powers are not allowed.")
        natural = True
    return b.call(Static(_natural_power if natural else _power), x, n)


@implements(np.linalg.matrix_power)
def matrix_power(b: OpBuilder, a: Value, n: Value) -> Value:
    """A product of `n` factors `a`, by squaring; of inverses where `n` is negative."""
    x = b.array(a)
    exponent = as_integer(n)
    if exponent is None or exponent.constant is None:
        return _by_count(b, x, n)
    if x.rank < 2:
        message = f"{x.rank}-dimensional array given. Array must be at least two-dimensional"
        raise b.error(message, notes=("NumPy raises LinAlgError here",))
    count = exponent.constant
    b.same_size(x.shape[-2], x.shape[-1], "Last 2 dimensions of the array must be square")
    if count == 0:
        one, nothing = Const(1, types.int64), Const(0, types.int64)
        shape = [b.exact(size) for size in x.shape]
        return b.cast(
            b.generate(shape, types.int64, lambda *i: op("select", op("eq", i[-2], i[-1]), one, nothing)), x.dtype
        )
    base: Value = x if count > 0 else inv(b, x)
    result: Value | None = None
    bits = bin(abs(count))[:1:-1]
    for place, bit in enumerate(bits):
        base = linalg.matmul(b, base, base) if place else base
        if bit == "1":
            result = base if result is None else linalg.matmul(b, result, base)
    assert result is not None  # the last bit is 1
    return result


@implements(np.linalg.multi_dot)
def multi_dot(b: OpBuilder, arrays: Value, *, out: Value = NONE) -> Value:
    """A product of matrices in the order that takes the fewest operations; sizes that are not known count as 256."""
    items = items_of(arrays)
    if items is None or len(items) < 2:
        raise b.error("Expecting at least two arrays.", notes=("NumPy raises ValueError here",))
    factors = [b.array(item) for item in items]
    for position, factor in enumerate(factors):
        if factor.rank != 2 and not (factor.rank == 1 and position in (0, len(factors) - 1)):
            raise b.error("np.linalg.multi_dot takes matrices, and vectors as the first and the last factor")
    sizes = [_nominal(factors[0].shape[0]) if factors[0].rank == 2 else 1]
    sizes += [_nominal(factor.shape[0]) for factor in factors[1:]]
    sizes += [_nominal(factors[-1].shape[1]) if factors[-1].rank == 2 else 1]

    @cache
    def best(first: int, last: int) -> tuple[int, int]:
        """Operations of the product of factors `first` to `last`, and after which of them to split it."""
        if first == last:
            return 0, first
        return min(
            (best(first, k)[0] + best(k + 1, last)[0] + sizes[first] * sizes[k + 1] * sizes[last + 1], k)
            for k in range(first, last)
        )

    def product(first: int, last: int) -> Value:
        if first == last:
            return factors[first]
        split = best(first, last)[1]
        return linalg.dot(b, product(first, split), product(split + 1, last))

    return into(b, out, product(0, len(factors) - 1), "multi_dot")


def _nominal(size: Expr) -> int:
    return _NOMINAL_SIZE if size.constant is None else size.constant
