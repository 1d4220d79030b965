"""``dcpy doctor``: compiler, BLAS, FFT, GPUs, cache: what was found, and what to install where it is missing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator

from dcpy.base.errors import DcpyError, ExpansionError
from dcpy.base.installation import install_extra
from dcpy.base.library_environment import Environment
from dcpy.targets.catalog import TARGETS
from dcpy.targets.findings import Finding


def findings() -> Iterator[Finding]:
    """Everything that compiled programs may need, in the order in which they need it."""
    yield Finding("python", True, f"{platform.python_version()} ({platform.machine()}, {os.cpu_count()} cores)", True)
    for package in ("numpy", "islpy", "networkx", "sympy"):
        yield _package(package, needed=True)
    yield _compiler()
    yield _library("BLAS: openblas", "openblas", "pip install scipy-openblas32")
    yield _library("BLAS: mkl", "mkl", install_extra("mkl"))
    yield _library("FFT: fftw", "fftw", install_extra("fft"))
    yield _library("MPI", "mpi", install_extra("mpi"))
    yield _package("mpi4py", hint=install_extra("mpi"))
    yield _library("ScaLAPACK: mkl", "scalapack-mkl", install_extra("scalapack"))
    yield _library("ScaLAPACK: system", "scalapack", "apt install libscalapack-openmpi2.2")
    for name in TARGETS:
        yield from TARGETS[name].findings()
    yield _cache()


def measured_lines(target: str) -> Iterator[str]:
    """Lines about what the processor or a device costs, measured now; compilation goes by these figures from now on."""
    from dcpy.base.options import resolve_options

    measure = TARGETS[target].measure
    return iter(()) if measure is None else measure(resolve_options(), _environment)


def _environment(name: str) -> Environment | None:
    """Return the environment of a foreign library; None where it is not installed."""
    from dcpy.driver import environment_of

    try:
        return environment_of(name)
    except ExpansionError:
        return None


def _package(name: str, *, needed: bool = False, hint: str = "") -> Finding:
    try:
        return Finding(name, True, importlib.metadata.version(name), needed)
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, False, hint or f"{sys.executable} -m pip install {name}", needed)


def _compiler() -> Finding:
    from dcpy.driver import toolchain
    from dcpy.runtime.compilers.toolchain import supports_openmp

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


def _cache() -> Finding:
    from dcpy.driver import program_cache

    try:
        cache = program_cache()
        entries = list(cache.entries())
    except DcpyError as error:
        return Finding("cache", False, error.message)
    size = sum(entry.size for entry in entries) / 2**20
    return Finding("cache", True, f"{cache.folder}: {len(entries)} programs, {size:.1f} MiB")
