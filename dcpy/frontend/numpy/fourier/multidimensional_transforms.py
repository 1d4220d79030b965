"""Multidimensional transforms of ``numpy.fft``, axis by axis; the frequencies of results, and their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import Static, TupleValue, Value, integer
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.frontend.numpy.array_manipulation.joining import roll
from dcpy.frontend.numpy.fourier.transforms import fft, ifft, irfft, rfft
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.frontend.numpy.python_implementations import written_in_python

LAST_TWO = Static((-2, -1))


@implements(np.fft.fftn)
def fftn(b: OpBuilder, a: Value, s: Value = NONE, axes: Value = NONE, norm: Value = NONE, out: Value = NONE) -> Value:
    """`fft` along each axis, the last one first."""
    return _complex(b, fft, a, s, axes, norm, out)


@implements(np.fft.ifftn)
def ifftn(b: OpBuilder, a: Value, s: Value = NONE, axes: Value = NONE, norm: Value = NONE, out: Value = NONE) -> Value:
    """The inverse of `fftn`."""
    return _complex(b, ifft, a, s, axes, norm, out)


@implements(np.fft.fft2)
def fft2(
    b: OpBuilder, a: Value, s: Value = NONE, axes: Value = LAST_TWO, norm: Value = NONE, out: Value = NONE
) -> Value:
    """`fftn` of two axes."""
    return _complex(b, fft, a, s, axes, norm, out)


@implements(np.fft.ifft2)
def ifft2(
    b: OpBuilder, a: Value, s: Value = NONE, axes: Value = LAST_TWO, norm: Value = NONE, out: Value = NONE
) -> Value:
    """The inverse of `fft2`."""
    return _complex(b, ifft, a, s, axes, norm, out)


@implements(np.fft.rfftn)
def rfftn(b: OpBuilder, a: Value, s: Value = NONE, axes: Value = NONE, norm: Value = NONE, out: Value = NONE) -> Value:
    """`rfft` along the last axis, `fft` along the others."""
    lengths, places = _lines(b, a, s, axes)
    result = rfft(b, a, lengths[-1], places[-1], norm, out)
    for length, place in zip(lengths[-2::-1], places[-2::-1], strict=True):
        result = fft(b, result, length, place, norm, out)
    return result


@implements(np.fft.irfftn)
def irfftn(b: OpBuilder, a: Value, s: Value = NONE, axes: Value = NONE, norm: Value = NONE, out: Value = NONE) -> Value:
    """The inverse of `rfftn`."""
    lengths, places = _lines(b, a, s, axes)
    result: Value = a
    for length, place in zip(lengths[:-1], places[:-1], strict=True):
        result = ifft(b, result, length, place, norm)
    return irfft(b, result, NONE if s == NONE else lengths[-1], places[-1], norm, out)


@implements(np.fft.rfft2)
def rfft2(
    b: OpBuilder, a: Value, s: Value = NONE, axes: Value = LAST_TWO, norm: Value = NONE, out: Value = NONE
) -> Value:
    """`rfftn` of two axes."""
    return rfftn(b, a, s, axes, norm, out)


@implements(np.fft.irfft2)
def irfft2(
    b: OpBuilder, a: Value, s: Value = NONE, axes: Value = LAST_TWO, norm: Value = NONE, out: Value = NONE
) -> Value:
    """`irfftn` of two axes; `out` is ignored, as NumPy does."""
    return irfftn(b, a, s, axes, norm)


def _complex(
    b: OpBuilder, function: Callable[..., Value], a: Value, s: Value, axes: Value, norm: Value, out: Value
) -> Value:
    lengths, places = _lines(b, a, s, axes)
    result: Value = b.array(a)
    for length, place in zip(lengths[::-1], places[::-1], strict=True):
        result = function(b, result, length, place, norm, out)
    return result


def _lines(b: OpBuilder, a: Value, s: Value, axes: Value) -> tuple[list[Value], list[Value]]:
    """The number of points along each axis (that of the operand where -1 is given), and the axes."""
    x = b.array(a)
    sizes = None if s == NONE else _items(b, s, "s")
    if axes == NONE:
        count = x.rank if sizes is None else len(sizes)
        places: list[Value] = [Static(axis) for axis in range(x.rank - count, x.rank)]
    else:
        places = _items(b, axes, "axes")
    whole: list[Value] = [integer(b.exact(x.shape[b.axis(place, x.rank)])) for place in places]
    if sizes is None:
        return whole, places
    if len(sizes) != len(places):
        raise b.error("Shape and axes have different lengths.", notes=("NumPy raises ValueError here",))
    return [w if size in (Static(-1), NONE) else size for size, w in zip(sizes, whole, strict=True)], places


def _items(b: OpBuilder, value: Value, what: str) -> list[Value]:
    items = items_of(value)
    if items is None:
        raise b.error(f"{what} must be a tuple of integers", help=f"write {what}=({b.describe(value)},)")
    return list(items)


# -- frequencies -----------------------------------------------------------------------------------------------------


@written_in_python(np.fft.fftfreq)
def fftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Any:
    """The frequencies that the results of `fft` belong to, for samples at distance `d`."""
    scale = 1.0 / (n * d)
    results = np.empty(n, int)
    half = (n - 1) // 2 + 1
    results[:half] = np.arange(0, half)
    results[half:] = np.arange(-(n // 2), 0)
    return results * scale


@written_in_python(np.fft.rfftfreq)
def rfftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Any:
    """The frequencies that the results of `rfft` belong to."""
    scale = 1.0 / (n * d)
    return np.arange(0, n // 2 + 1) * scale


@implements(np.fft.fftshift)
def fftshift(b: OpBuilder, x: Value, axes: Value = NONE) -> Value:
    """The frequency 0 in the middle."""
    return _shifted(b, x, axes, 1)


@implements(np.fft.ifftshift)
def ifftshift(b: OpBuilder, x: Value, axes: Value = NONE) -> Value:
    """The inverse of `fftshift`."""
    return _shifted(b, x, axes, -1)


def _shifted(b: OpBuilder, x: Value, axes: Value, sign: int) -> Value:
    operand = b.array(x)
    places = [Static(axis) for axis in range(operand.rank)] if axes == NONE else items_of(axes) or (axes,)
    sizes = [b.exact(operand.shape[b.axis(place, operand.rank)]) for place in places]
    shifts = tuple(integer(size // 2 * sign) for size in sizes)
    return roll(b, operand, TupleValue(shifts), TupleValue(tuple(places)))
