"""Hand-written kernels in the dialect of device code, compiled for the simulator as generated units are."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from dcpy.base.options import Options, resolve_options
from dcpy.codegen.artifact import Artifact, Signature, Unit
from dcpy.runtime.compilers.toolchain import find_toolchain
from dcpy.runtime.gpu import device_selection
from dcpy.runtime.gpu.native import header
from dcpy.runtime.gpu.simulator.library import Settings, SimulatedDevice
from dcpy.runtime.loading.shared_libraries import library_of

FLAGS = ("-std=c++17", "-DDCPY_SIMULATOR", "-Wall", "-Wextra", "-Wno-unused-function")
NAME = "kernels"

AXPY = """
DCPY_KERNEL(axpy, 256)(double a, const double *__restrict x, double *__restrict y, int64_t n) {
    const int64_t i = DCPY_BLOCK_X * 256 + DCPY_THREAD_X;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""

# Partial sums per warp, then per block; the last block folds those of all blocks.
SUM = """
DCPY_KERNEL(sum, 256)(const double *x, double *partials, int32_t *ticket, double *result, int64_t n) {
    DCPY_SHARED(double, warps, 8);
    double mine = 0;
    for (int64_t i = DCPY_BLOCK_X * DCPY_THREADS_X + DCPY_THREAD_X; i < n; i += DCPY_BLOCKS_X * DCPY_THREADS_X)
        mine += x[i];
    for (int lanes = DCPY_WARP / 2; lanes > 0; lanes /= 2) mine += dcpy_shuffle_down(mine, lanes);
    if (dcpy_lane() == 0) warps[dcpy_warp_number()] = mine;
    DCPY_BARRIER();
    if (DCPY_THREAD_X == 0) {
        double all = 0;
        for (int w = 0; w < DCPY_THREADS_X / DCPY_WARP; ++w) all += warps[w];
        partials[DCPY_BLOCK_X] = all;
    }
    if (dcpy_last_block(ticket)) {
        if (DCPY_THREAD_X == 0) {
            double all = 0;
            for (int64_t b = 0; b < DCPY_BLOCKS_X; ++b) all += partials[b];
            *result = all;
        }
    }
}
"""

STENCIL = """
DCPY_KERNEL(stencil, 256)(const double *__restrict a, double *__restrict b, int64_t n, int64_t m) {
    DCPY_SHARED(double, tile, 10 * 34);
    const int64_t bi = DCPY_BLOCK_Y * 8, bj = DCPY_BLOCK_X * 32;
    for (int k = dcpy_thread_number(); k < 340; k += 256) {
        const int64_t i = bi + k / 34, j = bj + k % 34;
        if (i < n && j < m) tile[k] = a[i * m + j];
    }
    DCPY_BARRIER();
    const int y = DCPY_THREAD_Y, x = DCPY_THREAD_X;
    if (bi + y + 2 < n && bj + x + 2 < m)
        b[(bi + y + 1) * m + bj + x + 1] = 0.2 * (tile[(y + 1) * 34 + x + 1] + tile[y * 34 + x + 1] +
            tile[(y + 2) * 34 + x + 1] + tile[(y + 1) * 34 + x] + tile[(y + 1) * 34 + x + 2]);
}
"""

TRANSPOSE = """
DCPY_KERNEL(transpose, 256)(const float *__restrict a, float *__restrict b, int32_t n, int32_t m) {
    DCPY_SHARED(float, tile, 32 * 33);
    for (int r = DCPY_THREAD_Y; r < 32; r += 8) {
        const int32_t i = (int32_t)DCPY_BLOCK_Y * 32 + r, j = (int32_t)DCPY_BLOCK_X * 32 + DCPY_THREAD_X;
        if (i < n && j < m) tile[r * 33 + DCPY_THREAD_X] = a[(int64_t)i * m + j];
    }
    DCPY_BARRIER();
    for (int r = DCPY_THREAD_Y; r < 32; r += 8) {
        const int32_t i = (int32_t)DCPY_BLOCK_Y * 32 + DCPY_THREAD_X, j = (int32_t)DCPY_BLOCK_X * 32 + r;
        if (i < n && j < m) b[(int64_t)j * n + i] = tile[DCPY_THREAD_X * 33 + r];
    }
}
"""

ROWS = {
    "axpy": "DCPY_ROW(axpy, 256, 0)",
    "sum": "DCPY_ROW(sum, 256, 64)",
    "stencil": "DCPY_ROW(stencil, 256, 2720)",
    "transpose": "DCPY_ROW(transpose, 256, 4224)",
}
GOOD = AXPY + SUM + STENCIL + TRANSPOSE


def hooks() -> tuple[str, ...]:
    """The flags of kernels that tell each access, for the compiler of `compiled`."""
    return device_selection.hook_flags(find_toolchain(resolve_options().cpu.compiler).family)


def compiled(text: str, *rows: str, flags: Sequence[str] = (), options: Options | None = None) -> ctypes.CDLL:
    """The library of a unit with these kernels (`DCPY_ROW` each)."""
    unit = f'#include "dcpy_device.h"\n{text}\nDCPY_KERNELS({NAME}, {", ".join(rows)})\n'
    units = (
        Unit("kernels.cpp", unit, "C++", (*FLAGS, *flags)),
        Unit("dcpy_device.h", header("dcpy_device.h").read_text()),
    )
    return ctypes.CDLL(str(library_of(Artifact(Signature(NAME, ()), units), options or resolve_options())))


def device_of(library: ctypes.CDLL | None = None, **settings: Any) -> SimulatedDevice:
    """A device for the kernels of `compiled`."""
    return SimulatedDevice(resolve_options(), Settings(**settings), library, NAME)


def place(value: int) -> ctypes.c_void_p:
    """An argument that is a pointer."""
    return ctypes.c_void_p(value)


def number(value: int | float) -> Any:
    """An argument that is an int64_t or a double."""
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value)


class Call:
    """Arrays that are copied to a device, and back; all of it waits."""

    def __init__(self, device: SimulatedDevice) -> None:
        self.device = device
        self.places: list[int] = []

    def put(self, array: np.ndarray) -> ctypes.c_void_p:
        self.places.append(self.device.upload(array))
        return place(self.places[-1])

    def get(self, argument: ctypes.c_void_p, like: np.ndarray) -> np.ndarray:
        return self.device.download(argument.value or 0, like)

    def done(self) -> None:
        for one in self.places:
            self.device.release(one)
        self.device.wait()
