"""Containers at run time: NumPy arrays over the container's own memory, queues, pointers.

A view is a real view: what is written through it is seen in its base. Everything that is not an argument starts out
as poison (NaN, or a large odd number), so that a program that reads what it never wrote does not look right.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from dcpy.base.assumptions import LARGEST_SIZE
from dcpy.base.errors import OutOfBounds
from dcpy.ir.data import Array, Data, Scalar, View
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.types import DType

NDArray = np.ndarray[Any, Any]
Symbols = Mapping[str, int]


@dataclass(slots=True)
class Buffer:
    """A container's elements. `start` is the array that owns the memory: views count their offsets from its element 0.

    `depth` counts the map iterations around the declaration: deeper iterations share the container.
    """

    data: NDArray
    start: NDArray
    depth: int


@dataclass(slots=True)
class StreamQueues:
    """A stream: one first-in, first-out queue per point of its shape. `capacity` 0 means unbounded.

    What is in a queue are elements, or arrays of the shape `token`.
    """

    dtype: DType
    shape: tuple[int, ...]
    capacity: int
    token: tuple[int, ...] = ()
    queues: dict[tuple[int, ...], deque[Any]] = field(default_factory=dict)

    def at(self, point: tuple[int, ...]) -> deque[Any]:
        """The queue at a point."""
        return self.queues.setdefault(point, deque())


def queue_name(stream: str, point: tuple[int, ...]) -> str:
    """Return the name of one queue of a stream: ``s``, ``s[2]``."""
    return f"{stream}[{', '.join(map(str, point))}]" if point else stream


def poison(dtype: DType) -> Any:
    """The contents of uninitialized memory."""
    match dtype.kind:
        case "f" | "c":
            return np.nan
        case "b":
            return True
        case _:
            return np.iinfo(dtype.numpy).max // 3 * 2 + 1


def allocate(desc: Scalar | Array, symbols: Symbols) -> NDArray:
    """Fresh poisoned memory with the strides of the descriptor. Strides of transients are never negative.

    `ValueError` where 64 bits do not count the bytes, `MemoryError` where memory cannot hold them, as in NumPy.
    """
    if not desc.shape:
        return np.array(poison(desc.dtype), desc.dtype.numpy)
    shape = shape_of(desc.shape, symbols)
    strides = sizes_of(desc.strides, symbols)
    if 0 in shape:
        return np.empty(shape, desc.dtype.numpy)
    length = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    if length > LARGEST_SIZE:
        counted = length * desc.dtype.itemsize < 2**63
        raise MemoryError(f"no memory is left for {length} elements") if counted else ValueError("array is too big")
    flat = np.full(length, poison(desc.dtype), desc.dtype.numpy)
    return as_strided(flat, shape, tuple(stride * flat.itemsize for stride in strides))


def shape_of(shape: Sequence[Expr], symbols: Symbols) -> tuple[int, ...]:
    """The numbers of a shape. A dimension of negative size is empty, as slices past both ends of an array are."""
    return tuple(max(size, 0) for size in sizes_of(shape, symbols))


def sizes_of(exprs: Sequence[Expr], symbols: Symbols) -> tuple[int, ...]:
    """The numbers that expressions stand for."""
    return tuple([expr.evaluate(symbols) for expr in exprs])


def index_of(subset: Subset, shape: tuple[int, ...], symbols: Symbols) -> tuple[Any, ...]:
    """The NumPy index of a subset: integers and slices. `OutOfBounds` names the dimension that is left."""
    if len(subset.dims) != len(shape):
        raise OutOfBounds(f"{len(subset.dims)} indices for {len(shape)} dimensions")
    index: list[Any] = []
    for axis, dim in enumerate(subset.dims):
        if isinstance(dim, Range):
            values = range_of(dim, symbols)
            for edge in _edges(values):
                _require_inside(edge, axis, shape)
            index.append(as_slice(values))
        else:
            place = dim.evaluate(symbols)
            if not 0 <= place < shape[axis]:
                _require_inside(place, axis, shape)
            index.append(place)
    return tuple(index)


def _require_inside(place: int, axis: int, shape: tuple[int, ...]) -> None:
    if not 0 <= place < shape[axis]:
        raise OutOfBounds(f"index {place} is out of bounds for dimension {axis} of size {shape[axis]}")


def range_of(dim: Range, symbols: Symbols) -> range:
    """The numbers of a range; `OutOfBounds` where its step is 0."""
    start, stop, step = sizes_of((dim.start, dim.stop, dim.step), symbols)
    if step == 0:
        raise OutOfBounds(f"the step of {dim} is 0")
    return range(start, stop, step)


def _edges(values: range) -> tuple[int, ...]:
    return (values[0], values[-1]) if values else ()


def as_slice(values: range) -> slice:
    """The slice of exactly these indices, none of which is negative."""
    if not values:
        return slice(0, 0)
    stop = values[-1] + (1 if values.step > 0 else -1)
    return slice(values.start, None if stop < 0 else stop, values.step)


def show(base: Buffer, base_desc: Data, view: View, symbols: Symbols) -> Buffer:
    """A view of a container as an array over the same memory; `OutOfBounds` where it shows more than there is."""
    window = view.window
    if window is None or view.dtype != base_desc.dtype or not _keeps_all(view, window):
        return Buffer(_reinterpreted(base.start, view, symbols), base.start, base.depth)
    data = base.data[(*index_of(window, base.data.shape, symbols), ...)]  # a view of one element is a view, too
    kept = [axis for axis, dim in enumerate(window.dims) if isinstance(dim, Range)]
    data = data.transpose([kept.index(axis) for axis in view.axes if axis >= 0])
    data = data[(*(np.newaxis if axis < 0 else slice(None) for axis in view.axes), ...)]
    shape = tuple(max(size, 0) for size in sizes_of(view.shape, symbols))  # a slice may be inside out
    if any(axis < 0 and size != 1 for axis, size in zip(view.axes, shape, strict=True)):
        data = np.broadcast_to(data, shape)
    return Buffer(data, base.start, base.depth)


def _keeps_all(view: View, window: Subset) -> bool:
    """Return whether the axes of a view are the kept dimensions of its window, each once, and new ones."""
    kept = [axis for axis, dim in enumerate(window.dims) if isinstance(dim, Range)]
    return sorted(axis for axis in view.axes if axis >= 0) == kept


def _reinterpreted(start: NDArray, view: View, symbols: Symbols) -> NDArray:
    """The elements that offset and strides name, from element 0 of the memory."""
    dtype = view.dtype.numpy
    shape = tuple(max(size, 0) for size in sizes_of(view.shape, symbols))
    if 0 in shape:
        return np.empty(shape, dtype)
    strides = tuple(stride * dtype.itemsize for stride in sizes_of(view.strides, symbols))
    offset = view.offset.evaluate(symbols) * dtype.itemsize
    (low, high), (first, last) = extent(start.shape, start.strides), extent(shape, strides)
    if offset + first < low or offset + last + dtype.itemsize > high + start.itemsize or 0 in start.shape:
        raise OutOfBounds(f"a view of {view.of!r} shows memory that {view.of!r} does not have")
    one = as_strided(start, (1,), (start.itemsize,)).view(np.uint8)[:1]
    direction = 1 if offset >= 0 else -1
    moved = as_strided(one, (abs(offset) + 1,), (direction,))[-1:]
    first_element = as_strided(moved, (dtype.itemsize,), (1,)).view(dtype)
    return as_strided(first_element, shape, strides)


def extent(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """Byte offsets of the first and the last element of an array in memory, from its element 0."""
    reaches = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    return sum(min(reach, 0) for reach in reaches), sum(max(reach, 0) for reach in reaches)


def addresses(data: NDArray) -> list[int]:
    """Return the addresses of an array's elements; complex numbers count as two."""
    found: list[int] = [data.__array_interface__["data"][0]]
    if data.ndim > 0:
        places = np.full(data.shape, found[0], np.int64)
        for axis, (size, stride) in enumerate(zip(data.shape, data.strides, strict=True)):
            steps = np.arange(size, dtype=np.int64) * stride
            places += steps.reshape([-1 if other == axis else 1 for other in range(data.ndim)])
        found = places.reshape(-1).tolist()
    if data.dtype.kind == "c":
        found += [place + data.itemsize // 2 for place in found]
    return found
