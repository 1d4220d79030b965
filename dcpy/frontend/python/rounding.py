"""Python's ``round``: to whole numbers, and to digits of the decimal number, exactly as Python rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import (
    Scalar,
    Static,
    Value,
    dtype_of,
    is_number,
    is_weak,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.implements import call_entry, find, implements
from dcpy.frontend.lower.arithmetic.range_checks import as_integer_part
from dcpy.frontend.lower.lowering_signals import raised_by
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.python_implementations import call_body, computes_with_integers
from dcpy.frontend.python.number_conversion import python_number
from dcpy.ir import types
from dcpy.ir.expressions.float_ops import MOST_DIGITS
from dcpy.ir.expressions.scalar import Const, cast, op

NONE = Static(None)


@implements(round)
def round_(b: OpBuilder, number: Value, ndigits: Value = NONE) -> Value:
    """The nearest even integer, or decimal number with so many digits; an int without `ndigits`."""
    if not is_number(number) or dtype_of(number).kind == "c":
        raise b.error(f"round() does not take {kind_of(number)}", help="use np.round for arrays and complex numbers")
    if ndigits == NONE:
        return _whole(b, number)
    if not is_number(ndigits) or dtype_of(ndigits).kind not in "iub":
        raise b.error(f"round() to {kind_of(ndigits)} digits", notes=("Python raises TypeError here",))
    if isinstance(number, Static) and isinstance(ndigits, Static):
        with raised_by("Python"):
            return Static(round(number.value, ndigits.value))
    if is_weak(number):
        rounded = _to_digits if dtype_of(number).kind == "f" else _integer_to_digits
        return rounded(b, number, ndigits)
    entry = find(np.round)
    assert entry is not None
    return Scalar(scalar_expr(call_entry(b, entry, [number, ndigits], {})))


def _whole(b: OpBuilder, number: Value) -> Value:
    if isinstance(number, Static):
        with raised_by("Python"):
            return Static(round(number.value))
    if not dtype_of(number).is_inexact:
        whole = python_number(b, number)
        return Scalar(cast(scalar_expr(whole), types.int64), weak=True) if dtype_of(number) == types.bool_ else whole
    return as_integer_part(b, Scalar(op("rint", scalar_expr(number))))


def _to_digits(b: OpBuilder, number: Value, ndigits: Value) -> Value:
    """A float: of the decimal numbers with so many digits the nearest, and of those the nearest float."""
    reason = f"round() of a float in a program takes between -{MOST_DIGITS} and {MOST_DIGITS} digits"
    if isinstance(ndigits, Static):
        if abs(ndigits.value) > MOST_DIGITS:
            raise b.error(
                reason,
                notes=("larger powers of ten are no floats exactly",),
                help=f"write the number itself for more than {MOST_DIGITS} digits, and np.round(x, n) otherwise",
            )
        return Scalar(op("round_to", scalar_expr(number), Const(float(ndigits.value), types.float64)), weak=True)
    digits = cast(scalar_expr(b.hold(ndigits)), types.float64)
    b.check(op("le", op("abs", digits), Const(float(MOST_DIGITS), types.float64)), "ValueError", reason)
    return Scalar(op("round_to", scalar_expr(number), digits), weak=True)


def _integer_to_digits(b: OpBuilder, number: Value, ndigits: Value) -> Value:
    """An int: a multiple of a power of ten."""
    whole, digits = _whole(b, number), _whole(b, ndigits)
    if isinstance(digits, Static) and digits.value >= 0:
        return whole
    return call_body(b, _nearest_multiple, b.hold(whole), digits)


@computes_with_integers
def _nearest_multiple(number: Any, ndigits: Any) -> Any:
    """Half way between two multiples the even one; 0 where half of the power exceeds every integer of 64 bits."""
    found = number
    if ndigits < -19:
        found = 0
    elif ndigits == -19:  # 10**19 does not fit
        raise OverflowError("a multiple of 10**19 does not fit into the 64 bits that integers have in a program")
    elif ndigits < 0:
        unit = 10**-ndigits
        multiple, rest = number // unit, number % unit
        up = rest > unit - rest or (rest == unit - rest and multiple % 2 == 1)
        found = (multiple + 1) * unit if up else multiple * unit
    return found
