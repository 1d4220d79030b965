"""GPU costs: figures that `dcpy doctor --gpu` has measured on a chip, else a table.

The table has what makers publish for one product with each chip (bytes and operations on float64), and plans for what
they do not. None of it decides what is legal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcpy.base.errors import DcpyError
from dcpy.base.option_groups.gpu import Backend
from dcpy.base.options import Options
from dcpy.ir.gpu.costs import GPU_COSTS
from dcpy.ir.machine_model import Costs
from dcpy.runtime.storage.cache import Cache

if TYPE_CHECKING:
    from dcpy.runtime.gpu.measured_costs import MeasuredConstants

CHIPS = {
    "sm_75": replace(GPU_COSTS, memory_speed=270_000, operation_speed=250_000, transfer_speed=6_000),
    "sm_80": replace(GPU_COSTS, memory_speed=1_700_000, operation_speed=9_700_000, transfer_speed=12_000),
    "sm_90": GPU_COSTS,
    "sm_100": replace(GPU_COSTS, memory_speed=7_000_000, operation_speed=37_000_000),
    "gfx90a": replace(GPU_COSTS, memory_speed=1_300_000, operation_speed=23_900_000, transfer_speed=12_000),
    "gfx942": replace(GPU_COSTS, memory_speed=4_300_000, operation_speed=81_700_000),
}


def costs_of(arch: str, measured: MeasuredConstants | None = None, costs: Costs = GPU_COSTS) -> Costs:
    """The costs on a chip: `costs` with the chip's speeds, as measured where they were."""
    known = CHIPS.get(arch, costs)
    found = replace(
        costs,
        memory_speed=known.memory_speed,
        operation_speed=known.operation_speed,
        transfer_speed=known.transfer_speed,
    )
    if measured is None:
        return found
    return replace(
        found,
        memory_speed=round(measured.within_device / 1e6),
        operation_speed=round(measured.operations / 1e6),
        transfer_speed=round(measured.to_device_pageable / 1e6),
        launch=round(measured.launch * 1e9),
        wait=round(measured.launch_and_wait * 1e9),
        barrier=round(measured.block_barrier * 1e9),
    )


def tuned(options: Options, costs: Costs) -> Costs:
    """The costs on the chip that programs are compiled for; those of the target where none is chosen and none is there.

    The simulator has no speed: what is compiled for it is the same on every machine.
    """
    if options.gpu.backend is Backend.SIMULATOR:
        return costs
    arch = options.gpu.arch or _chip_that_is_there(options)
    if not arch:
        return costs
    from dcpy.runtime.gpu.measured_costs import kept

    return costs_of(arch, kept(Cache(options.cache_dir), arch) if options.cache_dir else None, costs)


def _chip_that_is_there(options: Options) -> str:
    from dcpy.runtime.gpu.drivers import is_installed, open_context

    chosen = options.gpu.backend
    for backend in (Backend.CUDA, Backend.HIP) if chosen is Backend.AUTO else (chosen,):
        if is_installed(backend.value, options):
            try:
                return open_context(backend.value, options).facts().arch
            except DcpyError:  # compiling for it raises the error
                continue
    return ""
