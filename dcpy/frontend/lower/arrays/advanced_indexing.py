"""Advanced indexing: integer arrays and masks; copies when read, one write per index in order when stored to.

A mask among slices is a library node that scans it (`boolean_indexing`). Otherwise all keys become integer arrays: a
mask stands for the positions where it holds; a truth value, a mask without dimensions, for the positions, one or none,
of a new dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Static, Value, is_number, scalar_expr, shape_of
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.broadcasting import ShapeMismatch, broadcast_shapes, broadcast_to
from dcpy.frontend.lower.arithmetic.overflow import limits_of
from dcpy.frontend.lower.arithmetic.range_checks import stored
from dcpy.frontend.lower.arrays import boolean_indexing, memory_order
from dcpy.frontend.lower.arrays.basic_indexing import at_points, basic, element_index, is_surely_inside
from dcpy.frontend.lower.arrays.stores import require_writable
from dcpy.frontend.lower.arrays.subscript_keys import FULL, NEW, SubscriptKeys, chooses, is_mask
from dcpy.ir import types
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

ARRAYS = ShapeMismatch("IndexError", "shape mismatch: indexing arrays could not be broadcast together")


@dataclass(frozen=True)
class Selection:
    """Selection by integer arrays: they index the dimensions `axes` of `base`, and all have one `shape`.

    The result has the dimensions of `shape` at `first`, among the other dimensions of `base` in order.
    """

    base: ArrayValue
    axes: tuple[int, ...]
    arrays: tuple[ArrayValue, ...]
    shape: tuple[Expr, ...]
    first: int
    shown: tuple[int, ...]  #: how the user counts `axes`
    proved: tuple[int, ...]  #: numbers of those of `arrays` whose indices are in range for sure

    @property
    def result_shape(self) -> tuple[Expr, ...]:
        """Sizes of what is selected."""
        rest = [size for k, size in enumerate(self.base.shape) if k not in self.axes]
        return (*rest[: self.first], *self.shape, *rest[self.first :])

    def order(self, b: TypedEmitter) -> memory_order.Axes:
        """The order in memory of what is selected."""
        return memory_order.order_of_gathered(b, self.base, self.axes, self.first, len(self.shape))

    def operands(self) -> dict[str, ArrayValue]:
        """The index arrays by connector."""
        return {f"i{k}": array for k, array in enumerate(self.arrays)}

    def fields(self, b: TypedEmitter) -> dict[str, Any]:
        """The fields of the library node."""
        checked = b.emit.options.cpu.bounds_check
        return {"axes": self.axes, "first": self.first, "shown": self.shown, "proved": self.proved, "checked": checked}


def read(b: TypedEmitter, value: ArrayValue, keys: SubscriptKeys) -> ArrayValue:
    """``value[indices]``: a new array."""
    masked = boolean_indexing.masked(b, value, keys)
    if masked is not None:
        return boolean_indexing.compress(b, masked)
    chosen = _select(b, _without_masks(b, value, keys))
    order = chosen.order(b)
    out = b.empty(chosen.result_shape, value.dtype, of_arrays=True, order="C" if b.contiguous(chosen.base) else order)
    memory_order.lie_as_made(b, out, order, ())
    b.library("indexing.gather", {"x": chosen.base, **chosen.operands()}, {"out": out}, **chosen.fields(b))
    return out


def write(
    b: TypedEmitter,
    value: ArrayValue,
    keys: SubscriptKeys,
    source: Value,
    *,
    checked: bool = False,
    combination: str = "",
) -> None:
    """``value[indices] = source``, in order. Indices with which `value` was read just now are `checked` already.

    With a `combination` (``add``), elements are combined with what comes, once for each time that an index comes.
    """
    require_writable(b, value)
    if isinstance(source, ArrayValue) and not source.shape:
        source = Scalar(source.load(()))
    masked = None if combination else boolean_indexing.masked(b, value, keys)
    chosen = _select(b, _without_masks(b, value, keys)) if masked is None else None
    source = stored(b, source, value.dtype)
    if not is_number(source):
        source = b.array(source)
    if masked is not None:
        boolean_indexing.store(b, masked, source)
    elif chosen is not None:
        fields = chosen.fields(b) | {"op": combination} | ({"checked": False} if checked else {})
        _scatter(b, value, chosen, keys, source, fields)


def _scatter(
    b: TypedEmitter, value: ArrayValue, chosen: Selection, keys: SubscriptKeys, source: Value, fields: dict[str, Any]
) -> None:
    base, shape = chosen.base, chosen.result_shape
    if isinstance(source, ArrayValue):
        if keys.is_only_key and keys.flags:
            boolean_indexing.require_count(b, value, keys.items[0], source, shape[0])
        if b.may_overlap(source, base):
            source = b.copy(source)
        values = broadcast_to(b, source, shape, boolean_indexing.VALUES)
    else:
        values, _ = b.scalar_container(base.dtype)
        b.store(values, Scalar(elementwise.convert(scalar_expr(source), base.dtype)))
    arrays = {name: b.copy(array) if b.may_overlap(array, base) else array for name, array in chosen.operands().items()}
    b.library("indexing.scatter", {"out": base, "values": values, **arrays}, {"out": base}, **fields)


@dataclass(frozen=True)
class ExpandedIndices:
    """Keys without masks, of a `value` that has a dimension of size 1 more for each 0-d mask.

    A mask is replaced by the positions where it holds, which are in range: the places of these are `proved`. A 0-d
    mask is replaced by a 0, as often as `counts` says for its place.
    """

    value: ArrayValue
    keys: tuple[Value, ...]
    separated: bool  #: something else was written between two keys that choose
    proved: tuple[int, ...]
    counts: Mapping[int, Expr]


def _select(b: TypedEmitter, chosen: ExpandedIndices) -> Selection:
    """Integers count as index arrays where there are others; slices and new axes are applied first."""
    places = [place for place, key in enumerate(chosen.keys) if chooses(key)]
    shown = _shown(chosen)
    base = basic(b, chosen.value, [FULL if place in places else key for place, key in enumerate(chosen.keys)])
    assert isinstance(base, ArrayValue)
    counts = chosen.counts
    shape = broadcast_shapes(b, [(counts[p],) if p in counts else shape_of(chosen.keys[p]) for p in places], ARRAYS)
    arrays: dict[int, ArrayValue] = {}
    points: dict[int, Expr] = {}
    for place in places:
        key = chosen.keys[place]
        if isinstance(key, ArrayValue):
            arrays[place] = broadcast_to(b, key, shape)
            b.emit.holds(base.shape[place] - 1)  # so that np.clip(key, 0, size - 1) is inside
        elif place in counts:
            arrays[place] = broadcast_to(b, b.full((counts[place],), types.int64, key), shape)
        else:
            points[place] = element_index(b, key, base.shape[place], shown[place])
    inside = {place for place, key in arrays.items() if is_surely_inside(b, limits_of(key.dtype), base.shape[place])}
    inside |= set(chosen.proved)
    return Selection(
        at_points(base, points),
        tuple(place - sum(1 for point in points if point < place) for place in arrays),
        tuple(arrays.values()),
        shape,
        0 if chosen.separated else places[0],
        tuple(shown[place] for place in arrays),
        tuple(k for k, place in enumerate(arrays) if place in counts or place in inside),
    )


def _shown(chosen: ExpandedIndices) -> list[int]:
    """The axis that each key indexes, as the user counts."""
    axes: list[int] = []
    axis = 0
    for place, key in enumerate(chosen.keys):
        axes.append(axis)
        axis += key != NEW and place not in chosen.counts
    return axes


def _without_masks(b: TypedEmitter, value: ArrayValue, keys: SubscriptKeys) -> ExpandedIndices:
    """The places that the keys name, with one integer array for each dimension of a mask."""
    plain: list[Value] = []
    proved: list[int] = []
    counts: dict[int, Expr] = {}
    axis = 0
    for place, key in enumerate(keys.items):
        found: tuple[Value, ...] = (key,)
        if place in keys.flags:
            counts[len(plain)] = b.integer(key)
            value, found = value.expanded(axis), (Static(0),)
        elif isinstance(key, ArrayValue) and is_mask(key):
            boolean_indexing.require_match(b, value, key, axis, axis - len(counts))
            found = boolean_indexing.positions(b, key)
            proved += range(len(plain), len(plain) + len(found))
        plain += found
        axis += len(found) if key != NEW else 0
    return ExpandedIndices(value, tuple(plain), keys.separated, tuple(proved), counts)
