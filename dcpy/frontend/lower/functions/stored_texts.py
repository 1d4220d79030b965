"""Stored texts: one of pieces that only the run time counts is a number in a list, and Python keeps the text.

The rows of a list have one length, and such texts have none: ``rows.append(row)`` asks Python for the text, and for its
number in a table (`base.text_table`). So do methods of texts that are made at run time, and formats that are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.base.string_formatting import CHOSEN
from dcpy.base.text_table import TABLE
from dcpy.frontend.abstract_values.list_values import JoinedList
from dcpy.frontend.abstract_values.values import Static, TextValue, TupleValue, Value, VariantValue, kind_of
from dcpy.frontend.callback_decorator import Callback
from dcpy.frontend.lower.functions.callback_calls import call_back
from dcpy.frontend.lower.sequences import characters, growing_texts
from dcpy.frontend.python.spelled_texts import CHANGED, FOUND, KEPT, TOLD

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

_TEXTS = ("upper", "lower", "strip", "lstrip", "rstrip", "replace", "center", "ljust", "rjust", "zfill", "title",
          "capitalize", "swapcase", "removeprefix", "removesuffix", "casefold", "expandtabs")  # fmt: skip
_NUMBERS = ("count", "find", "rfind", "index", "rindex")
_BOOLS = ("startswith", "endswith", "isdigit", "isalpha", "isalnum", "isupper", "islower", "isspace", "isnumeric",
          "isdecimal", "isidentifier", "isprintable", "isascii", "istitle")  # fmt: skip


def as_item(frame: Frame, value: Value) -> Value:
    """A value as an item of a list: a text of so many pieces that the run time counts is stored."""
    if isinstance(value, VariantValue) or not _is_ragged(frame, value):
        return value
    return _stored(frame, KEPT, [value])


def _is_ragged(frame: Frame, value: Value) -> bool:
    """Return whether a text has joined lists whose lengths are not known before the program runs."""
    if not growing_texts.is_grown(value) or not isinstance(value, TextValue):
        return False
    lists = [part[0] for part in value.parts if not isinstance(part, str) and isinstance(part[0], JoinedList)]
    sizes = [frame.b.exact(size) for joined in lists for size in joined.items.array.shape]
    known = all(name in frame.emit.sdfg.symbols for size in sizes for name in size.symbols)
    return len(value.parts) > 1 or not known


def _stored(frame: Frame, callback: Callback, args: Sequence[Value]) -> Value:
    """The text whose number a callback gives."""
    return TextValue(((call_back(frame, callback, args, {}, unused=False), CHOSEN, TABLE),))


def call_method(frame: Frame, owner: TextValue, name: str, args: Sequence[Value]) -> Value:
    """``text.name(*args)`` of a text that is made at run time."""
    found = characters.method(frame.b, owner, name, args)
    found = _by_python(frame, owner, name, args) if found is None else found
    if found is None:
        raise FrontendError(
            f".{name}() of {kind_of(owner)} is not supported",
            notes=("how many texts it gives is known at run time only",),
            help="return the text, and look into it after the call",
        )
    return found


def _by_python(frame: Frame, owner: Value, name: str, args: Sequence[Value]) -> Value | None:
    """The result of a method that Python calls; None for methods that return lists."""
    given = [owner, Static(name), TupleValue(tuple(args))]
    if name in _TEXTS:
        return _stored(frame, CHANGED, given)
    told = FOUND if name in _NUMBERS else TOLD if name in _BOOLS else None
    return None if told is None else call_back(frame, told, given, {}, unused=False)

