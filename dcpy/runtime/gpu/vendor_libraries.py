"""Vendor libraries: which are installed, and how a program gets those that it calls (calls/*.cpp).

They come with pip (the extra ``gpu-libraries``) or with the vendor's SDK, and are opened when a program that
calls them is loaded. In the simulator, simulated ones stand in for them, with CUDA's names.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dcpy.base.errors import DeviceError
from dcpy.base.installation import install_extra
from dcpy.base.option_groups.gpu import Backend
from dcpy.base.options import Options
from dcpy.runtime.gpu.device_table import Device
from dcpy.runtime.gpu.native import header, native_library
from dcpy.runtime.gpu.nvrtc import pip_libraries

FOLDER = Path(__file__).parent / "calls"
INSTALL = f"{install_extra('gpu-libraries')}; those of an SDK are found, too; gpu.libraries = off does without"


@dataclass(frozen=True, slots=True)
class VendorLibrary:
    """A library that has one name at each vendor's, and what calls it."""

    environment: str  # of foreign calls
    expansion: str
    names: dict[Backend, tuple[str, str]]  # in messages, and of the file without version

    def named(self, backend: Backend) -> str:
        """Return the library's name; that of CUDA's for the simulator."""
        return self.names[_like(backend)][0]


LIBRARIES = (
    VendorLibrary(
        "gpu.blas", "cublas", {Backend.CUDA: ("cuBLAS", "libcublas.so"), Backend.HIP: ("hipBLAS", "libhipblas.so")}
    ),
    VendorLibrary(
        "gpu.solver",
        "cusolver",
        {Backend.CUDA: ("cuSOLVER", "libcusolver.so"), Backend.HIP: ("hipSOLVER", "libhipsolver.so")},
    ),
    VendorLibrary(
        "gpu.fft", "cufft", {Backend.CUDA: ("cuFFT", "libcufft.so"), Backend.HIP: ("hipFFT", "libhipfft.so")}
    ),
)
MEBIBYTE = 1 << 20
#: bytes that products may use beside their operands: what NVIDIA advises for its newer chips; small where simulated
WORKSPACE = {Backend.CUDA: 32 * MEBIBYTE, Backend.HIP: 32 * MEBIBYTE, Backend.SIMULATOR: 1 << 16}


def expansions_there(options: Options) -> tuple[str, ...]:
    """The expansions whose libraries programs for these options can call."""
    if not options.gpu.libraries:
        return ()
    if options.gpu.backend is Backend.SIMULATOR:
        return tuple(one.expansion for one in LIBRARIES)
    backend = _like(options.gpu.backend)
    return tuple(one.expansion for one in LIBRARIES if find_library(one.names[backend][1]))


@cache
def find_library(name: str) -> str:
    """The file of a library, pip's before the system's; "" where there is none. It is not loaded."""
    found = next(pip_libraries(name), "")
    return found or next(_of_system(name), "")


def _of_system(name: str) -> Iterator[str]:
    for folder in map(Path, ("/usr/local/cuda/lib64", "/opt/rocm/lib")):
        yield from map(str, sorted(folder.glob(f"{name}*"))[:1])
    known = ctypes.util.find_library(name.removeprefix("lib").removesuffix(".so"))
    if known:
        yield known


def open_libraries(device: Device, environments: Sequence[str], backend: Backend, options: Options) -> None:
    """Let a program call libraries. `DeviceError` where one is missing, or cannot be opened."""
    wanted = [one for one in LIBRARIES if one.environment in environments]
    services = None
    if backend is Backend.SIMULATOR:
        from dcpy.runtime.gpu.simulator.vendor import simulated_libraries, simulator_services

        path, services = simulated_libraries(options), simulator_services(options)
        paths = {one.environment: path for one in wanted}
    else:
        paths = {one.environment: find_library(one.names[backend][1]) for one in wanted}
    for one in wanted:
        if not paths[one.environment]:
            raise DeviceError(
                f"the program calls {one.named(backend)}, which is not installed", help=INSTALL
            )
    failure = ctypes.create_string_buffer(1024)
    files = [paths.get(one.environment, "").encode() for one in LIBRARIES]
    native = _native(options)
    is_open = native.dcpy_open_libraries(
        device.table, _like(backend).value.encode(), *files, WORKSPACE[backend], services, failure, len(failure)
    )
    if not is_open:
        raise DeviceError(f"libraries cannot be used: {failure.value.decode(errors='replace')}", help=INSTALL)


def _native(options: Options) -> ctypes.CDLL:
    sources = [*sorted(FOLDER.glob("*.cpp")), *sorted(FOLDER.glob("*.h")), header("dcpy_table.h")]
    library = native_library("calls", sources, options, ("-ldl",))
    text, place = ctypes.c_char_p, ctypes.c_void_p
    library.dcpy_open_libraries.argtypes = (place, text, text, text, text, ctypes.c_int64, place, place, ctypes.c_int32)
    return library


def _like(backend: Backend) -> Backend:
    """The backend whose names are in use."""
    return Backend.HIP if backend is Backend.HIP else Backend.CUDA
