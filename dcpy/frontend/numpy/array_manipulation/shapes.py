"""The same elements in another shape or order: views where NumPy gives views, new arrays where it copies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    SliceValue,
    Static,
    TupleValue,
    Value,
    integer,
    is_number,
    is_weak,
)
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.array_sizes import require_countable
from dcpy.frontend.lower.arithmetic.broadcasting import broadcast_shapes, may_be_one
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.array_creation.creation import counted_size, order_argument, size_of
from dcpy.frontend.numpy.parameter_defaults import FALSE, NONE, NUMBER_0, NUMBER_1, ORDER_C
from dcpy.ir import types
from dcpy.ir.data import View, strides_of
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, product_of

FULL = SliceValue(NONE, NONE, NONE)
PLANE = Static((0, 1))

# -- shapes ----------------------------------------------------------------------------------------------------------


@implements(np.reshape)
def reshape(b: OpBuilder, a: Value, /, shape: Value, order: Value = ORDER_C, *, copy: Value = NONE) -> Value:
    """The same elements in another shape, one size of which may be -1."""
    x = b.array(a)
    asked = order_argument(b, order)
    if asked == "K":
        raise b.error("order 'K' is not permitted for reshaping", notes=("NumPy raises ValueError here",))
    backwards = asked == "F" or (asked == "A" and memory_order.lies_backwards(b, x))
    if copy == Static(True):
        x = b.copy(x, order="F" if backwards else "C")
    sizes = _sizes(b, x, shape)
    if _is_scalar(a) and not sizes:
        return a
    return _mirrored(b, reshaped(b, _mirrored(b, x), sizes[::-1])) if backwards else reshaped(b, x, sizes)


def _is_scalar(value: Value) -> bool:
    """Return whether it is a number of NumPy's own: its methods give numbers, where functions make arrays of Python's.
    """
    return is_number(value) and not is_weak(value)


def reshaped(b: OpBuilder, x: ArrayValue, shape: tuple[Expr, ...]) -> ArrayValue:
    """A view wherever NumPy gives one; else a copy, which takes no writes where whether NumPy copies is unknown."""
    is_known = x.rank < 2 or not memory_order.is_in_doubt(b, x)
    if x.shape == shape or (is_known and b.contiguous(x)):
        return b.reshape(x, shape)
    seen = x.as_view(b.desc(x))
    strides = _strides_after(seen.shape, strides_of(seen), shape) if is_known else None
    if strides is not None:
        container = b.emit.view(View(x.container, x.dtype, shape, strides, seen.offset, span=b.emit.span))
        return ArrayValue.whole(container, b.desc(container))
    out = b.reshape(b.copy(x), shape)
    if not (x.fresh or (is_known and len(shape) == 1 and _has_steps(b, x))):
        b.copied_view(out, x, "the elements of the reshaped array do not lie in order: it was copied")
    return out


def _strides_after(shape: Sequence[Expr], strides: Sequence[Expr], wanted: Sequence[Expr]) -> tuple[Expr, ...] | None:
    """Strides that show the elements in the shape `wanted`; None where there are none (or that is not known).

    As in NumPy: both shapes fall into groups of dimensions with equal products, and those of the old shape that are
    merged must lie without gaps.
    """
    old = [(size, stride) for size, stride in zip(shape, strides, strict=True) if size is not ONE]
    new = [k for k, size in enumerate(wanted) if size is not ONE]
    found = [ONE] * len(wanted)
    while old or new:
        taken, given = _group([size for size, _ in old], [wanted[k] for k in new])
        merged = old[:taken]
        if any(left[1] is not right[0] * right[1] for left, right in itertools.pairwise(merged)):
            return None
        step = merged[-1][1] if merged else ONE
        for k in reversed(new[:given]):
            found[k] = step
            step = step * wanted[k]
        old, new = old[taken:], new[given:]
    return tuple(found)


def _group(old: Sequence[Expr], new: Sequence[Expr]) -> tuple[int, int]:
    """The shortest prefixes with equal products; everything where no other are known to be equal."""
    products = list(itertools.accumulate(old, Expr.__mul__))
    for given, product in enumerate(itertools.accumulate(new, Expr.__mul__), start=1):
        if product in products:
            return products.index(product) + 1, given
    return len(old), len(new)


def _mirrored(b: OpBuilder, x: ArrayValue) -> ArrayValue:
    return b.transpose(x, range(x.rank)[::-1])


def _sizes(b: OpBuilder, x: ArrayValue, shape: Value) -> tuple[Expr, ...]:
    """The sizes asked for, -1 worked out; `ValueError` unless they hold as many elements."""
    parts = items_of(shape)
    parts = (shape,) if parts is None else parts
    unknown = [k for k, part in enumerate(parts) if _is_minus_one(part)]
    total = b.integer(size_of(b, x))
    if len(unknown) > 1:
        raise b.error("can only specify one unknown dimension", notes=("NumPy raises ValueError here",))
    known = b.shape_argument(TupleValue(tuple(part for k, part in enumerate(parts) if k not in unknown)))
    product = product_of(*known)
    message = f"cannot reshape array of size {{0}} into shape ({','.join(_size_text(part) for part in parts)})"
    if not unknown:
        _assume_same(b, x, known)
        b.same_size(total, product, message, (total,))
        return known
    if not b.contiguous(x):  # which dimensions are merged decides whether there is a view
        _assume_same_ends(b, x, known, unknown[0])
        total, product = b.integer(size_of(b, x)), product_of(*known)
    b.emit.require(product - 1, "ValueError", message, (total,))
    rest = total // product if product.constant != 0 else ZERO
    b.same_size(total, rest * product, message, (total,))
    return (*known[: unknown[0]], rest, *known[unknown[0] :])


def _assume_same(b: OpBuilder, x: ArrayValue, wanted: Sequence[Expr]) -> None:
    """Assume that sizes which arguments give, ``a.reshape(n, 1, m)``, are those of the array, as in this call."""
    pairs = list(zip(*([size for size in sizes if size is not ONE] for sizes in (x.shape, wanted)), strict=False))
    ranks = {sum(size is not ONE for size in sizes) for sizes in (x.shape, wanted)}
    values = [(b.emit.sampled(old), b.emit.sampled(new)) for old, new in pairs]
    if len(ranks) == 1 and all(old is not None and old == new for old, new in values):
        for old, new in pairs:
            b.emit.same(old, new)


def _assume_same_ends(b: OpBuilder, x: ArrayValue, known: Sequence[Expr], position: int) -> None:
    """Assume the same of the sizes in front of the one that is worked out, and of those behind it."""
    front = zip(x.shape, known[:position], strict=False)
    back = zip(reversed(x.shape), reversed(known[position:]), strict=False)
    for pairs in (front, back):
        for old, new in pairs:
            value = b.emit.sampled(old)
            if value is None or value != b.emit.sampled(new):
                break
            b.emit.same(old, new)


def _is_minus_one(part: Value) -> bool:
    return isinstance(part, Static) and isinstance(part.value, int | np.integer) and part.value == -1


def _size_text(part: Value) -> str:
    return "newaxis" if _is_minus_one(part) else str(part.value) if isinstance(part, Static) else "?"


@implements(np.ravel)
def ravel(b: OpBuilder, a: Value, order: Value = ORDER_C) -> Value:
    """All elements in one dimension: a view where they lie without gaps, else a copy (of one dimension as well).

    A copy takes no writes where the sizes of a call could make it a view.
    """
    x = b.array(a)
    read = x.transposed(memory_order.order_of_elements(b, x, order_argument(b, order)))
    if b.contiguous(read):
        return flattened(b, read)
    out = flattened(b, b.copy(read))
    if not (x.fresh or memory_order.has_gaps(b, read)):
        b.copied_view(out, x, "whether the elements of the array lie without gaps is not known: a copy")
    return out


def flattened(b: OpBuilder, x: ArrayValue) -> ArrayValue:
    """All elements in one dimension, in C order, as `x.reshape(-1)`: a view wherever strides can show them."""
    return reshaped(b, x, (b.integer(size_of(b, x)),))


def _has_steps(b: OpBuilder, x: ArrayValue) -> bool:
    """Return whether two neighbouring dimensions are never one: rows do not begin a step behind the end of the last."""
    seen = x.as_view(b.desc(x))
    strides = strides_of(seen)
    return any(
        not (may_be_one(b, rows) or may_be_one(b, columns)) and b.emit.ranges.proves_ne(outer, columns * inner)
        for rows, columns, outer, inner in zip(seen.shape, seen.shape[1:], strides, strides[1:], strict=False)
    )


@implements(np.expand_dims)
def expand_dims(b: OpBuilder, a: Value, axis: Value) -> Value:
    """New dimensions of size 1, at their places in the result."""
    x = b.array(a)
    places = b.static(axis, "axis")
    places = places if isinstance(places, tuple | list) else (places,)
    rank = x.rank + len(places)
    for place in sorted(b.axis(Static(place), rank) for place in places):
        x = b.expand(x, place)
    return x


@implements(np.squeeze)
def squeeze(b: OpBuilder, a: Value, axis: Value = NONE) -> Value:
    """The view without dimensions of size 1: all of them, or those named."""
    if _is_scalar(a) and axis == NONE:
        return a
    x = b.array(a)
    if axis == NONE:
        dropped = [k for k, size in enumerate(x.shape) if _is_one(b, size)]
    else:
        dropped = list(b.axes(axis, x.rank))
        message = "cannot select an axis to squeeze out which has size not equal to one"
        for place in dropped:
            b.same_size(x.shape[place], ONE, message)
    window = list(x.window.dims)
    for place in dropped:
        dim = window[x.axes[place]] if x.axes[place] >= 0 else None
        if isinstance(dim, Range):
            window[x.axes[place]] = dim.start
    kept = [k for k in range(x.rank) if k not in dropped]
    shape, axes = tuple(x.shape[k] for k in kept), tuple(x.axes[k] for k in kept)
    return replace(x, shape=shape, axes=axes, window=Subset(tuple(window)), fresh=False)


def _is_one(b: OpBuilder, size: Expr) -> bool:
    """Return whether a size is 1: known, or assumed as it is in the call. A size of 1 of an argument is the constant.
    """
    size, emit = b.exact(size), b.emit
    sample = emit.sampled(size)
    if emit.equal(size, ONE) or (sample == 1 and emit.same(size, ONE)):
        return True
    if may_be_one(b, size) and not (sample == 0 and emit.holds(-size)):
        raise b.error(
            f"whether a dimension of {size} elements has size 1 is known at run time only",
            help="name the axes: np.squeeze(x, axis=0)",
        )
    return False


@implements(np.atleast_1d)
def atleast_1d(b: OpBuilder, *arys: Value) -> Value:
    """Numbers as arrays of one element."""
    return at_least(b, arys, 1)


@implements(np.atleast_2d)
def atleast_2d(b: OpBuilder, *arys: Value) -> Value:
    """Numbers and vectors as matrices of one row."""
    return at_least(b, arys, 2)


@implements(np.atleast_3d)
def atleast_3d(b: OpBuilder, *arys: Value) -> Value:
    """Numbers, vectors and matrices as arrays of three dimensions: ``(1, N, 1)``, ``(M, N, 1)``."""
    found = []
    for value in arys:
        x = b.array(value)
        x = x if x.rank else b.expand(x, 0)
        x = x if x.rank > 1 else b.expand(x, 0)
        found.append(x if x.rank > 2 else b.expand(x, 2))
    return found[0] if len(found) == 1 else TupleValue(tuple(found))


def at_least(b: OpBuilder, arrays: Sequence[Value], rank: int) -> Value:
    """Arrays with leading dimensions of size 1 added up to a rank."""
    found = []
    for value in arrays:
        x = b.array(value)
        while x.rank < rank:
            x = b.expand(x, 0)
        found.append(x)
    return found[0] if len(found) == 1 else TupleValue(tuple(found))


@implements(np.broadcast_to)
def broadcast_to(b: OpBuilder, array: Value, shape: Value) -> Value:
    """A read-only view in a larger shape."""
    x, sizes = b.array(array), b.shape_argument(shape)
    if x.rank > len(sizes):
        raise b.error(
            "input operand has more dimensions than allowed by the axis remapping",
            notes=("NumPy raises ValueError here",),
        )
    require_countable(b, sizes, x.dtype)
    return replace(b.broadcast_to(x, sizes), fresh=False, read_only=True)


@implements(np.broadcast_arrays)
def broadcast_arrays(b: OpBuilder, *args: Value) -> Value:
    """Views of all in their common shape, of which single elements, and parts without repetition, take stores."""
    arrays = [b.array(value) for value in args]
    shape = broadcast_shapes(b, [x.shape for x in arrays])
    require_countable(b, shape, types.int8)
    return TupleValue(tuple(b.broadcast_to(x, shape) for x in arrays))


@implements(np.broadcast_shapes)
def broadcast_shapes_(b: OpBuilder, *args: Value) -> Value:
    """The shape that arrays of these shapes have together."""
    return TupleValue(tuple(map(integer, broadcast_shapes(b, [b.shape_argument(shape) for shape in args]))))


# -- order of dimensions and elements --------------------------------------------------------------------------------


@implements(np.transpose, np.permute_dims)
def transpose(b: OpBuilder, a: Value, axes: Value = NONE) -> Value:
    """Dimensions permuted; reversed by default."""
    if _is_scalar(a) and axes == NONE:
        return a
    x = b.array(a)
    order = b.static(axes, "axes")
    if order is None:
        return b.transpose(x, range(x.rank)[::-1])
    places = [b.axis(Static(place), x.rank) for place in order]
    if len(places) != x.rank:
        raise b.error("axes don't match array", notes=("NumPy raises ValueError here",))
    if len(set(places)) != len(places):
        raise b.error("repeated axis in transpose", notes=("NumPy raises ValueError here",))
    return b.transpose(x, places)


@implements(np.swapaxes)
def swapaxes(b: OpBuilder, a: Value, axis1: Value, axis2: Value) -> Value:
    """Two dimensions exchanged."""
    x = b.array(a)
    first, second = b.axis(axis1, x.rank, "axis1"), b.axis(axis2, x.rank, "axis2")
    order = list(range(x.rank))
    order[first], order[second] = second, first
    return b.transpose(x, order)


@implements(np.moveaxis)
def moveaxis(b: OpBuilder, a: Value, source: Value, destination: Value) -> Value:
    """Some dimensions moved, the others in order."""
    x = b.array(a)
    places = []
    for value, what in ((source, "source"), (destination, "destination")):
        found = b.static(value, what)
        found = found if isinstance(found, tuple | list) else (found,)
        places.append([b.axis(Static(place), x.rank, what) for place in found])
    if len(places[0]) != len(places[1]):
        raise b.error(
            "`source` and `destination` arguments must have the same number of elements",
            notes=("NumPy raises ValueError here",),
        )
    order = [k for k in range(x.rank) if k not in places[0]]
    for target, origin in sorted(zip(places[1], places[0], strict=True)):
        order.insert(target, origin)
    return b.transpose(x, order)


@implements(np.rollaxis)
def rollaxis(b: OpBuilder, a: Value, axis: Value, start: Value = NUMBER_0) -> Value:
    """One dimension moved before another."""
    x = b.array(a)
    place, target = b.axis(axis, x.rank), b.static(start, "start")
    if not -x.rank <= target <= x.rank:
        raise b.error(f"'start' arg requires {-x.rank} <= start < {x.rank + 1}, but {target} was passed in")
    target = target + x.rank if target < 0 else target
    order = [k for k in range(x.rank) if k != place]
    order.insert(target - (place < target), place)
    return b.transpose(x, order)


@implements(np.flip)
def flip(b: OpBuilder, m: Value, axis: Value = NONE) -> Value:
    """The view with elements in reverse order along some dimensions."""
    x = b.array(m)
    return _reversed(b, x, b.axes(axis, x.rank))


@implements(np.flipud)
def flipud(b: OpBuilder, m: Value) -> Value:
    """The view with rows in reverse order."""
    x = b.array(m)
    if not x.rank:
        raise b.error("Input must be >= 1-d.", notes=("NumPy raises ValueError here",))
    return _reversed(b, x, (0,))


@implements(np.fliplr)
def fliplr(b: OpBuilder, m: Value) -> Value:
    """The view with columns in reverse order."""
    x = b.array(m)
    if x.rank < 2:
        raise b.error("Input must be >= 2-d.", notes=("NumPy raises ValueError here",))
    return _reversed(b, x, (1,))


@implements(np.rot90)
def rot90(b: OpBuilder, m: Value, k: Value = NUMBER_1, axes: Value = PLANE) -> Value:
    """The view rotated by right angles in a plane."""
    first, second = b.static(axes, "axes")
    turns = b.static(k, "k") % 4
    if turns == 0:
        return b.array(m)
    if turns == 2:
        return flip(b, flip(b, m, Static(first)), Static(second))
    if turns == 1:
        return swapaxes(b, flip(b, m, Static(second)), Static(first), Static(second))
    return flip(b, swapaxes(b, m, Static(first), Static(second)), Static(second))


def _reversed(b: OpBuilder, x: ArrayValue, axes: Sequence[int]) -> Value:
    backwards = SliceValue(NONE, NONE, Static(-1))
    return b.subscript(x, [backwards if axis in axes else FULL for axis in range(x.rank)])


@implements(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    b: OpBuilder, x: Value, window_shape: Value, axis: Value = NONE, *, writeable: Value = FALSE
) -> Value:
    """The read-only view of all windows of a shape: one dimension more for each that they run along."""
    if b.static(writeable, "writeable"):
        raise b.error("windows overlap: a view of them takes no writes here", help="leave writeable= out")
    array = b.array(x)
    sizes = b.shape_argument(window_shape)
    places = b.static(axis, "axis")
    places = range(array.rank) if places is None else places if isinstance(places, tuple | list) else (places,)
    if len(sizes) != len(places):
        raise b.error("window_shape must have one size for each axis", notes=("NumPy raises ValueError here",))
    seen = array.as_view(b.desc(array))
    steps = strides_of(seen)
    shape, strides = [b.exact(size) for size in array.shape], list(steps)
    for place, size in zip((b.axis(Static(place), array.rank) for place in places), sizes, strict=True):
        b.emit.require(shape[place] - size, "ValueError", "window shape cannot be larger than input array shape")
        shape[place] = shape[place] - size + 1
        shape.append(size)
        strides.append(steps[place])
    view = View(array.container, array.dtype, tuple(shape), tuple(strides), seen.offset, span=b.emit.span)
    container = b.emit.view(view)
    return replace(ArrayValue.whole(container, b.desc(container)), read_only=True)


# -- parts and sizes -------------------------------------------------------------------------------------------------


def band(x: ArrayValue, axis: int, start: Expr, size: Expr) -> ArrayValue:
    """The part ``start : start + size`` of a dimension, which is in range; of a new one, that many of the same."""
    window, shape = list(x.window.dims), list(x.shape)
    shape[axis] = size
    if x.axes[axis] >= 0:
        dim = window[x.axes[axis]]
        assert isinstance(dim, Range)
        window[x.axes[axis]] = Range(dim.at(start), dim.at(start + size), dim.step)
    return replace(x, shape=tuple(shape), window=Subset(tuple(window)), fresh=False)


@implements(np.shape)
def shape_(b: OpBuilder, a: Value) -> Value:
    """The sizes, as a tuple."""
    return TupleValue(tuple(integer(b.exact(size)) for size in _shape(b, a)))


@implements(np.size)
def size_(b: OpBuilder, a: Value, axis: Value = NONE) -> Value:
    """Return the number of elements, in all or along one dimension."""
    x = b.array(a)
    return counted_size(b, x) if axis == NONE else integer(b.exact(x.shape[b.axis(axis, x.rank)]))


@implements(np.ndim)
def ndim(b: OpBuilder, a: Value) -> Value:
    """Return the number of dimensions."""
    return Static(len(_shape(b, a)))


def _shape(b: OpBuilder, a: Value) -> tuple[Expr, ...]:
    return () if is_number(a) else b.array(a).shape
