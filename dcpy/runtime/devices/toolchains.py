"""Which compiler makes kernels, and for which chip."""

from __future__ import annotations

from dcpy.base.options import Options
from dcpy.runtime.devices.compilers import DeviceCompiler
from dcpy.runtime.devices.drivers import open_context
from dcpy.runtime.devices.hipcc import find_hipcc
from dcpy.runtime.devices.nvrtc import find_nvidia_compiler


def device_compiler(backend: str, options: Options) -> tuple[DeviceCompiler, str]:
    """What compiles kernels for ``cuda`` or ``hip``, and the chip: ``gpu.arch``, else the one that is there.

    With ``gpu.arch`` nothing is asked of a device. Raises `ToolchainError`, and `DeviceError` where it asks in vain.
    """
    if options.gpu.arch:
        return (find_nvidia_compiler() if backend == "cuda" else find_hipcc()), options.gpu.arch
    facts = open_context(backend, options).facts()
    return (find_nvidia_compiler(facts.version // 1000) if backend == "cuda" else find_hipcc()), facts.arch
