"""Item words: tuples of numbers of several kinds to and from the 64-bit words that lists keep of them.

What is stored and read is a word each, without any computation: a float keeps its bits, narrower numbers are widened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.kinds_by_path import of_items
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.packed_items import PackedNumber, PackedPart, PackedTuple
from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Static, TupleValue, Value, scalar_expr
from dcpy.frontend.lower.arithmetic import elementwise
from dcpy.frontend.lower.arithmetic.promotion import joined_number
from dcpy.frontend.lower.arrays import stores
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Load, ScalarExpr, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.symbolic import Expr, as_expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

ALL = Static(Ellipsis)


def joined_part(parts: Sequence[PackedPart]) -> PackedPart | None:
    """The kind of what is now one of these, now another; None where a number would change its type in silence."""
    first = parts[0]
    numbers = [part for part in parts if isinstance(part, PackedNumber)]
    if len(numbers) == len(parts):
        meeting = joined_number([prototype(part) for part in numbers])
        same = all(part.fill == numbers[0].fill for part in numbers)
        return None if meeting is None else PackedNumber(
            meeting.dtype, meeting.weak, meeting.other_kinds, numbers[0].fill if same else None)  # fmt: skip
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


def put(b: TypedEmitter, out: ArrayValue, indices: Sequence[Expr], part: PackedTuple, value: Value) -> None:
    """Store a tuple in the row at these indices of the array of a list."""
    exprs = _words_of(b, part, value)
    b.emit.tasklet([
        (Memlet(out.container, out.subset([*indices, as_expr(word)])), expr) for word, expr in enumerate(exprs)
    ])  # fmt: skip


def _words_of(b: TypedEmitter, part: PackedPart, value: Value) -> list[ScalarExpr]:
    if isinstance(part, PackedTuple):
        items = _items(value)
        return [word for inner, item in zip(part.parts, items, strict=True) for word in _words_of(b, inner, item)]
    expr = value.load(()) if isinstance(value, ArrayValue) else scalar_expr(value)
    return _as_words(elementwise.convert(expr, part.dtype))


def _items(value: Value) -> tuple[Value, ...]:
    if isinstance(value, TupleValue):
        return value.items
    raise FrontendError("a tuple of more than 64 numbers is stored in a list beside others", help="use an array")


def _as_words(expr: ScalarExpr) -> list[ScalarExpr]:
    match expr.dtype.kind:
        case "f":
            return [op("bits", elementwise.convert(expr, types.float64))]
        case "c":
            return [word for name in ("real", "imag") for word in _as_words(op(name, expr))]
    return [elementwise.convert(expr, types.int64)]


def item_of(part: PackedPart, words: Sequence[ScalarExpr]) -> Value:
    """The number or tuple that some words are."""
    if isinstance(part, PackedTuple):
        items = tuple(item_of(inner, words[place : place + inner.words]) for inner, place in part.placed())
        return TupleValue(items, names=getattr(part.cls, "_fields", ()), cls=part.cls)
    return Scalar(_number_of(part, *words), part.weak, of_items(part.other_kinds))


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
    part = value.levels[-1]
    assert isinstance(part, PackedTuple)
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
