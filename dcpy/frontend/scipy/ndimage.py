"""``scipy.ndimage``: correlation and convolution, with all that an image is continued by at its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage as ndi

from dcpy.frontend.implements import results_lie
from dcpy.frontend.numpy.python_implementations import written_in_python
from dcpy.frontend.numpy.result_memory_order import in_c_order
from dcpy.frontend.scipy.unsupported_options import not_compiled

#: SciPy's word for how an image goes on -> NumPy's
MODES: dict[str, Any] = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "constant": "constant", "grid-constant": "constant",
    "nearest": "edge", "mirror": "reflect", "wrap": "wrap", "grid-wrap": "wrap",
}  # fmt: skip

results_lie(ndi.correlate, ndi.convolve, ndi.correlate1d, ndi.convolve1d)(in_c_order)


@written_in_python(ndi.correlate)
def correlate(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0,
) -> Any:  # fmt: skip
    """Sums of neighbours, each times a weight."""
    x, w = np.asarray(input), np.asarray(weights)
    origins = origin if isinstance(origin, tuple | list) else (origin,) * x.ndim
    return _stored(_correlated(x, w, mode, cval, tuple(origins), _dtype_of(x, output)), output)


@written_in_python(ndi.convolve)
def convolve(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0,
) -> Any:  # fmt: skip
    """The same with the weights turned round."""
    x, w = np.asarray(input), np.asarray(weights)
    origins = origin if isinstance(origin, tuple | list) else (origin,) * x.ndim
    turned = tuple([-o - (1 if n % 2 == 0 else 0) for o, n in zip(origins, w.shape)])  # noqa: B905
    return _stored(_correlated(x, np.flip(w), mode, cval, turned, _dtype_of(x, output)), output)


@written_in_python(ndi.correlate1d)
def correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> Any:  # fmt: skip
    """`correlate` along one axis."""
    x, w = np.asarray(input), np.asarray(weights)
    last = np.moveaxis(x, axis, -1)
    found = _correlated_rows(last, w, mode, cval, origin, _dtype_of(x, output))
    return _stored(np.moveaxis(found, -1, axis), output)


@written_in_python(ndi.convolve1d)
def convolve1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> Any:  # fmt: skip
    """`convolve` along one axis."""
    w = np.asarray(weights)
    turned = -origin - (1 if len(w) % 2 == 0 else 0)
    return correlate1d(input, w[::-1], axis, output, mode, cval, turned)


def _dtype_of(x: Any, output: Any) -> Any:
    """The dtype of the result: that of an array to fill, one that is named, or that of the image."""
    if output is None:
        return x.dtype
    return output.dtype if isinstance(output, np.ndarray) else np.dtype(output)


def _stored(found: Any, output: Any) -> Any:
    if isinstance(output, np.ndarray):
        output[...] = found
        return output
    return found


def _continued(x: Any, before: Any, after: Any, mode: str, cval: Any) -> Any:
    """The image with so many elements more at each side, computed in double precision."""
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    widths = tuple(zip(before, after))  # noqa: B905
    if mode in ("constant", "grid-constant"):
        return np.pad(wide, widths, mode="constant", constant_values=cval)
    return np.pad(wide, widths, mode=MODES[mode])


def _reach(size: Any, origin: Any) -> Any:
    """Return how many neighbours before an element have a weight."""
    if origin < -(size // 2) or origin > (size - 1) // 2:
        raise ValueError("invalid origin")
    return size // 2 + origin


def _correlated(x: Any, w: Any, mode: str, cval: Any, origins: Any, dtype: Any) -> Any:
    if w.ndim != x.ndim:
        raise RuntimeError("filter weights array has incorrect shape.")
    before = tuple([_reach(n, o) for n, o in zip(w.shape, origins)])  # noqa: B905
    after = tuple([n - 1 - k for n, k in zip(w.shape, before)])  # noqa: B905
    padded = _continued(x, before, after, mode, cval)
    wide = w.astype(np.complex128 if w.dtype.kind == "c" else np.float64)
    found = np.zeros(x.shape, np.result_type(padded, wide))
    if x.ndim == 1:
        _add_line(found, padded, wide)
    elif x.ndim == 2:
        _add_plane(found, padded, wide)
    elif x.ndim == 3:
        for h in range(x.shape[0]):
            for o in range(w.shape[0]):
                _add_plane(found[h], padded[h + o], wide[o])
    else:
        return not_compiled("a filter of an image of more than three dimensions")
    return found.astype(dtype)


def _add_line(found: Any, padded: Any, w: Any) -> None:
    for p in range(w.shape[0]):
        for i in range(found.shape[0]):
            found[i] += padded[i + p] * w[p]


def _add_plane(found: Any, padded: Any, w: Any) -> None:
    for i in range(found.shape[0]):
        for p in range(w.shape[0]):
            for q in range(w.shape[1]):
                for j in range(found.shape[1]):
                    found[i, j] += padded[i + p, j + q] * w[p, q]


def _correlated_rows(x: Any, w: Any, mode: str, cval: Any, origin: Any, dtype: Any) -> Any:
    if w.ndim != 1 or len(w) < 1:
        raise RuntimeError("no filter weights given")
    before = _reach(len(w), origin)
    rest = (0,) * (x.ndim - 1)
    padded = _continued(x, (*rest, before), (*rest, len(w) - 1 - before), mode, cval)
    wide = w.astype(np.complex128 if w.dtype.kind == "c" else np.float64)
    found = np.zeros(x.shape, np.result_type(padded, wide))
    count = x.shape[-1]
    for p in range(len(w)):
        found += padded[..., p : p + count] * wide[p]
    return found.astype(dtype)
