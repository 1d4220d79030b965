"""CPU loading: programs that are unloaded with their last holder, made by what was measured of the processor."""

from __future__ import annotations

from dcpy.base.options import Options
from dcpy.runtime.cpu.measured_costs import mark
from dcpy.runtime.loading.devices import BuiltProgram, DeviceRuntime, OpenedProgram
from dcpy.runtime.loading.shared_libraries import open_library
from dcpy.runtime.storage.cache import Cache


def _measured(options: Options) -> str:
    return mark(Cache(options.cache_dir))


def _open(built: BuiltProgram) -> OpenedProgram:
    """Programs of several ranks stay in memory."""
    return OpenedProgram(open_library(built.path, program="" if built.options.distributed else built.signature.name))


CPU = DeviceRuntime(measured=_measured, open=_open, is_tunable=True, keeps_functions=True)
