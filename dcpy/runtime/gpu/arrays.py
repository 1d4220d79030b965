"""The memory of a device that outlives calls: where a `DeviceArray` is, and what waits and copies for it.

`home_of` gives the device of a program's options, one for all programs that can share arrays. The dispatcher takes
memory and orders streams by a table of its own, under the GIL; what waits is here, with another table, without it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dcpy.base.errors import ArgumentError, DeviceError, DeviceMemoryError
from dcpy.base.option_groups.gpu import Backend
from dcpy.base.options import Options
from dcpy.runtime._dispatch import DeviceArray, Home
from dcpy.runtime.gpu import cupy_interop
from dcpy.runtime.gpu.device_selection import backend_of
from dcpy.runtime.gpu.device_table import OUT_OF_MEMORY, TO_DEVICE, TO_HOST, Device

KINDS = {Backend.CUDA: 2, Backend.HIP: 10, Backend.SIMULATOR: 2}  #: numbers of DLPack; simulated memory is as CUDA's
Allocate = Callable[[int, int, int], tuple[int, object]]  #: bytes, stream, device: a place, and what holds it
Library = tuple[Callable[[int], int] | None, Callable[[DeviceArray], Any] | None, Allocate | None, bool]

_homes: dict[tuple[str, str], ArrayDevice] = {}
_opening = threading.Lock()


class ArrayDevice:
    """A device with arrays, and the tables through which they are allocated, and copied."""

    def __init__(self, backend: Backend, options: Options) -> None:
        self.backend = backend
        self._memory, self._copies = (_memory_only(backend, options) for _ in range(2))
        self._turn = threading.Lock()  # for `_copies`, which serves one thread at a time
        self.home = Home(self._memory.table, KINDS[backend], 0, backend is Backend.SIMULATOR, self)

    def __repr__(self) -> str:
        return "the simulated GPU" if self.backend is Backend.SIMULATOR else f"{self.backend.value}:0"

    def error(self, status: int, message: str) -> DeviceError:
        """Return the exception for a status of the table."""
        return (DeviceMemoryError if status == OUT_OF_MEMORY else DeviceError)(message)

    def library_of(self, kind: type) -> Library:
        """Return a library's functions for streams, conversion and allocation; and whether its arrays are immutable.

        They return its current stream, make its arrays of ours, and allocate from its memory pool.
        """
        root = kind.__module__.partition(".")[0]
        return _STREAMS.get(root), _conversion(kind), _POOLS.get(root), root in _IMMUTABLE

    def wait_for(self, stream: int) -> None:
        """Until all that a stream has been given is done."""
        with self._turn:
            self._copies.use_stream(stream)
            self._copies.wait()

    def synchronize(self) -> None:
        """Until all calls of programs are done, on every stream that they were on."""
        for stream in self.home.take_busy():
            self.wait_for(stream)

    def upload(
        self, values: np.ndarray[Any, Any], stream: int = 0, allocate: Allocate | None = None
    ) -> DeviceArray:
        """A copy of an array of NumPy's, when it is there; on a stream, from a library's pool, if these are given."""
        made = self.home.empty(values.dtype.num, values.shape, stream, allocate)
        self._copy(made, np.ascontiguousarray(values), TO_DEVICE)
        return made

    def download(self, array: DeviceArray) -> np.ndarray[Any, Any]:
        """A copy for the host, when it is there."""
        found = np.empty(array.shape, array.dtype)
        self._copy(array, found, TO_HOST)
        return found

    def _copy(self, array: DeviceArray, host: np.ndarray[Any, Any], way: int) -> None:
        if not host.size:
            return
        to, source = (array.place, host.ctypes.data) if way == TO_DEVICE else (host.ctypes.data, array.place)
        steps = (array.strides, host.strides) if way == TO_DEVICE else (host.strides, array.strides)
        with self._turn:
            self._copies.use_stream(array.stream)
            self._copies.copy_box(to, source, array.dtype.itemsize, array.shape, steps, way)
            self._copies.wait()


def home_of(options: Options) -> Home:
    """The device that arrays of programs with these options are on. `DeviceError` where there is none."""
    return device_of(options).home


def device_of(options: Options) -> ArrayDevice:
    """The same, as Python has it."""
    backend = backend_of(options)
    key = backend.value, options.gpu.driver
    with _opening:
        if key not in _homes:
            _homes[key] = ArrayDevice(backend, options)
        return _homes[key]


def opened() -> tuple[ArrayDevice, ...]:
    """The devices that have had arrays so far."""
    return tuple(_homes.values())


def _memory_only(backend: Backend, options: Options) -> Device:
    """A table without kernels."""
    if backend is Backend.SIMULATOR:
        from dcpy.runtime.gpu.simulator.library import Settings, SimulatedDevice

        return SimulatedDevice(options, Settings(options.gpu.warp))
    from dcpy.runtime.gpu.drivers import open_context

    return open_context(backend.value, options).program(b"", ())


# -- what is known of other libraries ----------------------------------------------------------------------------------


def _torch_stream(number: int) -> int:
    return int(sys.modules["torch"].cuda.current_stream(number).cuda_stream)


_STREAMS: Mapping[str, Callable[[int], int]] = {"cupy": cupy_interop.current_stream, "torch": _torch_stream}
_POOLS: Mapping[str, Allocate] = {"cupy": cupy_interop.allocate}
_MAKERS = {"jaxlib": "jax.numpy"}  #: modules that make arrays of classes that other modules define
_IMMUTABLE = ("jax", "jaxlib")  #: libraries whose arrays are immutable, whether or not they say so


def _conversion(kind: type) -> Callable[[DeviceArray], Any] | None:
    """``from_dlpack`` of the library of a class: it is loaded, as there are arrays of it, and nothing else is."""
    if kind is DeviceArray:
        return None
    root = kind.__module__.partition(".")[0]
    for name in (_MAKERS.get(root, kind.__module__), root):
        found = getattr(sys.modules.get(name), "from_dlpack", None)
        if found is not None:
            return found  # type: ignore[no-any-return]
    return None


def refused(name: str, value: Any, why: BaseException) -> BaseException:
    """The error of an argument that cannot be taken; what is no matter of the argument is raised as it is."""
    if isinstance(why, DeviceError) or not isinstance(why, Exception):
        return why
    kind = type(value)
    shown = f"{kind.__module__}.{kind.__qualname__}"
    error = ArgumentError(f"argument {name!r} is a {shown} that cannot be taken: {why}", help=_instead(why))
    error.argument = name
    error.__cause__ = why
    return error


def _instead(why: Exception) -> str:
    text = str(why)
    if "grad" in text:
        return "pass it without its gradient: tensor.detach()"
    if "it is on device" in text:
        return (
            "programs run on device 0 of those that are visible: copy the array there, or start Python with "
            "CUDA_VISIBLE_DEVICES (HIP_VISIBLE_DEVICES) set to the device that it is on"
        )
    if "but the program runs on" in text:
        return "copy it there, or compile the program for the device that the array is on (gpu_backend=...)"
    if "bfloat16" in text or "lanes" in text or "dtype" in text:
        return "pass it with a dtype of NumPy's"
    return ""


__all__ = ["ArrayDevice", "DeviceArray", "device_of", "home_of", "opened", "refused"]
