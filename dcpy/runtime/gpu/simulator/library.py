"""Simulated devices, and the native library that they are made of."""

from __future__ import annotations

import ctypes
import re
import weakref
from dataclasses import dataclass
from pathlib import Path

from dcpy.base.errors import DeviceError
from dcpy.base.options import Options
from dcpy.runtime.gpu.device_table import Device
from dcpy.runtime.gpu.native import header, native_library
from dcpy.runtime.gpu.simulator.debug_symbols import lines_of
from dcpy.runtime.gpu.source_lines import with_places

_CODE = re.compile(r"\{\+([0-9a-f]+)\}")  # an offset in the program's library
FOLDER = Path(__file__).parent / "native"
SOURCES = (
    "arena.cpp", "fibers.cpp", "faults.cpp", "blocks.cpp", "hooks.cpp", "races.cpp", "traffic.cpp", "commands.cpp",
    "graphs.cpp", "table.cpp",
)  # fmt: skip
HEADERS = ("simulator.h", "commands.h", "hooks.h", "services.h")
SHARED = ("dcpy_device.h", "dcpy_fibers.h", "dcpy_table.h")

WATCHED: list[weakref.ref[SimulatedDevice]] = []  #: devices with hooks, in the order in which they were opened


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a simulated device.

    Blocks, threads and queued commands come in an order that the seed decides; seed 0: the natural one. `memory` is
    that of the device, in bytes. Where it is not `asynchronous`, each command is run when it is given. `portable` is
    what other processors than those of this machine do: no protection keys, and fibers of the system's.
    """

    warp: int = 32
    seed: int = 0
    hooks: bool = False
    asynchronous: bool = True
    memory: int = 1 << 32
    portable: bool = False


class _CSettings(ctypes.Structure):
    _fields_ = (
        ("warp", ctypes.c_int32),
        ("hooks", ctypes.c_int32),
        ("asynchronous", ctypes.c_int32),
        ("unused", ctypes.c_int32),
        ("seed", ctypes.c_uint64),
        ("memory", ctypes.c_int64),
    )


class SimulatedDevice(Device):
    """A device whose kernels are those of one unit (``NAME_kernels`` of a loaded library), or that has only memory."""

    def __init__(
        self, options: Options, settings: Settings, library: ctypes.CDLL | None = None, name: str = ""
    ) -> None:
        self.settings = settings
        self._simulator = simulator(options, settings.portable)
        self._library = library  # its kernels are called
        unit = None if library is None else ctypes.addressof(ctypes.c_char.in_dll(library, f"{name}_kernels"))
        wanted = _CSettings(settings.warp, settings.hooks, settings.asynchronous, 0, settings.seed, settings.memory)
        table = self._simulator.dcpy_simulator_open(unit, ctypes.byref(wanted))
        if not table:
            raise DeviceError("the simulator finds no room for its addresses", help="allow more memory (ulimit -v)")
        super().__init__(table)
        if settings.hooks:
            WATCHED.append(weakref.ref(self))

    def check(self) -> None:
        """Raise `DeviceError` where host code has touched memory of the device since the last command."""
        status = self._simulator.dcpy_simulator_check(self.table)
        if status != 0:
            raise self.error(status)

    @property
    def path(self) -> str:
        """The file of the program's library."""
        return "" if self._library is None else self._library._name

    def message(self) -> str:
        """Return the message of the last failure; places in code are lines of the text of kernels."""
        text = super().message()
        lines = lines_of(self.path, (int(found, 16) for found in _CODE.findall(text)))
        return with_places(_CODE.sub(lambda found: lines[int(found[1], 16)], text), self.kernel_places)

    def facts(self) -> str:
        """Return the facts that the hooks recorded, for hooks.py."""
        number = self._simulator.dcpy_simulator_number(self.table)
        return str(self._simulator.dcpy_simulator_report(number).decode())

    def forget(self) -> None:
        """Forget all that the hooks have seen."""
        self._simulator.dcpy_simulator_forget(self._simulator.dcpy_simulator_number(self.table))

    def close(self) -> None:
        """End the device, which nothing watches then; its memory that was not released stays."""
        WATCHED[:] = [reference for reference in WATCHED if reference() not in (None, self)]
        self._simulator.dcpy_simulator_close(self.table)


def sources() -> list[Path]:
    """The files of the native code."""
    return [*(FOLDER / name for name in (*SOURCES, *HEADERS)), *map(header, SHARED)]


def simulator(options: Options, portable: bool = False) -> ctypes.CDLL:
    """The native library, built and loaded."""
    name, flags = ("portable_simulator", ("-DDCPY_PORTABLE",)) if portable else ("simulator", ())
    library = native_library(name, sources(), options, ("-pthread", *flags))
    library.dcpy_simulator_open.restype = ctypes.c_void_p
    library.dcpy_simulator_open.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.dcpy_simulator_close.argtypes = library.dcpy_simulator_check.argtypes = [ctypes.c_void_p]
    library.dcpy_simulator_in_use.restype = library.dcpy_simulator_launches.restype = ctypes.c_int64
    library.dcpy_simulator_number.restype = ctypes.c_int64
    library.dcpy_simulator_number.argtypes = [ctypes.c_void_p]
    library.dcpy_simulator_report.restype = ctypes.c_char_p
    library.dcpy_simulator_report.argtypes = library.dcpy_simulator_forget.argtypes = [ctypes.c_int64]
    return library


def memory_in_use(options: Options) -> int:
    """Bytes of all simulated devices together that have been allocated and not released."""
    return int(simulator(options).dcpy_simulator_in_use())


def launches_so_far(options: Options) -> int:
    """Kernels that have been launched on all simulated devices together."""
    return int(simulator(options).dcpy_simulator_launches())


def graphs_so_far(options: Options) -> tuple[int, int, int]:
    """Graphs of launches that have been made, those that were changed into others, and how often one was replayed."""
    numbers = (ctypes.c_int64 * 3)()
    simulator(options).dcpy_simulator_graphs(numbers)
    return numbers[0], numbers[1], numbers[2]


def open_table(library: ctypes.CDLL, name: str, options: Options) -> SimulatedDevice:
    """The device for a loaded program whose kernels are ``NAME_kernels``, as the options want it."""
    gpu = options.gpu
    return SimulatedDevice(options, Settings(gpu.warp, gpu.seed, gpu.hooks), library, name)
