"""List types: lists of known length as arrays, items and slices at run time.

Indices that cannot be proved in range are checked with Python's words: ``list index out of range``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.kinds_by_path import of_items
from dcpy.frontend.abstract_values.list_values import (
    JoinedLevel,
    JoinedList,
    Level,
    ListRow,
    ListValue,
    NamedItems,
    only_list,
)
from dcpy.frontend.abstract_values.packed_items import PackedTuple, PackedUnion
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    SliceValue,
    Static,
    SymInt,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
    as_integer,
    dtype_of,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.array_sizes import require_room
from dcpy.frontend.lower.arithmetic.broadcasting import same_size
from dcpy.frontend.lower.arrays import stores
from dcpy.frontend.lower.control.path_selectors import is_number_of
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.sequences import item_words
from dcpy.frontend.lower.sequences.item_kinds import (
    LONG_TUPLE,
    ItemKind,
    joined_kind,
    kind_of_item,
    kind_of_list,
    option_of,
)
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Branch
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr, as_expr, max_of, product_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

MAX_ITEMS = 65536  # of a list of known length that becomes an array

# -- making ----------------------------------------------------------------------------------------------------------


def as_array_list(b: TypedEmitter, value: TupleValue, kind: ItemKind | None = None) -> ListValue:
    """A list of known length as an array; `kind` where it is wider than that of its items."""
    if len(value.items) > MAX_ITEMS:
        raise FrontendError(f"a list of {len(value.items)} items is too long to be written out")
    kind = kind or joined_kind(b, [kind_of_item(b, item) for item in value.items])
    out = b.empty((as_expr(len(value.items)), *kind.shape), kind.dtype, name="list")
    if kind.fill is not None and all(item == kind.fill for item in value.items):
        stores.write(b, out, kind.fill)
    else:
        for position, item in enumerate(value.items):
            put(b, out, (as_expr(position),), item, kind.levels)
    return kind.list_of(out)


def put(
    b: TypedEmitter, out: ArrayValue, indices: Sequence[Expr], value: Value, levels: tuple[Level, ...] = ()
) -> None:  # fmt: skip
    """Store an item, which has these levels, at a place of the array of a list."""
    if levels and isinstance(levels[0], PackedTuple | PackedUnion):
        item_words.put(b, out, indices, levels[0], value)
        return
    if isinstance(value, VariantValue):
        if not all(is_number(option) for _, option in value.options):
            _put_by_path(b, out, indices, value, levels)
            return
        value = item_words.one_number(value)
    if isinstance(value, TupleValue):
        for position, item in enumerate(value.items):
            put(b, out, (*indices, as_expr(position)), item, levels[1:])
        return
    if is_number(value) and len(indices) == out.rank:
        expr = elementwise.convert(scalar_expr(value), out.dtype)
        subset = out.subset(list(indices))
        b.emit.tasklet([(Memlet(out.container, subset), expr)])
        return
    if isinstance(value, ArrayValue) and not value.shape:
        put(b, out, indices, Scalar(value.load(())), levels)
        return
    if isinstance(value, TextValue) and (joined := only_list(value)) is not None:
        value = joined.items
    source = value.array if isinstance(value, ListValue) else value
    assert isinstance(source, ArrayValue)
    target = row_of(out, indices)
    for mine, theirs in zip(target.shape, source.shape, strict=True):
        same_size(b, mine, theirs, "the items of the list have different lengths")
    stores.write(b, target, source)


def _put_by_path(
    b: TypedEmitter, out: ArrayValue, indices: Sequence[Expr], value: VariantValue, levels: tuple[Level, ...]
) -> None:
    """Store an item that is another array or list on each path."""
    regions = []
    for _, option in value.options:
        with b.emit.attempt() as region:
            put(b, out, indices, option, levels)
        regions.append(region)
    tests = [is_number_of(value.which, number) for number, _ in value.options[:-1]]
    b.emit.block(Branch(list(zip(tests, regions, strict=False)), regions[-1]))


def converted(b: TypedEmitter, value: ListValue, kind: ItemKind) -> ArrayValue:
    """The array of a list whose items are of a kind that holds those of `value`, too."""
    packed, own = kind.packed, value.packed
    if packed is None:
        return b.array(b.cast(value.array, kind.dtype))
    packed = packed.unfilled()
    if own == packed:
        return value.array
    depth = len(kind.levels)
    out = b.empty((*value.array.shape[:depth], as_expr(packed.words)), types.int64, name="list")
    if own is None and value.array.rank > depth + 1:
        flat = (*value.array.shape[:depth], product_of(*value.array.shape[depth:]))
        rows = b.reshape(value.array, flat)
    else:
        rows = value.array
    if isinstance(packed, PackedUnion):
        items = replace(kind_of_list(b, value), shape=value.array.shape[depth:], levels=value.levels[depth:])
        item_words.as_union(b, replace(value, array=rows), out, packed, option_of(items))
        return out
    assert not isinstance(own, PackedUnion)
    if own is None:
        found = [b.array(b.subscript(rows, [Static(Ellipsis), Static(k)])) for k, _ in enumerate(packed.numbers())]
    else:
        found = [item_words.column(b, value.array, number, place) for number, place in own.numbers()]
    for (number, place), numbers in zip(packed.numbers(), found, strict=True):
        item_words.store_column(b, out, number, place, numbers)
    return out


def store(b: TypedEmitter, target: ArrayValue, source: ArrayValue) -> None:
    """Stores rows of the right shape."""
    stores.write(b, target, source)


def row_of(array: ArrayValue, indices: Sequence[Expr]) -> ArrayValue:
    """The part of an array behind the first indices, which are in range."""
    rest = [Range(ZERO, size) for size in array.shape[len(indices) :]]
    window = array.subset([*indices, *rest])
    return ArrayValue(array.container, array.dtype, array.shape[len(indices) :], window, array.axes[len(indices) :])


# -- reading ---------------------------------------------------------------------------------------------------------


def item_at(b: TypedEmitter, value: ListValue, index: Expr) -> Value:
    """Item number `index`, which is in range."""
    array = value.array
    if array.rank == 1:
        return (
            Scalar(array.load([index]), value.weak, of_items(value.other_kinds)) if value.fill is None else value.fill
        )
    if len(value.levels) == 2 and value.packed is not None:
        words = [array.load([index, as_expr(word)]) for word in range(value.packed.words)]
        return item_words.item_at(b, value.packed, words)
    row = row_of(array, [index])
    if len(value.levels) == 1:
        return row
    token = value.token
    if isinstance(token, str):
        token = ListRow(token, (index,))
    elif isinstance(token, ListRow):
        token = ListRow(token.key, (*token.indices, index))
    elif type(token) is object:
        token = None  # that of the list around it
    found = replace(value, array=row, levels=value.levels[1:], token=token)
    if isinstance(found.levels[0], JoinedLevel):
        whole = replace(found, levels=(True, *found.levels[1:]), token=None)
        return TextValue(((JoinedList(found.levels[0].separator, whole), -1, ""),))
    count = row.shape[0].constant
    if found.levels[0] or not found.holds_numbers or count is None or count > LONG_TUPLE:
        return found
    items = tuple(item_at(b, found, as_expr(k)) for k in range(count))  # later stores do not change them
    cls = found.levels[0].cls if isinstance(found.levels[0], NamedItems) else None
    return TupleValue(items, names=getattr(cls, "_fields", ()), cls=cls)


def _index_of(b: TypedEmitter, key: Value, owner: str) -> Expr:
    """An integer that is written in brackets behind a list or tuple."""
    if key == Static(None):
        raise WillRaise("TypeError", f"{owner} indices must be integers or slices, not NoneType", by="Python")
    if isinstance(key, ArrayValue) and not key.shape and key.dtype.is_integer:
        key = Scalar(key.load(()))
    if not is_number(key) or not (dtype_of(key).is_integer or dtype_of(key) == types.bool_):
        raise FrontendError(
            f"list indices must be integers or slices, not {kind_of(key)}", notes=("Python raises TypeError here",)
        )
    index = as_integer(key)
    return b.emit.assign_symbol("k", cast(scalar_expr(key), types.int64)) if index is None else index


def position(b: TypedEmitter, key: Value, size: Expr, what: str = "list index out of range") -> Expr:
    """An index into something of this length, proved or checked to be in range, counted from the front."""
    index, ranges = _index_of(b, key, what.split()[0]), b.emit.ranges
    for proved, place in ((ranges.proves_nonneg(index), index), (ranges.proves_lt(index, 0), index + size)):
        if not proved:
            continue
        if ranges.proves_lt(place, 0) or ranges.proves_le(size, place):
            raise WillRaise("IndexError", what, by="Python")
        if b.emit.options.cpu.bounds_check:
            b.emit.require(place, "IndexError", what)
            b.emit.require(size - 1 - place, "IndexError", what)
        return place
    if b.emit.options.cpu.bounds_check:
        inside = op("and", op("ge", Index(index + size), Const(0, types.int64)), op("lt", Index(index), Index(size)))
        b.check(inside, "IndexError", what)
    negative = op("lt", Index(index), Const(0, types.int64))
    return b.emit.assign_symbol("k", op("select", negative, Index(index + size), Index(index)), 0, size - 1)


def subscript(b: TypedEmitter, value: ListValue, key: Value) -> Value:
    """``value[key]``: an item, or a new list of those that a slice names."""
    if isinstance(key, SliceValue):
        part = b.subscript(value.array, [key])
        assert isinstance(part, ArrayValue)
        copy = b.copy(part)
        b.copied_again(copy, part)
        return value.of(copy)
    return item_at(b, value, position(b, key, b.exact(value.array.shape[0])))


def slice_of_known(b: TypedEmitter, owner: TupleValue, key: SliceValue) -> Value:
    """``owner[start:stop]`` of a tuple or list of known length, with bounds that are known at run time only."""
    if not owner.items:
        return replace(owner, token=None)
    whole = _as_known(b, owner)
    return subscript(b, replace(whole, levels=(owner.is_list, *whole.levels[1:]), token=None), key)


def _as_known(b: TypedEmitter, owner: TupleValue, *, apart: bool = False) -> ListValue:
    """A tuple or list of known length as an array, whose items are of one kind, if they need not be kept `apart`."""
    return as_array_list(b, owner, joined_kind(b, [kind_of_item(b, item) for item in owner.items], apart=apart))


def choose(b: TypedEmitter, owner: TupleValue, key: Value, *, apart: bool = False) -> Value:
    """An item of a tuple or list of known length, by a position that is known at run time only."""
    what = f"{'list' if owner.is_list else 'tuple'} index out of range"
    if not owner.items:
        raise WillRaise("IndexError", what, by="Python")
    place = position(b, key, as_expr(len(owner.items)), what)
    return item_at(b, replace(_as_known(b, owner, apart=apart), token=None), place)


# -- whole lists -----------------------------------------------------------------------------------------------------


def as_array(b: TypedEmitter, value: ListValue) -> ArrayValue:
    """Return the array that ``np.asarray`` makes of the list: a new one, unless the list has no other name."""
    if value.packed is not None:
        return _as_matrix(b, value)
    return value.array if value.array.fresh and value.token is None else replace(b.copy(value.array), fresh=True)


def _as_matrix(b: TypedEmitter, value: ListValue) -> ArrayValue:
    """The array of a list of tuples of numbers of several kinds: of the one that holds all of them."""
    packed = value.packed_tuple
    if packed is None:
        return item_words.numbers(b, value, "become an array")
    if not packed.is_flat:
        raise FrontendError(
            "tuples that do not hold numbers only become an array",
            notes=("the array would be inhomogeneous, or one of objects",),
        )
    numbers = list(packed.numbers())
    dtype = types.from_numpy(np.result_type(*(number.dtype.numpy for number, _ in numbers)))
    out = b.empty((*value.array.shape[:-1], as_expr(len(numbers))), dtype)
    for position, (number, place) in enumerate(numbers):
        target = b.subscript(out, [Static(Ellipsis), Static(position)])
        assert isinstance(target, ArrayValue)
        stores.write(b, target, b.array(b.cast(item_words.column(b, value.array, number, place), dtype)))
    return replace(out, fresh=True)


def joined(b: TypedEmitter, left: Value, right: Value) -> Value:
    """``left + right`` of two lists, one of which has a length that is known at run time only."""
    parts = [part for part in (left, right) if not (isinstance(part, TupleValue) and not part.items)]
    if len(parts) < 2:
        found = parts[0]
        assert isinstance(found, ListValue)
        copy = b.copy(found.array)
        b.copied_again(copy, found.array)
        return found.of(copy)
    kinds = [kind_of_list(b, p) if isinstance(p, ListValue) else _kind_of_known(b, p) for p in parts]
    kind = joined_kind(b, kinds).unfilled()
    lists: list[ArrayValue] = []
    for part in parts:
        found_list = as_array_list(b, part, kind) if isinstance(part, TupleValue) else part
        assert isinstance(found_list, ListValue)
        lists.append(found_list.array if kind.packed is None else converted(b, found_list, kind))
    first, second = (b.exact(part.shape[0]) for part in lists)
    out = b.empty((first + second, *kind.shape), kind.dtype, name="list")
    for part, start, size in zip(lists, (ZERO, first), (first, second), strict=True):
        target = b.subscript(out, [SliceValue(_index(start), _index(start + size), Static(None))])
        assert isinstance(target, ArrayValue)
        target = replace(target, shape=(size, *kind.shape))
        stores.write(b, target, part)
        b.copied_again(out, part)
    return kind.list_of(out)


def _index(expr: Expr) -> Value:
    return Static(expr.constant) if expr.constant is not None else SymInt(expr)


def _kind_of_known(b: TypedEmitter, value: Value) -> ItemKind:
    assert isinstance(value, TupleValue)
    return joined_kind(b, [kind_of_item(b, item) for item in value.items])


def repeated(b: TypedEmitter, value: Value, count: Expr) -> Value:
    """``value * count`` of a list, where one of both is known at run time only."""
    count = b.emit.ranges.simplify(max_of(count, 0)) if not b.emit.ranges.proves_nonneg(count) else count
    if isinstance(value, TupleValue):
        if not value.items:
            return replace(value, token=None)
        if any(isinstance(item, TupleValue) and item.is_list for item in value.items):
            raise FrontendError(
                "a list of lists is repeated a number of times that is known at run time only",
                notes=("all of its rows would be one list",),
                help="make each row anew: `[[0] * m for _ in range(n)]`",
            )
        kind = joined_kind(b, [kind_of_item(b, item) for item in value.items])
        if kind.fill is not None and not kind.shape:
            require_room(b, (count,))
            return kind.list_of(b.full((count,), kind.dtype, kind.fill, name="list"))
        value = as_array_list(b, value, kind)
    assert isinstance(value, ListValue)
    size = b.exact(value.array.shape[0])
    require_room(b, (count, size))
    several = (any(value.levels[1:]) or not value.holds_numbers) and count.constant != 1
    out = b.empty((count, size, *value.array.shape[1:]), value.array.dtype, name="list")
    stores.write(b, out, value.array)
    b.copied_again(out, value.array)
    if several:
        b.forbid_writes(out.container, "it is in a list, and one array or list there is several items")
    return value.of(b.reshape(out, (product_of(count, size), *value.array.shape[1:])))


def length_test(size: Expr) -> ScalarExpr:
    """Return whether there is any item."""
    return op("gt", Index(size), Const(0, types.int64))
