"""CuPy's current stream and memory pool, for calls whose first array of the device is CuPy's.

CuPy is loaded then, and it is never loaded from here. Each device has a current stream of its own in each thread.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dcpy.base.errors import DeviceMemoryError

LEGACY = 1  #: the handle of the default stream, as DLPack has it; CuPy's is 0


def current_stream(device: int) -> int:
    """Return the handle of CuPy's current stream on a device."""
    with _device(device) as cuda:
        return _handle(cuda)


def allocate(size: int, stream: int, device: int) -> tuple[int, object]:
    """Return the place of new memory of CuPy's current allocator, by default its pool, and the object that holds it.

    The pool lends memory again in the order of the stream. Raises `DeviceMemoryError`.
    """
    with _device(device) as cuda, _stream(cuda, stream):
        try:
            memory = cuda.alloc(max(size, 1))
        except MemoryError as error:
            raise DeviceMemoryError(
                f"CuPy's allocator has no {size} bytes for a result",
                notes=(str(error),),
                help="use smaller arrays, or give back what the pool keeps: "
                "cupy.get_default_memory_pool().free_all_blocks()",
            ) from error
    return int(memory.ptr), memory


def _handle(cuda: Any) -> int:
    return int(cuda.get_current_stream().ptr) or LEGACY


@contextmanager
def _device(device: int) -> Iterator[Any]:
    """CuPy's module ``cuda``, while a device is current."""
    cuda = sys.modules["cupy"].cuda
    if cuda.runtime.getDevice() == device:
        yield cuda
        return
    with cuda.Device(device):
        yield cuda


@contextmanager
def _stream(cuda: Any, stream: int) -> Iterator[None]:
    if _handle(cuda) == stream:
        yield
        return
    with cuda.Stream.null if stream == LEGACY else cuda.ExternalStream(stream):
        yield
