"""Operations on 64-bit integers that NumPy has no function for: whether a result fits, powers modulo a number, bits.

They have the exact meaning of Python's own ints, one element at a time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

LOWEST, HIGHEST = -(2**63), 2**63 - 1
_SIMPLE: dict[str, Callable[[int, int], int]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


def fits(name: str, x: int, y: int) -> bool:
    """Return whether ``x name y`` fits into 64 bits. Powers and shifts by a negative number do: they are errors
    elsewhere.
    """
    if name in _SIMPLE:
        return LOWEST <= _SIMPLE[name](x, y) <= HIGHEST
    if y < 0 or x == 0 or (name == "pow" and abs(x) == 1):
        return True
    return y < 64 and LOWEST <= (x**y if name == "pow" else x << y) <= HIGHEST


def power_modulo(base: int, exponent: int, modulus: int) -> int:
    """``pow(base, exponent, modulus)``; 0 where that raises, which is checked before."""
    return pow(base, exponent, modulus) if modulus != 0 and exponent >= 0 else 0


def range_length(start: int, stop: int, step: int) -> int:
    """Return the number of integers in ``range(start, stop, step)``, or the largest number; 0 where `step` is 0."""
    ahead = (stop - start if step > 0 else start - stop) + abs(step) - 1
    return min(max(ahead // abs(step), 0), HIGHEST) if step else 0


def trailing_zeros(x: int) -> int:
    """The position of the lowest bit that is set; 64 where none is."""
    return (x & -x).bit_length() - 1 if x else 64


def _elementwise(function: Callable[..., Any], arity: int, dtype: type[np.generic]) -> Callable[..., Any]:
    each = np.frompyfunc(lambda *args: function(*map(int, args)), arity, 1)
    return lambda *args: np.asarray(each(*args)).astype(dtype)[()]


def _fits(name: str) -> Callable[..., Any]:
    return _elementwise(lambda x, y: fits(name, x, y), 2, np.bool_)


#: by the name of the operation in `ir.expressions.ops`: on scalars or arrays of int64
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"{name}_fits": _fits(name) for name in ("add", "sub", "mul", "pow", "lshift")},
    "powmod": _elementwise(power_modulo, 3, np.int64),
    "range_length": _elementwise(range_length, 3, np.int64),
    "ctz": _elementwise(trailing_zeros, 1, np.int64),
}
