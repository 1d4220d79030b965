"""Which device runs the kernels of a program, what compiles them for it, and how a loaded program gets it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.base.errors import DeviceError
from dcpy.base.options import Backend, Options
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import DEVICE
from dcpy.runtime.toolchain import Toolchain

if TYPE_CHECKING:
    from dcpy.runtime.devices.table import Device

SIMULATED = ("-x", "c++", "-DDCPY_SIMULATOR")
HOOKS = ("-DDCPY_HOOKS", "-fsanitize=thread", "-g1")  # every access calls us; nothing is linked with a sanitizer
_opened: dict[int, Device] = {}
_opening = threading.Lock()


def backend_of(options: Options) -> Backend:
    """What runs kernels: the user's choice, or the device that there is. `DeviceError` where there is none."""
    if options.gpu.backend is Backend.AUTO:
        raise DeviceError(
            "no GPU was found",
            help='gpu_backend="simulator" (or DCPY_GPU_BACKEND=simulator) runs kernels on this processor, slowly',
        )
    return options.gpu.backend


def context(options: Options) -> tuple[str, ...]:
    """What of the options decides the code of kernels and of what launches them: not the simulator's warp and seed."""
    return ("gpu", repr(replace(options.gpu, backend=backend_of(options), warp=0, seed=0)))


def compilers(options: Options, host: Toolchain) -> Mapping[str, Toolchain]:
    """What compiles kernels beside the host's text: where they run on the processor, its compiler."""
    backend_of(options)
    return {DEVICE: replace(host, mode=(*SIMULATED, *HOOKS) if options.gpu.hooks else SIMULATED)}


def settings_of(options: Options) -> tuple[object, ...]:
    """What programs that share a library may differ in: each kind has a copy of its own."""
    return (options.gpu.warp, options.gpu.seed)


def attach(
    library: ctypes.CDLL, name: str, kernels: Sequence[str], options: Options, places: Sequence[tuple[int, SrcSpan]]
) -> Device:
    """The device of a loaded program, which reaches it from now on; the same one each time that it is asked for.

    `places` are those of its unit of kernels, for messages.
    """
    with _opening:
        known = _opened.get(library._handle)
        if known is None:
            known = _opened[library._handle] = _open(library, name, kernels, options)
            function = getattr(library, f"{name}_attach")
            function.restype, function.argtypes = None, [ctypes.c_void_p]
            function(known.table)
        known.kernel_places = {f"{name}.kernels.cu": tuple(places)}
        return known


def _open(library: ctypes.CDLL, name: str, kernels: Sequence[str], options: Options) -> Device:
    from dcpy.runtime.devices.simulator.library import Settings, SimulatedDevice, open_table

    if not kernels:
        return SimulatedDevice(options, Settings(options.gpu.warp, options.gpu.seed, options.gpu.hooks))
    return open_table(library, name, options)
