"""Numerical calculus on samples: integrals, derivatives, convolution, interpolation. Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.python_implementations import written_in_python


@written_in_python(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of samples by the trapezoidal rule."""
    values = np.moveaxis(np.asarray(y), axis, -1)
    widths = dx if x is None else np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(np.asarray(x), axis, -1))
    return np.sum(widths * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)


# -- derivatives -----------------------------------------------------------------------------------------------------


@written_in_python(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Derivatives along axes, for one spacing, one per axis, or the places of the samples."""
    f = np.asarray(f)
    if f.dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    f = f if np.issubdtype(f.dtype, np.inexact) else f.astype(np.float64)
    axes = tuple(range(f.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if edge_order != 1 and edge_order != 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if len(varargs) == 0:
        steps = (1.0,) * len(axes)
    elif len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        steps = varargs * len(axes)
    elif len(varargs) == len(axes):
        steps = varargs
    else:
        raise TypeError("invalid number of arguments")
    found = [_derivative(f, steps[place], k, edge_order) for place, k in enumerate(axes)]
    return found[0] if len(found) == 1 else tuple(found)


def _derivative(f: Any, step: Any, axis: int, edge_order: int) -> Any:
    values = np.moveaxis(f, axis, 0)
    if len(values) < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    result = np.empty_like(f)
    out = np.moveaxis(result, axis, 0)
    if np.ndim(step) == 0:
        _fill_evenly(out, values, step, edge_order)
    else:
        places = np.asarray(step)
        if places.ndim != 1:
            raise ValueError("distances must be either scalars or 1d")
        if len(places) != len(values):
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        _fill_between(out, values, np.diff(places.astype(np.float64)), edge_order)
    return result


def _fill_evenly(out: Any, f: Any, h: Any, edge_order: int) -> None:
    out[1:-1] = (f[2:] - f[:-2]) / (2.0 * h)
    if edge_order == 1:
        out[0] = (f[1] - f[0]) / h
        out[-1] = (f[-1] - f[-2]) / h
    else:
        out[0] = -1.5 / h * f[0] + 2.0 / h * f[1] - 0.5 / h * f[2]
        out[-1] = 0.5 / h * f[-3] - 2.0 / h * f[-2] + 1.5 / h * f[-1]


def _fill_between(out: Any, f: Any, widths: Any, edge_order: int) -> None:
    d = widths.reshape((-1,) + (1,) * (f.ndim - 1))
    before, after = d[:-1], d[1:]
    left, right = -after / (before * (before + after)), before / (after * (before + after))
    out[1:-1] = left * f[:-2] + (after - before) / (before * after) * f[1:-1] + right * f[2:]
    if edge_order == 1:
        out[0] = (f[1] - f[0]) / widths[0]
        out[-1] = (f[-1] - f[-2]) / widths[-1]
    else:
        a, b = widths[0], widths[1]
        out[0] = -(2.0 * a + b) / (a * (a + b)) * f[0] + (a + b) / (a * b) * f[1] - a / (b * (a + b)) * f[2]
        a, b = widths[-2], widths[-1]
        out[-1] = b / (a * (a + b)) * f[-3] - (b + a) / (a * b) * f[-2] + (2.0 * b + a) / (b * (a + b)) * f[-1]


@written_in_python(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours, between other numbers; of the dtype of `ary`."""
    flat = np.ravel(ary)
    steps = flat[1:] - flat[:-1]
    if to_begin is None and to_end is None:
        return steps
    first = np.ravel(flat[:0] if to_begin is None else to_begin)
    last = np.ravel(flat[:0] if to_end is None else to_end)
    if not np.can_cast(first.dtype, flat.dtype, "same_kind"):
        raise TypeError("dtype of `to_begin` must be compatible with input `ary` under the `same_kind` rule.")
    if not np.can_cast(last.dtype, flat.dtype, "same_kind"):
        raise TypeError("dtype of `to_end` must be compatible with input `ary` under the `same_kind` rule.")
    return np.concatenate((first.astype(flat.dtype), steps, last.astype(flat.dtype)))


@written_in_python(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """Angles without jumps: steps larger than half a period become the nearest smaller ones."""
    p = np.asarray(p)
    dtype = np.result_type(p, period)
    steps = np.diff(p, axis=axis)
    is_integer = np.issubdtype(dtype, np.integer)
    high = period // 2 if is_integer else period / 2
    moved = np.mod(steps + high, period) - high
    if not is_integer or period % 2 == 0:
        moved = np.where((moved == -high) & (steps > 0), moved.dtype.type(high), moved)
    least = period / 2 if discont is None else discont
    correction = np.where(np.abs(steps) < least, moved.dtype.type(0), moved - steps)
    result = p.astype(dtype)
    later = np.moveaxis(result, axis, 0)
    later[1:] += np.moveaxis(np.cumsum(correction, axis), axis, 0)
    return result


# -- convolution -----------------------------------------------------------------------------------------------------

_PART = 1024  # elements


@written_in_python(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """The convolution of two vectors."""
    a, v = np.atleast_1d(a), np.atleast_1d(v)
    if len(a) == 0 or len(v) == 0:
        raise ValueError("a cannot be empty")
    short = min(len(a), len(v))
    return _part(_all_products(a, v), mode, short, max(len(a), len(v)), (short - 1) // 2)


@written_in_python(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """The correlation of two vectors: sums of products of `a` with the conjugates of `v`, moved along it."""
    a, v = np.asarray(a), np.asarray(v)
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object of too small depth for desired array")
    if len(a) == 0 or len(v) == 0:
        raise ValueError("a cannot be empty")
    short = min(len(a), len(v))
    is_longer = min(max(len(a) - len(v) + 1, 0), 1)
    turned = np.conj(v[::-1]) if v.dtype.kind == "c" else v[::-1]
    return _part(_all_products(a, turned), mode, short, max(len(a), len(v)), (short - is_longer) // 2)


def _all_products(a: Any, v: Any) -> Any:
    return _moved_sums(a, v) if len(a) >= len(v) else _moved_sums(v, a)


def _moved_sums(long: Any, short: Any) -> Any:
    """The sum of the longer vector's products with each element of the other, moved by its place.

    The longer vector is taken in parts, whose sums stay in the first-level cache.
    """
    result = np.zeros(len(long) + len(short) - 1, np.result_type(long, short))
    for start in range(0, len(long), _PART):
        for j in range(len(short)):
            for i in range(start, min(start + _PART, len(long))):
                result[i + j] += long[i] * short[j]
    return result


def _part(full: Any, mode: str, short: int, long: int, first: int) -> Any:
    """All sums, as many as the longer vector has elements, or those where the vectors overlap completely."""
    if mode == "full":
        return full
    if mode == "same":
        return full[first : first + long].copy()
    if mode == "valid":
        return full[short - 1 : long].copy()
    raise ValueError("mode must be one of 'valid', 'same', or 'full'")


# -- interpolation ---------------------------------------------------------------------------------------------------


@written_in_python(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Linear interpolation between samples at increasing places."""
    if np.iscomplexobj(x) or np.iscomplexobj(xp):
        raise TypeError("the places of samples are real")
    xp, fp = np.asarray(xp, np.float64), np.asarray(fp)
    fp = fp.astype(np.complex128 if fp.dtype.kind == "c" else np.float64)
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    wanted = np.asarray(x, np.float64).reshape(-1)
    if period is None:
        result = _interpolated(wanted, xp, fp, left, right)
    else:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        length = abs(period)
        places = xp % length
        order = np.argsort(places)
        places, values = places[order], fp[order]
        places = np.concatenate((places[-1:] - length, places, places[:1] + length))
        values = np.concatenate((values[-1:], values, values[:1]))
        result = _interpolated(wanted % length, places, values, None, None)
    return result.reshape(np.shape(x)) if np.ndim(x) > 0 else result[0]


def _interpolated(wanted: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    result = np.empty(len(wanted), fp.dtype)
    last = len(xp) - 1
    before = fp[0] if left is None else left
    after = fp[last] if right is None else right
    for k in range(len(wanted)):
        at = wanted[k]
        low, high = 0, len(xp)
        while low < high:  # the first sample after the place
            middle = (low + high) // 2
            if xp[middle] <= at:
                low = middle + 1
            else:
                high = middle
        j = max(min(low - 1, last - 1), 0)
        i = min(j + 1, last)
        slope = (fp[i] - fp[j]) / (xp[i] - xp[j]) if i > j else fp[0] * 0.0
        inside = slope * (at - xp[j]) + fp[j]
        result[k] = before if at < xp[0] else after if at > xp[last] else fp[last] if at == xp[last] else inside
        if at != at:
            result[k] = at
    return result
