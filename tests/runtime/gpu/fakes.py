"""Drivers without a device (fake_driver.cpp): each is a library of its own, with its own state."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.options import Options, resolve_options
from dcpy.codegen.artifact import Artifact, Signature, Unit
from dcpy.runtime.gpu.drivers import DeviceContext, DriverProgram, open_context
from dcpy.runtime.gpu.native import header
from dcpy.runtime.loading.shared_libraries import library_of

SOURCE = Path(__file__).with_name("fake_driver.cpp")
HEADERS = tuple(SOURCE.with_name(f"fake_{part}.h") for part in ("device", "graphs", "kernels"))
KERNELS = ("axpy", "check", "astray", "idle")
SIMULATED = ("-std=c++17", "-x", "c++", "-DDCPY_SIMULATOR")
_numbers = itertools.count()


def cubin(arch: int) -> bytes:
    """As much of a cubin as drivers look at first: the header of its ELF file, which names the chip."""
    return b"\x7fELF" + bytes(44) + struct.pack("<I", arch << 8) + bytes(12)


class FakeDriver:
    """A driver in `folder`. `numbers` say how it behaves: devices, arch, version, total memory, …"""

    def __init__(self, folder: Path, backend: str = "cuda", flags: Sequence[str] = (), **numbers: int) -> None:
        source = Unit(SOURCE.name, SOURCE.read_text(), "C++", ("-std=c++17", "-Wall", "-Wextra", *flags))
        paths = (*HEADERS, header("dcpy_device.h"))
        headers = [Unit(path.name, path.read_text()) for path in paths]
        artifact = Artifact(Signature("fake_driver", ()), (source, *headers), flags=("-ldl",))
        built = library_of(artifact, plain())
        self.path = folder / f"libfake{next(_numbers)}.so"  # a file of its own is loaded apart
        shutil.copy(built, self.path)
        self.backend = backend
        self._units: list[ctypes.CDLL] = []
        self._library = ctypes.CDLL(str(self.path))
        self._library.fake_get.restype = ctypes.c_int64
        self._library.fake_log.restype = ctypes.c_char_p
        self._library.fake_reset()
        self.set(**numbers)

    @property
    def options(self) -> Options:
        return resolve_options({"device": "gpu", "gpu.backend": self.backend, "gpu.driver": str(self.path)})

    def set(self, **numbers: int) -> None:
        for name, number in numbers.items():
            self._library.fake_set(name.encode(), ctypes.c_int64(number))

    def get(self, name: str) -> int:
        return int(self._library.fake_get(name.encode()))

    def log(self, call: str = "") -> list[str]:
        """The calls so far, or those of one function: their arguments."""
        lines = self._library.fake_log().decode().splitlines()
        return [line.partition(" ")[2] for line in lines if line.split()[0] == call] if call else lines

    def runs(self, artifact: Artifact) -> None:
        """From now on, kernels of this program run."""
        name, (_, *units) = artifact.signature.name, artifact.units
        units = [replace(unit, language="C++", flags=SIMULATED) if unit.language else unit for unit in units]
        self._units.append(ctypes.CDLL(str(library_of(Artifact(Signature(name, ()), tuple(units)), plain()))))
        unit = ctypes.c_char.in_dll(self._units[-1], f"{name}_kernels")
        self._library.fake_kernels(ctypes.c_void_p(ctypes.addressof(unit)))

    def context(self) -> DeviceContext:
        return open_context(self.backend, self.options)

    def program(self, kernels: Sequence[str] = KERNELS, **rest: object) -> DriverProgram:
        """A program whose kernels the fake can run."""
        code = b"//\n.version 8.0\n" + bytes(64) if self.backend == "cuda" else bytes(64)
        return self.context().program(code, kernels, **rest)  # type: ignore[arg-type]


def plain() -> Options:
    """Compiled without the processor's own instructions."""
    options = resolve_options()
    return replace(options, cpu=CpuOptions(compiler=options.cpu.compiler, flags=("-O1",)))
