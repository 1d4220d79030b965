"""``dcpy doctor``: compiler, BLAS, FFT, GPUs, cache: what was found, and what to install where it is missing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from dcpy.base.errors import DcpyError
from dcpy.base.options import Options


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for. `needed`: nothing compiles without it."""

    what: str
    found: bool
    detail: str
    needed: bool = False


def findings() -> Iterator[Finding]:
    """Everything that compiled programs may need, in the order in which they need it."""
    yield Finding("python", True, f"{platform.python_version()} ({platform.machine()}, {os.cpu_count()} cores)", True)
    for package in ("numpy", "islpy", "networkx", "sympy"):
        yield _package(package, needed=True)
    yield _compiler()
    yield _library("BLAS: openblas", "openblas", "pip install scipy-openblas32")
    yield _library("BLAS: mkl", "mkl", "pip install mkl-devel")
    yield _library("FFT: fftw", "fftw", "pip install 'dcpy[fft]'")
    yield _library("MPI", "mpi", "pip install 'dcpy[mpi]'")
    yield _package("mpi4py", hint="pip install 'dcpy[mpi]'")
    yield _library("ScaLAPACK: mkl", "scalapack-mkl", "pip install 'dcpy[scalapack]'")
    yield _library("ScaLAPACK: system", "scalapack", "apt install libscalapack-openmpi2.2")
    yield from gpu_findings()
    yield from fpga_findings()
    yield _cache()


def fpga_findings() -> Iterator[Finding]:
    """What programs for FPGAs can be emulated with, and made bitstreams of; simulations need none of it."""
    from dcpy.runtime.boards import find_emulator

    try:
        yield Finding("FPGA: Intel's emulator", True, str(find_emulator()))
    except DcpyError as error:
        yield Finding("FPGA: Intel's emulator", False, error.help)
    for tool, hint in (("v++", "Vitis: source its settings64.sh"), ("aoc", "Intel's SDK: source its init_opencl.sh")):
        found = shutil.which(tool)
        yield Finding(f"FPGA: {tool}", found is not None, found or hint)


def _package(name: str, *, needed: bool = False, hint: str = "") -> Finding:
    try:
        return Finding(name, True, importlib.metadata.version(name), needed)
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, False, hint or f"{sys.executable} -m pip install {name}", needed)


def _compiler() -> Finding:
    from dcpy.driver import toolchain
    from dcpy.runtime.toolchain import supports_openmp

    try:
        found = toolchain()
    except DcpyError as error:
        return Finding("C++ compiler", False, error.help or error.message, True)
    openmp = "with OpenMP" if supports_openmp(found) else "without OpenMP: loops run on one core"
    return Finding("C++ compiler", True, f"{' '.join(found.command)} {found.version}, {openmp}", True)


def _library(what: str, name: str, hint: str) -> Finding:
    from dcpy.driver import environment_of

    try:
        environment = environment_of(name)
    except DcpyError as error:
        return Finding(what, False, error.help or hint)
    return Finding(what, True, ", ".join(environment.libraries))


def gpu_findings() -> Iterator[Finding]:
    """Devices, and compilers of kernels. Nothing is built where there is no driver."""
    from dcpy.base.options import resolve_options
    from dcpy.runtime.devices.hipcc import find_hipcc
    from dcpy.runtime.devices.nvrtc import find_nvidia_compiler

    options = resolve_options()
    yield _device("GPU: cuda", "cuda", options)
    yield _device("GPU: hip", "hip", options)
    for what, find in (("kernels: NVIDIA", find_nvidia_compiler), ("kernels: AMD", find_hipcc)):
        try:
            compiler = find()
        except DcpyError as error:
            yield Finding(what, False, error.help)
        else:
            yield Finding(what, True, f"{compiler.id}, for {', '.join(compiler.architectures)}")


def _device(what: str, backend: str, options: Options) -> Finding:
    from dcpy.runtime.devices.drivers import is_installed, open_context

    if not is_installed(backend, options):
        return Finding(what, False, "there is no driver; gpu.backend = simulator runs kernels on the CPU, slowly")
    try:
        facts = open_context(backend, options).facts()
    except DcpyError as error:
        return Finding(what, False, "; ".join((error.message, *error.notes)))
    memory = f"{facts.free / 2**30:.1f} of {facts.total / 2**30:.1f} GiB free"
    version = f"driver {facts.version // 1000}.{facts.version % 1000 // 10}"
    return Finding(what, True, f"{facts.name}, {facts.arch}, {facts.processors} processors, {memory}, {version}")


def gpu_constants() -> Iterator[str]:
    """Lines about what was measured on each device that there is; compilation goes by these figures from now on."""
    from dcpy.base.options import resolve_options
    from dcpy.driver import program_cache
    from dcpy.runtime.devices.constants import keep
    from dcpy.runtime.devices.drivers import open_context
    from dcpy.runtime.devices.measuring import measure

    options = resolve_options()
    devices = [backend for backend in ("cuda", "hip") if _device("", backend, options).found]
    if not devices:
        yield "no GPU: nothing is measured, and nothing is known about time on one"
    for backend in devices:
        yield f"constants of the {backend} device, measured now:"
        try:
            found = measure(backend, options)
            arch = open_context(backend, options).facts().arch
        except DcpyError as error:
            yield f"        not measured: {error.message}"
            continue
        yield from (f"        {name:24}{figure}" for name, figure in found.rows())
        try:
            keep(program_cache(), arch, found)
        except OSError as error:
            yield f"        not kept: {error}"


def _cache() -> Finding:
    from dcpy.driver import program_cache

    try:
        cache = program_cache()
        entries = list(cache.entries())
    except DcpyError as error:
        return Finding("cache", False, error.message)
    size = sum(entry.size for entry in entries) / 2**20
    return Finding("cache", True, f"{cache.folder}: {len(entries)} programs, {size:.1f} MiB")
