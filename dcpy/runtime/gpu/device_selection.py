"""Device selection: which device runs the kernels of a program, which compiler builds them, and how a loaded program
gets the device.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dcpy.base.errors import DeviceError
from dcpy.base.option_groups.gpu import Backend
from dcpy.base.options import Options
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import DEVICE, Artifact, Signature
from dcpy.runtime.compilers.toolchain import Toolchain
from dcpy.runtime.dispatch.encoding import failure_of
from dcpy.runtime.gpu.vendor_libraries import expansions_there, open_libraries

if TYPE_CHECKING:
    from dcpy.runtime.gpu.device_table import Device

DEFERRED = ("  = note: gpu.errors is deferred: it may have failed in an earlier call",)
SIMULATED = ("-x", "c++", "-DDCPY_SIMULATOR")
_HOOKS = ("-DDCPY_HOOKS", "-fsanitize=thread", "-g1")  # every access calls us; nothing is linked with a sanitizer
# clang leaves out reads of what is written next, and accesses of vectors (-O3, which follows, undoes -fno-vectorize)
_ALL_ACCESSES = tuple(
    word
    for flag in ("-tsan-instrument-read-before-write=1", "-vectorize-loops=false", "-vectorize-slp=false")
    for word in ("-mllvm", flag)
)
DeviceBuild = Callable[[Path, Path], object]  #: leaves machine code in a folder; the second is where that is kept
_opened: dict[int, Device] = {}
_deferred: dict[int, tuple[Callable[..., int], Callable[..., None]]] = {}
_opening = threading.Lock()


def backend_of(options: Options) -> Backend:
    """Return the backend that runs kernels: the user's choice, or the available device; else `DeviceError`."""
    if options.gpu.backend is not Backend.AUTO:
        return options.gpu.backend
    from dcpy.runtime.gpu.drivers import is_installed, open_context

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
    """Return the options that decide the code of kernels and launches, without those that only affect runs."""
    backend = backend_of(options)
    gpu = replace(options.gpu, backend=backend, warp=0, seed=0, driver="", max_workspace=0, profile=False)
    chosen = ("gpu", repr(gpu))
    if backend is Backend.SIMULATOR:
        return chosen
    from dcpy.runtime.gpu.compiler_selection import compiler_id, target_of

    there = "|".join(expansions_there(options))
    return (*chosen, compiler_id(backend.value), target_of(backend.value, options)[0], there)


def compilers(options: Options, host: Toolchain) -> Mapping[str, Toolchain]:
    """Return the compilers of kernels beside the host's text: where they run on the processor, its compiler."""
    if backend_of(options) is not Backend.SIMULATOR:
        return {}
    hooks = hook_flags(host.family) if options.gpu.hooks else ()
    return {DEVICE: replace(host, mode=(*SIMULATED, *hooks))}


def hook_flags(family: str) -> tuple[str, ...]:
    """Return the flags by which a compiler of `family` (`Toolchain`) reports each access of simulated kernels."""
    return _HOOKS if family == "gcc" else (*_HOOKS, *_ALL_ACCESSES)


def device_build(artifact: Artifact, options: Options) -> DeviceBuild | None:
    """Return the build step of an artifact's kernels where the host's compiler does not compile them."""
    backend = backend_of(options)
    if backend is Backend.SIMULATOR or not artifact.kernels:
        return None

    def build(folder: Path, kept_at: Path) -> None:
        from dcpy.runtime.gpu.binaries import build_device
        from dcpy.runtime.gpu.compiler_selection import device_compiler

        compiler, arch = device_compiler(backend.value, options)
        build_device(artifact, folder, compiler, (arch,), options.gpu, kept_at=kept_at)

    return build


def settings_of(options: Options) -> tuple[object, ...]:
    """Return the settings in which programs that share a library may differ: each kind has a copy of its own."""
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
                from dcpy.runtime.gpu.drivers import open_table

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
    """Note a program whose calls return before it is known whether a check fails, for `raise_deferred`."""
    told = getattr(library, f"{signature.name}_told", None)
    if told is None or library._handle in _deferred:
        return
    told.restype, told.argtypes = ctypes.c_int32, [ctypes.POINTER(ctypes.c_int64)]
    device.check_notes = DEFERRED
    _deferred[library._handle] = told, failure_of(signature.checks, device)


def raise_deferred() -> None:
    """Wait for those programs, and raise what has failed in one."""
    for told, fail in list(_deferred.values()):
        numbers = (ctypes.c_int64 * 4)()
        number = told(numbers)
        if number != 0:
            fail(number - 1, *numbers)


def kernel_spans(
    unit: Path, kernels: Sequence[str], places: Sequence[tuple[int, SrcSpan]]
) -> Mapping[str, SrcSpan]:
    """Return the place in Python of each kernel: the first place in its text."""
    lines = unit.read_text().splitlines() if places else []
    starts = [next((n for n, line in enumerate(lines, 1) if f"DCPY_KERNEL({kernel}," in line), 0) for kernel in kernels]
    found: dict[str, SrcSpan] = {}
    for kernel, start in zip(kernels, starts, strict=True):
        end = min((other for other in starts if other > start), default=len(lines) + 1)
        inside = [span for line, span in places if start <= line < end]
        found |= {kernel: inside[0]} if start and inside else {}
    return found


def _simulated(library: ctypes.CDLL, name: str, kernels: Sequence[str], options: Options) -> Device:
    from dcpy.runtime.gpu.simulator.library import Settings, SimulatedDevice, open_table

    if not kernels:
        return SimulatedDevice(options, Settings(options.gpu.warp, options.gpu.seed, options.gpu.hooks))
    return open_table(library, name, options)
