"""Methods of texts: those that are known are called now; `format` and `join` also take what is known at run time only.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.base.string_formatting import formatted
from dcpy.frontend.abstract_values.list_values import JoinedLevel, JoinedList, ListValue
from dcpy.frontend.abstract_values.packed_items import PackedConstant, PackedText
from dcpy.frontend.abstract_values.values import (
    IteratorValue,
    Static,
    TextValue,
    TupleValue,
    Value,
    VariantValue,
    kind_of,
)
from dcpy.frontend.lower.functions import numpy_arguments
from dcpy.frontend.lower.lowering_signals import WillRaise, raised_by
from dcpy.frontend.lower.name_binding import from_python
from dcpy.frontend.lower.sequences import list_types
from dcpy.frontend.lower.sequences.items import as_it_is
from dcpy.frontend.lower.sequences.texts import Part, as_text, parts_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

_CODES = {None: -1, "s": ord("s"), "r": ord("r"), "a": ord("a")}


def call(frame: Frame, found: Any, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """``text.method(...)`` of a known text."""
    text, lists = found.__self__, [frame.program.evaluator.all_items(frame, value) for value in args]
    if found.__name__ == "join":
        lists = [frame.b.call(Static(list), value) if isinstance(value, IteratorValue) else value for value in lists]
    if found.__name__ == "format" and not all(isinstance(value, Static) for value in (*args, *kwargs.values())):
        return as_text(_format(frame, text, args, kwargs))
    if found.__name__ == "join" and len(lists) == 1 and not kwargs and _is_made(lists[0]):
        return _join(frame, text, lists[0])
    what = "an argument of a method of strings"
    instead = 'print an f-string, `print(f"{x:.3e}")`, or pass a constant'
    known = [numpy_arguments.static(value, what, instead) for value in lists]
    keywords = {name: numpy_arguments.static(value, what, instead) for name, value in kwargs.items()}
    with raised_by("Python"):
        made = found(*known, **keywords)
    return from_python(frame, made)


def _format(frame: Frame, text: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> list[Part]:
    """The parts of ``text.format(*args, **kwargs)``."""
    numbers: Iterator[int] = iter(range(len(args)))
    parts: list[Part] = []
    for before, field, spec, conversion in string.Formatter().parse(text):
        parts.append(before)
        if field is None:
            continue
        if "{" in (spec or "") or "." in field or "[" in field:
            raise FrontendError(f"the field {field!r} of a format is not supported", help="write an f-string")
        name = field or str(next(numbers, len(args)))
        if name.isdigit() and int(name) >= len(args):
            message = f"Replacement index {name} out of range for positional args tuple"
            raise WillRaise("IndexError", message, by="Python")
        if not name.isdigit() and name not in kwargs:
            raise WillRaise("KeyError", repr(name), by="Python")
        value = args[int(name)] if name.isdigit() else kwargs[name]
        code = _CODES[conversion]
        if isinstance(value, Static):
            with raised_by("Python"):
                parts.append(formatted(value.value, code, spec or ""))
        else:
            parts.append((as_it_is(frame.b, value), code, spec or ""))
    return parts


def _is_made(value: Value) -> bool:
    """Return whether the items of a list are not all known texts."""
    if isinstance(value, TupleValue):
        return any(not isinstance(item, Static) for item in value.items)
    return isinstance(value, ListValue)


def _join(frame: Frame, separator: str, value: Value) -> Value:
    if isinstance(value, TupleValue) and any(isinstance(item, VariantValue) for item in value.items):
        value = list_types.as_array_list(frame.b, value)
    if isinstance(value, ListValue):
        nested = all(isinstance(level, JoinedLevel) for level in value.levels[1:-1])
        options = value.union.options if value.union is not None and nested else ()
        texts = [isinstance(option, PackedText) or (isinstance(option, PackedConstant)
                 and isinstance(option.value.value, str)) for option in options]  # fmt: skip
        if not texts or not all(texts):
            raise FrontendError("join() takes texts", help='convert the items: `" ".join(str(x) for x in xs)`')
        if not value.array.fresh:  # a list that may change before the text is shown
            value = value.of(frame.b.copy(value.array))
        return TextValue(((JoinedList(separator, value), -1, ""),))
    assert isinstance(value, TupleValue)
    parts: list[Part] = []
    for position, item in enumerate(value.items):
        found = parts_of(item)
        if found is None:
            raise FrontendError(f"join() takes texts, not {kind_of(item)}", help="convert it: `str(x)`")
        parts += [separator] * (position > 0) + list(found)
    return as_text(parts)
