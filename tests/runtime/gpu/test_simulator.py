"""Kernels by hand in the simulator: values as NumPy's, in any order of blocks and threads, with warps of 32 and 64."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.runtime.gpu.kernels import GOOD, ROWS, Call, compiled, device_of, number

pytestmark = pytest.mark.cc
RNG = np.random.default_rng(7)
ORDERS = [(warp, seed, False) for warp in (32, 64) for seed in (0, 1, 2, 3)] + [(32, 1, True)]


@pytest.fixture(scope="module")
def library():
    return compiled(GOOD, *ROWS.values())


def kernel(name: str) -> int:
    return list(ROWS).index(name)


@pytest.fixture(params=ORDERS, ids=lambda order: f"warp{order[0]}-seed{order[1]}{'-portable' * order[2]}")
def call(request, library):
    warp, seed, portable = request.param
    found = Call(device_of(library, warp=warp, seed=seed, portable=portable))
    yield found
    found.done()
    found.device.close()


@pytest.mark.parametrize("n", [1, 255, 256, 1000])
def test_axpy(call, n):
    x, y = RNG.random(n), RNG.random(n)
    args = (number(2.5), call.put(x), call.put(y), number(n))
    call.device.launch(kernel("axpy"), [-(-n // 256)], [256], args)
    assert np.array_equal(call.get(args[2], y), 2.5 * x + y)


def test_a_sum_with_shuffles_and_a_last_block(call):
    x = RNG.random(5000)
    blocks = 7
    ticket = call.put(np.zeros(1, np.int32))
    result = call.put(np.zeros(1))
    args = (call.put(x), call.put(np.zeros(blocks)), ticket, result, number(x.size))
    for _ in range(2):  # the ticket is ready for the next launch
        call.device.launch(kernel("sum"), [blocks], [256], args)
        assert call.get(result, np.zeros(1))[0] == pytest.approx(x.sum(), rel=4e-16)
    assert call.get(ticket, np.zeros(1, np.int32))[0] == 0


def test_a_stencil_through_shared_memory(call):
    a = RNG.random((37, 70))
    b = np.zeros_like(a)
    args = (call.put(a), call.put(b), number(37), number(70))
    call.device.launch(kernel("stencil"), [3, 5], [32, 8], args)
    b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    assert np.array_equal(call.get(args[1], b), b)


def test_a_transpose_through_a_tile(call):
    a = RNG.random((70, 45)).astype(np.float32)
    b = np.zeros((45, 70), np.float32)
    args = (call.put(a), call.put(b), ctypes.c_int32(70), ctypes.c_int32(45))
    call.device.launch(kernel("transpose"), [2, 3], [32, 8], args)
    assert np.array_equal(call.get(args[1], b), a.T)
