"""Small functions of elements and arrays that are made of others, as Python functions (see `traced`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.traced import written_in_python

# -- tests of elements -----------------------------------------------------------------------------------------------


@written_in_python(np.isposinf)
def isposinf(x: Any, out: Any = None) -> Any:
    """Whether elements are positive infinity."""
    return np.isinf(x) & ~np.signbit(x)


@written_in_python(np.isneginf)
def isneginf(x: Any, out: Any = None) -> Any:
    """Whether elements are negative infinity."""
    return np.isinf(x) & np.signbit(x)


@written_in_python(np.iscomplex)
def iscomplex(x: Any) -> Any:
    """Whether elements have an imaginary part that is not 0."""
    x = np.asarray(x)
    return (np.imag(x) != 0 if x.dtype.kind == "c" else np.zeros(x.shape, np.bool_))[()]


@written_in_python(np.isreal)
def isreal(x: Any) -> Any:
    """Whether elements have no imaginary part but 0."""
    return np.imag(np.asarray(x)) == 0


@written_in_python(np.asarray_chkfinite)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """The array; `ValueError` where it holds NaN or infinities."""
    found = np.asarray(a, dtype=dtype, order=order)
    if found.dtype.kind in "fc" and not np.all(np.isfinite(found)):
        raise ValueError("array must not contain infs or NaNs")
    return found


@written_in_python(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether arrays that broadcast together have equal elements."""
    left, right = np.asarray(a1), np.asarray(a2)
    shared = min(left.ndim, right.ndim)
    found = True
    for k in tuple(range(1, shared + 1)):
        n, m = left.shape[-k], right.shape[-k]
        found = found and (n == m or n == 1 or m == 1)
    if found:
        found = bool(np.all(left == right))
    return found


# -- sums ------------------------------------------------------------------------------------------------------------


@written_in_python(np.cumulative_sum)
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running sums along an axis, from 0 with `include_initial`."""
    return _running(np.asarray(x), np.cumsum(x, _only_axis(x, axis), dtype), 0, _only_axis(x, axis), include_initial)


@written_in_python(np.cumulative_prod)
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running products along an axis, from 1 with `include_initial`."""
    return _running(np.asarray(x), np.cumprod(x, _only_axis(x, axis), dtype), 1, _only_axis(x, axis), include_initial)


def _only_axis(x: Any, axis: int | None) -> int:
    if axis is None and np.ndim(x) > 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    return 0 if axis is None else axis


def _running(x: Any, found: Any, initial: int, axis: int, include_initial: bool) -> Any:
    if not include_initial:
        return found
    place = axis % x.ndim
    first = np.full((*x.shape[:place], 1, *x.shape[place + 1 :]), initial, found.dtype)
    return np.concatenate((first, found), axis=place)


# -- arrays made of others -------------------------------------------------------------------------------------------


@written_in_python(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    """The matrix with the elements on a diagonal."""
    return np.diag(np.ravel(v), k)


@written_in_python(np.logspace)
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """Numbers whose logarithms are evenly spaced."""
    found = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else found.astype(dtype)


@written_in_python(np.geomspace)
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Numbers with even ratios, from `start` to `stop`; between reals of different signs they are NaN."""
    first, last = np.asarray(start), np.asarray(stop)
    number = np.complex128 if np.iscomplexobj(first) or np.iscomplexobj(last) else np.float64
    first, last = first.astype(number), last.astype(number)
    if np.any(first == 0) or np.any(last == 0):
        raise ValueError("Geometric sequence cannot include zero")
    sign = first / np.abs(first)
    found = sign * 10.0 ** np.linspace(np.log10(first / sign), np.log10(last / sign), num, endpoint)
    if num > 0:
        found[0] = first
        if num > 1 and endpoint:
            found[-1] = last
    found = np.moveaxis(found, 0, axis)
    return found if dtype is None else found.astype(dtype)


@written_in_python(np.unpackbits)
def unpackbits(a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Any:
    """The bits of bytes, each as a byte."""
    source = np.asarray(a)
    if source.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    source = np.ravel(source) if axis is None else np.moveaxis(source, axis, -1)
    _require_bit_order(bitorder)
    shifts = np.arange(8, dtype=np.uint8) if bitorder == "little" else np.arange(7, -1, -1).astype(np.uint8)
    bits = np.bitwise_and(np.right_shift(source[..., None], shifts), np.uint8(1))
    found = bits.reshape((*source.shape[:-1], source.shape[-1] * 8))
    if count is not None:
        if count < 0:
            found = found[..., :count].copy()
        else:
            longer = np.zeros((*source.shape[:-1], count), np.uint8)
            known = min(count, found.shape[-1])
            longer[..., :known] = found[..., :known]
            found = longer
    return found if axis is None else np.moveaxis(found, -1, axis)


@written_in_python(np.packbits)
def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Any:
    """Elements that are not 0 as bits, eight in a byte."""
    source = np.asarray(a)
    if source.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    _require_bit_order(bitorder)
    flags = np.ravel(source) if axis is None else np.moveaxis(source, axis, -1)
    n = flags.shape[-1]
    bits = np.zeros((*flags.shape[:-1], (n + 7) // 8 * 8), np.uint8)
    bits[..., :n] = flags != 0
    groups = bits.reshape((*flags.shape[:-1], (n + 7) // 8, 8))
    weights = 2 ** (np.arange(8) if bitorder == "little" else np.arange(7, -1, -1))
    found: Any = np.sum(groups * weights.astype(np.uint8), axis=-1, dtype=np.uint8)
    return found if axis is None else np.moveaxis(found, -1, axis)


def _require_bit_order(bitorder: str) -> None:
    if bitorder != "little" and bitorder != "big":
        raise ValueError("'order' must be either 'little' or 'big'")
