"""A stand-in for CuPy on a simulated GPU: its arrays, current device and stream, allocator and memory pool.

It keeps the parts of CuPy's interface that dcpy relies on: `ndarray` with DLPack and ``__cuda_array_interface__``,
`from_dlpack`, ``cuda.alloc`` with arenas per stream, ``cuda.Device`` and ``cuda.Stream`` as contexts of a thread.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from types import ModuleType, SimpleNamespace

import numpy as np

from dcpy.runtime.gpu.simulator.library import SimulatedDevice
from tests.runtime.gpu import producer


class OutOfMemoryError(MemoryError):
    """``cupy.cuda.memory.OutOfMemoryError``."""


class MemoryPointer:
    """Memory of a pool; goes back to the arena of its stream when nobody has it."""

    def __init__(self, pool: MemoryPool, place: int, size: int, arena: tuple[int, int]) -> None:
        self.ptr, self.size, self.arena = place, size, arena
        weakref.finalize(self, pool.take_back, place, size, arena)


class MemoryPool:
    """Chunks by device and stream: what is free is lent again to the same stream alone."""

    def __init__(self, cupy: Cupy) -> None:
        self.cupy, self.limit = cupy, 1 << 40
        self.free: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.used: dict[int, int] = {}

    def malloc(self, size: int) -> MemoryPointer:
        arena = self.cupy.device, self.cupy.stream.ptr
        if self.used_bytes() + size > self.limit:
            raise OutOfMemoryError(f"Out of memory allocating {size} bytes")
        free = self.free.setdefault(arena, [])
        place = next((place for place, length in free if length == size), 0)
        if place:
            free.remove((place, size))
        else:
            place = self.cupy.memory.take(size, arena[1] or 1)
        self.used[place] = size
        return MemoryPointer(self, place, size, arena)

    def take_back(self, place: int, size: int, arena: tuple[int, int]) -> None:
        del self.used[place]
        self.free[arena].append((place, size))

    def used_bytes(self) -> int:
        return sum(self.used.values())

    def free_bytes(self) -> int:
        return sum(size for chunks in self.free.values() for _, size in chunks)


class _Taken:
    """The memory of a tensor that came by DLPack."""

    def __init__(self, device: SimulatedDevice, taken: producer.Taken) -> None:
        self.device, self.taken, self.place, self.holders = device, taken, taken.place, 0

    def hold(self) -> None:
        self.holders += 1

    def drop(self) -> None:
        self.holders -= 1
        if self.holders == 0:
            self.taken.give_back()


class Cupy:
    """The module ``cupy`` (`module`), whose arrays are in the memory of a simulated device."""

    def __init__(self, memory: SimulatedDevice) -> None:
        self.memory = memory
        self.here = threading.local()
        self.handles = itertools.count(0x9000, 16)
        self.pool = MemoryPool(self)
        self.allocator = self.pool.malloc
        self.allocated_on: list[int] = []  # the device that was current, at each allocation
        self.module = self._module()

    @property
    def device(self) -> int:
        """The number of this thread's current device."""
        return getattr(self.here, "device", 0)

    @property
    def stream(self) -> SimpleNamespace:
        """The current stream of this thread on its current device."""
        return getattr(self.here, "streams", {}).get(self.device, self.module.cuda.Stream.null)

    def _alloc(self, size: int) -> MemoryPointer:
        self.allocated_on.append(self.device)
        return self.allocator(size)

    def _module(self) -> ModuleType:
        module = ModuleType("cupy")
        module.ndarray = self._array_class()
        module.asarray = lambda values: module.ndarray(self.memory, np.asarray(values), stream=self.stream.ptr or 1)
        module.asnumpy = self.asnumpy
        module.from_dlpack = self.from_dlpack
        module.get_default_memory_pool = lambda: self.pool
        stream = self._stream_class()
        module.cuda = SimpleNamespace(
            Device=self._device_class(),
            Stream=stream,
            ExternalStream=lambda ptr: stream(ptr=ptr),
            alloc=self._alloc,
            get_current_stream=lambda: self.stream,
            runtime=SimpleNamespace(getDevice=lambda: self.device),
        )
        return module

    def _array_class(self) -> type:
        cupy = self

        class ndarray(producer.DeviceArray):  # noqa: N801
            @property
            def data(self) -> SimpleNamespace:
                return SimpleNamespace(ptr=self.place)

        def is_there(self) -> tuple[int, int]:
            return producer.CUDA, getattr(self, "device", 0)

        ndarray.__dlpack_device__ = is_there
        ndarray.get = lambda self: cupy.asnumpy(self)
        ndarray.__module__ = "cupy"
        return ndarray

    def _stream_class(self) -> type:
        cupy = self

        class Stream:
            null: Stream

            def __init__(self, non_blocking: bool = False, ptr: int | None = None) -> None:
                self.ptr = next(cupy.handles) if ptr is None else ptr

            def __enter__(self) -> Stream:
                streams = cupy.here.__dict__.setdefault("streams", {})
                cupy.here.__dict__.setdefault("before", []).append((cupy.device, streams.get(cupy.device)))
                streams[cupy.device] = self
                return self

            def __exit__(self, *_: object) -> None:
                device, before = cupy.here.before.pop()
                cupy.here.streams[device] = before or Stream.null

        Stream.null = Stream(ptr=0)
        return Stream

    def _device_class(self) -> type:
        cupy = self

        class Device:
            def __init__(self, number: int) -> None:
                self.id, self.before = number, []

            def __enter__(self) -> Device:
                self.before.append(cupy.device)
                cupy.here.device = self.id
                return self

            def __exit__(self, *_: object) -> None:
                cupy.here.device = self.before.pop()

        return Device

    def asnumpy(self, array: producer.DeviceArray) -> np.ndarray:
        """The values, when the current stream has come so far."""
        self.memory.use_stream(self.stream.ptr or 1)
        return array.numpy()

    def from_dlpack(self, value: object) -> producer.DeviceArray:
        """An array over the memory of another one, behind which the current stream waits."""
        taken = producer.take(value.__dlpack__(stream=self.stream.ptr or 1, max_version=(1, 0)))
        made = self.module.ndarray.__new__(self.module.ndarray)
        rest = (taken.read_only, self.stream.ptr or 1, "dlpack cuda")
        made._take(_Taken(self.memory, taken), taken.shape, taken.strides, taken.dtype, 0, *rest)
        return made
