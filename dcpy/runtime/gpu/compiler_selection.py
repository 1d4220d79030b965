"""Compiler selection: which compiler builds kernels, and for which chip."""

from __future__ import annotations

import shutil
from pathlib import Path

from dcpy.base.options import Options
from dcpy.runtime.gpu.device_compilers import DeviceCompiler
from dcpy.runtime.gpu.drivers import open_context
from dcpy.runtime.gpu.hipcc import find_hipcc
from dcpy.runtime.gpu.nvrtc import find_nvidia_compiler, pip_libraries


def device_compiler(backend: str, options: Options) -> tuple[DeviceCompiler, str]:
    """Return the compiler of kernels for ``cuda`` or ``hip``, and the chip.

    Raises `ToolchainError`, and `DeviceError` where it asks in vain for the chip that is there.
    """
    arch, driver = target_of(backend, options)
    return (find_nvidia_compiler(driver) if backend == "cuda" else find_hipcc()), arch


def target_of(backend: str, options: Options) -> tuple[str, int]:
    """The chip, ``gpu.arch`` or the one that is there, and the major version of its driver: 0 where it is not asked."""
    if options.gpu.arch:
        return options.gpu.arch, 0
    facts = open_context(backend, options).facts()
    return facts.arch, facts.version // 1000


def compiler_id(backend: str) -> str:
    """Return an identity of the compiler, without loading or running it: for the keys of compiled programs."""
    if backend == "hip":
        path = shutil.which("hipcc")
        return _stamp(path) if path else find_hipcc().id
    found = next(pip_libraries("libnvrtc.so"), None)
    return _stamp(found) if found else find_nvidia_compiler().id


def _stamp(path: str) -> str:
    facts = Path(path).stat()
    return f"{path} {facts.st_mtime_ns} {facts.st_size}"
