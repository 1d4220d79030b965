"""Devices at run time: what loading and calling a program ask of the device that it is for.

Each device is a value in a folder of its own, loaded for the first program of that device: those for CPUs load nothing
of other devices. It is not in `dcpy.targets`, because a program that comes from the cache loads no target.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import DeviceError
from dcpy.base.registry import Registry
from dcpy.runtime.loading.shared_libraries import Beside, open_library

if TYPE_CHECKING:
    import ctypes

    from dcpy.base.options import Options
    from dcpy.base.source import SrcSpan
    from dcpy.codegen.artifact import Artifact, Signature
    from dcpy.runtime.compilers.toolchain import Toolchain, Toolchains
    from dcpy.runtime.loading.kernel_cycles import SimulatedKernel

KERNELS = "kernels"  #: under which the names of a program's kernels are remembered
LIBRARIES = "libraries"  #: and those of the device's vendor that it calls


@dataclass(frozen=True, slots=True)
class BuiltProgram:
    """A program in the cache: its shared library, what was remembered with it, and the places of its kernels' lines."""

    path: Path
    signature: Signature
    extra: Mapping[str, Any]
    options: Options
    kernel_places: Sequence[tuple[int, SrcSpan]]


@dataclass(frozen=True, slots=True)
class OpenedProgram:
    """A shared library in memory, the device that its kernels run on, and what to say of a failed check."""

    library: ctypes.CDLL
    device: Any = None
    notes: Callable[[str], Sequence[str]] | None = None


def _no_context(options: Options) -> tuple[str, ...]:
    """Nothing but the host's compiler and its options decides the machine code."""
    return ()


def _no_compilers(options: Options, host: Toolchain) -> Toolchains:
    """No language needs another compiler than the host's."""
    return {}


def _nothing_beside(artifact: Artifact, options: Options) -> Beside | None:
    """No other build runs beside the host's compiler."""
    return None


def _nothing_measured(options: Options) -> str:
    """No measurement decides what a program becomes."""
    return ""


def _open_plain(built: BuiltProgram) -> OpenedProgram:
    """A shared library that stays in memory."""
    return OpenedProgram(open_library(built.path))


def _counts_nothing(options: Options) -> bool:
    """No run counts cycles."""
    return False


def _no_cycles(path: str, name: str) -> Mapping[str, SimulatedKernel]:
    """No kernel counts cycles."""
    return {}


@dataclass(frozen=True, slots=True)
class DeviceArrays:
    """Functions for arguments in the memory of a device.

    * `home`: the device that arrays of a program with these options are on.
    * `is_array`: whether a value is an array, of NumPy's or of a library for devices.
    * `imported`: dcpy's array for another library's, for a home and the argument's name; `ArgumentError` where it
      cannot be.
    * `seen_by_numpy`: values with arrays of NumPy's for those of the device; names of the values are for errors.
    """

    home: Callable[[Options], Any]
    is_array: Callable[[Any], bool]
    imported: Callable[[Any, str, Any], Any]
    seen_by_numpy: Callable[[tuple[Any, ...], Options, Sequence[str]], tuple[Any, ...]]


def _no_kernel_times(options: Options, devices: Sequence[Any]) -> str:
    """No kernel is timed."""
    raise DeviceError("kernels are not timed", help="compile the program for a device whose kernels are")


@dataclass(frozen=True, slots=True)
class DeviceRuntime:
    """A device at run time; the defaults are those of code that is compiled and run as the host's is.

    * `context`: what decides the machine code beside the host's compiler and its options, as a part of keys;
      `DeviceError` where a device is needed that is not there.
    * `measured`: the measurements that decide what a program becomes, as text.
    * `compilers`: those of languages that the host's does not take.
    * `build_beside`: builds what no such compiler does.
    * `open`: loads a built program, and connects it with the device.
    * `device_arrays`: loads what arrays in the memory of the device need; None: arguments are never there.
    * `is_tunable`: versions that the autotuner has made serve calls.
    * `keeps_functions`: its code may call functions of the program.
    * `counts_cycles`: runs count the cycles of their kernels; `cycles`: those since its last call, for the path of
      the library and the name of the program.
    * `kernel_times`: a table of the kernels that these devices have run; `DeviceError` where none are timed.
    """

    context: Callable[[Options], tuple[str, ...]] = _no_context
    measured: Callable[[Options], str] = _nothing_measured
    compilers: Callable[[Options, Toolchain], Toolchains] = _no_compilers
    build_beside: Callable[[Artifact, Options], Beside | None] = _nothing_beside
    open: Callable[[BuiltProgram], OpenedProgram] = _open_plain
    device_arrays: Callable[[], DeviceArrays] | None = None
    is_tunable: bool = False
    keeps_functions: bool = False
    counts_cycles: Callable[[Options], bool] = _counts_nothing
    cycles: Callable[[str, str], Mapping[str, SimulatedKernel]] = _no_cycles
    kernel_times: Callable[[Options, Sequence[Any]], str] = _no_kernel_times

    @property
    def arrays(self) -> DeviceArrays:
        """The functions for arrays in the memory of the device; only where `device_arrays` is there."""
        assert self.device_arrays is not None  # callers ask
        return self.device_arrays()


HOST = DeviceRuntime()  #: a device that has no entry

DEVICES: Registry[DeviceRuntime] = Registry(
    "device",
    {
        "cpu": "dcpy.runtime.cpu.loading:CPU",
        "fpga": "dcpy.runtime.fpga.loading:FPGA",
        "gpu": "dcpy.runtime.gpu.loading:GPU",
    },
)


def runtime_of(options: Options) -> DeviceRuntime:
    """The device that the options name."""
    name = options.device.value
    if name not in DEVICES:
        return HOST
    return DEVICES[name]
