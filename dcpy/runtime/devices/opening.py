"""Which device runs the kernels of a program, what compiles them for it, and how a loaded program gets it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dcpy.base.errors import DeviceError
from dcpy.base.options import Backend, Options
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import DEVICE, Artifact, Signature
from dcpy.runtime.devices.libraries import expansions_there, open_libraries
from dcpy.runtime.dispatch.encoding import failure_of
from dcpy.runtime.toolchain import Toolchain

if TYPE_CHECKING:
    from dcpy.runtime.devices.table import Device

SIMULATED = ("-x", "c++", "-DDCPY_SIMULATOR")
HOOKS = ("-DDCPY_HOOKS", "-fsanitize=thread", "-g1")  # every access calls us; nothing is linked with a sanitizer
DeviceBuild = Callable[[Path, Path], object]  #: leaves machine code in a folder; the second is where that is kept
_opened: dict[int, Device] = {}
_deferred: dict[int, tuple[Callable[..., int], Callable[..., None]]] = {}
_opening = threading.Lock()


def backend_of(options: Options) -> Backend:
    """What runs kernels: the user's choice, or the device that there is. `DeviceError` where there is none."""
    if options.gpu.backend is not Backend.AUTO:
        return options.gpu.backend
    from dcpy.runtime.devices.drivers import is_installed, open_context

    reasons = []
    for backend in (Backend.CUDA, Backend.HIP):
        if not is_installed(backend.value, options):
            reasons.append(f"{backend.value}: there is no driver")
            continue
        try:
            open_context(backend.value, options)
        except DeviceError as error:
            reasons.append(f"{backend.value}: {error.message}")
        else:
            return backend
    raise DeviceError(
        "no GPU was found",
        notes=tuple(reasons),
        help='gpu_backend="simulator" (or DCPY_GPU_BACKEND=simulator) runs kernels on this processor, slowly',
    )


def context(options: Options) -> tuple[str, ...]:
    """What of the options decides the code of kernels and of what launches them: not what else their runs follow."""
    backend = backend_of(options)
    gpu = replace(options.gpu, backend=backend, warp=0, seed=0, driver="", max_workspace=0, profile=False)
    chosen = ("gpu", repr(gpu))
    if backend is Backend.SIMULATOR:
        return chosen
    from dcpy.runtime.devices.toolchains import compiler_id, target_of

    there = "|".join(expansions_there(options))
    return (*chosen, compiler_id(backend.value), target_of(backend.value, options)[0], there)


def compilers(options: Options, host: Toolchain) -> Mapping[str, Toolchain]:
    """What compiles kernels beside the host's text: where they run on the processor, its compiler."""
    if backend_of(options) is not Backend.SIMULATOR:
        return {}
    return {DEVICE: replace(host, mode=(*SIMULATED, *HOOKS) if options.gpu.hooks else SIMULATED)}


def device_build(artifact: Artifact, options: Options) -> DeviceBuild | None:
    """What compiles the kernels of an artifact where that is not the host's compiler."""
    backend = backend_of(options)
    if backend is Backend.SIMULATOR or not artifact.kernels:
        return None

    def build(folder: Path, kept_at: Path) -> None:
        from dcpy.runtime.devices.binaries import build_device
        from dcpy.runtime.devices.toolchains import device_compiler

        compiler, arch = device_compiler(backend.value, options)
        build_device(artifact, folder, compiler, (arch,), options.gpu, kept_at=kept_at)

    return build


def settings_of(options: Options) -> tuple[object, ...]:
    """What programs that share a library may differ in: each kind has a copy of its own."""
    gpu = options.gpu
    return (backend_of(options), gpu.warp, gpu.seed, gpu.driver, gpu.max_workspace, gpu.profile)


def attach(
    library: ctypes.CDLL,
    folder: Path,
    name: str,
    kernels: Sequence[str],
    options: Options,
    places: Sequence[tuple[int, SrcSpan]],
    libraries: Sequence[str] = (),
) -> Device:
    """The device of a loaded program, which reaches it from now on; the same one each time that it is asked for.

    `folder` is that of the program in the cache; `places` are those of its unit of kernels, for messages; `libraries`
    the environments of those of the vendor's that it calls.
    """
    unit = f"{name}.kernels.cu"
    with _opening:
        known = _opened.get(library._handle)
        if known is None:
            backend = backend_of(options)
            if backend is Backend.SIMULATOR:
                known = _simulated(library, name, kernels, options)
            else:
                from dcpy.runtime.devices.drivers import open_table

                spans = kernel_spans(folder / unit, kernels, places)
                known = open_table(backend.value, folder, kernels, options, spans)
            if libraries:
                open_libraries(known, libraries, backend, options)
            _opened[library._handle] = known
            function = getattr(library, f"{name}_attach")
            function.restype, function.argtypes = None, [ctypes.c_void_p]
            function(known.table)
        known.kernel_places = {unit: tuple(places)}
        known.kernels = tuple(kernels)
        if options.gpu.profile:
            known.kernel_spans = kernel_spans(folder / unit, kernels, places)
        return known


def note_deferred(library: ctypes.CDLL, signature: Signature, device: Device) -> None:
    """Notes a program whose calls return before it is known whether a check fails, for `raise_deferred`."""
    told = getattr(library, f"{signature.name}_told", None)
    if told is None or library._handle in _deferred:
        return
    told.restype, told.argtypes = ctypes.c_int32, [ctypes.POINTER(ctypes.c_int64)]
    device.defers = True
    _deferred[library._handle] = told, failure_of(signature.checks, device)


def raise_deferred() -> None:
    """Waits for those programs, and raises what has failed in one."""
    for told, fail in list(_deferred.values()):
        numbers = (ctypes.c_int64 * 4)()
        number = told(numbers)
        if number != 0:
            fail(number - 1, *numbers)


def kernel_spans(
    unit: Path, kernels: Sequence[str], places: Sequence[tuple[int, SrcSpan]]
) -> Mapping[str, SrcSpan]:
    """Where in Python each kernel comes from: the first place in its text."""
    lines = unit.read_text().splitlines() if places else []
    starts = [next((n for n, line in enumerate(lines, 1) if f"DCPY_KERNEL({kernel}," in line), 0) for kernel in kernels]
    found: dict[str, SrcSpan] = {}
    for kernel, start in zip(kernels, starts, strict=True):
        end = min((other for other in starts if other > start), default=len(lines) + 1)
        inside = [span for line, span in places if start <= line < end]
        found |= {kernel: inside[0]} if start and inside else {}
    return found


def _simulated(library: ctypes.CDLL, name: str, kernels: Sequence[str], options: Options) -> Device:
    from dcpy.runtime.devices.simulator.library import Settings, SimulatedDevice, open_table

    if not kernels:
        return SimulatedDevice(options, Settings(options.gpu.warp, options.gpu.seed, options.gpu.hooks))
    return open_table(library, name, options)
