"""Operations on floats that NumPy has no function for: special functions of the C library, and Python's own rounding.

Their meaning is what Python's `math` gives in double precision; where that raises, it is C's NaN or infinity.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np

#: How many digits `round_to` rounds to at most, before and behind the point: those powers of ten are floats exactly.
MOST_DIGITS = 22
SLOPE = 2 / math.sqrt(math.pi)  # of erf at 0
STIRLING = (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)
LARGEST_EXPONENT = 3000  # any float times this power of two is infinite, and 0 if it is divided by it


def _or(function: Callable[..., float], otherwise: Callable[..., float]) -> Callable[..., float]:
    """`function`, or `otherwise` of the same arguments where it raises."""

    def call(*args: float) -> float:
        try:
            return function(*args)
        except (ValueError, OverflowError):
            return otherwise(*args)

    return call


def _beyond_gamma(x: float) -> float:
    """The gamma function where Python raises: at its poles, and where it is too large."""
    return math.nan if x == -math.inf or (x < 0 and x.is_integer()) else math.copysign(math.inf, x)


def _round_to(x: float, digits: float) -> float:
    """Python's ``round(x, digits)``: of the decimal numbers with so many digits the nearest one, as a float."""
    return round(x, int(digits)) if math.isfinite(x) and abs(digits) <= MOST_DIGITS else x


def _ldexp(x: float, exponent: float) -> float:
    """``x * 2**exponent``, rounded once."""
    return x if math.isnan(exponent) else math.ldexp(x, int(max(-LARGEST_EXPONENT, min(exponent, LARGEST_EXPONENT))))


def _bessel(name: str) -> Callable[[float], float]:
    """A Bessel function of the C library, which Python does not show."""

    def call(x: float) -> float:
        function = getattr(ctypes.CDLL(None), name)
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
        return float(function(x))

    return call


def _inverse(function: Callable[[float], float], slope: float, y: float, x: float) -> float:
    """Return where an error function is `y`: three of Halley's steps from `x`, each of which triples the digits."""
    for _ in range(3):
        gap = (function(x) - y) / (slope * math.exp(-x * x))
        x -= gap / (1 + x * gap)
    return x


def _tail(q: float) -> float:
    """Return the x at which erfc is a small `q`; Winitzki's approximation is the start."""
    known = math.log(q * (2 - q))
    half = 2 / (math.pi * 0.147) + 0.5 * known
    return _inverse(math.erfc, -SLOPE, q, math.sqrt(math.sqrt(half * half - known / 0.147) - half))


def _erfinv(y: float) -> float:
    if not abs(y) < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    if abs(y) < 0.5:
        return _inverse(math.erf, SLOPE, y, y / SLOPE * (1 + y * y * (math.pi / 12)))
    return math.copysign(_tail(1 - abs(y)), y)


def _erfcinv(q: float) -> float:
    if not 0 < q < 2:
        return math.inf if q == 0 else -math.inf if q == 2 else math.nan
    if q < 0.5:
        return _tail(q)
    return -_tail(2 - q) if q > 1.5 else _erfinv(1 - q)


def _digamma(x: float) -> float:
    """The logarithmic derivative of gamma: Stirling's series behind twelve steps, and a reflection."""
    if x == 0 or math.isinf(x):
        return math.copysign(math.inf, -x) if x == 0 else x if x > 0 else math.nan
    if x < 0.5:
        turned = math.pi * (x - round(x)) if abs(x) < 2**52 else 0.0
        is_pole = x < 0 and x.is_integer()
        return math.nan if is_pole or x != x else _digamma(1 - x) - math.pi * math.cos(turned) / math.sin(turned)
    far = x + 12
    series = 0.0
    for factor in STIRLING:
        series = (factor + series) / (far * far)
    return math.log(far) - 0.5 / far - series - sum(1 / (x + k) for k in range(12))


def _elementwise(function: Callable[..., float], arity: int) -> Callable[..., Any]:
    each = np.frompyfunc(lambda *args: function(*map(float, args)), arity, 1)
    return lambda *args: np.asarray(each(*args)).astype(np.result_type(*args))[()]


#: by the name of the operation in `ops`, with how many arguments: on scalars or arrays of one dtype of floats
_MEANINGS: dict[str, tuple[Callable[..., float], int]] = {
    "erf": (math.erf, 1),
    "erfc": (math.erfc, 1),
    "gamma": (_or(math.gamma, _beyond_gamma), 1),
    "lgamma": (_or(math.lgamma, lambda _: math.inf), 1),
    "erfinv": (_erfinv, 1),
    "erfcinv": (_erfcinv, 1),
    "digamma": (_digamma, 1),
    **{f"bessel_{name}": (_bessel(name), 1) for name in ("j0", "j1", "y0", "y1")},
    "ieee_remainder": (_or(math.remainder, lambda *_: math.nan), 2),
    "exponent": (lambda x: float(math.frexp(x)[1]), 1),  # of `frexp`; 0 for infinities and NaN
    "ldexp": (_or(_ldexp, lambda x, _: math.copysign(math.inf, x)), 2),
    "round_to": (_round_to, 2),
}
ARITIES = {name: arity for name, (_, arity) in _MEANINGS.items()}
FUNCTIONS: dict[str, Callable[..., Any]] = {name: _elementwise(*meaning) for name, meaning in _MEANINGS.items()}
