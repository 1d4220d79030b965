"""Characters of texts that are made at run time: a list of numbers, of which each is a text of one character.

``for d in str(n)``, ``s[::-1] == s``, ``len(str(n))``: the digits of integers, constants, and characters by number are
spelled out (`python.spelled_texts`). What a float is as a text, only Python knows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dcpy.base.string_formatting import CHOSEN, REPEATED
from dcpy.base.text_table import TABLE
from dcpy.frontend.abstract_values.list_values import JoinedList, ListValue
from dcpy.frontend.abstract_values.packed_items import PackedNumber, PackedText, PackedTuple, PackedUnion
from dcpy.frontend.abstract_values.values import (
    DictValue,
    Scalar,
    SliceValue,
    Static,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
    dtype_of,
    is_number,
    is_weak,
    scalar_expr,
)
from dcpy.frontend.lower.sequences import list_types
from dcpy.frontend.python import spelled_texts as spelled
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

CHARACTER = PackedText(PackedTuple((PackedNumber(types.int64, weak=True),)), ((-1, "c"),))
_FEW = 16  # codes that are written out
_INTEGER = re.compile(r"(#?)(?:0?(\d+))?([dbox]?)")
_BASES = {"": 10, "d": 10, "b": 2, "o": 8, "x": 16}


def of_text(b: OpBuilder, value: TextValue | JoinedList) -> ListValue | TupleValue:
    """The list of the characters of a text."""
    parts = value.parts if isinstance(value, TextValue) else ((value, -1, ""),)
    if len(parts) == 1 and not isinstance(parts[0], str) and (joined := spelled_list(parts[0][0])) is not None:
        return joined.items
    described = [_described(b, part) for part in parts if part]
    known = tuple(one for one in described if one is not None)
    if len(known) == len(described):
        made = b.call(Static(spelled.spelled), TupleValue(known))
    else:
        text = value if isinstance(value, TextValue) else TextValue(parts)
        if parts[0][-1] is not TABLE:
            text = TextValue(((b.call(Static(spelled.KEPT), text), CHOSEN, TABLE),))
        made = b.call(Static(spelled.spelled_by_python), text)
    assert isinstance(made, ListValue | TupleValue)
    return made


def spelled_list(value: object) -> JoinedList | None:
    """Return a joined list of characters; None for other values."""
    if not isinstance(value, JoinedList) or value.separator:
        return None
    level = value.items.levels[-1]
    of_characters = isinstance(level, PackedUnion) and level.options == (CHARACTER,)
    return value if len(value.items.levels) == 2 and of_characters else None


def as_text(value: Value) -> Value:
    """The text of a list of characters."""
    if isinstance(value, TupleValue):
        parts = [part for item in value.items for part in (item.parts if isinstance(item, TextValue) else ())]
        return TextValue(tuple(parts)) if parts else Static("")
    assert isinstance(value, ListValue)
    return TextValue(((JoinedList("", value), -1, ""),))


def _described(b: TypedEmitter, part: str | tuple[Value, int, Any]) -> Value | None:
    """The description of a part of a text that `spelled` takes; None where only Python knows its characters."""
    if isinstance(part, str):
        return _description(spelled.CODES, Static(0), part)
    value, code, spec = part
    if isinstance(value, VariantValue):
        value = JoinedList("", list_types.as_array_list(b, TupleValue((value,), is_list=True)))
    if isinstance(value, JoinedList):
        return _description(spelled.JOINED, value.items, value.separator)
    if code == REPEATED:
        return _description(spelled.REPEATED, value, spec)
    if spec is TABLE:
        return None
    if code == CHOSEN or (code == -1 and spec == "c"):
        return _description(spelled.CHARACTER, code_of_part(value, code, spec), "")
    found = _INTEGER.fullmatch(spec)
    plain = code in (-1, ord("s")) or (code == ord("r") and is_weak(value))
    padded = found is not None and found[2] and not spec.lstrip("#").startswith("0")
    if found is None or padded or not plain or not is_number(value) or not dtype_of(value).is_integer:
        return None
    prefix = f"0{found[3]}" if found[1] else ""
    return _description(spelled.NUMBER, value, prefix, _BASES[found[3]], int(found[2] or 0))


def _description(kind: int, value: Value, text: str, base: int = 0, width: int = 0) -> Value:
    codes: Value = TupleValue(tuple(Static(ord(one)) for one in text), is_list=True)
    return TupleValue((Static(kind), value, codes, Static(base), Static(width)))


def code_of_part(value: Value, code: int, text: str) -> Value:
    """The number of a character; of a known text's, at a place, by tests of the place: one for each that differs."""
    if code != CHOSEN:
        return value
    found: ScalarExpr = Const(ord(text[-1]), types.int64)
    for position in reversed(range(len(text) - 1)):
        test = op("eq", cast(scalar_expr(value), types.int64), Const(position, types.int64))
        found = op("select", test, Const(ord(text[position]), types.int64), found)
    return Scalar(found, weak=True)


def code_of(b: TypedEmitter, value: Value) -> Value | None:
    """The number of a text of one character; None for other texts."""
    match value:
        case Static(value=str() as known) if len(known) == 1:
            return Static(ord(known))
        case TextValue(parts=((_, _, text),)) if text is TABLE:
            return None
        case TextValue(parts=((shown, int() as code, spec),)) if code == CHOSEN and len(spec) > _FEW:
            codes = TupleValue(tuple(Static(ord(one)) for one in spec), is_list=True)
            return list_types.choose(b, codes, shown)
        case TextValue(parts=((shown, int() as code, spec),)) if code == CHOSEN or (code == -1 and spec == "c"):
            return code_of_part(shown, code, spec)
    return None


def equal(b: OpBuilder, left: Value, right: Value) -> Value:
    """``left == right`` of two texts, of which one is made at run time."""
    codes = code_of(b, left), code_of(b, right)
    if codes[0] is not None and codes[1] is not None:
        return b.operator("==", codes[0], codes[1])
    return b.call(Static(spelled.same_codes), listed(b, left), listed(b, right))


def listed(b: OpBuilder, value: Value) -> Value:
    """The characters of a text, known or not."""
    if isinstance(value, Static):
        codes = (Scalar(Const(ord(one), types.int64), weak=True) for one in value.value)
        return TupleValue(tuple(TextValue(((code, -1, "c"),)) for code in codes), is_list=True)
    assert isinstance(value, TextValue)
    return of_text(b, value)


def among_keys(owner: DictValue, key: Value) -> Value | None:
    """The numbers of the known keys of a dictionary in which a character is looked up; None for other keys."""
    if not isinstance(key, TextValue) or not all(isinstance(known, str) for known, _ in owner.items):
        return None
    codes = tuple(Static(ord(known) if len(known) == 1 else -1) for known, _ in owner.items)
    return TupleValue(codes, is_list=True)


def subscript(b: OpBuilder, owner: TextValue, key: Value) -> Value:
    """``text[key]``: a character, or a part."""
    found = of_text(b, owner)
    if isinstance(found, TupleValue) and not found.items:
        return Static("")
    items = list_types.as_array_list(b, found) if isinstance(found, TupleValue) else found
    if isinstance(key, SliceValue):
        return as_text(list_types.subscript(b, items, key))
    place = list_types.position(b, key, b.exact(items.array.shape[0]), "string index out of range")
    return list_types.item_at(b, items, place)


def repeated(b: OpBuilder, left: Value, right: Value) -> Value | None:
    """``text * count`` of a text that is made at run time; None for other operands."""
    text, count = (left, right) if isinstance(left, TextValue) else (right, left)
    if not isinstance(text, TextValue) or not is_number(count) or not dtype_of(count).is_integer:
        return None
    return as_text(b.call(Static(spelled.repeated), of_text(b, text), count))


def method(b: OpBuilder, owner: TextValue, name: str, args: Sequence[Value]) -> Value | None:
    """``text.isdigit()`` and its like, ``upper`` and ``lower``; None for other methods."""
    if name in ("center", "ljust", "rjust") and 1 <= len(args) <= 2 and is_number(args[0]):
        fill = code_of(b, args[1]) if len(args) > 1 else Static(32)
        if fill is not None:
            return as_text(b.call(Static(spelled.padded), of_text(b, owner), args[0], fill, Static(name)))
    if args:
        return None
    if name in KINDS:
        return b.call(Static(spelled.is_kind), of_text(b, owner), Static(name))
    if name in ("upper", "lower"):
        return as_text(b.call(Static(spelled.with_case), of_text(b, owner), Static(name)))
    return None


KINDS = ("isdigit", "isalpha", "isalnum", "isupper", "islower", "isspace")
