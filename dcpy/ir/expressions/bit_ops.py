"""Operations on the bits of numbers: a float as the integer with the same 64 bits, and back."""

from __future__ import annotations

from typing import Any

import numpy as np


def bits(x: Any) -> Any:
    """The integer with the bits of a float64."""
    return np.asarray(x, np.float64).view(np.int64)[()]


def of_bits(x: Any) -> Any:
    """The float64 with the bits of an integer."""
    return np.asarray(x, np.int64).view(np.float64)[()]


FUNCTIONS = {"bits": bits, "of_bits": of_bits}
