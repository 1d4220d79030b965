"""Several arrays in one, and elements several times or elsewhere: always new arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, TupleValue, Value, is_number, is_weak, kind_of
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.promotion import can_cast, promoted
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.array_manipulation import row_joining
from dcpy.frontend.numpy.array_manipulation.shapes import at_least, band, flattened
from dcpy.frontend.numpy.parameter_defaults import NONE, NUMBER_0, SAME_KIND
from dcpy.frontend.numpy.python_implementations import call_body
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.ir.symbolic import ONE, ZERO, Expr, max_of
from dcpy.ir.types import DType

# -- several arrays in one -------------------------------------------------------------------------------------------


@implements(np.concatenate, np.concat)
def concatenate(
    b: OpBuilder,
    arrays: Value,
    /,
    axis: Value = NUMBER_0,
    out: Value = NONE,
    *,
    dtype: Value = NONE,
    casting: Value = SAME_KIND,
) -> Value:
    """Arrays one after the other along an existing dimension (flat, where `axis` is None)."""
    rule = str(b.static(casting, "casting"))
    counted = row_joining.counted_rows(b, arrays, "concatenate")
    if counted is not None:
        found = _cast(b, row_joining.concatenated(b, counted, axis), b.dtype_argument(dtype), rule)
        return into(b, out, found, "concatenate", casting=rule)
    parts = _arrays(b, arrays, "concatenate")
    if axis == NONE:
        parts, place = [flattened(b, part) for part in _adapted(b, arrays, parts)], 0
    else:
        if not parts[0].rank:
            raise b.error(
            "zero-dimensional arrays cannot be concatenated",
            notes=("NumPy raises ValueError here",),
            help="give all arrays as one tuple: np.concatenate((x, y))",
        )
        place = b.axis(axis, parts[0].rank)
    return into(b, out, _joined(b, parts, place, b.dtype_argument(dtype), rule), "concatenate", casting=rule)


def _adapted(b: OpBuilder, arrays: Value, parts: Sequence[ArrayValue]) -> list[ArrayValue]:
    """Python's numbers take the dtype of the others, as NumPy does it only where everything is made flat."""
    items = items_of(arrays) or parts
    wanted = promoted(tuple(item if is_weak(item) else part for item, part in zip(items, parts, strict=True)))[0]
    return [
        b.array(b.cast(part, wanted)) if is_weak(item) else part for item, part in zip(items, parts, strict=True)
    ]


def _cast(b: OpBuilder, array: ArrayValue, dtype: DType | None, casting: str) -> Value:
    wanted = dtype or array.dtype
    _require_cast(b, array, wanted, casting)
    return b.cast(array, wanted)


def _require_cast(b: OpBuilder, part: ArrayValue, wanted: DType, casting: str) -> None:
    if not can_cast(part.dtype, wanted, casting):
        raise b.error(
            f"Cannot cast array data from {part.dtype.numpy!r} to {wanted.numpy!r} according to the rule '{casting}'",
            notes=("NumPy raises TypeError here",),
            help="pass casting='unsafe', or convert it with astype",
        )


def _joined(
    b: OpBuilder, parts: Sequence[ArrayValue], axis: int, dtype: DType | None, casting: str = "same_kind"
) -> Value:
    first = parts[0]
    wanted = dtype or promoted(tuple(parts))[0]
    for number, part in enumerate(parts):
        _require_cast(b, part, wanted, casting)
        if part.rank != first.rank:
            raise b.error(
                "all the input arrays must have same number of dimensions, but the array at index 0 has "
                f"{first.rank} dimension(s) and the array at index {number} has {part.rank} dimension(s)",
                notes=("NumPy raises ValueError here",),
            )
        for k in range(first.rank):
            if k != axis:
                b.same_size(first.shape[k], part.shape[k], _differ(k, number), (first.shape[k], part.shape[k]))
    offsets = [ZERO]
    for part in parts:
        offsets.append(offsets[-1] + b.exact(part.shape[axis]))
    shape = [b.exact(size) for size in first.shape]
    shape[axis] = offsets[-1]
    out = b.empty(shape, wanted, order=memory_order.order_of_joined(b, parts))
    for part, start in zip(parts, offsets, strict=False):
        b.store(band(out, axis, start, b.exact(part.shape[axis])), part)
    return out


def _differ(axis: int, number: int) -> str:
    return (
        "all the input array dimensions except for the concatenation axis must match exactly, but along dimension "
        f"{axis}, the array at index 0 has size {{0}} and the array at index {number} has size {{1}}"
    )


def _arrays(b: OpBuilder, value: Value, name: str) -> list[ArrayValue]:
    parts = items_of(value)
    if parts is None and isinstance(value, ArrayValue) and value.rank and value.shape[0].constant is not None:
        parts = tuple(b.subscript(value, [Static(k)]) for k in range(value.shape[0].constant))
    if parts is None:
        raise b.error(f"np.{name} takes a tuple or list of arrays, not {kind_of(value)}")
    if not parts:
        raise b.error(f"need at least one array to {name}", notes=("NumPy raises ValueError here",))
    return [b.array(part) for part in parts]


@implements(np.stack)
def stack(
    b: OpBuilder,
    arrays: Value,
    axis: Value = NUMBER_0,
    out: Value = NONE,
    *,
    dtype: Value = NONE,
    casting: Value = SAME_KIND,
) -> Value:
    """Arrays of one shape along a new dimension."""
    counted = row_joining.counted_rows(b, arrays, "stack")
    if counted is not None:
        rule = str(b.static(casting, "casting"))
        found = _cast(b, row_joining.stacked(b, counted, axis), b.dtype_argument(dtype), rule)
        return into(b, out, found, "stack", casting=rule)
    parts = _arrays(b, arrays, "stack")
    message = "all input arrays must have the same shape"
    for part in parts:
        if part.rank != parts[0].rank:
            raise b.error(message, notes=("NumPy raises ValueError here",))
        for left, right in zip(parts[0].shape, part.shape, strict=True):
            b.same_size(left, right, message)
    place = b.axis(axis, parts[0].rank + 1)
    rule = str(b.static(casting, "casting"))
    found = _joined(b, [b.expand(part, place) for part in parts], place, b.dtype_argument(dtype), rule)
    return into(b, out, found, "stack", casting=rule)


@implements(np.vstack)
def vstack(b: OpBuilder, tup: Value, *, dtype: Value = NONE, casting: Value = SAME_KIND) -> Value:
    """Arrays below each other."""
    counted = row_joining.counted_rows(b, tup, "concatenate")
    if counted is not None:
        return _cast(b, row_joining.below(b, counted), b.dtype_argument(dtype), str(b.static(casting, "casting")))
    parts = [b.array(at_least(b, [part], 2)) for part in _arrays(b, tup, "vstack")]
    return _joined(b, parts, 0, b.dtype_argument(dtype), str(b.static(casting, "casting")))


@implements(np.hstack)
def hstack(b: OpBuilder, tup: Value, *, dtype: Value = NONE, casting: Value = SAME_KIND) -> Value:
    """Arrays beside each other."""
    counted = row_joining.counted_rows(b, tup, "concatenate")
    if counted is not None:
        return _cast(b, row_joining.beside(b, counted), b.dtype_argument(dtype), str(b.static(casting, "casting")))
    parts = [b.array(at_least(b, [part], 1)) for part in _arrays(b, tup, "hstack")]
    place = 0 if parts[0].rank == 1 else 1
    return _joined(b, parts, place, b.dtype_argument(dtype), str(b.static(casting, "casting")))


@implements(np.append)
def append(b: OpBuilder, arr: Value, values: Value, axis: Value = NONE) -> Value:
    """A new array with more elements at the end."""
    return concatenate(b, TupleValue((b.array(arr), b.array(values))), axis)


@implements(np.dstack)
def dstack(b: OpBuilder, tup: Value) -> Value:
    """Matrices behind each other; vectors as rows of them."""
    counted = row_joining.counted_rows(b, tup, "concatenate")
    if counted is not None:
        return row_joining.behind(b, counted)
    parts = [b.array(at_least(b, [part], 2)) for part in _arrays(b, tup, "dstack")]
    return _joined(b, [b.expand(part, 2) if part.rank == 2 else part for part in parts], 2, None)


@implements(np.column_stack)
def column_stack(b: OpBuilder, tup: Value) -> Value:
    """Vectors (and numbers, and matrices) as columns of a matrix."""
    counted = row_joining.counted_rows(b, tup, "concatenate")
    if counted is not None:
        return row_joining.columns(b, counted)
    vectors = [b.expand(x, 0) if x.rank == 0 else x for x in _arrays(b, tup, "column_stack")]
    return _joined(b, [b.expand(x, 1) if x.rank == 1 else x for x in vectors], 1, None)


@implements(np.block)
def block(b: OpBuilder, arrays: Value) -> Value:
    """Nested lists of arrays in one: the innermost beside each other, the lists around them along earlier axes."""
    depth = _depth(b, arrays)
    leaves = _leaves(b, arrays)
    rank = max(depth, *(leaf.rank for leaf in leaves))
    dtype = promoted(tuple(leaves))[0]

    def joined(value: Value, level: int) -> ArrayValue:
        if level == 0:
            return b.array(at_least(b, [value], rank))
        return b.array(_joined(b, [joined(item, level - 1) for item in items_of(value) or ()], rank - level, dtype))

    return joined(arrays, depth) if depth else b.copy(b.array(arrays))


def _depth(b: OpBuilder, value: Value) -> int:
    items = value.items if isinstance(value, TupleValue) and value.is_list else None
    if items is None:
        if isinstance(value, TupleValue):
            raise b.error("np.block takes lists, not tuples", notes=("NumPy raises TypeError here",))
        return 0
    depths = {_depth(b, item) for item in items}
    if len(depths) != 1:
        raise b.error("List depths are mismatched", notes=("NumPy raises ValueError here",))
    return 1 + depths.pop()


def _leaves(b: OpBuilder, value: Value) -> list[ArrayValue]:
    if isinstance(value, TupleValue):
        return [leaf for item in value.items for leaf in _leaves(b, item)]
    return [b.array(value)]


# -- elements again --------------------------------------------------------------------------------------------------


@implements(np.repeat)
def repeat(b: OpBuilder, a: Value, repeats: Value, axis: Value = NONE) -> Value:
    """Each element several times."""
    x, place = _with_axis(b, a, axis)
    if not is_number(repeats) and b.array(repeats).rank:
        turned = b.transpose(x, [place, *(k for k in range(x.rank) if k != place)])
        found = b.array(call_body(b, _repeated, turned, b.array(repeats)))
        order = list(range(1, x.rank))
        order.insert(place, 0)
        return b.transpose(found, order)
    (count,) = b.shape_argument(repeats)
    return _several_times(b, x, place, count, each=True)


def _several_times(b: OpBuilder, x: ArrayValue, axis: int, count: Expr, *, each: bool) -> ArrayValue:
    """`count` copies of each element along an axis, or of the whole: stored to a dimension beside it, of `count`."""
    sizes = [b.exact(size) for size in x.shape]
    before, size, after = sizes[:axis], sizes[axis], sizes[axis + 1 :]
    out = b.empty([*before, size * count, *after], x.dtype, of_arrays=False)
    pairs = [size, count] if each else [count, size]
    b.store(b.reshape(out, [*before, *pairs, *after]), b.expand(x, axis + each))
    return out


def _repeated(rows: Any, repeats: Any) -> Any:
    """Each row as often as its own number says (or the only one); the program finds out how many there are."""
    if len(repeats) != len(rows) and len(repeats) != 1:
        raise ValueError(f"operands could not be broadcast together with shape ({len(rows)},) ({len(repeats)},)")
    if np.any(repeats < 0):
        raise ValueError("repeats may not contain negative values.")
    if np.sum(np.broadcast_to(repeats, (len(rows),)), dtype=np.float64) > 2.0**62:  # integers would wrap
        raise ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.")
    total = int(np.sum(np.broadcast_to(repeats, (len(rows),))))
    found = np.empty((total, *rows.shape[1:]), rows.dtype)
    place = 0
    for k in range(len(rows)):
        for _ in range(repeats[min(k, len(repeats) - 1)]):
            found[place] = rows[k]
            place += 1
    return found


@implements(np.tile)
def tile(b: OpBuilder, A: Value, reps: Value) -> Value:  # noqa: N803
    """The array several times along each dimension."""
    x = b.array(A)
    counts = list(b.shape_argument(reps))
    while len(counts) < x.rank:
        counts.insert(0, ONE)
    while x.rank < len(counts):
        x = b.expand(x, 0)
    for axis, count in enumerate(counts):
        if count is not ONE:
            x = _several_times(b, x, axis, count, each=False)
    return b.copy(x) if all(count is ONE for count in counts) else x


@implements(np.roll)
def roll(b: OpBuilder, a: Value, shift: Value, axis: Value = NONE) -> Value:
    """Elements moved along a dimension; those that leave come back at the other end."""
    x = b.array(a)
    if axis == NONE:
        flat = flattened(b, x)
        return b.reshape(_rolled(b, flat, 0, shift), [b.exact(size) for size in x.shape])
    shifts, axes = items_of(shift), items_of(axis)
    for place, amount in zip(axes or (axis,), shifts or (shift,) * len(axes or (axis,)), strict=True):
        x = _rolled(b, x, b.axis(place, x.rank), amount)
    return x


def _rolled(b: OpBuilder, x: ArrayValue, axis: int, shift: Value) -> ArrayValue:
    """The elements moved along one axis; that a shift by a number is less than the size is assumed."""
    size = b.exact(x.shape[axis])
    amount = b.integer(shift, "shift")
    if amount.constant and b.emit.holds(size - abs(amount.constant) - 1):
        moved = amount if amount.constant > 0 else size + amount
        return _shifted(b, x, axis, moved)
    length = size if b.emit.ranges.proves_nonneg(size - 1) else max_of(size, 1)
    return _shifted(b, x, axis, b.emit.ranges.simplify(amount % length))


def _shifted(b: OpBuilder, x: ArrayValue, axis: int, moved: Expr) -> ArrayValue:
    """Two copies: what moved, by 0 to the size of the axis, and what wrapped."""
    size = b.exact(x.shape[axis])
    out = b.empty([b.exact(part) for part in x.shape], x.dtype, order=memory_order.order_of_copy(b, x))
    b.store(band(out, axis, moved, size - moved), band(x, axis, ZERO, size - moved))
    b.store(band(out, axis, ZERO, moved), band(x, axis, size - moved, moved))
    return out


def _with_axis(b: OpBuilder, a: Value, axis: Value) -> tuple[ArrayValue, int]:
    x = b.array(a)
    return (flattened(b, x), 0) if axis == NONE else (x, b.axis(axis, x.rank))
