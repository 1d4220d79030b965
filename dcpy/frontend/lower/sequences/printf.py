"""``"%d of %.2f" % (n, x)``: the text that an f-string would make, where a value is known at run time only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    Scalar,
    Static,
    TextValue,
    TupleValue,
    Value,
    dtype_of,
    is_number,
    kind_of,
)
from dcpy.frontend.lower.lowering_signals import WillRaise, raised_by
from dcpy.frontend.lower.sequences.items import as_it_is

if TYPE_CHECKING:
    from dcpy.frontend.lower.op_builder import OpBuilder

FormatPart = str | tuple[Value, int, str]

_FORMAT = re.compile(r"%(?P<flags>[-+ 0#]*)(?P<width>\d*)(?:\.(?P<digits>\d*))?[hlL]?(?P<kind>[a-zA-Z%])")
_TEXTS = {"s": ord("s"), "r": ord("r"), "a": ord("a")}
_FLOATS, _INTEGERS = "eEfFgG", "diu"


def formatted(b: OpBuilder, text: str, values: Value) -> Value:
    """``text % values``."""
    items = values.items if isinstance(values, TupleValue) and not values.is_list else (values,)
    left = iter(items)
    parts = list(_parts(b, text, left))
    if next(left, None) is not None:
        raise WillRaise("TypeError", "not all arguments converted during string formatting", by="Python")
    if all(isinstance(part, str) for part in parts):
        return Static("".join(map(str, parts)))
    return TextValue(tuple(parts))


def _parts(b: OpBuilder, text: str, values: Iterator[Value]) -> Iterator[FormatPart]:
    end = 0
    for found in re.finditer("%", text):
        if found.start() < end:
            continue
        one = _FORMAT.match(text, found.start())
        if one is None or one["kind"] not in (*_TEXTS, *_FLOATS, *_INTEGERS, "x", "X", "o", "%"):
            raise FrontendError(
                f"the format {text[found.start() :]!r} is not supported",
                help="write an f-string: f'{x:8.3f}'",
            )
        yield text[end : one.start()]
        end = one.end()
        if one["kind"] == "%":
            yield "%"
            continue
        value = next(values, None)
        if value is None:
            raise WillRaise("TypeError", "not enough arguments for format string", by="Python")
        if isinstance(value, Static):
            with raised_by("Python"):
                shown = one[0] % value.value
            yield shown
        else:
            yield _part(b, one, value)
    yield text[end:]


def _part(b: OpBuilder, one: re.Match[str], value: Value) -> FormatPart:
    """The value, with the conversion and the format that mean the same in an f-string."""
    flags, kind = one["flags"], one["kind"]
    if kind in _TEXTS:
        spec = _aligned(flags, one["width"]) + ("" if one["digits"] is None else f".{one['digits'] or 0}")
        plain = kind == "s" and not spec
        return as_it_is(b, value), -1 if plain else _TEXTS[kind], spec
    number = Scalar(value.load(())) if isinstance(value, ArrayValue) and not value.shape else value
    wanted = "iub" if kind in "xXo" else "iubf"
    if not is_number(number) or dtype_of(number).kind not in wanted:
        needed = "an integer" if kind in "xXo" else "a real number"
        raise FrontendError(
            f"%{kind} format: {needed} is required, not {kind_of(number)}", notes=("Python raises TypeError here",)
        )
    if kind in _FLOATS:
        digits = "" if one["digits"] is None else f".{one['digits'] or 0}"
        return as_it_is(b, number), -1, _numeric(flags, one["width"]) + digits + kind
    if one["digits"] is not None:
        raise FrontendError(f"the format {one[0]!r} is not supported", help="write an f-string: f'{n:05d}'")
    if dtype_of(number).kind == "f":
        number = b.call(Static(int), number)
    spec = _numeric(flags, one["width"]) + ("d" if kind in _INTEGERS else kind)
    plain = spec == "d" and dtype_of(number).kind != "b"
    return as_it_is(b, number), -1, "" if plain else spec


def _aligned(flags: str, width: str) -> str:
    """Texts stand at the right of their field, unless a flag says otherwise."""
    return f"{'<' if '-' in flags else '>'}{width}" if width else ""


def _numeric(flags: str, width: str) -> str:
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zero = "0" if "0" in flags and "-" not in flags else ""
    return ("<" if "-" in flags and width else "") + sign + ("#" if "#" in flags else "") + zero + width
