"""Products of vectors and matrices, and diagonals. Matrix products are library nodes ``blas.matmul``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value, dtype_of, is_number, kind_of
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.broadcasting import broadcast_shapes
from dcpy.frontend.lower.arithmetic.promotion import promoted, ufunc_dtypes
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.emitter import tasklet
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_creation.creation import size_of
from dcpy.frontend.numpy.array_creation.triangles import bounding_diagonal
from dcpy.frontend.numpy.array_manipulation.shapes import reshaped
from dcpy.frontend.numpy.parameter_defaults import NONE, NUMBER_0, NUMBER_1
from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.frontend.numpy.statistics.reductions import ADD, reduced
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.frontend.numpy.ufuncs.ufunc_table import outer as outer_of
from dcpy.ir import types
from dcpy.ir.data import View, strides_of
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Region
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, Expr, max_of, min_of, product_of, sym
from dcpy.ir.types import DType


@implements(np.matmul)
def matmul(b: OpBuilder, x1: Value, x2: Value, /, out: Value = NONE, *, dtype: Value = NONE) -> Value:
    """``x1 @ x2``: vectors, matrices, and stacks of matrices."""
    for value in (x1, x2):
        if is_number(value) or not b.array(value).rank:
            raise b.error(
                "matmul: Input operand does not have enough dimensions",
                notes=(f"one operand is {kind_of(value)}; NumPy raises ValueError here",),
                help="multiply with *",
            )
    left, right = b.array(x1), b.array(x2)
    *_, wanted = ufunc_dtypes(np.matmul, (left, right), b.dtype_argument(dtype))
    left, right = (b.array(b.cast(value, wanted)) for value in (left, right))
    _require_inner(b, left, right)
    if max(left.rank, right.rank) <= 2:
        return into(b, out, _product(b, left, right, wanted), "matmul")
    return into(b, out, _stacked(b, left, right, wanted), "matmul")


def _require_inner(b: OpBuilder, left: ArrayValue, right: ArrayValue) -> None:
    inner, other = left.shape[-1], right.shape[-min(right.rank, 2)]
    message = (
        "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
        "(n?,k),(k,m?)->(n?,m?) (size {0} is different from {1})"
    )
    _same_inner(b, inner, other, message, (other, inner), left, right, "@")


def _same_inner(
    b: OpBuilder,
    inner: Expr,
    other: Expr,
    message: str,
    values: Sequence[Expr],
    left: ArrayValue,
    right: ArrayValue,
    sign: str,
) -> None:
    """Inner sizes agree, or an error that suggests a transposition that fits."""
    inner, other = b.exact(inner), b.exact(other)
    if b.emit.ranges.proves_ne(inner, other):
        shapes = f"shapes {_shape_text(left)} and {_shape_text(right)}; "
        raise WillRaise("ValueError", message, values, note=shapes, help=_transposition(left, right, sign))
    b.same_size(inner, other, message, values)


def _transposition(left: ArrayValue, right: ArrayValue, sign: str) -> str:
    if right.rank == 2 and left.shape[-1] is right.shape[1]:
        return f"did you mean `A {sign} B.T`?" if sign == "@" else "did you mean `np.dot(A, B.T)`?"
    if left.rank == 2 and left.shape[0] is right.shape[0]:
        return f"did you mean `A.T {sign} B`?" if sign == "@" else "did you mean `np.dot(A.T, B)`?"
    return "the last size of the first operand must be the first size of the second"


def _shape_text(value: ArrayValue) -> str:
    return f"({', '.join(map(str, value.shape))}{',' if value.rank == 1 else ''})"


def _product(b: OpBuilder, left: ArrayValue, right: ArrayValue, dtype: DType) -> Value:
    shape = [b.exact(size) for size in (*left.shape[:-1], *right.shape[1:])]
    if not shape:
        out, result = b.scalar_container(dtype)
        b.library("blas.matmul", {"a": left, "b": right}, {"c": out})
        return result
    out = b.empty(shape, dtype)
    b.library("blas.matmul", {"a": left, "b": right}, {"c": out})
    return out


def _stacked(b: OpBuilder, left: ArrayValue, right: ArrayValue, dtype: DType) -> Value:
    """One product per matrix of the stacks, in a map."""
    stacks = [value.shape[:-2] for value in (left, right)]
    stack = broadcast_shapes(b, stacks)
    cores = [value.shape[-min(value.rank, 2) :] for value in (left, right)]
    left, right = (
        b.broadcast_to(value, (*stack, *core)) if value.rank > 2 else value
        for value, core in zip((left, right), cores, strict=True)
    )
    kept = [b.exact(size) for size in (*cores[0][:-1], *cores[1][1:])]
    out = b.empty([*(b.exact(size) for size in stack), *kept], dtype)
    params, domain = elementwise.domain(b, stack)
    body = Region()
    with b.emit.inside(body):
        point = [sym(name) for name in params]
        parts = [matrix_at(value, point) if value.rank > 2 else value for value in (left, right)]
        b.library("blas.matmul", {"a": parts[0], "b": parts[1]}, {"c": matrix_at(out, point)})
    b.emit.map_region(params, domain, body)
    return out


def matrix_at(value: ArrayValue, point: Sequence[Expr]) -> ArrayValue:
    """The matrix at a point of the leading dimensions, which is in range."""
    window = list(value.window.dims)
    for axis, index in zip(value.axes, point, strict=False):
        dim = window[axis] if axis >= 0 else None
        if isinstance(dim, Range):
            window[axis] = dim.at(index)
    count = len(point)
    return replace(value, shape=value.shape[count:], axes=value.axes[count:], window=Subset(tuple(window)), fresh=False)


@implements(np.dot)
def dot(builder: OpBuilder, a: Value, b: Value, out: Value = NONE) -> Value:
    """The product of vectors and matrices; with a number, ``a * b``."""
    if not (_has_dimensions(builder, a) and _has_dimensions(builder, b)):
        return into(builder, out, _scaled(builder, a, b), "dot")
    left, right = builder.array(a), builder.array(b)
    if max(left.rank, right.rank) > 2:
        *others, inner, last = range(right.rank) if right.rank > 1 else (0, 0)
        order = [inner, *others, last] if right.rank > 1 else [0]
        return into(builder, out, _contracted(builder, left, builder.transpose(right, order)), "dot")
    dtype = promoted((left, right))[0]
    left, right = (builder.array(builder.cast(value, dtype)) for value in (left, right))
    message = _not_aligned(left, right)
    _same_inner(builder, left.shape[-1], right.shape[0], message, [*left.shape, *right.shape], left, right, "dot")
    return into(builder, out, _product(builder, left, right, dtype), "dot")


def _contracted(b: OpBuilder, left: ArrayValue, right: ArrayValue) -> Value:
    """Sums of products over the last dimension of `left` and the first one of `right`: a product of matrices."""
    rows, columns = left.shape[:-1], right.shape[1:]
    matrix = reshaped(b, left, (_size(b, rows), b.exact(left.shape[-1]))) if left.rank > 2 else left
    other = reshaped(b, right, (b.exact(right.shape[0]), _size(b, columns))) if right.rank > 2 else right
    found = dot(b, matrix, other)
    return b.reshape(found, [b.exact(size) for size in (*rows, *columns)]) if isinstance(found, ArrayValue) else found


def _size(b: OpBuilder, shape: Sequence[Expr]) -> Expr:
    return product_of(*map(b.exact, shape))


def _scaled(b: OpBuilder, *factors: Value) -> Value:
    """The product with a number, which counts as an array here: Python's numbers have dtypes of their own.

    Where NumPy adds the product to zeros (``axpy`` of BLAS), no zero is negative, and zero times infinity is zero.
    """
    left, right = (b.cast(value, dtype_of(value)) if is_number(value) else value for value in factors)
    number, array = (left, right) if _has_dimensions(b, right) else (right, left)
    dtype = promoted((left, right))[0]
    if dtype.kind not in "fc" or dtype is types.float16 or not _has_dimensions(b, array):
        return b.ufunc(np.multiply, left, right)
    shape = b.array(array).shape
    if len(shape) > 2 or all(b.emit.ranges.proves_le(size, ONE) for size in shape):
        return b.ufunc(np.multiply, left, right)
    return b.call(Static(_added_to_zeros), b.cast(number, dtype), b.cast(array, dtype))


def _added_to_zeros(number: Any, array: Any) -> Any:
    return np.where(number == 0, 0, number * array + 0)


def _has_dimensions(b: OpBuilder, value: Value) -> bool:
    return not is_number(value) and bool(b.array(value).rank)


def _not_aligned(left: ArrayValue, right: ArrayValue) -> str:
    """NumPy's message, with a slot for each size."""
    first, second = left.rank - 1, left.rank
    shapes = ("({0},)" if left.rank == 1 else "({0},{1})", f"({{{second}}},)" if right.rank == 1 else
              f"({{{second}}},{{{second + 1}}})")  # fmt: skip
    sizes = f"{{{first}}} (dim {first}) != {{{second}}} (dim 0)"
    return f"shapes {shapes[0]} and {shapes[1]} not aligned: {sizes}"


@implements(np.inner)
def inner(builder: OpBuilder, a: Value, b: Value, /) -> Value:
    """Sums of products over the last dimensions."""
    if not (_has_dimensions(builder, a) and _has_dimensions(builder, b)):
        return _scaled(builder, a, b)
    left, right = builder.array(a), builder.array(b)
    moved = builder.transpose(right, [right.rank - 1, *range(right.rank - 1)])
    if max(left.rank, right.rank) > 2:
        return _contracted(builder, left, moved)
    return dot(builder, left, moved)


@implements(np.vdot)
def vdot(builder: OpBuilder, a: Value, b: Value, /) -> Value:
    """The sum of products of all elements, those of `a` conjugated."""
    left, right = (_flat(builder, builder.array(value)) for value in (a, b))
    if left.dtype.kind == "c":
        left = builder.array(builder.ufunc(np.conjugate, left))
    return dot(builder, left, right)


@implements(np.outer)
def outer(builder: OpBuilder, a: Value, b: Value, out: Value = NONE) -> Value:
    """All products of an element of `a` and one of `b`."""
    left, right = (_flat(builder, builder.array(value)) for value in (a, b))
    return into(builder, out, outer_of(builder, np.multiply, left, right), "multiply")


@implements(np.kron)
def kron(builder: OpBuilder, a: Value, b: Value) -> Value:
    """Blocks of `b`, each times an element of `a`."""
    left, right = builder.array(a), builder.array(b)
    if not left.rank and not right.rank:
        return builder.ufunc(np.multiply, left, right)
    while left.rank < right.rank:
        left = builder.expand(left, 0)
    while right.rank < left.rank:
        right = builder.expand(right, 0)
    for axis in range(left.rank):
        left, right = builder.expand(left, 2 * axis + 1), builder.expand(right, 2 * axis)
    found = builder.array(builder.ufunc(np.multiply, left, right))
    sizes = [found.shape[2 * axis] * found.shape[2 * axis + 1] for axis in range(found.rank // 2)]
    return builder.reshape(found, sizes)


# -- diagonals -------------------------------------------------------------------------------------------------------


@implements(np.diagonal)
def diagonal(
    b: OpBuilder, a: Value, offset: Value = NUMBER_0, axis1: Value = NUMBER_0, axis2: Value = NUMBER_1
) -> Value:
    """The read-only view of a diagonal, as last dimension."""
    x = b.array(a)
    first, second = b.axis(axis1, x.rank, "axis1"), b.axis(axis2, x.rank, "axis2")
    if first == second:
        raise b.error("axis1 and axis2 cannot be the same", notes=("NumPy raises ValueError here",))
    shift = b.c_int(offset, "offset")
    rows, columns = b.exact(x.shape[first]), b.exact(x.shape[second])
    down, right = (b.emit.ranges.simplify(max_of(way, 0)) for way in (-shift, shift))
    length = b.emit.ranges.simplify(max_of(min_of(rows - down, columns - right), 0))
    others = [axis for axis in range(x.rank) if axis not in (first, second)]
    seen = x.as_view(b.desc(x))
    steps = strides_of(seen)
    shape = (*(b.exact(x.shape[axis]) for axis in others), length)
    strides = (*(steps[axis] for axis in others), steps[first] + steps[second])
    start = seen.offset + steps[first] * down + steps[second] * right
    container = b.emit.view(View(x.container, x.dtype, shape, strides, start, span=b.emit.span))
    return replace(ArrayValue.whole(container, b.desc(container)), read_only=True)


@implements(np.trace)
def trace(
    b: OpBuilder,
    a: Value,
    offset: Value = NUMBER_0,
    axis1: Value = NUMBER_0,
    axis2: Value = NUMBER_1,
    dtype: Value = NONE,
    out: Value = NONE,
) -> Value:
    """The sum of a diagonal."""
    found = diagonal(b, a, offset, axis1, axis2)
    assert isinstance(found, ArrayValue)
    return reduced(b, ADD, found, Static(found.rank - 1), dtype, out)


@implements(np.diag)
def diag(b: OpBuilder, v: Value, k: Value = NUMBER_0) -> Value:
    """The diagonal of a matrix, or the matrix with a diagonal."""
    x = b.array(v)
    if x.rank == 2:
        return diagonal(b, x, k)
    if x.rank != 1:
        raise b.error("Input must be 1- or 2-d.", notes=("NumPy raises ValueError here",))
    shift = b.c_int(k, "k")
    rows, columns = (b.emit.ranges.simplify(max_of(way, 0)) for way in (-shift, shift))
    size = b.exact(x.shape[0]) + rows + columns
    out = b.full([size, size], x.dtype, Static(0))
    params, domain = elementwise.domain(b, [b.exact(x.shape[0])])
    place = sym(params[0])
    target = Memlet(out.container, out.subset([place + rows, place + columns]))
    b.emit.map(params, domain, [tasklet([(target, x.load([place]))], b.emit.span)])
    return out


@written_in_python(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    """The matrix with the elements on a diagonal."""
    return np.diag(np.ravel(v), k)


@implements(np.tril)
def tril(b: OpBuilder, m: Value, k: Value = NUMBER_0) -> Value:
    """The matrix with zeros above diagonal `k`."""
    return _triangle(b, m, k, "le")


@implements(np.triu)
def triu(b: OpBuilder, m: Value, k: Value = NUMBER_0) -> Value:
    """The matrix with zeros below diagonal `k`."""
    return _triangle(b, m, k, "ge")


def _triangle(b: OpBuilder, m: Value, k: Value, test: str) -> Value:
    x = b.array(m)
    if x.rank == 0:
        raise b.error("np.tril and np.triu take matrices", notes=("NumPy raises TypeError here",))
    if x.rank == 1:  # the same row for each
        x = b.broadcast_to(x, (b.exact(x.shape[0]), b.exact(x.shape[0])))
    shift = bounding_diagonal(b, b.exact(x.shape[-1]), k, first=1 if test == "ge" else 0)  # NumPy's is below `k`
    zero = elementwise.convert(Const(0, types.int64), x.dtype)

    def element(*index: ScalarExpr) -> ScalarExpr:
        places = [part.value for part in index if isinstance(part, Index)]
        kept = op(test, op("sub", index[-1], index[-2]), shift)
        return op("select", kept, x.load(places), zero)

    order = memory_order.order_of_ufunc(b, [x], x.rank, in_c_order=2)  # NumPy selects by a matrix of truth values
    return b.generate([b.exact(size) for size in x.shape], x.dtype, element, order=order)


def _flat(b: OpBuilder, value: ArrayValue) -> ArrayValue:
    return value if value.rank == 1 else b.reshape(value, [b.integer(size_of(b, value))])
