"""Arrays of another library's, without that library: memory of a simulated device behind DLPack and
`__cuda_array_interface__`, which checks that consumers keep the rules of both.

What a consumer must do: ask for the current stream's order, take a capsule once and rename it, call its deleter once
when it is done, and leave read-only memory alone. What the producer keeps: its memory lives until every export has been
given back, whoever has dropped the array meanwhile.
"""

from __future__ import annotations

import ctypes
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.runtime.gpu.device_table import TO_DEVICE
from dcpy.runtime.gpu.simulator.library import SimulatedDevice

CPU, CUDA = 1, 2  # kinds of devices in DLPack
READ_ONLY, COPIED = 1, 2  # flags of a versioned capsule
LEGACY_STREAM = 1
KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
OLD, NEW = b"dltensor", b"dltensor_versioned"
USED = {OLD: b"used_dltensor", NEW: b"used_dltensor_versioned"}

_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _deleter))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", _deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


class BrokenRule(AssertionError):
    """A consumer has not kept a rule."""


class Memory:
    """An allocation that several arrays and exports hold; released with the last of them, in the order of a stream."""

    def __init__(self, device: SimulatedDevice, place: int, stream: int) -> None:
        self.device, self.place, self.stream, self.holders = device, place, stream, 0

    def hold(self) -> None:
        if self.place == 0:
            raise BrokenRule("memory that has been released is held again")
        self.holders += 1

    def drop(self) -> None:
        if self.holders == 0:
            raise BrokenRule("memory is given back more often than it was taken")
        self.holders -= 1
        if self.holders == 0:
            self.device.give(self.place, self.stream)
            self.place = 0


_exports: dict[int, tuple[Any, ...]] = {}  # what a capsule points to, until its deleter is called


class DeviceArray:
    """An array in the memory of a simulated device, of a library that queues its work on `stream`."""

    def __init__(
        self,
        device: SimulatedDevice,
        values: np.ndarray,
        *,
        read_only: bool = False,
        stream: int = LEGACY_STREAM,
        protocols: str = "dlpack cuda",
    ) -> None:
        packed = np.ascontiguousarray(values)
        self.memory = Memory(device, device.allocate(packed.nbytes), stream)
        device.copy(self.memory.place, packed.ctypes.data, packed.nbytes, TO_DEVICE)
        device.wait()
        self._take(self.memory, packed.shape, packed.strides, packed.dtype, 0, read_only, stream, protocols)

    def _take(self, memory, shape, strides, dtype, offset, read_only, stream, protocols) -> None:
        self.memory, self.shape, self.strides, self.dtype = memory, shape, strides, dtype
        self.offset, self.read_only, self.stream, self.protocols = offset, read_only, stream, protocols
        self.asked_by: list[object] = []  # the streams that consumers have named
        memory.hold()
        self._finalizer = weakref.finalize(self, memory.drop)

    def __getattribute__(self, name: str) -> Any:
        wanted = {"__dlpack__": "dlpack", "__dlpack_device__": "dlpack", "__cuda_array_interface__": "cuda"}.get(name)
        if wanted is not None and wanted not in self.protocols:
            raise AttributeError(name)
        return super().__getattribute__(name)

    def view(self, *index: Any) -> DeviceArray:
        """A part, as NumPy would take it; it holds the same memory."""
        part = np.lib.stride_tricks.as_strided(np.empty(1, self.dtype), self.shape, self.strides)
        chosen = part[(*index, ...)]
        found = DeviceArray.__new__(DeviceArray)
        moved = chosen.__array_interface__["data"][0] - part.__array_interface__["data"][0]
        rest = (self.read_only, self.stream, self.protocols)
        found._take(self.memory, chosen.shape, chosen.strides, self.dtype, self.offset + moved, *rest)
        return found

    @property
    def place(self) -> int:
        """Of the first element."""
        return self.memory.place + self.offset

    def delete(self) -> None:
        """As ``del array``, at once."""
        self._finalizer()

    def numpy(self) -> np.ndarray:
        """The values, on the host."""
        found = np.empty(self.shape, self.dtype)
        if found.size:
            strides = (found.strides, self.strides)
            self.memory.device.copy_box(found.ctypes.data, self.place, self.dtype.itemsize, self.shape, strides, 1)
            self.memory.device.wait()
        return found

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        packed = np.empty(self.shape, np.int8).size <= 1 or self.strides == np.empty(self.shape, self.dtype).strides
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.place if 0 not in self.shape else 0, self.read_only),
            "strides": None if packed else self.strides,
            "version": 3,
            "stream": self.stream,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None) -> object:
        if stream == 0 or (stream is not None and (isinstance(stream, bool) or stream < -1)):
            raise ValueError("stream 0 may be the legacy one or that of each thread: give 1 or 2")
        if dl_device not in (None, (CUDA, 0)):
            raise BufferError(f"this array cannot be exported to the device {dl_device}")
        is_new = max_version is not None and max_version[0] >= 1
        if self.read_only and not is_new and not copy:
            raise BufferError("a read-only array is only exported by capsules that can say so")
        self.asked_by.append(stream)
        source = DeviceArray(self.memory.device, self.numpy(), stream=self.stream) if copy else self
        return source._export(is_new, bool(copy))

    def _export(self, is_new: bool, is_copied: bool) -> object:
        rank = len(self.shape)
        shape = (ctypes.c_int64 * max(rank, 1))(*self.shape)
        strides = (ctypes.c_int64 * max(rank, 1))(*(step // self.dtype.itemsize for step in self.strides))
        lanes = (KINDS[self.dtype.kind], self.dtype.itemsize * 8, 1)
        tensor = _Tensor(self.memory.place, CUDA, 0, rank, *lanes, shape, strides, self.offset)
        deleter = _deleter(_delete)
        flags = (READ_ONLY if self.read_only else 0) | (COPIED if is_copied else 0)
        managed = _Versioned(1, 0, None, deleter, flags, tensor) if is_new else _Managed(tensor, None, deleter)
        self.memory.hold()
        _exports[ctypes.addressof(managed)] = (managed, shape, strides, deleter, self.memory)
        name = NEW if is_new else OLD
        return _api.PyCapsule_New(ctypes.addressof(managed), name, _unused[name])


def _delete(address: int) -> None:
    if address not in _exports:
        _faults.append("the deleter of a tensor is called twice")
        return
    _exports.pop(address)[-1].drop()


_faults: list[str] = []  # in callbacks of C, which cannot raise


def faults() -> list[str]:
    """What consumers have done wrong since they were asked last."""
    found = list(_faults)
    _faults.clear()
    return found


def exports() -> int:
    """How many tensors have not been given back."""
    return len(_exports)


def _destructor(name: bytes) -> Any:
    """Of a capsule that nobody has taken: the tensor is given back."""

    def run(capsule: int) -> None:
        if _valid(capsule, name):
            _delete(_pointer(capsule, name))

    return ctypes.cast(_kept.setdefault(name, _deleter(run)), ctypes.c_void_p)


_kept: dict[bytes, Any] = {}
_raw = ctypes.PyDLL(None)  # a capsule that is being destroyed may not become an argument, which would hold it
_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _raw))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _raw))
_unused = {name: _destructor(name) for name in (OLD, NEW)}


@dataclass
class Taken:
    """A tensor that a consumer has taken from a capsule."""

    address: int
    place: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes
    dtype: np.dtype
    read_only: bool
    is_copied: bool
    deleter: Any

    def give_back(self) -> None:
        self.deleter(self.address)


def take(capsule: object) -> Taken:
    """What a consumer does with a capsule: it may be done once."""
    name = next((one for one in (NEW, OLD) if _api.PyCapsule_IsValid(capsule, one)), None)
    if name is None:
        raise BrokenRule("a capsule is taken a second time")
    address = _api.PyCapsule_GetPointer(capsule, name)
    managed = (_Versioned if name == NEW else _Managed).from_address(address)
    _api.PyCapsule_SetName(capsule, USED[name])
    tensor, flags = managed.tensor, managed.flags if name == NEW else 0
    kind = next(kind for kind, code in KINDS.items() if code == tensor.code)
    dtype = np.dtype(f"{kind}{tensor.bits // 8}")
    return Taken(
        address,
        tensor.data + tensor.offset,
        tuple(tensor.shape[: tensor.rank]),
        tuple(step * dtype.itemsize for step in tensor.strides[: tensor.rank]),
        dtype,
        bool(flags & READ_ONLY),
        bool(flags & COPIED),
        managed.deleter,
    )
