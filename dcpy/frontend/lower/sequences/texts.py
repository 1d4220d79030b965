"""Texts of parts: constants, and values that are known at run time only and that Python shows then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.base.string_formatting import CHOSEN, REPEATED
from dcpy.base.text_table import TABLE
from dcpy.frontend.abstract_values.list_values import JoinedList
from dcpy.frontend.abstract_values.packed_items import PackedConstant, PackedPart, PackedText
from dcpy.frontend.abstract_values.values import Scalar, Static, TextValue, Value, dtype_of, is_number, scalar_expr
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, cast, op

if TYPE_CHECKING:
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

MOST_PLACES = 16  # of one character, in a text that is compared
Part = str | tuple[Value, int, Any]


def as_text(parts: Sequence[Part]) -> Value:
    """A text of parts, as a constant where all of them are known."""
    if all(isinstance(part, str) for part in parts):
        return Static("".join(map(str, parts)))
    return TextValue(tuple(parts))


def parts_of(value: Value) -> tuple[Part, ...] | None:
    """The parts of a text; None for anything else."""
    match value:
        case Static(value=str() as text):
            return (text,)
        case TextValue(parts=parts):
            return parts
        case JoinedList():
            return ((value, -1, ""),)
    return None


def character(b: TypedEmitter, text: object, key: Value) -> Value | None:
    """``text[key]`` of a known text, by a place that is known at run time only; None for anything else."""
    if not isinstance(text, str) or isinstance(key, Static) or not is_number(key) or not dtype_of(key).is_integer:
        return None
    place, size = scalar_expr(key), Const(len(text), types.int64)
    place = cast(place, types.int64)
    inside = op("and", op("ge", op("add", place, size), Const(0, types.int64)), op("lt", place, size))
    b.check(inside, "IndexError", "string index out of range")
    from_front = op("select", op("lt", place, Const(0, types.int64)), op("add", place, size), place)
    return TextValue(((b.keep(Scalar(from_front, weak=True)), CHOSEN, text),))


def repeated(b: TypedEmitter, left: Value, right: Value) -> Value | None:
    """``text * count``, known at run time only, of a known text; None for anything else."""
    text, count = (left, right) if isinstance(left, Static) else (right, left)
    if not isinstance(text, Static) or not isinstance(text.value, str) or not is_number(count):
        return None
    if not (dtype_of(count).is_integer or dtype_of(count) == types.bool_):
        return None
    kept = b.keep(Scalar(cast(scalar_expr(count), types.int64), weak=True))
    return TextValue(((kept, REPEATED, text.value),))


def combined(b: TypedEmitter, symbol: str, left: Value, right: Value) -> Value | None:
    """``left symbol right`` where one of them is a text; None for anything else."""
    found = concatenated(left, right) if symbol == "+" else repeated(b, left, right) if symbol == "*" else None
    if found is None and TextValue in (type(left), type(right)):
        raise FrontendError(
            f"{symbol} does not take a text with numbers that are known at run time only",
            notes=("Python makes the text when it is shown",),
            help="texts are added, joined and formatted: f'{x}', `a + b`, `sep.join(parts)`",
        )
    return found


def is_nonempty(b: TypedEmitter, value: TextValue) -> bool | ScalarExpr | None:
    """Return whether a text has a character; None where each of its pieces may be empty."""
    found: ScalarExpr = Const(False, types.bool_)
    for part in value.parts:
        if isinstance(part, str):
            if part:
                return True
            continue
        shown, code, text = part
        if isinstance(shown, JoinedList):
            items = _has_items(b, shown)
            if items is None:
                return None
            found = op("or", found, items)
        elif code == CHOSEN and text is TABLE:
            found = op("or", found, op("ne", scalar_expr(shown), Const(TABLE.number(""), types.int64)))
        elif code != REPEATED:
            return True
        elif text:
            found = op("or", found, op("gt", scalar_expr(shown), Const(0, types.int64)))
    return found


def _has_items(b: TypedEmitter, value: JoinedList) -> ScalarExpr | None:
    """Return whether a joined list has a character: none of its items is an empty text; None where some may be."""
    options = value.items.union.options if value.items.union is not None else ()
    if not options or any(_may_be_empty(option) for option in options):
        return None
    return op("gt", Index(b.exact(value.items.array.shape[0])), Const(0, types.int64))


def _may_be_empty(option: PackedPart) -> bool:
    if isinstance(option, PackedText):
        if any(not isinstance(piece, str) and piece[1] is TABLE for piece in option.pieces):
            return True
        return all(not piece if isinstance(piece, str) else piece[0] == REPEATED for piece in option.pieces)
    return not (isinstance(option, PackedConstant) and option.value.value)


def equal(b: TypedEmitter, left: Value, right: Value) -> ScalarExpr | None:  # noqa: C901  (one case per kind)
    """Return whether a character of a known text, by its place, is a known one; a text is nothing but a text. None
    where the characters of texts have to be compared.
    """
    if parts_of(left) is None or parts_of(right) is None:
        return Const(False, types.bool_)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, TextValue) and other == Static(""):
            there = is_nonempty(b, one)
            if there is None:
                break
            return Const(not there, types.bool_) if isinstance(there, bool) else op("not", there)
    for one, other in ((left, right), (right, left)):
        match one, other:
            case TextValue(parts=((mine, _, text),)), Static(value=str() as wanted) if text is TABLE:
                return op("eq", scalar_expr(mine), Const(TABLE.number(wanted), types.int64))
            case TextValue(parts=((mine, _, text),)), TextValue(parts=((number, _, table),)) if text is table is TABLE:
                return op("eq", scalar_expr(mine), scalar_expr(number))
            case TextValue(parts=((mine, _, text),)), TextValue(parts=((number, -1, "c"),)) if text is TABLE:
                return op("eq", scalar_expr(mine), cast(scalar_expr(number), types.int64))
            case TextValue(parts=((place, code, text),)), Static(value=str() as wanted) if code == CHOSEN:
                places = [k for k, character in enumerate(text) if character == wanted]
                if len(places) > MOST_PLACES:
                    break
                found: ScalarExpr = Const(False, types.bool_)
                for k in places:
                    found = op("or", found, op("eq", scalar_expr(place), Const(k, types.int64)))
                return found
    return None


def concatenated(left: Value, right: Value) -> Value | None:
    """``left + right`` of two texts; None for anything else."""
    mine, other = parts_of(left), parts_of(right)
    return None if mine is None or other is None else as_text((*mine, *other))
