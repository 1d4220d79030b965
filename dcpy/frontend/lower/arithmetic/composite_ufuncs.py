"""Composite ufuncs: a few scalar operations each, such as bit counts and powers of two of floats."""

from __future__ import annotations

import numpy as np

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, ScalarExpr, cast, op
from dcpy.ir.types import DType

_WORD = types.uint64
_DOUBLE = types.float64


def bits_set(x: ScalarExpr) -> ScalarExpr:
    """Return the number of bits set in an integer's magnitude, as uint8: sums of neighbours, in groups that double."""
    unsigned = types.from_numpy(np.dtype(f"u{x.dtype.itemsize}"))
    magnitude = op("abs", x) if x.dtype.kind == "i" else x
    pairs = cast(cast(magnitude, unsigned), _WORD)
    ones = _word(0x5555555555555555)
    pairs = op("sub", pairs, op("bitand", _right(pairs, 1), ones))
    twos = _word(0x3333333333333333)
    fours = op("add", op("bitand", pairs, twos), op("bitand", _right(pairs, 2), twos))
    bytes_ = op("bitand", op("add", fours, _right(fours, 4)), _word(0x0F0F0F0F0F0F0F0F))
    return cast(_right(op("mul", bytes_, _word(0x0101010101010101)), 56), types.uint8)


def _word(number: int) -> ScalarExpr:
    return Const(number, _WORD)


def _right(x: ScalarExpr, places: int) -> ScalarExpr:
    return op("rshift", x, _word(places))


def scaled(x: ScalarExpr, exponent: ScalarExpr) -> ScalarExpr:
    """``x * 2**exponent``, rounded once."""
    return cast(op("ldexp", cast(x, _DOUBLE), cast(exponent, _DOUBLE)), x.dtype)


def exponent_of(x: ScalarExpr) -> ScalarExpr:
    """The exponent of a float as a float64: the least `e` for which ``abs(x) < 2**e``; 0 for 0, infinities and NaN."""
    return op("exponent", cast(x, _DOUBLE))


def mantissa_of(x: ScalarExpr, dtype: DType) -> ScalarExpr:
    """Return the mantissa of a float: from a half to below 1."""
    return cast(scaled(cast(x, _DOUBLE), op("neg", exponent_of(x))), dtype)
