"""The characters of texts that are made at run time, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.base.text_table import TABLE
from dcpy.frontend.callback_decorator import Callback

CODES, CHARACTER, REPEATED, NUMBER, JOINED = range(5)  # what a part of a text is


def character(code: Any) -> Any:
    """``chr(code)`` of a number that is one of a character."""
    return chr(code)


def spelled(parts: Any) -> Any:  # noqa: C901  (one case per kind)
    """The list of the characters of all parts of a text."""
    found: list[Any] = []
    for kind, value, codes, base, width in parts:
        if kind == CODES:
            for code in codes:
                found.append(character(code))
        elif kind == CHARACTER:
            found.append(character(value))
        elif kind == REPEATED:
            for _ in range(value):
                for code in codes:
                    found.append(character(code))
        elif kind == NUMBER:
            _add_number(found, value, codes, base, width)
        else:
            for position in range(len(value)):
                if position > 0:
                    for code in codes:
                        found.append(character(code))
                part = value[position]
                for one in part:
                    found.append(character(ord(one)))
    return found


spelled.goes_into_parts = True  # type: ignore[attr-defined]  # of a joined list, which hold no such parts: it ends


def _add_number(found: Any, value: Any, prefix: Any, base: int, width: int) -> None:
    """Add the digits of an integer, behind its sign and a prefix, with zeros up to a width."""
    rest = int(value)
    used = len(prefix)
    if rest < 0:
        found.append(character(45))
        used += 1
    else:
        rest = -rest  # there is one more negative number than positive ones
    for code in prefix:
        found.append(character(code))
    power, count, left = 1, 1, rest
    while left <= -base:
        left = -(left // -base)
        power *= base
        count += 1
    for _ in range(width - used - count):
        found.append(character(48))
    for _ in range(count):
        digit = (rest // -power) % base
        found.append(character(48 + digit if digit < 10 else 87 + digit))
        power //= base


def spelled_by_python(text: Any) -> Any:
    """The list of the characters of a text that only Python knows."""
    found: list[Any] = []
    for position in range(LENGTH(text)):
        found.append(character(CODE_AT(text, position)))
    return found


def same_codes(items: Any, others: Any) -> bool:
    """Return whether two texts have the same characters."""
    same = len(items) == len(others)
    if same:
        for position in range(len(items)):
            if ord(items[position]) != ord(others[position]):
                same = False
    return same


def place_of_character(codes: Any, key: Any) -> int:
    """The position of a character's number in a list; `KeyError` where it is missing."""
    code = ord(key)
    for position in range(len(codes)):
        if codes[position] == code:
            return position
    raise KeyError(key)


def _as_python_says(text: str) -> int:
    return int(text)


def _is(kind: str, text: str) -> bool:
    return bool(getattr(str, kind)(text))


def _other_case(name: str, text: str) -> int:
    changed = getattr(str, name)(text)
    if len(changed) != 1:
        raise NotImplementedError(f"{text!r}.{name}() has {len(changed)} characters")
    return ord(changed)


def _kept(text: str) -> int:
    return TABLE.keep(text)


def _changed(text: str, name: str, args: Any) -> int:
    return TABLE.keep(getattr(text, name)(*args))


def _found(text: str, name: str, args: Any) -> int:
    return int(getattr(text, name)(*args))


def _told(text: str, name: str, args: Any) -> bool:
    return bool(getattr(text, name)(*args))


def _formatted(value: Any, spec: str) -> int:
    return TABLE.keep(format(value, spec))


def _length(text: str) -> int:
    return len(text)


def _code_at(text: str, position: int) -> int:
    return ord(text[position])


KEPT = Callback(_kept, returns=int, writes=())
CHANGED = Callback(_changed, returns=int, writes=())
FOUND = Callback(_found, returns=int, writes=())
TOLD = Callback(_told, returns=bool, writes=())
FORMATTED = Callback(_formatted, returns=int, writes=())
LENGTH = Callback(_length, returns=int, writes=())
CODE_AT = Callback(_code_at, returns=int, writes=())
EXACT_NUMBER = Callback(_as_python_says, returns=int, writes=())
EXACT_KIND = Callback(_is, returns=bool, writes=())
EXACT_CASE = Callback(_other_case, returns=int, writes=())


def number_in(items: Any) -> int:
    """``int(text)``: digits behind a sign are read here, all else by Python."""
    start, value, plain = 0, 0, len(items) < 19
    if len(items) > 1 and ord(items[0]) == 45:
        start = 1
    if len(items) == start:
        plain = False
    for position in range(start, len(items)):
        digit = ord(items[position]) - 48
        if digit < 0 or digit > 9:
            plain = False
        else:
            value = value * 10 + digit
    if not plain:
        value = EXACT_NUMBER("".join(items))
    elif start > 0:
        value = -value
    return value


def is_kind(items: Any, kind: str) -> bool:
    """``text.isdigit()`` and its like, of which Python knows what they say of other characters than ASCII's."""
    found = len(items) > 0
    cased = False
    for item in items:
        code = ord(item)
        upper, lower, digit = 65 <= code <= 90, 97 <= code <= 122, 48 <= code <= 57
        if code >= 128:
            found = found and EXACT_KIND(kind, item)
            cased = True
        elif kind == "isdigit":
            found = found and digit
        elif kind == "isalpha":
            found = found and (upper or lower)
        elif kind == "isalnum":
            found = found and (upper or lower or digit)
        elif kind == "isspace":
            found = found and (9 <= code <= 13 or 28 <= code <= 32)
        elif kind == "isupper":
            found = found and not lower
            cased = cased or upper
        else:
            found = found and not upper
            cased = cased or lower
    return found and (cased or kind not in ("isupper", "islower"))


def number_of_characters(items: Any) -> Any:
    """A number that is the same for equal texts."""
    found = np.int64(0 if len(items) > 0 else -1)
    for item in items:
        found = found * np.int64(-7046029254386353131) + np.int64(ord(item))
    return found


def repeated(items: Any, count: int) -> Any:
    """``text * count``."""
    found: list[Any] = []
    for _ in range(count):
        for item in items:
            found.append(character(ord(item)))
    return found


def padded(items: Any, width: int, fill: int, name: str) -> Any:
    """``text.center(width)``, ``ljust`` or ``rjust``, with the number of the character to fill with."""
    rest = max(0, width - len(items))
    left = 0 if name == "ljust" else rest if name == "rjust" else rest // 2 + (rest & width & 1)
    found: list[Any] = []
    for _ in range(left):
        found.append(character(fill))
    for item in items:
        found.append(character(ord(item)))
    for _ in range(rest - left):
        found.append(character(fill))
    return found


def with_case(items: Any, name: str) -> Any:
    """``text.upper()`` or ``text.lower()``."""
    found: list[Any] = []
    for item in items:
        code = ord(item)
        if code >= 128:
            code = EXACT_CASE(name, item)
        elif name == "upper" and 97 <= code <= 122:
            code -= 32
        elif name == "lower" and 65 <= code <= 90:
            code += 32
        found.append(character(code))
    return found
