"""Stacked products of vectors and matrices, ``np.vecdot`` and its kin, and other names in ``np.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.linear_algebra import einsum_and_tensordot
from dcpy.frontend.numpy.linear_algebra import products_and_diagonals as linalg
from dcpy.frontend.numpy.linear_algebra.decompositions import inv, solve
from dcpy.frontend.numpy.parameter_defaults import LAST_AXIS, NONE, NUMBER_0
from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.frontend.numpy.result_memory_order import lying_in_c_order
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.ir.expressions.scalar import Index, op
from dcpy.ir.symbolic import Expr, product_of

ROWS, TWO = Static(-2), Static(2)


@implements(np.linalg.matmul)
def matmul(b: OpBuilder, x1: Value, x2: Value, /) -> Value:
    """``x1 @ x2``."""
    return linalg.matmul(b, x1, x2)


@implements(np.linalg.outer)
def outer(b: OpBuilder, x1: Value, x2: Value, /) -> Value:
    """All products of an element of a vector and one of another."""
    if not b.array(x1).rank == b.array(x2).rank == 1:
        raise b.error("Input arrays must be one-dimensional", notes=("NumPy raises ValueError here",))
    return linalg.outer(b, x1, x2)


@implements(np.linalg.tensordot)
def tensordot(b: OpBuilder, x1: Value, x2: Value, /, *, axes: Value = TWO) -> Value:
    """Sums of products over axes of both operands."""
    return einsum_and_tensordot.tensordot(b, x1, x2, axes)


@implements(np.linalg.diagonal)
def diagonal(b: OpBuilder, x: Value, /, *, offset: Value = NUMBER_0) -> Value:
    """The read-only view of the diagonals of matrices."""
    return linalg.diagonal(b, x, offset, ROWS, LAST_AXIS)


@implements(np.linalg.trace)
def trace(b: OpBuilder, x: Value, /, *, offset: Value = NUMBER_0, dtype: Value = NONE) -> Value:
    """The sums of the diagonals of matrices."""
    return linalg.trace(b, x, offset, ROWS, LAST_AXIS, dtype)


@implements(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(b: OpBuilder, x: Value, /) -> Value:
    """The view of matrices with rows as columns."""
    found = b.array(x)
    if found.rank < 2:
        message = f"Input array must be at least 2-dimensional, but it is {found.rank}"
        raise b.error(message, notes=("NumPy raises ValueError here",))
    *stack, rows, columns = range(found.rank)
    return b.transpose(found, [*stack, columns, rows])


@implements(np.vecdot)
def vecdot(b: OpBuilder, x1: Value, x2: Value, /, out: Value = NONE, *, axis: Value = LAST_AXIS) -> Value:
    """Sums of products along an axis, the elements of `x1` conjugated."""
    return into(b, out, b.call(Static(_vecdot), x1, x2, axis), "vecdot")


@implements(np.linalg.vecdot)
def linalg_vecdot(b: OpBuilder, x1: Value, x2: Value, /, *, axis: Value = LAST_AXIS) -> Value:
    """Products of vectors along an axis, as ``np.vecdot`` has them."""
    return b.call(Static(_vecdot), x1, x2, axis)


def _conjugated(x: Any) -> Any:
    x = np.asarray(x)
    return np.conj(x) if np.issubdtype(x.dtype, np.complexfloating) else x


def _vecdot(x1: Any, x2: Any, axis: int) -> Any:
    if np.shape(x1)[axis] != np.shape(x2)[axis]:
        raise ValueError("vecdot: the vectors have different sizes")
    products = _conjugated(x1) * x2
    return np.sum(products, axis, dtype=products.dtype)


@implements(np.matvec)
def matvec(b: OpBuilder, x1: Value, x2: Value, /, out: Value = NONE) -> Value:
    """Matrices times vectors, in stacks."""
    return into(b, out, b.call(Static(_matvec), x1, x2), "matvec")


def _matvec(x1: Any, x2: Any) -> Any:
    return np.matmul(x1, np.asarray(x2)[..., None])[..., 0]


@implements(np.vecmat)
def vecmat(b: OpBuilder, x1: Value, x2: Value, /, out: Value = NONE) -> Value:
    """Vectors, conjugated, times matrices, in stacks."""
    return into(b, out, b.call(Static(_vecmat), x1, x2), "vecmat")


def _vecmat(x1: Any, x2: Any) -> Any:
    return np.matmul(_conjugated(x1)[..., None, :], x2)[..., 0, :]


@implements(np.linalg.cross)
def cross(b: OpBuilder, x1: Value, x2: Value, /, *, axis: Value = LAST_AXIS) -> Value:
    """The vector products of vectors of three elements."""
    return b.call(Static(_cross), x1, x2, axis)


def _cross(x1: Any, x2: Any, axis: int) -> Any:
    first, second = np.shape(x1)[axis], np.shape(x2)[axis]
    if first != 3 or second != 3:
        raise ValueError(
            f"Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {first} and {second} dimensional instead."
        )
    return np.cross(x1, x2, axis=axis)


@written_in_python(np.cross)
def cross_(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """The vector products of vectors of three elements along axes."""
    x = np.moveaxis(np.asarray(a), axisa if axis is None else axis, -1)
    y = np.moveaxis(np.asarray(b), axisb if axis is None else axis, -1)
    if not (2 <= x.shape[-1] <= 3 and 2 <= y.shape[-1] <= 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError("np.cross of vectors of two elements is deprecated and not compiled: add a zero")
    first = x[..., 1] * y[..., 2] - x[..., 2] * y[..., 1]
    second = x[..., 2] * y[..., 0] - x[..., 0] * y[..., 2]
    third = x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    found = lying_in_c_order(np.stack((first, second, third), axis=-1))
    return np.moveaxis(found, -1, axisc if axis is None else axis)


# -- tensors as matrices ---------------------------------------------------------------------------------------------


@implements(np.linalg.tensorinv)
def tensorinv(b: OpBuilder, a: Value, ind: Value = TWO) -> Value:
    """The inverse with respect to ``tensordot(a, x, ind)``."""
    x, count = b.array(a), b.static(ind, "ind")
    if not count > 0:
        raise b.error("Invalid ind argument.", notes=("NumPy raises ValueError here",))
    rows, columns = x.shape[:count], x.shape[count:]
    found = b.array(inv(b, b.reshape(x, [product_of(*rows), product_of(*columns)])))
    return b.reshape(found, [*columns, *rows])


@implements(np.linalg.tensorsolve)
def tensorsolve(builder: OpBuilder, a: Value, b: Value, axes: Value = NONE) -> Value:
    """The `x` for which ``tensordot(a, x, x.ndim)`` is `b`; `axes` of `a` go to the end first."""
    x, right = builder.array(a), builder.array(b)
    moved = [builder.axis(Static(axis), x.rank, "axes") for axis in builder.static(axes, "axes") or ()]
    x = x.transposed([*(axis for axis in range(x.rank) if axis not in moved), *moved])
    shape = x.shape[right.rank :]
    size = product_of(*shape)
    _require_system(builder, x, size)
    matrix = builder.reshape(x, [size, size])
    return builder.reshape(builder.array(solve(builder, matrix, _flat(builder, right))), shape)


def _require_system(b: OpBuilder, x: ArrayValue, size: Expr) -> None:
    message = "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
    total = product_of(*x.shape)
    if total is not size * size:
        b.check(op("eq", Index(total), Index(size * size)), "LinAlgError", message)


def _flat(b: OpBuilder, x: ArrayValue) -> ArrayValue:
    return b.reshape(x, [product_of(*x.shape)])
