"""Bit packing, ``packbits`` and ``unpackbits``: Python functions (see `python_implementations`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.frontend.numpy.python_implementations import written_in_python


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
