"""Foreign arrays: where arrays of other libraries live, and what to write to get a NumPy array of one.

They are found by protocol, not by library: ``__cuda_array_interface__``, ``__dlpack__``, ``__array_interface__``,
``__array__``, and buffers. Nothing is copied: what the program writes to a copy would be lost, and memory moves between
devices only where somebody has asked for it. What a program returns would be of another class than in Python, so that
only programs that are asked to (the option ``convert``) read such an array in place, unless its library takes results
back (`dcpy.runtime.calls.array_kinds`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: device types of DLPack that the CPU reads as its own memory, and names of others
_OF_CPU = {1, 3, 11, 13}
_DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 9: "VPI", 10: "ROCm", 14: "oneAPI", 15: "WebGPU"}
_NOT_FOREIGN = (
    np.ndarray, np.generic, bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, range, type,
    type(None),
)  # fmt: skip
COLUMNS = 2  # of a table, that messages name
_BUFFERS = (bytearray, memoryview)
ELSEWHERE = ", but the program runs on the CPU"
CONVERTING = ", or let the program do so: @dcpy.program(convert=True)"


@dataclass(frozen=True)
class ForeignArray:
    """An array of another library: its class, and the device that it is on ("" for the CPU)."""

    kind: str
    device: str
    to_numpy: str  # an expression for ``{0}``, the array
    is_partitioned: bool = False  # to several processes (``__partitioned__``)
    is_lazy: bool = False  # a graph of tasks that compute it (``__dask_graph__``)
    columns: tuple[str, ...] = ()  # names of the first columns of a table (a DataFrame), whose types may differ

    @property
    def message(self) -> str:
        """Description of the object, for ``argument 'a' is …``."""
        if self.device:
            return f"{self.kind} on {self.device}{ELSEWHERE}"
        if self.is_partitioned:
            return f"{self.kind}, of which each rank has a part"
        if self.is_lazy:
            return f"{self.kind}, which is not computed yet"
        if self.columns:
            return f"{self.kind}: a table, not a NumPy array"
        return f"{self.kind}, which is not a NumPy array"

    @property
    def note(self) -> str:
        """Reason for the refusal of the object."""
        if self.device:
            return "dcpy does not copy arrays between devices at a call"
        if self.is_partitioned:
            return "a program that is not of all ranks would see the part of this one"
        if self.is_lazy:
            return "dcpy does not compute it at a call: that may take long, and more memory than there is"
        if self.columns:
            return "programs take arrays; a column of a table is one, and may have a type of its own"
        return "dcpy accepts NumPy arrays only; others are not converted, because the result would have another type"

    def help(self, name: str, *, converts: bool = True) -> str:
        """Return what to write instead of an argument or its part ``p.x``; `converts`: the program may convert it."""
        if self.is_partitioned:
            return f"make it a program of all ranks, @dcpy.program(distributed=True), or pass {name}.allgather()"
        if self.is_lazy:
            return f"pass {name}.compute(), or let its library call the program for each part, as da.map_blocks does"
        if self.columns:
            columns = ", ".join(f"{name}[{column!r}].to_numpy()" for column in self.columns)
            return f"pass columns as arguments of their own: {columns}; or, if all are numbers, {name}.to_numpy()"
        instead = f"pass {self.to_numpy.format(name)}"
        if self.device:
            return f"{instead}, and copy back what the program writes"
        return f"{instead}{CONVERTING}" if converts and name.isidentifier() else instead


def foreign_array(value: Any) -> ForeignArray | None:
    """Return a description of an object that is an array of another library; None for anything else."""
    if isinstance(value, _NOT_FOREIGN):
        return None
    device = _device_of(value)
    if device is None:
        return None
    kind = type(value)
    module = "dcpy" if kind.__module__.startswith("dcpy.") else kind.__module__  # where its users find it
    home = "" if module in ("builtins", "__main__") else f"{module}."
    name = f"{home}{kind.__qualname__}"
    shown = f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
    to_numpy = _from_device(kind) if device else _on_cpu(value, kind)
    columns, is_partitioned = _columns_of(value, kind), _has(value, kind, "__partitioned__")
    return ForeignArray(shown, device, to_numpy, is_partitioned, _is_lazy(value, kind), columns)


def _is_lazy(value: Any, kind: type) -> bool:
    """Return whether tasks compute the array; one of xarray's says so of each object."""
    try:
        return hasattr(kind, "__dask_graph__") and value.__dask_graph__() is not None
    except Exception:  # as for devices: any exception of the library
        return False


def _columns_of(value: Any, kind: type) -> tuple[str, ...]:
    """Return the names of the first columns of a table; () for an array."""
    if not (hasattr(kind, "columns") and hasattr(kind, "to_numpy")):
        return ()
    try:
        return tuple(name for name in list(value.columns)[:COLUMNS] if isinstance(name, str))
    except Exception:  # as for devices: any exception of the library
        return ()


def _device_of(value: Any) -> str | None:
    """The device of an array, "" for the CPU; None for what is no array."""
    kind = type(value)
    if _has(value, kind, "__cuda_array_interface__"):
        return _named(value) or "a CUDA device"
    if hasattr(kind, "__dlpack_device__"):
        number = _asked(value)
        if number is not None and number not in _OF_CPU:
            return _named(value) or f"a device ({_DEVICES.get(number, f'DLPack type {number}')})"
        return ""
    if any(_has(value, kind, name) for name in ("__array__", "__array_interface__", "__array_struct__", "__dlpack__")):
        return ""
    return "" if isinstance(value, _BUFFERS) or (kind.__module__, kind.__name__) == ("array", "array") else None


def _has(value: Any, kind: type, name: str) -> bool:
    """Return whether an array has a protocol. Objects that pretend to have every attribute (mocks) are none."""
    if not hasattr(kind, name) and name not in getattr(value, "__dict__", ()):
        return False
    try:
        return getattr(value, name, None) is not None
    except Exception:  # a tensor on the CPU says TypeError, or whatever its library says, when asked for a device's
        return False


def _asked(value: Any) -> int | None:
    try:
        return int(value.__dlpack_device__()[0])
    except Exception:  # a library that does not know where its arrays are
        return None


def _named(value: Any) -> str:
    """Return the library's name for the device."""
    try:
        shown = str(getattr(value, "device", ""))
    except Exception:  # as above
        return ""
    return shown if shown.isprintable() and len(shown) < 40 and "<" not in shown else ""


def _on_cpu(value: Any, kind: type) -> str:
    if isinstance(value, bytearray):
        return "np.frombuffer({0}, dtype=...)"
    if hasattr(kind, "__dlpack__") and not hasattr(kind, "__array__"):
        return "np.from_dlpack({0})"
    return "np.asarray({0})"


def _from_device(kind: type) -> str:
    if hasattr(kind, "cpu") and hasattr(kind, "numpy"):
        return "{0}.cpu().numpy()"
    if hasattr(kind, "get"):
        return "{0}.get()"
    if hasattr(kind, "copy_to_host"):
        return "{0}.copy_to_host()"
    return "np.asarray({0})" if hasattr(kind, "__array__") else "a copy of {0} in the memory of the CPU"
