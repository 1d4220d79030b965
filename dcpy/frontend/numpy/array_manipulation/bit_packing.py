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
    # A word has the byte in each of its bytes, and keeps one bit of each; what is not 0 there becomes 1.
    ones, mask = np.uint64(0x0101010101010101), 0x8040201008040201 if bitorder == "little" else 0x0102040810204080
    words = source.astype(np.uint64, order="C") * ones & np.uint64(mask)
    found: Any = (np.right_shift(words + np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(7)) & ones).view(np.uint8)
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
    bits = np.empty((*flags.shape[:-1], (n + 7) // 8 * 8), np.uint8)
    bits[..., :n] = flags != 0
    bits[..., n:] = 0
    # The product has the eight bits of a word, one in each of its bytes, side by side in its highest byte.
    multiplier = np.uint64(0x0102040810204080 if bitorder == "little" else 0x8040201008040201)
    found: Any = np.right_shift(bits.view(np.uint64) * multiplier, np.uint64(56)).astype(np.uint8)
    return found if axis is None else np.moveaxis(found, -1, axis)


def _require_bit_order(bitorder: str) -> None:
    if bitorder != "little" and bitorder != "big":
        raise ValueError("'order' must be either 'little' or 'big'")
