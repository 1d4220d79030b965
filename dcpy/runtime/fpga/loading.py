"""FPGA loading: kernels that this machine simulates, or a board that a program reaches."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dcpy.base.option_groups.fpga import FpgaMode
from dcpy.base.options import Options
from dcpy.runtime.loading.devices import BuiltProgram, DeviceRuntime, OpenedProgram
from dcpy.runtime.loading.shared_libraries import open_library

if TYPE_CHECKING:
    from dcpy.runtime.loading.kernel_cycles import SimulatedKernel


def _context(options: Options) -> tuple[str, ...]:
    return (repr(options.fpga),)


def _is_simulated(options: Options) -> bool:
    return options.fpga.mode is FpgaMode.SIMULATE


def _open(built: BuiltProgram) -> OpenedProgram:
    """Open the board, unless kernels are simulated; simulated hardware explains deadlocks."""
    library, name = open_library(built.path), built.signature.name
    if not _is_simulated(built.options):
        from dcpy.runtime.fpga import boards

        boards.attach(library, name, built.options.fpga)
        return OpenedProgram(library)
    from dcpy.runtime.fpga import simulation

    return OpenedProgram(library, notes=functools.partial(simulation.wait_cycle_notes, library, name))


def _cycles(path: str, name: str) -> Mapping[str, SimulatedKernel]:
    from dcpy.runtime.fpga import simulation

    return simulation.told(path, name)


FPGA = DeviceRuntime(context=_context, open=_open, counts_cycles=_is_simulated, cycles=_cycles)
