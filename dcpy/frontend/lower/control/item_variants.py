"""Items of several kinds in the middle of expressions: what uses one is computed once for each kind that it may have.

``best[v] + 1`` of a list that holds ints, floats and None becomes a branch with a side for each; its value is one of
several again, unless all sides give the same kind of number. Names that stand for such values: `path_splitting`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import Static, Value, VariantValue
from dcpy.frontend.lower.arithmetic.operand_classes import unsupported
from dcpy.frontend.lower.control import expression_branches
from dcpy.frontend.lower.control.expression_branches import ExpressionPlace
from dcpy.frontend.lower.control.path_selectors import chosen, is_number_of
from dcpy.frontend.lower.lowering_signals import WillRaise

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

Function = Callable[[list[Value]], Value]


def by_kind(frame: Frame, values: Sequence[Value], function: Function, symbol: str = "") -> Value:
    """A function of values, computed on a side of its own for each kind that one of them may have.

    `symbol`: the operator that it is, if it is one.
    """
    variant = next((value for value in values if isinstance(value, VariantValue)), None)
    if variant is None:
        return function(list(values))
    place = frame.emit.place
    assert place is not None
    return _side(frame, place, values, functools.partial(_or_raise, function, symbol), variant, 0)


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
    if symbol and Static(None) in values:
        raise WillRaise("TypeError", unsupported(symbol, *values), by="Python")
    try:
        return function(values)
    except WillRaise:
        raise
    except FrontendError as error:
        if not any("Python raises TypeError" in note for note in error.notes):
            raise
        raise WillRaise("TypeError", error.message, by="Python") from error
