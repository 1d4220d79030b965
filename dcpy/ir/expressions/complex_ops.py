"""Operations on complex numbers that NumPy has no function for."""

from __future__ import annotations

from typing import Any

import numpy as np


def of_parts(real: Any, imag: Any) -> Any:
    """The complex number with these parts, each as it is: ``real + 1j * imag`` computes with infinities and -0.0."""
    parts = np.broadcast_arrays(real, imag)
    value = np.empty(parts[0].shape, np.result_type(*parts, np.complex64))
    value.real, value.imag = parts
    return value[()]


FUNCTIONS = {"complex": of_parts}
