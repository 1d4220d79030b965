"""Items of several kinds in the middle of expressions: what uses one is computed once for each kind that it may have.

``best[v] + 1`` of a list that holds ints, floats and None becomes a branch with a side for each; its value is one of
several again, unless all sides give the same kind of number. Names that stand for such values: `path_splitting`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value, VariantValue
from dcpy.frontend.lower.arithmetic.operand_classes import unsupported
from dcpy.frontend.lower.control import expression_branches
from dcpy.frontend.lower.control.expression_branches import ExpressionPlace
from dcpy.frontend.lower.control.path_selectors import chosen, is_number_of
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.ir.expressions.scalar import op

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Function = Callable[[list[Value]], Value]
NONE = Static(None)
NOT_UNPACKED = "cannot unpack non-iterable NoneType object"


def by_kind(frame: Frame, values: Sequence[Value], function: Function, symbol: str = "") -> Value:
    """A function of values, computed on a side of its own for each kind that one of them may have.

    `symbol`: the operator that it is, ``unary -``, ``[]`` of a subscript, ``.name`` of an attribute. None has none of
    these: that is checked, and it gets no side.
    """
    if symbol:
        values = _without_none(frame, values, symbol)
    variant = next((value for value in values if isinstance(value, VariantValue)), None)
    if variant is None:
        return function(list(values))
    place = frame.emit.place
    assert place is not None
    return _side(frame, place, values, functools.partial(_or_raise, function, symbol), variant, 0)


def unpacked(frame: Frame, value: Value) -> Value:
    """A value that is unpacked: where it may be None, that is checked."""
    return _checked(frame, value, _where_none(value), "TypeError", NOT_UNPACKED)


def stored(frame: Frame, owner: ArrayValue, value: Value) -> Value:
    """A value that is stored into an array, where None is NaN, as in NumPy, or raises."""
    if not owner.dtype.is_inexact:
        words = "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'"
        return _checked(frame, value, _where_none(value), "TypeError", words)
    if not isinstance(value, VariantValue):
        return value
    options = tuple((number, Static(math.nan) if option == NONE else option) for number, option in value.options)
    return VariantValue(value.which, options)


def _where_none(value: Value) -> list[int]:
    """The numbers of the selector with which a value is None."""
    options = value.options if isinstance(value, VariantValue) else ()
    return [number for number, option in options if option == NONE]


def _checked(frame: Frame, value: Value, numbers: Sequence[int], exception: str, message: str) -> Value:
    """The value, which raises where its selector has one of these numbers."""
    if not numbers:
        return value
    assert isinstance(value, VariantValue)
    for number in numbers:
        frame.b.check(op("not", is_number_of(value.which, number)), exception, message)
    options = tuple((number, option) for number, option in value.options if number not in numbers)
    return options[0][1] if len(options) == 1 else VariantValue(value.which, options)


def _without_none(frame: Frame, values: Sequence[Value], symbol: str) -> list[Value]:
    """The values where none of them is None, or Python raises."""
    found = list(values)
    for position, value in enumerate(values):
        others = [other for k, other in enumerate(values) if k != position]
        numbers = _where_none(value)
        if numbers and not any(isinstance(other, VariantValue) for other in others):
            operands = [*found[:position], NONE, *found[position + 1 :]]
            found[position] = _checked(frame, value, numbers, *_of_none(symbol, position, operands))
    return found


def _of_none(symbol: str, position: int, operands: Sequence[Value]) -> tuple[str, str]:
    """The exception, and Python's words, for an operation on None."""
    if symbol.startswith("."):
        return "AttributeError", f"'NoneType' object has no attribute {symbol[1:]!r}"
    if symbol.startswith("unary"):
        return "TypeError", f"bad operand type for {symbol}: 'NoneType'"
    if symbol == "[]" and isinstance(operands[0], ArrayValue):
        return "TypeError", "None, out of a list, is an index of an array: write np.newaxis where a new axis is meant"
    if symbol == "[]":
        key = "list indices must be integers or slices, not NoneType"
        return "TypeError", key if position else "'NoneType' object is not subscriptable"
    return "TypeError", unsupported(symbol, *operands)


def _side(
    frame: Frame, place: ExpressionPlace, values: Sequence[Value], function: Function, variant: VariantValue,
    position: int,
) -> Value:  # fmt: skip
    """The result for the kinds from a position on."""
    number, _ = variant.options[position]
    here = [chosen(value, {variant.which: number}) for value in values]

    def this() -> Value:
        return by_kind(frame, here, function)

    if position == len(variant.options) - 1:
        return this()
    rest = functools.partial(_side, frame, place, values, function, variant, position + 1)
    return expression_branches.either(place, is_number_of(variant.which, number), this, rest)


def _or_raise(function: Function, symbol: str, values: list[Value]) -> Value:
    """The result, or the exception that Python raises for operands of these kinds, once the side runs."""
    if symbol and NONE in values:
        raise WillRaise(*_of_none(symbol, values.index(NONE), values), by="Python")
    try:
        return function(values)
    except WillRaise:
        raise
    except FrontendError as error:
        if not any("Python raises TypeError" in note for note in error.notes):
            raise
        raise WillRaise("TypeError", error.message, by="Python") from error
