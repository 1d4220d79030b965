"""NumPy programs on a simulated FPGA: bit-equal to NumPy where no sum is reordered."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import InvalidSdfg

pytestmark = pytest.mark.cc
FPGA = dcpy.DeviceType.FPGA
N, M = dcpy.symbol("N"), dcpy.symbol("M")
RANDOM = np.random.default_rng(7)


def axpy(a: dcpy.float32, x: dcpy.float32[N], y: dcpy.float32[N]):
    y[:] = a * x + y


def several(A: dcpy.float64[N, M], v: dcpy.float64[M], w: dcpy.float64[N]):
    C = np.sqrt(A * A + v) - w[:, None]
    return np.where(C > 0.5, C, A), C.T + 1, np.maximum(C, A) > v


def integers(a: dcpy.int64[N], b: dcpy.int32[N]):
    return a * 3 + b, a % 7, a // b, np.minimum(a, b)


def in_place(A: dcpy.float64[N]):
    A += 1
    A[::2] *= 2
    A[1:] = A[1:] - A[:-1]


def time_steps(A: dcpy.float64[N], B: dcpy.float64[N]):
    for _ in range(3):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def smoothed_twice(x: dcpy.float32[N]):
    once = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
    return 0.25 * once[:-2] + 0.5 * once[1:-1] + 0.25 * once[2:]


def sums(A: dcpy.float64[N, M], x: dcpy.float64[M]):
    return A @ x, np.max(A, axis=1), A.sum()


def nothing(A: dcpy.float64[N]):
    return A[3:3] + 1


def counted(A: dcpy.float64[N]):
    total = 0.0
    for i in range(len(A)):
        if A[i] > 0.5:
            total += A[i]
    return total


CASES = [
    (axpy, (np.float32(0.3), *RANDOM.random((2, 1000), np.float32)), 0),
    (several, (RANDOM.random((30, 7)), RANDOM.random(7), RANDOM.random(30)), 0),
    (integers, (RANDOM.integers(-50, 50, 40), RANDOM.integers(1, 50, 40).astype(np.int32)), 0),
    (in_place, (RANDOM.random(11),), 0),
    (time_steps, (RANDOM.random(20), RANDOM.random(20)), 0),
    (smoothed_twice, (RANDOM.random(11, np.float32),), 0),
    (sums, (RANDOM.random((9, 5)), RANDOM.random(5)), 1e-14),
    (nothing, (RANDOM.random(9),), 0),
    (counted, (RANDOM.random(40),), 0),
]


@pytest.mark.parametrize(("function", "arguments", "rtol"), CASES, ids=[case[0].__name__ for case in CASES])
def test_values_are_numpys(function, arguments, rtol):
    expected, found = copy.deepcopy(arguments), copy.deepcopy(arguments)
    results, computed = function(*expected), dcpy.program(function, device=FPGA)(*found)
    pairs = list(zip(expected, found, strict=True))
    if results is not None:
        several_ = isinstance(results, tuple)
        pairs += zip(results, computed, strict=True) if several_ else [(results, computed)]
    for mine, its in pairs:
        np.testing.assert_allclose(its, mine, rtol=rtol, atol=0)
        assert np.asarray(its).dtype == np.asarray(mine).dtype


def test_a_program_for_a_cpu_is_another_one():
    x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
    for device in (dcpy.DeviceType.CPU, FPGA, dcpy.DeviceType.CPU):
        dcpy.program(axpy, device=device)(np.float32(1), x, y)
    assert np.array_equal(y, 3 * x)
    text = dcpy.program(axpy).to_sdfg().code(device="fpga")
    assert "hls::stream<float, 2> x_read(" in text
    assert "hls::stream" not in dcpy.program(axpy).to_sdfg().code()


def test_explain_says_what_goes_through_queues_and_why_not():
    told = dcpy.program(sums).to_sdfg().explain(device="fpga")
    assert "streaming-memory" in told
    assert "is more than an element" in told


def gather(A: dcpy.float64[N], k: dcpy.int64[M]):
    return A[k]


def looked_up(A: dcpy.float64[N], k: dcpy.int64[M], B: dcpy.float64[M]):
    for i in range(M):
        B[i] = A[k[i]] + A[k[M - 1 - i]]


def test_indices_from_data_are_checked():
    A, B = RANDOM.random(6), np.zeros(4)
    found, scattered = dcpy.program(gather, device=FPGA), dcpy.program(looked_up, device=FPGA)
    assert np.array_equal(found(A, np.array([0, -1, 5, 2])), A[[0, -1, 5, 2]])
    scattered(A, np.array([0, -6, 5, 1]), B)
    assert np.array_equal(B, A[[0, -6, 5, 1]] + A[[1, 5, -6, 0]])
    for wrong, index in (([0, 6, 7, 2], 6), ([1, 2, -7, 3], -7)):
        for program, more in ((found, ()), (scattered, (B,))):
            with pytest.raises(IndexError, match=f"index {index} is out of bounds for axis 0 with size 6") as caught:
                program(A, np.array(wrong), *more)
            assert "test_fpga.py" in str(caught.value.__notes__)


def complex_numbers(A: dcpy.complex128[N]):
    return A + 1


@pytest.mark.parametrize(
    ("function", "arguments", "error", "message"),
    [
        (complex_numbers, (np.zeros(3, complex),), InvalidSdfg, "is c128"),
    ],
)
def test_refusals(function, arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        dcpy.program(function, device=FPGA)(*arguments)
    assert "test_fpga.py" in str(caught.value)
