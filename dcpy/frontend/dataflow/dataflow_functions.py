"""Functions of explicit dataflow in plain Python: local memory, reductions, element functions, hints.

Programs have implementations of their own for these (`function_lowering`); here is what they do under Python.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from dcpy.frontend.dataflow.storage_and_schedules import StorageType
from dcpy.frontend.mapscope import MapRange

T = TypeVar("T")


def define_local(shape: Any, dtype: Any = np.float64, storage: StorageType = StorageType.Default) -> Any:
    """A new array of the program, with undefined contents (NaN in the interpreter)."""
    return ndarray(shape, dtype, storage)


def define_local_scalar(dtype: Any = np.float64, storage: StorageType = StorageType.Default) -> Any:
    """A new array without dimensions: one element, with an undefined value, for tasklets to write and read."""
    return ndarray((), dtype, storage)


def ndarray(shape: Any, dtype: Any = np.float64, storage: StorageType = StorageType.Default) -> Any:
    """A new array with undefined contents, as ``np.empty``."""
    return np.empty(shape, dtype)


def parrange(start: int, stop: int | None = None, step: int = 1) -> MapRange:
    """``range`` whose iterations may run at the same time: ``dcpy.map[start:stop:step]``."""
    return MapRange((slice(start, stop, step) if stop is not None else slice(0, start, step),))


def unroll(values: Iterable[T]) -> Iterable[T]:
    """The values of a loop whose body is written once for each; their number is known when it is compiled."""
    return values


def nounroll(values: Iterable[T]) -> Iterable[T]:
    """The values of a loop that stays a loop."""
    return values


def inline(value: T) -> T:
    """A value that is computed when the program is compiled."""
    return value


def in_program() -> bool:
    """Return whether this runs as part of a compiled program: False under Python, True in a program."""
    return False


@contextlib.contextmanager
def named(label: str) -> Iterator[None]:
    """``with dcpy.named("forces"):`` names a part of a program for its reader."""
    yield


def reduce(
    function: Callable[[Any, Any], Any], array: Any, out: Any = None, axis: Any = None, identity: Any = None
) -> Any:
    """Combine the elements along axes: ``dcpy.reduce(lambda a, b: a + b, A, axis=1, identity=0)``.

    With `out`, the result is stored there; without an identity, it is combined with what is there.
    """
    source = np.asarray(array)
    axes = tuple(range(source.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    over = sorted(k % source.ndim for k in axes)
    kept = [k for k in range(source.ndim) if k not in over]
    lines = source.transpose(*over, *kept).reshape(-1, *(source.shape[k] for k in kept))
    combine = np.frompyfunc(function, 2, 1)
    start = identity if identity is not None else None if out is None else np.asarray(out).reshape(lines.shape[1:])
    parts = [*([] if start is None else [np.broadcast_to(np.asarray(start, source.dtype), lines.shape[1:])]), *lines]
    found = parts[0]
    for part in parts[1:]:
        found = combine(found, part)
    result = np.asarray(found, source.dtype)
    if out is None:
        return result if result.ndim else result[()]
    out[...] = result.reshape(np.shape(out))
    return None


def elementwise(function: Callable[[Any], Any], array: Any, out: Any = None) -> Any:
    """A function of each element, as an array of the same dtype, or stored to `out`."""
    result = np.asarray(np.frompyfunc(function, 1, 1)(array), np.asarray(array).dtype if out is None else out.dtype)
    if out is None:
        return result
    out[...] = result
    return None
