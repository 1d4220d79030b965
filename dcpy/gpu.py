"""``dcpy.gpu``: arrays in the memory of a GPU without another library, streams, and waiting.

Programs for GPUs take arrays of CuPy, PyTorch, JAX and others as they are; `array` makes one of NumPy's where there is
no such library.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dcpy.base.errors import ArgumentError
from dcpy.base.options import resolve_options
from dcpy.runtime._dispatch import DeviceArray, set_stream
from dcpy.runtime.gpu.arrays import device_of, opened
from dcpy.runtime.gpu.device_selection import raise_deferred

__all__ = ["DeviceArray", "array", "stream", "synchronize"]


def array(values: Any, *, backend: str = "", driver: str = "") -> DeviceArray:
    """A copy of an array of NumPy's on the GPU. `backend` and `driver` are as in the options of programs."""
    chosen = {"gpu.backend": backend, "gpu.driver": driver}
    options = resolve_options({name: value for name, value in chosen.items() if value})
    found = np.asarray(values)
    if found.dtype.kind not in "biufc" or not found.dtype.isnative:
        raise ArgumentError(f"an array of dtype {found.dtype} cannot be on a GPU", help="pass it as numbers")
    return device_of(options).upload(found)


@contextmanager
def stream(handle: Any) -> Iterator[None]:
    """The stream of the calls inside, in this thread: a handle, or an object that has one.

    Objects have it as ``__cuda_stream__`` (a method that gives a version and the handle), ``ptr`` (CuPy) or
    ``cuda_stream`` (PyTorch). None: calls are on the stream of their arrays, as without.
    """
    before = set_stream(_handle_of(handle))
    try:
        yield
    finally:
        set_stream(before)


def synchronize() -> None:
    """Wait for all calls with arrays of a GPU. Raises `DeviceError` where one has broken the device.

    With ``gpu.errors = deferred``, also what has failed in a call, and has not been raised yet.
    """
    for device in opened():
        device.synchronize()
    raise_deferred()


def _handle_of(stream: Any) -> int | None:
    if stream is None:
        return None
    if hasattr(type(stream), "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    for name in ("ptr", "cuda_stream"):
        stream = getattr(stream, name, stream)
    if isinstance(stream, bool) or not isinstance(stream, int):
        raise ArgumentError(
            f"{stream!r} is no stream", help="pass the handle of a CUDA stream, or an object of CuPy or PyTorch"
        )
    if stream < 0:
        raise ArgumentError(f"{stream} is no handle of a stream", help="0 and 1 are the default stream")
    return stream or 1
