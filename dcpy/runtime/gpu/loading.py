"""GPU loading: compilers of kernels, and the device that a loaded program gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import DeviceError
from dcpy.runtime.loading.devices import KERNELS, LIBRARIES, BuiltProgram, DeviceArrays, DeviceRuntime, OpenedProgram
from dcpy.runtime.loading.shared_libraries import Beside, open_library

if TYPE_CHECKING:
    from dcpy.base.options import Options
    from dcpy.codegen.artifact import Artifact
    from dcpy.runtime.compilers.toolchain import Toolchain
    from dcpy.runtime.gpu.device_table import Device


def _context(options: Options) -> tuple[str, ...]:
    from dcpy.runtime.gpu import device_selection  # late: for calls only

    return device_selection.context(options)


def _compilers(options: Options, host: Toolchain) -> Mapping[str, Toolchain]:
    from dcpy.runtime.gpu import device_selection

    return device_selection.compilers(options, host)


def _build_beside(artifact: Artifact, options: Options) -> Beside | None:
    from dcpy.runtime.gpu import device_selection

    return device_selection.device_build(artifact, options)


def _open(built: BuiltProgram) -> OpenedProgram:
    """The library with its device: programs that differ in what their runs follow have copies of their own."""
    from dcpy.runtime.gpu import device_selection

    options, signature = built.options, built.signature
    library = open_library(built.path, device_selection.settings_of(options))
    names, libraries = built.extra.get(KERNELS, ()), built.extra.get(LIBRARIES, ())
    device = device_selection.attach(
        library, built.path.parent, signature.name, names, options, built.kernel_places, libraries
    )
    device_selection.note_deferred(library, signature, device)
    return OpenedProgram(library, device)


def _device_arrays() -> DeviceArrays:
    from dcpy.runtime.gpu.arrays import home_of
    from dcpy.runtime.gpu.numpy_views import imported, is_array, seen_by_numpy

    return DeviceArrays(home_of, is_array, imported, seen_by_numpy)


def _kernel_times(options: Options, devices: Sequence[Device]) -> str:
    from dcpy.runtime.gpu.profiling import kernel_times

    if not options.gpu.profile:
        raise DeviceError("kernels are not timed", help="gpu_profile=True (or DCPY_GPU_PROFILE=1) times them")
    return kernel_times(devices)


GPU = DeviceRuntime(
    context=_context,
    compilers=_compilers,
    build_beside=_build_beside,
    open=_open,
    device_arrays=_device_arrays,
    kernel_times=_kernel_times,
)
