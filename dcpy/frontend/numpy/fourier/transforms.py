"""``numpy.fft``: transforms along one axis. Each is a library node of `libraries.fft`.

Transforms of more axes are in `multidimensional_transforms`. As in NumPy, single precision stays single; integers and
booleans are computed in double precision.
"""

from __future__ import annotations

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arrays import memory_order
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.array_manipulation.shapes import band
from dcpy.frontend.numpy.parameter_defaults import LAST_AXIS, NONE
from dcpy.frontend.numpy.ufuncs.out_and_where import into
from dcpy.ir import types
from dcpy.ir.symbolic import ZERO, Expr, min_of
from dcpy.ir.types import DType

OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
COMPLEX = {types.float32: types.complex64, types.float64: types.complex128}


@implements(np.fft.fft)
def fft(
    b: OpBuilder, a: Value, n: Value = NONE, axis: Value = LAST_AXIS, norm: Value = NONE, out: Value = NONE
) -> Value:
    """The transform of complex numbers."""
    return _complex(b, "fft", a, n, axis, norm, out, backward=False)


@implements(np.fft.ifft)
def ifft(
    b: OpBuilder, a: Value, n: Value = NONE, axis: Value = LAST_AXIS, norm: Value = NONE, out: Value = NONE
) -> Value:
    """The inverse of `fft`."""
    return _complex(b, "ifft", a, n, axis, norm, out, backward=True)


def _complex(
    b: OpBuilder, name: str, a: Value, n: Value, axis: Value, norm: Value, out: Value, *, backward: bool
) -> Value:
    x, place, _ = _points(b, a, axis)
    length = _length(b, n, x.shape[place])
    points = _resized(b, b.array(b.cast(x, _complex_of(x.dtype))), place, length)
    result = _transform(b, points, place, length, points.dtype, norm, backward)
    return into(b, out, result, name)


@implements(np.fft.rfft)
def rfft(
    b: OpBuilder, a: Value, n: Value = NONE, axis: Value = LAST_AXIS, norm: Value = NONE, out: Value = NONE
) -> Value:
    """The first half of the spectrum of real numbers."""
    return into(b, out, _half_spectrum(b, "rfft", a, n, axis, _norm(b, norm)), "rfft")


def _half_spectrum(b: OpBuilder, name: str, a: Value, n: Value, axis: Value, norm: str) -> ArrayValue:
    x, place, _ = _points(b, a, axis)
    if x.dtype.kind == "c":
        raise b.error(
            f"np.fft.{name} takes real numbers, not {x.dtype.numpy_name}",
            notes=("NumPy raises TypeError here",),
            help="use np.fft.fft(a), or np.fft.rfft(a.real)",
        )
    length = _length(b, n, x.shape[place])
    points = _resized(b, x, place, length)
    return _transform(b, points, place, length // 2 + 1, _complex_of(x.dtype), Static(norm), backward=False)


@implements(np.fft.irfft)
def irfft(
    b: OpBuilder, a: Value, n: Value = NONE, axis: Value = LAST_AXIS, norm: Value = NONE, out: Value = NONE
) -> Value:
    """The inverse of `rfft`: `n` real numbers from half a spectrum."""
    return into(b, out, _real_points(b, a, n, axis, _norm(b, norm)), "irfft")


def _real_points(b: OpBuilder, a: Value, n: Value, axis: Value, norm: str) -> Value:
    x, place, result = _points(b, a, axis)
    size = b.exact(x.shape[place])
    length = _length(b, n, (size - 1) * 2)
    spectrum = b.array(b.cast(x, _complex_of(x.dtype)))
    points = spectrum if n == NONE else _resized(b, spectrum, place, length // 2 + 1)
    numbers = _transform(b, points, place, length, points.dtype.real, Static(norm), backward=True)
    return b.cast(numbers, result)


@implements(np.fft.hfft)
def hfft(
    b: OpBuilder, a: Value, n: Value = NONE, axis: Value = LAST_AXIS, norm: Value = NONE, out: Value = NONE
) -> Value:
    """The real spectrum of the first half of a Hermitian signal; `out` is ignored, as NumPy does."""
    return _real_points(b, b.ufunc(np.conjugate, b.array(a)), n, axis, OPPOSITE[_norm(b, norm)])


@implements(np.fft.ihfft)
def ihfft(
    b: OpBuilder, a: Value, n: Value = NONE, axis: Value = LAST_AXIS, norm: Value = NONE, out: Value = NONE
) -> Value:
    """The inverse of `hfft`."""
    spectrum = _half_spectrum(b, "ihfft", a, n, axis, OPPOSITE[_norm(b, norm)])
    return into(b, out, b.ufunc(np.conjugate, spectrum), "ihfft")


def _points(b: OpBuilder, a: Value, axis: Value) -> tuple[ArrayValue, int, DType]:
    """The operand in the dtype to compute in, the axis, and the dtype of real results."""
    x = b.array(a)
    place = b.axis(axis, x.rank)
    result = x.dtype.real if x.dtype.is_inexact else types.float64
    if x.dtype.kind != "c":
        x = b.array(b.cast(x, types.float32 if result == types.float16 else result))
    return x, place, result


def _length(b: OpBuilder, n: Value, default: Expr) -> Expr:
    """The argument `n`: how many points there are."""
    length = b.exact(default) if n == NONE else b.integer(n, "n")
    message = "Invalid number of FFT data points ({0}) specified."
    b.emit.require(length - 1, "ValueError", message, (length,))
    return length


def _norm(b: OpBuilder, norm: Value) -> str:
    found = b.static(norm, "norm")
    if found is None:
        return "backward"
    if found not in OPPOSITE:
        raise b.error(
            f'Invalid norm value {found}; should be "backward","ortho" or "forward".',
            notes=("NumPy raises ValueError here",),
        )
    return str(found)


def _complex_of(dtype: DType) -> DType:
    return COMPLEX.get(dtype, dtype)


def _resized(b: OpBuilder, x: ArrayValue, axis: int, size: Expr) -> ArrayValue:
    """The first `size` elements along an axis; zeros behind the last one there is."""
    have = b.exact(x.shape[axis])
    if have is size:
        return x
    if b.emit.ranges.proves_le(size, have):
        return band(x, axis, ZERO, size)
    shape = [b.exact(extent) for extent in x.shape]
    order = memory_order.order_of_copy(b, x)
    out = b.full([*shape[:axis], size, *shape[axis + 1 :]], x.dtype, Static(0), order=order)
    kept = min_of(size, have)
    b.store(band(out, axis, ZERO, kept), band(x, axis, ZERO, kept))
    return out


def _transform(
    b: OpBuilder, x: ArrayValue, axis: int, size: Expr, dtype: DType, norm: Value, backward: bool
) -> ArrayValue:
    """The node, into a new array with `size` elements along the axis."""
    shape = [b.exact(extent) for extent in x.shape]
    out = b.empty([*shape[:axis], size, *shape[axis + 1 :]], dtype, order=memory_order.order_of_copy(b, x))
    b.library("fft.transform", {"x": x}, {"y": out}, axis=axis, backward=backward, norm=_norm(b, norm))
    return out
