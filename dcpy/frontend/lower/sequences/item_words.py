"""Item words: items of several kinds to and from the 64-bit words that lists keep of them.

What is stored and read is a word each, without any computation: a float keeps its bits, narrower numbers are widened.
An item that is one of several kinds is read as a `VariantValue`, whose selector is its first word.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.kinds_by_path import Kinds, of_items
from dcpy.frontend.abstract_values.list_values import ListCopy, ListValue
from dcpy.frontend.abstract_values.number_kinds import instead_of, kind_of_number
from dcpy.frontend.abstract_values.packed_items import (
    PackedConstant,
    PackedLevel,
    PackedNumber,
    PackedPart,
    PackedText,
    PackedTuple,
    PackedUnion,
    row_class,
)
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    Scalar,
    Static,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
    dtype_of,
    is_number,
    is_weak,
    parts_of,
    scalar_expr,
)
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.promotion import joined_number, kind_matters, mixed_kinds
from dcpy.frontend.lower.arrays import stores
from dcpy.frontend.lower.control.path_selectors import all_hold, chosen, is_number_of
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Load, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.symbolic import Expr, as_expr
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

ALL = Static(Ellipsis)
ITEM = "item"  # before the place where an item of several kinds was read


def numbers_in(text: Value) -> tuple[Value, ...]:
    """The values of a text that are known at run time only."""
    assert isinstance(text, TextValue)
    return tuple(part[0] for part in text.parts if not isinstance(part, str))


def pieces_of(text: TextValue) -> tuple[str | tuple[int, str], ...]:
    """Return the pieces of a text around its values, and how these are shown."""
    return tuple(part if isinstance(part, str) else part[1:] for part in text.parts)


def joined_part(parts: Sequence[PackedPart]) -> PackedPart | None:
    """The kind of what is now one of these, now another; None where a number would change its type in silence."""
    first = parts[0]
    numbers = [part for part in parts if isinstance(part, PackedNumber)]
    if len(numbers) == len(parts):
        meeting = joined_number([prototype(part) for part in numbers])
        same = all(part.fill == numbers[0].fill for part in numbers)
        return None if meeting is None else PackedNumber(
            meeting.dtype, meeting.weak, meeting.other_kinds, numbers[0].fill if same else None)  # fmt: skip
    if isinstance(first, PackedConstant | PackedText):
        return first if all(part == first for part in parts) else None
    tuples = [part for part in parts if isinstance(part, PackedTuple)]
    if not isinstance(first, PackedTuple) or len(tuples) < len(parts):
        return None
    if any(len(part.parts) != len(first.parts) or part.cls is not first.cls for part in tuples):
        return None
    found = [joined_part(column) for column in zip(*(part.parts for part in tuples), strict=True)]
    known = tuple(part for part in found if part is not None)
    return PackedTuple(known, first.cls) if len(known) == len(found) else None


def prototype(part: PackedNumber) -> Value:
    """A number that stands for those of a kind."""
    return part.fill or Scalar(Load("", (), part.dtype), part.weak, part.other_kinds)


def put(b: TypedEmitter, out: ArrayValue, indices: Sequence[Expr], level: PackedLevel, value: Value) -> None:
    """Store an item in the row at these indices of the array of a list."""
    exprs = _words_of(b, level, distributed(b, value))
    b.emit.tasklet([
        (Memlet(out.container, out.subset([*indices, as_expr(word)])), expr) for word, expr in enumerate(exprs)
    ])  # fmt: skip


def _words_of(b: TypedEmitter, part: PackedPart | PackedUnion, value: Value) -> list[ScalarExpr]:
    if isinstance(value, VariantValue):
        found = [(number, _words_of(b, part, option)) for number, option in value.options]
        return [_selected(value.which, [(number, words[place]) for number, words in found])
                for place in range(len(found[0][1]))]  # fmt: skip
    if isinstance(part, PackedUnion):
        number, option = _option_of(part, value)
        words = [Const(number, types.int64), *_words_of(b, option, value)]
        return words + [Const(0, types.int64)] * (part.words - len(words))
    if isinstance(part, PackedConstant):
        return []
    if isinstance(part, PackedText):
        part, value = part.numbers, TupleValue(numbers_in(value))
    if isinstance(part, PackedTuple):
        items = _items(value)
        return [word for inner, item in zip(part.parts, items, strict=True) for word in _words_of(b, inner, item)]
    expr = value.load(()) if isinstance(value, ArrayValue) else scalar_expr(value)
    return _as_words(elementwise.convert(expr, part.dtype))


def _selected(which: str, options: Sequence[tuple[int, ScalarExpr]]) -> ScalarExpr:
    """One of several expressions, by a selector."""
    *others, (_, found) = options
    for number, expr in reversed(others):
        found = expr if expr == found else op("select", is_number_of(which, number), expr, found)
    return found


def one_number(value: VariantValue) -> Scalar:
    """The number that a value is on all paths, where it is of one kind on all of them."""
    first = value.options[0][1]
    return Scalar(_selected(value.which, [(k, scalar_expr(option)) for k, option in value.options]), is_weak(first))


def _option_of(union: PackedUnion, value: Value) -> tuple[int, PackedPart]:
    """Return which of the kinds of a list's items a value has."""
    options = list(enumerate(union.options))
    found = next((numbered for numbered in options if _is_of(numbered[1], value)), None)
    if found is None:  # a Python float goes where an np.float64 is: that is one
        found = next((numbered for numbered in options if _is_base_of(numbered[1], value)), None)
    if found is None:
        raise FrontendError("an item of another kind than before is stored in a list", help="make a list for each kind")
    return found


def _is_of(option: PackedPart, value: Value) -> bool:
    if isinstance(option, PackedConstant):
        return option.value == value
    if isinstance(option, PackedText):
        same = isinstance(value, TextValue) and pieces_of(value) == option.pieces
        return same and _is_of(option.numbers, TupleValue(numbers_in(value)))
    if isinstance(option, PackedTuple):
        if isinstance(value, DictValue):
            value = as_row(value)
        same = isinstance(value, TupleValue) and not value.is_list and value.cls is option.cls
        return same and isinstance(value, TupleValue) and len(value.items) == len(option.parts) and all(
            map(_is_of, option.parts, value.items))  # fmt: skip
    if isinstance(value, ArrayValue) and not value.shape:
        return value.dtype == option.dtype and not option.weak
    if not is_number(value) or dtype_of(value) != option.dtype or is_weak(value) != option.weak:
        return False
    if isinstance(value, Scalar) and tells(value.dtype, instead_of(value)):
        raise kind_matters(value, "the kind of an item depends on the path taken",
                           f"convert it: {mixed_kinds(value)[-1]}(x)")  # fmt: skip
    return True


def _is_base_of(option: PackedPart, value: Value) -> bool:
    """Return whether the kind of a number is a class from which that of the option is derived."""
    if not isinstance(option, PackedNumber) or not is_number(value) or dtype_of(value) != option.dtype:
        return False
    return issubclass(option.dtype.numpy.type, kind_of_number(value))


def tells(dtype: DType, kinds: Kinds) -> bool:
    """Return whether the kind of a number can be seen: an np.float64 is a float as well."""
    return not all(issubclass(dtype.numpy.type, kind) for kind in kinds)


def distributed(b: TypedEmitter, value: Value) -> Value:
    """A tuple with items that depend on the path taken, as one of several tuples; any other value as it is."""
    if isinstance(value, DictValue):
        return _by_values(b, value)
    if not isinstance(value, TupleValue) or value.is_list:
        return value
    items = [distributed(b, item) for item in value.items]
    selectors: dict[str, list[int]] = {}
    for item in items:
        if isinstance(item, VariantValue):
            selectors[item.which] = [number for number, _ in item.options]
    if not selectors:
        return value
    found: list[tuple[Sequence[tuple[str, int]], Value]] = []
    for numbers in itertools.product(*selectors.values()):
        these = dict(zip(selectors, numbers, strict=True))
        found.append((tuple(these.items()), replace(value, items=tuple(chosen(item, these) for item in items))))
    if len(selectors) == 1:
        which = next(iter(selectors))
        return VariantValue(which, tuple((at[0][1], option) for at, option in found))
    number: ScalarExpr = Const(len(found) - 1, types.int64)
    for position, (at, _) in enumerate(found[:-1]):
        test = all_hold([is_number_of(which, each) for which, each in at])
        number = op("select", test, Const(position, types.int64), number)
    return one_of(b, number, [option for _, option in found])


def _by_values(b: TypedEmitter, value: DictValue) -> Value:
    """A dictionary with values that depend on the path taken, as one of several dictionaries."""
    keys = [key for key, _ in value.items]
    found = distributed(b, TupleValue(tuple(item for _, item in value.items)))
    if not isinstance(found, VariantValue):
        return value
    options = [(number, zip(keys, parts_of(option), strict=True)) for number, option in found.options]
    return VariantValue(found.which, tuple((number, replace(value, items=tuple(pairs))) for number, pairs in options))


def as_row(value: DictValue) -> TupleValue:
    """A dictionary as a list of dictionaries stores it: its values, with a class that knows the keys."""
    keys, items = zip(*value.items, strict=True)
    return TupleValue(items, cls=row_class(keys))


def one_of(b: TypedEmitter, number: ScalarExpr, options: Sequence[Value]) -> VariantValue:
    """A value that is one of several, by a number."""
    kept = b.keep(Scalar(number, weak=True), "kind").expr
    assert isinstance(kept, Load)
    b.selector_origins[kept.container] = (ITEM, b.emit.span)
    return VariantValue(kept.container, tuple(enumerate(options)))


def is_of_item(b: TypedEmitter, value: VariantValue) -> bool:
    """Return whether a value depends on the kind of an item of a list."""
    origin = b.selector_origins.get(value.which)
    return isinstance(origin, tuple) and origin[0] == ITEM


def _items(value: Value) -> tuple[Value, ...]:
    if isinstance(value, TupleValue):
        return value.items
    if isinstance(value, DictValue):
        return as_row(value).items
    raise FrontendError("a tuple of more than 64 numbers is stored in a list beside others", help="use an array")


def _as_words(expr: ScalarExpr) -> list[ScalarExpr]:
    match expr.dtype.kind:
        case "f":
            return [op("bits", elementwise.convert(expr, types.float64))]
        case "c":
            return [word for name in ("real", "imag") for word in _as_words(op(name, expr))]
    return [elementwise.convert(expr, types.int64)]


def item_at(b: TypedEmitter, level: PackedLevel, words: Sequence[ScalarExpr]) -> Value:
    """The item that some words are."""
    if isinstance(level, PackedTuple):
        return item_of(level, words)
    if len(level.options) == 1:
        return item_of(level.options[0], words[1:])
    kept = [b.keep(Scalar(word, weak=True), "word").expr for word in words[1:]]
    return one_of(b, words[0], [item_of(option, kept) for option in level.options])


def item_of(part: PackedPart, words: Sequence[ScalarExpr]) -> Value:
    """The number or tuple that some words are, where its kind is known."""
    if isinstance(part, PackedConstant):
        return part.value
    if isinstance(part, PackedText):
        numbers_ = iter(item_of(inner, words[place : place + inner.words]) for inner, place in part.numbers.placed())
        return TextValue(tuple(piece if isinstance(piece, str) else (next(numbers_), *piece) for piece in part.pieces))
    if isinstance(part, PackedTuple):
        items = tuple(item_of(inner, words[place : place + inner.words]) for inner, place in part.placed())
        if (keys := getattr(part.cls, "row_keys", None)) is not None:
            return DictValue(tuple(zip(keys, items, strict=True)), ListCopy(None))
        return TupleValue(items, names=getattr(part.cls, "_fields", ()), cls=part.cls)
    return Scalar(_number_of(part, *words[: part.words]), part.weak, of_items(part.other_kinds))


def _number_of(part: PackedNumber, word: ScalarExpr, *more: ScalarExpr) -> ScalarExpr:
    match part.dtype.kind:
        case "b":
            return op("ne", word, Const(0, types.int64))
        case "f":
            return elementwise.convert(op("of_bits", word), part.dtype)
        case "c":
            parts = (op("of_bits", each) for each in (word, *more))
            return op("complex", *(elementwise.convert(each, part.dtype.real) for each in parts))
    return elementwise.convert(word, part.dtype)


# -- columns ---------------------------------------------------------------------------------------------------------


def column(b: TypedEmitter, array: ArrayValue, number: PackedNumber, place: int) -> ArrayValue:
    """One number of all items, as an array of its own."""
    words = [b.subscript(array, [ALL, Static(place + k)]) for k in range(number.words)]
    return b.array(elementwise.elementwise(b, lambda *exprs: _number_of(number, *exprs), words, name="column"))


def columns(b: TypedEmitter, value: ListValue) -> list[ListValue]:
    """All numbers of the items of a list, a list each."""
    part = value.packed_tuple
    assert part is not None
    return [ListValue(column(b, value.array, number, place), number.weak, of_items(number.other_kinds))
            for number, place in part.numbers()]  # fmt: skip


def store_column(
    b: TypedEmitter, out: ArrayValue, number: PackedNumber, place: int, numbers: ArrayValue
) -> None:  # fmt: skip
    """Store one number of all items."""
    for word in range(number.words):
        target = b.subscript(out, [ALL, Static(place + word)])
        assert isinstance(target, ArrayValue)

        def encoded(expr: ScalarExpr, word: int = word) -> ScalarExpr:
            return _as_words(elementwise.convert(expr, number.dtype))[word]

        stores.write(b, target, b.array(elementwise.elementwise(b, encoded, [numbers], name="column")))


def as_union(b: TypedEmitter, value: ListValue, out: ArrayValue, union: PackedUnion, own: PackedPart | None) -> None:
    """Store the items of a list in the rows of one whose items are of several kinds; `own`: their kind, if it is one.
    """
    first = b.subscript(out, [ALL, Static(0)])
    assert isinstance(first, ArrayValue)
    if value.union is not None:
        numbers = [_number_in(union, option) for option in value.union.options]
        tags = b.subscript(value.array, [ALL, Static(0)])

        def renumbered(expr: ScalarExpr) -> ScalarExpr:
            found: ScalarExpr = Const(numbers[-1], types.int64)
            for old, new in reversed(list(enumerate(numbers[:-1]))):
                found = op("select", op("eq", expr, Const(old, types.int64)), Const(new, types.int64), found)
            return found

        stores.write(b, first, b.array(elementwise.elementwise(b, renumbered, [tags], name="column")))
        _store_words(b, value.array, out, 1, value.union.words - 1)
        return
    assert own is not None
    stores.write(b, first, Static(_number_in(union, own)))
    if value.packed is not None:
        _store_words(b, value.array, out, 0, value.packed.words)
        return
    numbers_of = [own] if isinstance(own, PackedNumber) else [n for n, _ in own.numbers()] if isinstance(
        own, PackedTuple) else []  # fmt: skip
    place = 1
    for position, number in enumerate(numbers_of):
        column_ = value.array if isinstance(own, PackedNumber) else b.subscript(value.array, [ALL, Static(position)])
        store_column(b, out, number, place, b.array(column_))
        place += number.words


def _number_in(union: PackedUnion, option: PackedPart) -> int:
    """The number that a kind of items has among those of a list."""
    if option in union.options:
        return union.options.index(option)
    plain = _plain(option)
    return next(number for number, other in enumerate(union.options) if _plain(other) == plain)


def _plain(part: PackedPart) -> PackedPart:
    """A kind of items without what does not tell items apart: a Python float beside an np.float64 is one."""
    if isinstance(part, PackedTuple):
        return replace(part, parts=tuple(map(_plain, part.parts)))
    if not isinstance(part, PackedNumber):
        return part
    return PackedNumber(part.dtype, part.weak and not part.dtype.is_inexact)


def _store_words(b: TypedEmitter, source: ArrayValue, out: ArrayValue, start: int, count: int) -> None:
    """Copy words of items, from `start` in one list, behind the first in the other."""
    for word in range(count):
        target = b.subscript(out, [ALL, Static(1 + word)])
        assert isinstance(target, ArrayValue)
        stores.write(b, target, b.array(b.subscript(source, [ALL, Static(start + word)])))


# -- items of several kinds, as numbers ------------------------------------------------------------------------------


def numbers(b: TypedEmitter, value: ListValue, what: str) -> ArrayValue:
    """The numbers in a list that holds numbers of several kinds, as an array of a kind that NumPy gives them."""
    union = value.union
    options = [] if union is None else [option for option in union.options if isinstance(option, PackedNumber)]
    if union is None or len(options) < len(union.options):
        raise FrontendError(
            f"items of several kinds {what}, and not all of them are numbers",
            help="take out those that are, `[x for x in items if x is not None]`; np.nan stands for a missing number",
        )
    dtype = types.from_numpy(np.result_type(*(option.dtype.numpy for option in options)))

    def element(tag: ScalarExpr, *words: ScalarExpr) -> ScalarExpr:
        *others, found = (elementwise.convert(_number_of(one, *words[: one.words]), dtype) for one in options)
        for number, expr in reversed(list(enumerate(others))):
            found = op("select", op("eq", tag, Const(number, types.int64)), expr, found)
        return found

    columns_ = [b.subscript(value.array, [ALL, Static(word)]) for word in range(union.words)]
    return b.array(elementwise.elementwise(b, element, columns_, name="column"))
