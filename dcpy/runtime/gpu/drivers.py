"""GPUs through their drivers: contexts and programs of drivers/*.cpp, as Python opens them, and what errors they raise.

One context per device and process, shared by all programs, never closed: it is the driver's own, which other libraries
use, too. A `DriverProgram` is the table of one program, with its kernels loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from dcpy.base.errors import DeviceError, DeviceMemoryError
from dcpy.base.options import Options
from dcpy.base.source import SrcSpan
from dcpy.runtime.gpu.binaries import binary_for
from dcpy.runtime.gpu.device_table import Device
from dcpy.runtime.gpu.native import header, native_library

FOLDER = Path(__file__).parent / "drivers"
NO_DRIVER, OLD_DRIVER, NO_DEVICE, WRONG_BINARY, REFUSED = range(1, 6)
LIBRARIES = {
    "cuda": ("libcuda.so.1",),
    "hip": ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"),
}
VENDORS = {"cuda": "NVIDIA", "hip": "AMD"}
WITHOUT = "without a GPU, gpu.backend = simulator (DCPY_GPU_BACKEND=simulator) runs kernels on the CPU, slowly"
HELP = {
    NO_DRIVER: f"install the driver of the device; {WITHOUT}",
    OLD_DRIVER: "install a newer driver",
    NO_DEVICE: f"`dcpy doctor --gpu` shows what is there; {WITHOUT}",
    WRONG_BINARY: "the driver must be of the compiler's CUDA or a later one: an older NVRTC is in "
    "nvidia-cuda-nvrtc-cu12; or update the driver",
}
REPORT = "restart the process; a program that breaks a device is a bug of dcpy: please report it"
FORKED = "open the device in the child alone, or start processes with multiprocessing's 'spawn' or 'forkserver'"


class _Failure(ctypes.Structure):
    _fields_: ClassVar[Any] = [("kind", ctypes.c_int32), ("code", ctypes.c_int32), ("text", ctypes.c_char * 1024)]

    def __str__(self) -> str:
        return str(self.text.decode(errors="replace"))


class _DriverFacts(ctypes.Structure):
    _fields_: ClassVar[Any] = [
        ("name", ctypes.c_char * 256),
        ("arch", ctypes.c_char * 64),
        *((name, ctypes.c_int64) for name in ("free", "total")),
        *(
            (name, ctypes.c_int32)
            for name in ("version", "warp", "processors", "shared_per_block", "l2", "threads_per_processor", "has_pool")
        ),
    ]


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """Facts about a device: sizes in bytes; `version` is that of the driver's API, 13000 for CUDA 13.0."""

    name: str
    arch: str  # sm_90, gfx90a
    free: int
    total: int
    version: int
    warp: int
    processors: int
    shared_per_block: int
    l2: int
    threads_per_processor: int
    has_pool: bool  # memory is allocated in the order of streams


@dataclass(frozen=True, slots=True)
class DeviceContext:
    """A device in this process."""

    backend: str
    ordinal: int
    handle: int
    library: ctypes.CDLL = field(repr=False)

    def facts(self) -> DeviceFacts:
        """Asked each time: free memory changes. Raises `DeviceError` where the context cannot be used."""
        self.check()
        raw = _DriverFacts()
        self.library.dcpy_facts_of(self.handle, ctypes.byref(raw))
        texts = {name: getattr(raw, name).decode(errors="replace") for name in ("name", "arch")}
        names = (name for name, *_ in _DriverFacts._fields_ if name not in texts)
        numbers = {name: getattr(raw, name) for name in names}
        return DeviceFacts(**texts, **{**numbers, "has_pool": bool(raw.has_pool)})

    def check(self) -> None:
        """Raise `DeviceError` where the context is broken, or belongs to the parent of this process."""
        text = ctypes.create_string_buffer(1024)
        if self.library.dcpy_why_unusable(self.handle, text, len(text)):
            raise lost(self.backend, text.value.decode(errors="replace"))

    def program(
        self, code: bytes, kernels: Sequence[str], places: Mapping[str, SrcSpan] | None = None
    ) -> DriverProgram:
        """The kernels of some machine code, by number. `places`: where in Python kernels come from."""
        names = (ctypes.c_char_p * max(len(kernels), 1))(*(name.encode() for name in kernels))
        failure = _Failure()
        open_program = self.library.dcpy_open_program
        table = open_program(self.handle, code, len(kernels), names, ctypes.byref(failure))
        if not table:
            self.check()
            raise _refused(self.backend, failure)
        return DriverProgram(self, table, places or {})


class DriverProgram(Device):
    """The table of one program on one device; its memory and its kernels go with this object."""

    def __init__(self, context: DeviceContext, table: int, places: Mapping[str, SrcSpan]) -> None:
        super().__init__(table)
        self.context = context
        self.places = places
        close = weakref.finalize(self, context.library.dcpy_close_program, table)
        close.atexit = False  # the driver is gone before
        self._close = close

    @property
    def address(self) -> int:
        """The address of the table."""
        return self.table

    def close(self) -> None:
        """Free what the program holds on the device."""
        self._close()

    def held(self) -> int:
        """Bytes that it holds there."""
        return int(self.context.library.dcpy_held(self.table))

    def kept(self) -> int:
        """Bytes of the slabs that it keeps from call to call."""
        return int(self.context.library.dcpy_kept(self.table))

    def time_of(self, kernel: int) -> tuple[int, float]:
        """Return how often a kernel was launched since times are taken, and the seconds that it took."""
        launches, seconds = ctypes.c_int64(), ctypes.c_double()
        read = self.context.library.dcpy_time_of
        status = read(self.table, kernel, ctypes.byref(launches), ctypes.byref(seconds))
        if status != 0:
            raise self.error(status)
        return launches.value, seconds.value

    def take_times(self) -> None:
        """Time launches by events from now on."""
        self.context.library.dcpy_profile(self.table)

    def limit_workspace(self, size: int) -> None:
        """Let it keep no more bytes than these from call to call; below 0: as many as calls need."""
        self.context.library.dcpy_limit_workspace(self.table, size)

    def failure(self, category: type[DeviceError]) -> DeviceError:
        """Return the error of the last failure, with the line of Python of a kernel that broke the device."""
        said = self.message()
        if issubclass(category, DeviceMemoryError):
            name = VENDORS[self.context.backend]
            return DeviceMemoryError(
                f"the memory of the {name} GPU does not suffice",
                notes=(said,),
                help="smaller arrays, or fewer of them at a time; other processes and libraries may hold memory, too",
            )
        try:
            self.context.check()
        except DeviceError:
            pass
        else:
            return DeviceError(f"the driver refuses: {said}")
        kernels = re.split(r"; kernels since the last wait: |, ", said)[1:]
        return lost(self.context.backend, said, next((self.places[k] for k in kernels if k in self.places), None))


def lost(backend: str, why: str, place: SrcSpan | None = None) -> DeviceError:
    """The error of a context that cannot be used any more."""
    if "fork" in why:
        return DeviceError(why, help=FORKED)
    return DeviceError(f"the context of the {VENDORS[backend]} GPU is broken", span=place, notes=(why,), help=REPORT)


def open_table(
    backend: str, folder: Path, kernels: Sequence[str], options: Options, places: Mapping[str, SrcSpan] | None = None
) -> DriverProgram:
    """The table of a program whose machine code `build_device` has left in a folder; `kernels` by number, or none: then
    nothing is there.

    `places`: where in Python kernels come from, by name. Raises `DeviceError` and `ToolchainError`.
    """
    context = open_context(backend, options)
    code = binary_for(folder, context.facts().arch)[1] if kernels else b""  # libraries alone, or nothing there
    program = context.program(code, kernels, places)
    program.limit_workspace(options.gpu.max_workspace)
    if options.gpu.profile:
        program.take_times()
    return program


def is_installed(backend: str, options: Options) -> bool:
    """Return whether there is a driver, by its library alone: nothing is built or started for it."""
    names = (options.gpu.driver,) if options.gpu.driver else LIBRARIES[backend]
    for name in names:
        with contextlib.suppress(OSError):
            ctypes.CDLL(name)
            return True
    return False


_contexts: dict[tuple[str, str, int], DeviceContext] = {}
_opening = threading.Lock()


def open_context(backend: str, options: Options, ordinal: int = 0) -> DeviceContext:
    """The device of this number, opened at the first call. `backend` is ``cuda`` or ``hip``.

    Raises `DeviceError` where there is none, or it cannot be used.
    """
    key = (backend, options.gpu.driver, ordinal)
    with _opening:
        if key not in _contexts:
            _contexts[key] = _open(backend, options, ordinal)
        return _contexts[key]


def _open(backend: str, options: Options, ordinal: int) -> DeviceContext:
    library = _native(options)
    failure = _Failure()
    driver = options.gpu.driver.encode()
    handle = library.dcpy_open_context(backend.encode(), driver, ordinal, ctypes.byref(failure))
    if not handle:
        raise _refused(backend, failure)
    return DeviceContext(backend, ordinal, handle, library)


def sources() -> list[Path]:
    """The files of the native code."""
    return [*sorted(FOLDER.glob("*.cpp")), *sorted(FOLDER.glob("*.h")), header("dcpy_table.h")]


def _native(options: Options) -> ctypes.CDLL:
    library = native_library("drivers", sources(), options, ("-ldl", "-pthread"))
    pointers = (("dcpy_open_context", 4), ("dcpy_open_program", 5))
    for name, _ in pointers:
        getattr(library, name).restype = ctypes.c_void_p
    place, text, count, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_int64
    library.dcpy_open_context.argtypes = (text, text, count, place)
    library.dcpy_open_program.argtypes = (place, text, count, place, place)
    library.dcpy_close_program.argtypes = (place,)
    library.dcpy_close_program.restype = None
    library.dcpy_facts_of.argtypes = (place, place)
    library.dcpy_facts_of.restype = None
    library.dcpy_held.argtypes, library.dcpy_held.restype = (place,), size
    library.dcpy_kept.argtypes, library.dcpy_kept.restype = (place,), size
    library.dcpy_limit_workspace.argtypes, library.dcpy_limit_workspace.restype = (place, size), None
    library.dcpy_profile.argtypes, library.dcpy_profile.restype = (place,), None
    library.dcpy_time_of.argtypes = (place, count, place, place)
    library.dcpy_why_unusable.argtypes = (place, text, count)
    for name, parameters in (
        ("copy", (place, place, place, size, count, count)),
        ("launch", (place, count, count, count, count)),
        ("wait", (place, count, count)),
    ):
        measure = getattr(library, f"dcpy_measure_{name}")
        measure.argtypes, measure.restype = parameters, ctypes.c_double
    return library


def _refused(backend: str, failure: _Failure) -> DeviceError:
    vendor = VENDORS[backend]
    messages = {
        NO_DRIVER: f"no driver of {vendor} GPUs is found",
        OLD_DRIVER: f"the driver of the {vendor} GPU is too old",
        NO_DEVICE: f"there is no {vendor} GPU",
        WRONG_BINARY: f"the {vendor} GPU does not take the machine code of the kernels",
    }
    message = messages.get(failure.kind, f"the {vendor} GPU cannot be used")
    return DeviceError(message, notes=(str(failure),), help=HELP.get(failure.kind, "`dcpy doctor --gpu` shows more"))
