"""Window functions and the special functions that they use, as Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.python_implementations import written_in_python


def _positions(M: int) -> Any:  # noqa: N803  (NumPy's name)
    """`M` places from -1 to 1, none if `M` is negative; the one place of a single sample is 0."""
    M = max(M, 0)  # noqa: N806
    return np.arange(1 - M, M, 2) / max(M - 1, 1)


@written_in_python(np.bartlett)
def bartlett(M: int) -> Any:  # noqa: N803
    """A triangle that begins and ends with 0."""
    x = _positions(M)
    return np.where(x <= 0, 1 + x, 1 - x)


@written_in_python(np.hanning)
def hanning(M: int) -> Any:  # noqa: N803
    """A period of the cosine, raised."""
    return 0.5 + 0.5 * np.cos(np.pi * _positions(M))


@written_in_python(np.hamming)
def hamming(M: int) -> Any:  # noqa: N803
    """A period of the cosine, raised, on a pedestal."""
    return 0.54 + 0.46 * np.cos(np.pi * _positions(M))


@written_in_python(np.blackman)
def blackman(M: int) -> Any:  # noqa: N803
    """The first three terms of a sum of cosines."""
    x = np.pi * _positions(M)
    return 0.42 + 0.5 * np.cos(x) + 0.08 * np.cos(2.0 * x)


@written_in_python(np.kaiser)
def kaiser(M: int, beta: Any) -> Any:  # noqa: N803
    """Bessel functions of half an ellipse; `beta` is its height."""
    middle = (M - 1) / 2.0
    x = (np.arange(0, M) - middle) / max(middle, 0.5)
    beta = np.float64(beta)
    return i0(beta * np.sqrt(1 - x**2.0)) / i0(beta)


@written_in_python(np.i0)
def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind and order 0, by its power series: all terms are positive."""
    values = np.asarray(x)
    if values.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    values = values if values.dtype.kind == "f" else values.astype(np.float64)
    result = np.empty(values.shape, values.dtype)
    flat, out = values.reshape(-1), result.reshape(-1)
    for k in range(len(flat)):
        quarter = np.float64(flat[k]) ** 2 / 4
        term, total, n = np.float64(1), np.float64(1), 0
        while term > 1e-17 * total:
            n += 1
            term *= quarter / (n * n)
            total += term
        out[k] = total
    return result


@written_in_python(np.sinc)
def sinc(x: Any) -> Any:
    """``sin(pi * x) / (pi * x)``, 1 at 0."""
    angle = np.pi * np.asarray(x)
    tiny = np.finfo(angle.dtype).eps if angle.dtype.kind == "f" else 1e-20
    angle = np.where(angle, angle, tiny)[()]
    return np.sin(angle) / angle
