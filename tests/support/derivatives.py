"""Oracles of derivatives: complex step and extrapolated differences of plain functions, for trees of arrays."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

TINY = 1e-30


def outputs(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[np.ndarray]:
    """The floating-point numbers that a call returns, and those that it leaves in its array arguments."""
    mine = copy.deepcopy(arguments)
    with np.errstate(all="ignore"):
        returned = function(*mine)
    items = returned if isinstance(returned, tuple) else (returned,)
    arrays = [arg for arg in mine if isinstance(arg, np.ndarray)]
    found = [np.asarray(item) for item in (*items, *arrays) if item is not None]
    return [item for item in found if item.dtype.kind in "fc"]


def along(
    function: Callable[..., Any], arguments: tuple[Any, ...], direction: dict[int, Any], step: float
) -> list[Any]:
    """Extrapolated central differences along a direction of some arguments, by position."""

    def at(h: float) -> list[Any]:
        moved = tuple(arg + h * direction[k] if k in direction else arg for k, arg in enumerate(arguments))
        return outputs(function, moved)

    def central(h: float) -> list[Any]:
        return [(a - b) / (2 * h) for a, b in zip(at(h), at(-h), strict=True)]

    wide, narrow = central(step), central(step / 2)
    return [(4 * n - w) / 3 for w, n in zip(wide, narrow, strict=True)]


def complex_gradient(function: Callable[..., Any], arguments: tuple[Any, ...], which: int) -> np.ndarray:
    """The gradient of a real scalar function that computes with complex numbers, too: exact to rounding."""
    shape = np.shape(arguments[which])
    found = np.zeros(shape)
    for place in np.ndindex(shape):
        moved = [np.array(arg, complex) if isinstance(arg, np.ndarray) and arg.dtype.kind == "f" else arg
                 for arg in copy.deepcopy(arguments)]  # fmt: skip
        if shape:
            moved[which][place] += 1j * TINY
        else:
            moved[which] = moved[which] + 1j * TINY
        with np.errstate(all="ignore"):
            found[place] = complex(function(*moved)).imag / TINY
    return found


def assert_close(found: Any, expected: Any, tolerance: float = 1e-6) -> None:
    """Compare arrays relative to the largest element."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    size = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    assert np.all(np.isfinite(found)), found
    assert float(np.max(np.abs(found - expected), initial=0.0)) <= tolerance * size, (found, expected)
