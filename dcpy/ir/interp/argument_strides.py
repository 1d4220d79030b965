"""Argument strides: arrays from outside, brought to the strides that a descriptor states."""

from __future__ import annotations

from dcpy.base.errors import ArgumentError, ArgumentShapeError
from dcpy.ir.data import Array, Data, Scalar
from dcpy.ir.interp.memory import NDArray, Symbols, allocate, extent, sizes_of


def fitting(name: str, desc: Data, data: NDArray, symbols: Symbols) -> NDArray:
    """`data` itself where it has the strides of the descriptor, else a copy of it that has.

    `ArgumentError` for another dtype or kind of container, `ArgumentShapeError` for another shape.
    """
    if not isinstance(desc, Scalar | Array):
        raise ArgumentError(f"{name!r} cannot be an argument: it is a {type(desc).__name__.lower()}")
    if data.dtype != desc.dtype.numpy:
        raise ArgumentError(f"{name!r} is {data.dtype}; the program takes {desc.dtype.numpy}")
    shape = tuple(max(size, 0) for size in sizes_of(desc.shape, symbols))  # a check in the program raises
    if data.shape != shape:
        raise ArgumentShapeError(f"{name!r} has the shape {data.shape}; the program takes {shape}")
    strides = tuple(stride * data.itemsize for stride in sizes_of(desc.strides, symbols))
    if data.size <= 1 or all(a == b or size == 1 for a, b, size in zip(data.strides, strides, shape, strict=True)):
        return data
    if extent(shape, strides)[0] < 0 or 0 in strides:
        raise ArgumentShapeError(f"{name!r} does not have the strides {strides} that the program takes")
    copy = allocate(desc, symbols)
    copy[...] = data
    return copy
