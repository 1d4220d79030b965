"""Device table (codegen/include/dcpy_table.h) as Python calls it: memory, copies, launches.

Generated programs call it from C++. This is for what Python itself does with a device: arrays of its memory, and tests.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dcpy.base.errors import DeviceError, DeviceMemoryError
from dcpy.base.source import SrcSpan
from dcpy.runtime.gpu.source_lines import Places

VERSION = 2
OUT_OF_MEMORY = 1
TO_DEVICE, TO_HOST, WITHIN_DEVICE = range(3)

_place, _number, _count = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
_numbers = ctypes.POINTER(_number)


def _function(*parameters: Any) -> Any:
    return ctypes.CFUNCTYPE(_count, _place, *parameters)


class DeviceTable(ctypes.Structure):
    """``struct dcpy_device``."""

    _fields_: ClassVar[Any] = [
        ("version", _count),
        ("errors", _place),
        ("allocate", _function(_number, ctypes.POINTER(_place))),
        ("release", _function(_place)),
        ("copy", _function(_place, _place, _number, _count)),
        ("copy_box", _function(_place, _place, _number, _count, _numbers, _numbers, _numbers, _count)),
        ("fill", _function(_place, _count, _number)),
        ("launch", _function(_count, _numbers, ctypes.POINTER(_count), _count, ctypes.POINTER(_place))),
        ("wait", _function()),
        ("failed", _function(_numbers)),
        ("message", ctypes.CFUNCTYPE(ctypes.c_char_p, _place)),
        ("use_queue", _function(_count)),
        ("record", _function(_count)),
        ("wait_event", _function(_count)),
        ("pin", _function(_number, ctypes.POINTER(_place))),
        ("unpin", _function(_place)),
        ("graph_begin", _function(_count)),
        ("graph_end", _function(_count)),
        ("graph_replay", _function(_count)),
        ("own_stream", ctypes.CFUNCTYPE(_place, _place)),
        ("use_stream", _function(_place)),
        ("order", _function(_place, _place)),
        ("take", _function(_number, _place, ctypes.POINTER(_place))),
        ("give", _function(_place, _place)),
        ("holds", _function(_place)),
        ("libraries", _place),
        ("library_stream", _function(ctypes.POINTER(_place))),
        ("library_failed", _function(_count, ctypes.c_char_p)),
    ]


class Device:
    """A device behind the address of its table. Methods raise `DeviceError` where the table answers with a status."""

    def __init__(self, table: int) -> None:
        self.table = table
        self.kernels: tuple[str, ...] = ()  # by number
        self.kernel_places: Places = {}
        self.kernel_spans: Mapping[str, SrcSpan] = {}
        self.check_notes: Sequence[str] = ()  # lines of errors of failed checks
        self._functions = DeviceTable.from_address(table)

    @property
    def errors(self) -> int:
        """The place of the error block."""
        return self._functions.errors or 0

    def message(self) -> str:
        """Return the message of the last failure."""
        return str(self._functions.message(self.table).decode(errors="replace"))

    def time_of(self, kernel: int) -> tuple[int, float]:
        """Return how often a kernel was launched since the program was opened, and the seconds that it took."""
        raise DeviceError("no times of kernels are taken here", help="GPUs take them: gpu_backend = cuda or hip")

    def allocate(self, size: int) -> int:
        """The place of `size` new bytes."""
        place = _place()
        self._call("allocate", size, ctypes.byref(place))
        return place.value or 0

    def release(self, place: int) -> None:
        self._call("release", place)

    def copy(self, to: int, source: int, size: int, way: int) -> None:
        self._call("copy", to, source, size, way)

    def copy_box(
        self,
        to: int,
        source: int,
        item: int,
        shape: Sequence[int],
        strides: tuple[Sequence[int], Sequence[int]],
        way: int,
    ) -> None:
        """Elements of `item` bytes; `strides` in bytes, of `to` and of `source`."""
        sizes, ours, theirs = ((_number * len(shape))(*numbers) for numbers in (shape, *strides))
        self._call("copy_box", to, source, item, len(shape), sizes, ours, theirs, way)

    def fill(self, place: int, byte: int, size: int) -> None:
        self._call("fill", place, byte, size)

    def launch(
        self, kernel: int, blocks: Sequence[int], threads: Sequence[int], args: Sequence[Any], shared: int = 0
    ) -> None:
        """Each of `args` is a ctypes value."""
        grid = (_number * 3)(*blocks, *[1] * (3 - len(blocks)))
        block = (_count * 3)(*threads, *[1] * (3 - len(threads)))
        places = (_place * max(len(args), 1))(*(ctypes.addressof(value) for value in args))
        self._call("launch", kernel, grid, block, shared, places)

    def wait(self) -> None:
        self._call("wait")

    def failed(self) -> tuple[int, ...]:
        """The error block, after a `wait`."""
        numbers = (_number * 5)()
        self._call("failed", numbers)
        return tuple(numbers)

    def use_queue(self, queue: int) -> None:
        self._call("use_queue", queue)

    def record(self, event: int) -> None:
        self._call("record", event)

    def wait_event(self, event: int) -> None:
        self._call("wait_event", event)

    def pin(self, size: int) -> int:
        """The place of `size` new bytes of host memory that kernels may touch."""
        place = _place()
        self._call("pin", size, ctypes.byref(place))
        return place.value or 0

    def unpin(self, place: int) -> None:
        self._call("unpin", place)

    @property
    def has_graphs(self) -> bool:
        """Return whether launches can be recorded, and replayed together."""
        return bool(self._functions.graph_begin)

    def graph_begin(self, graph: int) -> None:
        """The launches that follow are recorded under a number, and do not run."""
        self._call("graph_begin", graph)

    def graph_end(self, graph: int) -> None:
        self._call("graph_end", graph)

    def graph_replay(self, graph: int) -> None:
        self._call("graph_replay", graph)

    @property
    def own_stream(self) -> int:
        """The handle of the stream that is queue 0 unless another one is used."""
        return self._functions.own_stream(self.table) or 0

    def use_stream(self, stream: int) -> None:
        self._call("use_stream", stream)

    def order(self, first: int, then: int) -> None:
        self._call("order", first, then)

    def take(self, size: int, stream: int) -> int:
        """The place of `size` new bytes that outlive calls."""
        place = _place()
        self._call("take", size, stream, ctypes.byref(place))
        return place.value or 0

    def give(self, place: int, stream: int) -> None:
        self._call("give", place, stream)

    def upload(self, array: np.ndarray[Any, Any]) -> int:
        """The place of a copy of a C-ordered array, when it is there."""
        place = self.allocate(array.nbytes)
        self.copy(place, array.ctypes.data, array.nbytes, TO_DEVICE)
        self.wait()
        return place

    def download(self, place: int, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """A new array with the shape and dtype of another one, from a place."""
        found = np.empty(like.shape, like.dtype)
        self.copy(found.ctypes.data, place, found.nbytes, TO_HOST)
        self.wait()
        return found

    def _call(self, name: str, *args: Any) -> None:
        status = getattr(self._functions, name)(self.table, *args)
        if status != 0:
            raise self.error(status)

    def error(self, status: int) -> DeviceError:
        """Return the exception for a status."""
        return self.failure(DeviceMemoryError if status == OUT_OF_MEMORY else DeviceError)

    def failure(self, category: type[DeviceError]) -> DeviceError:
        """Return the error of the last failure."""
        return category(self.message())
