"""Integer arrays and boolean masks as indices: copies when read, one write per index in order when stored to.

A gather is a map whose body first wraps and checks its indices. A scatter is a sequential loop, because an index may
come twice, and then the last write counts. A mask stands for the positions where it holds, except where one number is
stored to all of them: that is a choice for each element. A truth value is a mask without dimensions: it stands for the
positions, one or none, of a new dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.broadcasting import Unlike, broadcast_shapes, broadcast_to, require_stretch
from dcpy.frontend.lower.arithmetic.fitting import stored
from dcpy.frontend.lower.arrays.indexing import FULL, Keys, basic, element_index
from dcpy.frontend.lower.arrays.remembering import recall, remember
from dcpy.frontend.lower.arrays.stores import require_writable
from dcpy.frontend.lower.emitter import tasklet
from dcpy.frontend.lower.raising import WillRaise
from dcpy.frontend.values import ArrayValue, Scalar, Static, TupleValue, Value, integer, is_number, shape_of
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Loop, Region
from dcpy.ir.symbolic import Expr, product_of, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.builder import Builder

ARRAYS = Unlike("IndexError", "shape mismatch: indexing arrays could not be broadcast together")
VALUES = "shape mismatch: value array of shape {} could not be broadcast to indexing result of shape {}"
FILLING = "NumPy boolean array indexing assignment "


@dataclass(frozen=True)
class Selection:
    """What integer arrays select of `base`: dimensions `places` are indexed by `arrays`, together of `shape`.

    The result has the dimensions of `shape` at `first`, among the other dimensions of `base` in order.
    """

    base: ArrayValue
    places: tuple[int, ...]
    arrays: tuple[Value, ...]
    axes: tuple[int, ...]  #: how the user counts `places`
    shape: tuple[Expr, ...]
    first: int
    proved: frozenset[int] = frozenset()  #: those of `places` whose indices are in range for sure

    @property
    def result_shape(self) -> tuple[Expr, ...]:
        """Sizes of what is selected."""
        rest = [size for k, size in enumerate(self.base.shape) if k not in self.places]
        return (*rest[: self.first], *self.shape, *rest[self.first :])

    def split(self, params: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        """The parameters of the index arrays, and those of the other dimensions."""
        inner = list(params[self.first : self.first + len(self.shape)])
        return inner, [*params[: self.first], *params[self.first + len(self.shape) :]]


def read(b: Builder, value: ArrayValue, keys: Keys) -> ArrayValue:
    """``value[indices]``: a new array."""
    chosen = _select(b, _without_masks(b, value, keys))
    out = b.empty(chosen.result_shape, value.dtype)
    params, ranges = elementwise.domain(b, out.shape)
    points = [sym(name) for name in params]
    body = Region()
    with b.emit.inside(body):
        source = _element(b, chosen, points)
        b.emit.node(tasklet([(Memlet(out.container, out.subset(points)), source)], b.emit.span))
    b.emit.map_region(params, ranges, body)
    return out


def write(b: Builder, value: ArrayValue, keys: Keys, source: Value) -> None:
    """``value[indices] = source``, in order."""
    require_writable(b, value)
    if isinstance(source, ArrayValue) and not source.shape:
        source = Scalar(source.load(()))
    mask = whole_mask(value, keys)
    if is_number(source) and mask is not None:
        _choose(b, value, mask, b.hold(stored(b, source, value.dtype)))
        return
    chosen = _select(b, _without_masks(b, value, keys))
    shape = chosen.result_shape
    source = stored(b, source, value.dtype)
    if not is_number(source):
        source = b.array(source)
    if isinstance(source, ArrayValue):
        if len(keys.items) == 1 and not keys.dots and (mask is not None or keys.flags):
            _require_count(b, value, keys.items[0], source, shape[0])
        if b.may_overlap(source, value):
            source = b.copy(source)
        source = broadcast_to(b, source, shape, VALUES)
    source = b.hold(source)
    params, ranges = elementwise.domain(b, shape)
    points = [sym(name) for name in params]
    body = Region()
    with b.emit.inside(body):
        expr = elementwise.convert(elementwise.element(source, points), value.dtype)
        b.emit.node(tasklet([(_target(b, chosen, points), expr)], b.emit.span))
    for name, extent in zip(reversed(params), reversed(ranges), strict=True):
        loop = Loop(name, extent, body, span=b.emit.span)
        body = Region([loop])
    for block in list(body.blocks):
        b.emit.block(block)


def whole_mask(value: ArrayValue, keys: Keys) -> ArrayValue | None:
    """The mask that all of ``value[mask]`` or ``value[mask, :]`` depends on; None where there are other keys."""
    mask, *others = keys.items
    if not isinstance(mask, ArrayValue) or mask.dtype != types.bool_ or mask.rank + len(others) != value.rank:
        return None
    return mask if all(key == FULL for key in others) else None


def update_masked(b: Builder, value: ArrayValue, mask: ArrayValue, change: Callable[[Value], Value]) -> None:
    """``value[mask] += number``: the changed elements where the mask holds."""
    require_writable(b, value)
    _choose(b, value, mask, change(value))


def _choose(b: Builder, value: ArrayValue, mask: ArrayValue, source: Value) -> None:
    _require_match(b, value, mask, 0, 0)
    params, ranges = elementwise.domain(b, (*mask.shape, *value.shape[mask.rank :]))
    for _ in range(value.rank - mask.rank):
        mask = mask.expanded(mask.rank)
    points = [sym(name) for name in params]
    new = elementwise.convert(elementwise.element(source, points), value.dtype)
    chosen = op("select", elementwise.element(mask, points), new, value.load(points))
    elementwise.fill(b, value, params, ranges, chosen)


@dataclass(frozen=True)
class Places:
    """Keys without masks, of a `value` that has a dimension of size 1 more for each 0-d mask.

    A mask is replaced by the positions where it holds, which are `proved` to be in range; a 0-d mask by a 0, as often
    as `counts` says for its place.
    """

    value: ArrayValue
    keys: tuple[Value, ...]
    proved: tuple[Value, ...]
    counts: Mapping[int, Expr]


def _select(b: Builder, chosen: Places) -> Selection:
    """Integers count as index arrays where there are others; slices and new axes are applied first."""
    places: list[int] = []
    axes: list[int] = []
    axis = 0
    for place, key in enumerate(chosen.keys):
        if isinstance(key, ArrayValue) or is_number(key):
            places.append(place)
            axes.append(axis)
        axis += key != Static(None) and place not in chosen.counts
    base = basic(b, chosen.value, [FULL if place in places else key for place, key in enumerate(chosen.keys)])
    assert isinstance(base, ArrayValue)
    arrays = [chosen.keys[place] for place in places]
    shapes = [
        (chosen.counts[place],) if place in chosen.counts else shape_of(array)
        for place, array in zip(places, arrays, strict=True)
    ]
    shape = broadcast_shapes(b, shapes, ARRAYS)
    for k, array in enumerate(arrays):
        if not isinstance(array, ArrayValue):
            arrays[k] = integer(element_index(b, array, base.shape[places[k]], axes[k]))
    together = places == list(range(places[0], places[0] + len(places)))
    sure = frozenset(place for place in places if any(chosen.keys[place] is known for known in chosen.proved))
    return Selection(base, tuple(places), tuple(arrays), tuple(axes), shape, places[0] if together else 0, sure)


def _indices(b: Builder, chosen: Selection, points: Sequence[Expr]) -> list[Expr]:
    """One index per dimension of the base, in the body that is open."""
    inner, outer = chosen.split(points)
    rest = iter(outer)
    indices = [next(rest) if k not in chosen.places else sym("") for k in range(chosen.base.rank)]
    for place, array, axis in zip(chosen.places, chosen.arrays, chosen.axes, strict=True):
        if isinstance(array, ArrayValue):
            at = cast(elementwise.broadcast_element(b, array, inner, chosen.shape), types.int64)
            size = chosen.base.shape[place]
            if place in chosen.proved:
                indices[place] = b.emit.assign_symbol("k", at, 0, b.exact(size) - 1)
            else:
                indices[place] = element_index(b, Scalar(at), size, axis)
        else:
            known = b.known_integer(array)
            assert known is not None
            indices[place] = known
    return indices


def _element(b: Builder, chosen: Selection, points: Sequence[Expr]) -> ScalarExpr:
    return chosen.base.load(_indices(b, chosen, points))


def _target(b: Builder, chosen: Selection, points: Sequence[Expr]) -> Memlet:
    return Memlet(chosen.base.container, chosen.base.subset(_indices(b, chosen, points)))


def _without_masks(b: Builder, value: ArrayValue, keys: Keys) -> Places:
    """The places that the keys name.

    A mask of several dimensions, first among the keys of an array without gaps, takes them as one; any other gives one
    integer array for each of its dimensions.
    """
    plain: list[Value] = []
    proved: list[Value] = []
    counts: dict[int, Expr] = {}
    axis = 0
    for place, key in enumerate(keys.items):
        found: list[Value] = [key]
        if place in keys.flags:
            counts[len(plain)] = b.integer(key)
            value, found = value.expanded(axis), [Static(0)]
        elif isinstance(key, ArrayValue) and key.dtype == types.bool_:
            _require_match(b, value, key, axis, axis - len(counts))
            if key.rank > 1 and not plain and b.contiguous(value):
                sizes = [b.exact(size) for size in value.shape]
                value = b.reshape(value, [product_of(*sizes[: key.rank]), *sizes[key.rank :]])
                found = [_positions(b, key)]
            else:
                found = [_positions(b, key)] if key.rank == 1 else _positions_by_axis(b, key)
            proved += found
        plain += found
        axis += len(found) if key != Static(None) else 0
    return Places(value, tuple(plain), tuple(proved), counts)


def _positions_by_axis(b: Builder, mask: ArrayValue) -> list[Value]:
    each = b.call(Static(np.nonzero), mask)
    assert isinstance(each, TupleValue)
    return [*each.items]


def _positions(b: Builder, mask: ArrayValue) -> ArrayValue:
    """Where a mask holds, counted in C order; looked for once."""
    known = recall(b, mask)
    if known is not None:
        return known
    found = b.call(Static(np.flatnonzero), mask)
    assert isinstance(found, ArrayValue)
    remember(b, mask, found)
    return found


def _require_count(b: Builder, value: ArrayValue, mask: Value, source: ArrayValue, selected: Expr) -> None:
    """`ValueError` unless there is one value, or one for each selected element; `TypeError` for a table of values.

    That is how a mask that stands alone is filled. One of another size, which has no elements then, only broadcasts.
    """
    if source.rank == 1:
        given = source.shape[0]
        message = FILLING + "cannot assign {0} input values to the {1} output values where the mask is true"
        require_stretch(b, given, selected, message, (given, selected))
        return
    message = FILLING + f"requires a 0 or 1-dimensional input, input has {source.rank} dimensions"
    pairs = [(b.exact(size), b.exact(own)) for size, own in zip(shape_of(mask), value.shape, strict=True)]
    differ = [op("ne", Index(size), Index(own)) for size, own in pairs if size is not own]
    if not differ:
        raise WillRaise("TypeError", message)
    b.check(reduce(lambda one, other: op("or", one, other), differ), "TypeError", message)


def _require_match(b: Builder, value: ArrayValue, mask: ArrayValue, first: int, shown: int) -> None:
    """`IndexError` unless the mask has the sizes of the dimensions from `first` on, which the user counts from `shown`.

    A size of 0 fits everywhere, as in NumPy: such a mask selects nothing.
    """
    for axis, wanted in enumerate(mask.shape, shown):
        size, wanted = b.exact(value.shape[axis - shown + first]), b.exact(wanted)
        if size is wanted or wanted.constant == 0:
            continue
        message = (
            f"boolean index did not match indexed array along axis {axis}; size of axis is {{0}} but size of "
            "corresponding boolean axis is {1}"
        )
        ranges = b.emit.ranges
        if ranges.proves_ne(size, wanted) and ranges.proves_ne(wanted, 0):
            raise b.error(message.format(size, wanted), notes=("NumPy raises IndexError here",))
        sizes = Index(size), Index(wanted)
        fits = op("or", op("eq", *sizes), op("eq", sizes[1], Const(0, types.int64)))
        b.check(fits, "IndexError", message, sizes)
