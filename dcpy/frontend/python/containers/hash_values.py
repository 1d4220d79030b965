"""Hash values of keys: those that CPython computes for integers, floats and tuples of them.

The order of a set follows from these numbers, so they are Python's to the bit. Sums and products are those of
`np.int64`, which wrap around.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

MODULUS = (1 << 61) - 1  # of the numbers that integers and floats hash to
_PRIMES = (np.int64(-7046029288634856825), np.int64(-4417276706812531889), np.int64(2870177450012600261))
_LENGTH = np.int64(2870177450012600261 ^ 3527539)


def hash_of(key: Any) -> Any:
    """``hash(key)`` as an `np.int64`."""
    if isinstance(key, tuple):
        return _hash_of_tuple(key)
    if isinstance(key, float | np.floating):
        return np.int64(_hash_of_float(float(key)))
    found = number_of(key)
    found = np.fmod(found, np.int64(MODULUS))
    return found - np.int64(found == -1)


hash_of.goes_into_parts = True  # type: ignore[attr-defined]  # of a tuple, which are fewer each time: it ends


def as_key(key: Any) -> Any:
    """A key as it is stored: texts that are known are numbers, in a program."""
    return key


def number_of(key: Any) -> Any:
    """A key as an `np.int64`; what is no number is refused where the call is compiled."""
    return np.int64(key)


def _hash_of_tuple(key: Any) -> Any:
    found = _PRIMES[2]
    for part in key:
        found = found + hash_of(part) * _PRIMES[1]
        found = (found << np.int64(31)) | ((found >> np.int64(33)) & np.int64(0x7FFFFFFF))
        found = found * _PRIMES[0]
    found = found + (np.int64(len(key)) ^ _LENGTH)
    return np.int64(1546275796) if found == -1 else found


def _hash_of_float(key: float) -> int:
    if math.isinf(key):
        return 314159 if key > 0 else -314159
    if math.isnan(key):
        return 0
    rest, exponent = math.frexp(abs(key))
    found = 0
    while rest:
        found = ((found & ((1 << 33) - 1)) << 28) | (found >> 33)
        rest *= 268435456.0
        exponent -= 28
        digits = int(rest)
        rest -= digits
        found += digits
        if found >= MODULUS:
            found -= MODULUS
    turn = exponent % 61
    found = ((found << turn) & MODULUS if turn < 2 else (found & ((1 << (61 - turn)) - 1)) << turn) | (
        found >> (61 - turn)
    )
    if key < 0:
        found = -found
    return -2 if found == -1 else found
