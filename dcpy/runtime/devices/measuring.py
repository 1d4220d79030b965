"""What things cost on the GPU that is there, measured: the constants that costs of programs come from.

Each figure is the best of a few rows: what else the machine does only ever adds.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from dcpy.base.errors import DeviceError
from dcpy.base.options import Options
from dcpy.codegen.artifact import DEVICE, Unit
from dcpy.runtime.devices.constants import Constants
from dcpy.runtime.devices.drivers import DriverProgram, open_context
from dcpy.runtime.devices.native import header
from dcpy.runtime.devices.table import TO_DEVICE, TO_HOST, WITHIN_DEVICE
from dcpy.runtime.devices.toolchains import device_compiler

BARRIERS = 1000
TEXT = f"""#include "dcpy_device.h"
DCPY_KERNEL(empty, 256)() {{}}
DCPY_KERNEL(barriers, 256)() {{ for (int32_t i = 0; i < {BARRIERS}; ++i) DCPY_BARRIER(); }}
DCPY_KERNELS(measured, DCPY_ROW(empty, 256, 0), DCPY_ROW(barriers, 256, 0))
"""
EMPTY, WITH_BARRIERS = range(2)
LARGEST = 256 << 20  # bytes of a copy: more than any cache holds
ROWS, LAUNCHES, COPIES = 5, 200, 8


def measure(backend: str, options: Options) -> Constants:
    """Raises `DeviceError` and `ToolchainError` where there is nothing to measure, or nothing to compile with."""
    compiler, arch = device_compiler(backend, options)
    headers = tuple(Unit(name, header(name).read_text()) for name in ("dcpy_device.h", "dcpy_chips.h"))
    binary = compiler.compile(Unit("measured.kernels.cu", TEXT, DEVICE), headers, arch, options.gpu)
    context = open_context(backend, options)
    program = context.program(binary.code, ("empty", "barriers"))
    try:
        size = min(LARGEST, context.facts().free // 8) // 4096 * 4096
        return Constants(*_copies(program, size), *_launches(program))
    finally:
        program.close()


def _copies(program: DriverProgram, size: int) -> tuple[float, ...]:
    there, other, pinned = program.allocate(size), program.allocate(size), program.pin(size)
    pageable = np.ones(size, np.uint8).ctypes
    ctypes.memset(pinned, 1, size)

    def bandwidth(to: int, source: int, way: int, moved: int = size) -> float:
        function = program.context.library.dcpy_measure_copy
        return moved / _best(lambda: float(function(program.address, to, source, size, way, COPIES)))

    within = bandwidth(there, other, WITHIN_DEVICE, 2 * size)
    up = bandwidth(there, pinned, TO_DEVICE), bandwidth(there, pageable.data, TO_DEVICE)
    down = bandwidth(pinned, there, TO_HOST), bandwidth(pageable.data, there, TO_HOST)
    program.unpin(pinned)
    return (within, *up, *down)


def _launches(program: DriverProgram) -> tuple[float, ...]:
    library, table = program.context.library, program.address
    launch = _best(lambda: float(library.dcpy_measure_launch(table, EMPTY, 1, 256, LAUNCHES)))
    alone = _best(lambda: float(library.dcpy_measure_wait(table, EMPTY, LAUNCHES)))
    barriers = _best(lambda: float(library.dcpy_measure_launch(table, WITH_BARRIERS, 1, 256, COPIES)))
    return launch, alone, max(barriers - launch, 0.0) / BARRIERS


def _best(seconds: Callable[[], float]) -> float:
    found = [seconds() for _ in range(ROWS)]
    if min(found) < 0:
        raise DeviceError("the device could not be measured")
    return max(min(found), 1e-12)
