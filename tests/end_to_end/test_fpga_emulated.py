"""NumPy functions on Intel's emulator of FPGAs: the values of NumPy. `make test-fpga` installs it."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy

N, M, K = dcpy.symbol("N"), dcpy.symbol("M"), dcpy.symbol("K")
F32 = dcpy.float32
EMULATED = {"device": dcpy.DeviceType.FPGA, "fpga.vendor": "intel", "fpga.mode": "emulate"}


def atax(A: F32[M, N], x: F32[N], y: F32[N]):
    y[:] = (A @ x) @ A


def bicg(A: F32[M, N], p: F32[N], r: F32[M], s: F32[N], q: F32[M]):
    s[:] = r @ A
    q[:] = A @ p


def gesummv(alpha: F32, beta: F32, A: F32[N, N], B: F32[N, N], x: F32[N], y: F32[N]):
    y[:] = alpha * A @ x + beta * B @ x


def mvt(x1: F32[N], x2: F32[N], y1: F32[N], y2: F32[N], A: F32[N, N]):
    x1 += A @ y1
    x2 += y2 @ A


def gemm(alpha: F32, beta: F32, C: F32[N, M], A: F32[N, K], B: F32[K, M]):
    C[:] = alpha * A @ B + beta * C


def jacobi_2d(T: dcpy.int64, A: F32[N, N], B: F32[N, N]):
    for _ in range(1, T):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def functions(x: F32[N], y: F32[N]):
    y[:] = np.exp(x) / (1 + np.sqrt(np.abs(x))) + np.maximum(x, 0)


def flags(x: F32[N], y: dcpy.bool_[N]):
    y[:] = x > 0.5


def masked(x: F32[N], y: F32[N]):
    y[0] = np.sum(x[x > 0.5])
    y[1] = np.sum(x > 0.5)


def quotients(x: dcpy.int32[N], y: dcpy.int32[N]):
    y[:] = x // 3 + x % 5


CASES = {
    atax: "0,8x12 12 12", bicg: "0,8x12 12 8 12 8", gesummv: "2,12x12 12x12 12 12", mvt: "0,12 12 12 12 12x12",
    gemm: "2,6x7 6x8 8x7", jacobi_2d: "T,10x10 10x10", functions: "0,50 50",
    masked: "0,50 50",
}  # fmt: skip


@pytest.mark.hls
@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_values_are_numpys(function):
    scalars, _, shapes = CASES[function].partition(",")
    rng = np.random.default_rng(0)
    numbers = [3] if scalars == "T" else [np.float32(1.5), np.float32(0.5)][: int(scalars)]
    arrays = [rng.standard_normal(tuple(map(int, shape.split("x")))).astype(np.float32) for shape in shapes.split()]
    emulated = [array.copy() for array in arrays]
    dcpy.program(function, **EMULATED)(*numbers, *emulated)
    function(*numbers, *arrays)
    for found, expected in zip(emulated, arrays, strict=True):
        assert np.allclose(found, expected, rtol=1e-5, atol=1e-5)


def axpy(a: F32, x: F32[N], y: F32[N]):
    y[:] = a * x + y


@pytest.mark.hls
def test_tokens_of_several_elements():
    """Also the last one, which is not full: 103 elements in tokens of 16."""
    x, y = np.random.default_rng(1).random((2, 103), np.float32)
    expected = np.float32(0.3) * x + y
    dcpy.program(axpy, **EMULATED, **{"fpga.lanes": 0})(np.float32(0.3), x, y)
    assert np.array_equal(y, expected)


@pytest.mark.hls
def test_other_dtypes():
    x, y = np.linspace(0, 1, 50, dtype=np.float32), np.zeros(50, np.bool_)
    dcpy.program(flags, **EMULATED)(x, y)
    assert np.array_equal(y, x > 0.5)
    k, rest = np.arange(-20, 30, dtype=np.int32), np.zeros(50, np.int32)
    dcpy.program(quotients, **EMULATED)(k, rest)
    assert np.array_equal(rest, k // 3 + k % 5)
