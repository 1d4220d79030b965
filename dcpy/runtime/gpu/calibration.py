"""GPU calibration: measures the constants of the cost model on the GPU of this machine.

Each figure is the best of a few rows: what else the machine does only ever adds.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from dcpy.base.errors import DeviceError
from dcpy.base.options import Options
from dcpy.codegen.artifact import DEVICE, Unit
from dcpy.runtime.gpu.compiler_selection import device_compiler
from dcpy.runtime.gpu.device_table import TO_DEVICE, TO_HOST, WITHIN_DEVICE
from dcpy.runtime.gpu.drivers import DriverProgram, open_context
from dcpy.runtime.gpu.measured_costs import MeasuredConstants
from dcpy.runtime.gpu.native import header

BARRIERS = 1000
ROUNDS = 256  # of a product and a sum each, in which a thread has four numbers on their way
BLOCKS = 8  # for each processor: enough threads to hide how long an operation takes
TEXT = f"""#include "dcpy_device.h"
DCPY_KERNEL(empty, 256)() {{}}
DCPY_KERNEL(barriers, 256)() {{ for (int32_t i = 0; i < {BARRIERS}; ++i) DCPY_BARRIER(); }}
DCPY_KERNEL(operations, 256)() {{
    double a = DCPY_THREAD_X, b = a + 1.0, c = a + 2.0, d = a + 3.0;
    for (int32_t i = 0; i < {ROUNDS}; ++i) {{
        a = a*0.999 + 0.5, b = b*0.999 + 0.5, c = c*0.999 + 0.5, d = d*0.999 + 0.5;
    }}
    if (a + b + c + d < 0.0) DCPY_BARRIER();  // never; but who compiles it cannot know
}}
DCPY_KERNELS(measured, DCPY_ROW(empty, 256, 0), DCPY_ROW(barriers, 256, 0), DCPY_ROW(operations, 256, 0))
"""
EMPTY, WITH_BARRIERS, OPERATIONS = range(3)
LARGEST = 256 << 20  # bytes of a copy: more than any cache holds
ROWS, LAUNCHES, COPIES = 5, 200, 8


def measure(backend: str, options: Options) -> MeasuredConstants:
    """Raise `DeviceError` and `ToolchainError` where there is nothing to measure, or nothing to compile with."""
    compiler, arch = device_compiler(backend, options)
    headers = tuple(Unit(name, header(name).read_text()) for name in ("dcpy_device.h", "dcpy_chips.h"))
    binary = compiler.compile(Unit("measured.kernels.cu", TEXT, DEVICE), headers, arch, options.gpu)
    context = open_context(backend, options)
    program = context.program(binary.code, ("empty", "barriers", "operations"))
    try:
        size = min(LARGEST, context.facts().free // 8) // 4096 * 4096
        return MeasuredConstants(*_copies(program, size), *_launches(program), _operations(program))
    finally:
        program.close()


def _copies(program: DriverProgram, size: int) -> tuple[float, float, float, float, float]:
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


def _launches(program: DriverProgram) -> tuple[float, float, float]:
    library, table = program.context.library, program.address
    launch = _best(lambda: float(library.dcpy_measure_launch(table, EMPTY, 1, 256, LAUNCHES)))
    alone = _best(lambda: float(library.dcpy_measure_wait(table, EMPTY, LAUNCHES)))
    barriers = _best(lambda: float(library.dcpy_measure_launch(table, WITH_BARRIERS, 1, 256, COPIES)))
    return launch, alone, max(barriers - launch, 0.0) / BARRIERS


def _operations(program: DriverProgram) -> float:
    """Products and sums on float64 in a second, each rounded by itself, as those of kernels are."""
    blocks = BLOCKS * program.context.facts().processors
    library, table = program.context.library, program.address
    seconds = _best(lambda: float(library.dcpy_measure_launch(table, OPERATIONS, blocks, 256, COPIES)))
    return blocks * 256 * 4 * 2 * ROUNDS / seconds


def _best(seconds: Callable[[], float]) -> float:
    found = [seconds() for _ in range(ROWS)]
    if min(found) < 0:
        raise DeviceError("the device could not be measured")
    return max(min(found), 1e-12)
