"""``str``, ``repr``, ``hex``, ``oct`` and ``bin`` of numbers that are known at run time only: parts of texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcpy.frontend.abstract_values.values import (
    Scalar,
    Static,
    TextValue,
    Value,
    dtype_of,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.frontend.python.spelled_texts import character
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, cast, op

EMPTY = Static("")


@implements(str)
def str_(b: OpBuilder, object: Value = EMPTY) -> Value:
    """The text of a number, or a text itself."""
    return _shown(b, str, object, -1)


@implements(repr)
def repr_(b: OpBuilder, obj: Value) -> Value:
    """The text of a number with its type."""
    return _shown(b, repr, obj, ord("r"))


def _shown(b: OpBuilder, function: Callable[[Any], str], value: Value, conversion: int) -> Value:
    if isinstance(value, Static):
        return Static(function(value.value))
    if isinstance(value, TextValue) and function is str:
        return value
    if not is_number(value):
        raise b.error(
            f"{function.__name__}() of {kind_of(value)} is not supported",
            help="print it: `print(x)`, or give its numbers a text each: `[str(v) for v in x]`",
        )
    return TextValue(((sequences.stable(b, value), conversion, ""),))


@implements(chr)
def chr_(b: OpBuilder, i: Value) -> Value:
    """The character with a number."""
    if isinstance(i, Static) and isinstance(i.value, int):
        return Static(chr(i.value))
    if not is_number(i) or not dtype_of(i).is_integer:
        raise WillRaise("TypeError", f"{kind_of(i)} cannot be interpreted as an integer", by="Python")
    kept = sequences.stable(b, i)
    number = cast(scalar_expr(kept), types.int64)
    inside = op("and", op("ge", number, Const(0, types.int64)), op("lt", number, Const(0x110000, types.int64)))
    b.check(inside, "ValueError", "chr() arg not in range(0x110000)")
    return TextValue(((kept, -1, "c"),))


@implements(character)
def character_(b: OpBuilder, code: Value, /) -> Value:
    """A text of one character, by a number that is that of one."""
    number = Scalar(scalar_expr(code), weak=True) if isinstance(code, Static) else code
    return TextValue(((sequences.stable(b, number), -1, "c"),))


def _digits(function: Callable[[int], str], spec: str) -> Callable[..., Value]:
    def digits(b: OpBuilder, number: Value) -> Value:
        if isinstance(number, Static) and isinstance(number.value, int):
            return Static(function(number.value))
        if not is_number(number) or not dtype_of(number).is_integer:
            raise WillRaise("TypeError", f"{kind_of(number)} cannot be interpreted as an integer", by="Python")
        return TextValue(((sequences.stable(b, number), -1, spec),))

    digits.__doc__ = f"``{function.__name__}(number)``, as a part of a text."
    return digits


for _function, _spec in ((hex, "#x"), (oct, "#o"), (bin, "#b")):
    implements(_function)(_digits(_function, _spec))
