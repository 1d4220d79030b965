"""NVRTC, NVIDIA's run-time compiler: found (pip's, then the system's, then nvcc in its place) and called through C.

NVRTC makes machine code for the exact chip (a cubin), not PTX: a driver refuses PTX of a CUDA that is newer than
itself, but runs its cubins within a major version. Only chips that NVRTC does not know get PTX (docs/decisions/0063).
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dcpy.base.errors import ToolchainError
from dcpy.base.installation import install_extra
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.codegen.artifact import Unit
from dcpy.runtime.gpu.device_compilers import Binary, CompilationFailed, DeviceCompiler, nvidia_semantics, nvidia_target
from dcpy.runtime.gpu.kernel_resources import resources_in
from dcpy.runtime.gpu.nvcc import find_nvcc

INSTALL = f"{install_extra('gpu')} (58 MB); CUDA's own libnvrtc.so and nvcc are found, too"
SYSTEM = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so")

OPTIONS = (
    "--std=c++17",
    "--device-int128",
    "--device-as-default-execution-space",  # functions that carry no word run on the device
    "--no-source-include",  # headers come from the program alone, never from the folder of the process
    "--ptxas-options=-v",
    "--define-macro=DCPY_CUDA",
)


class _Library(ctypes.CDLL):
    """libnvrtc.so; a call that fails raises `CompilationFailed`, by the name of what failed."""

    def call(self, name: str, *arguments: object) -> int:
        """The status of a function."""
        return int(getattr(self, name)(*arguments))

    def check(self, name: str, *arguments: object) -> None:
        status = self.call(name, *arguments)
        if status != 0:
            self.nvrtcGetErrorString.restype = ctypes.c_char_p
            said = self.nvrtcGetErrorString(status)
            raise ToolchainError(f"{name} of NVRTC failed: {said.decode()}", notes=(f"library: {self._name}",))

    def text(self, size: str, get: str, program: ctypes.c_void_p) -> bytes:
        """Return the text of a pair of functions, one of which returns its length."""
        length = ctypes.c_size_t()
        self.check(size, program, ctypes.byref(length))
        buffer = ctypes.create_string_buffer(length.value)
        self.check(get, program, buffer)
        return buffer.raw


@dataclass(frozen=True, slots=True)
class Nvrtc:
    """One NVRTC on this machine. It may be used from several threads."""

    path: str
    version: tuple[int, int]
    known: tuple[int, ...]  #: compute capabilities, 75 for 7.5, ascending
    _library: _Library = field(repr=False, compare=False)

    @property
    def id(self) -> str:
        """``NVRTC 13.5``."""
        return f"NVRTC {self.version[0]}.{self.version[1]}"

    @property
    def architectures(self) -> tuple[str, ...]:
        """``("sm_75", …)``."""
        return tuple(f"sm_{one}" for one in self.known)

    def compile(self, unit: Unit, headers: tuple[Unit, ...], arch: str, options: GpuOptions) -> Binary:
        """The machine code of a unit for a chip, ``sm_90``; PTX for a chip that is newer than this NVRTC."""
        target, note = nvidia_target(arch, self.known, self.id)
        words = (*OPTIONS, f"--gpu-architecture={target}", *nvidia_semantics(options), *unit.flags)
        program = self._program(unit, headers)
        try:
            encoded = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
            status = self._library.call("nvrtcCompileProgram", program, len(words), encoded)
            log = self._library.text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program)
            said = log.rstrip(b"\0").decode(errors="replace")
            if status != 0:
                raise CompilationFailed((self.id, *words), said)
            if target.startswith("compute_"):
                ptx = self._library.text("nvrtcGetPTXSize", "nvrtcGetPTX", program)
                return Binary(target, "ptx", ptx, note=note)
            cubin = self._library.text("nvrtcGetCUBINSize", "nvrtcGetCUBIN", program)
            return Binary(target, "cubin", cubin, resources_in(said))
        finally:
            self._library.call("nvrtcDestroyProgram", ctypes.byref(program))

    def _program(self, unit: Unit, headers: tuple[Unit, ...]) -> ctypes.c_void_p:
        program = ctypes.c_void_p()
        texts = (ctypes.c_char_p * len(headers))(*(header.text.encode() for header in headers))
        names = (ctypes.c_char_p * len(headers))(*(header.name.encode() for header in headers))
        text, name = unit.text.encode(), unit.name.encode()
        self._library.check("nvrtcCreateProgram", ctypes.byref(program), text, name, len(headers), texts, names)
        return program


def find_nvidia_compiler(driver: int = 0, *, places: Iterable[str] | None = None) -> DeviceCompiler:
    """NVRTC, else nvcc. With the major version of a `driver`, one whose code that driver takes, if there is one.

    `places` are the libraries to try (default: pip's, then the system's). Raises `ToolchainError` where none is.
    """
    tried = tuple(_places() if places is None else places)
    found = [nvrtc for place in tried if (nvrtc := open_nvrtc(place)) is not None]
    fitting = [nvrtc for nvrtc in found if not driver or nvrtc.version[0] <= driver]
    best = next(iter(fitting or found), None) or (find_nvcc() if places is None else None)
    if best is None:
        raise ToolchainError(
            "no compiler for NVIDIA GPUs is found: NVRTC is missing",
            notes=(f"looked for {', '.join(tried) or 'nothing'}, and for nvcc on PATH",),
            help=INSTALL,
        )
    return best


def open_nvrtc(path: str) -> Nvrtc | None:
    """The NVRTC in this file; None where there is none that can be loaded."""
    try:
        library = _Library(path)
        major, minor = ctypes.c_int(), ctypes.c_int()
        library.check("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        count = ctypes.c_int()
        library.check("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        library.check("nvrtcGetSupportedArchs", numbers)
    except (OSError, AttributeError, ToolchainError):
        return None
    return Nvrtc(path, (major.value, minor.value), tuple(sorted(numbers)), library)


def _places() -> Iterator[str]:
    yield from pip_libraries("libnvrtc.so")
    yield from SYSTEM


def pip_libraries(name: str) -> Iterator[str]:
    """The libraries of this name in NVIDIA's packages of this Python, newest first."""
    package = importlib.util.find_spec("nvidia")
    folders = package.submodule_search_locations if package is not None else None
    found = [path for folder in folders or () for path in Path(folder).glob(f"*/lib/{name}.*")]
    yield from (str(path) for path in sorted(found, key=_by_version, reverse=True))


def _by_version(path: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", path.name))
