"""Kernels in the simulator: values as NumPy's, checks that fail on the device, and programs that share a library."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from dcpy.base.errors import DeviceError, DeviceMemoryError
from dcpy.base.options import resolve_options
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.gpu.simulator.library import memory_in_use
from dcpy.runtime.loading.load import load
from tests.codegen.test_kernels import AXPY, GATHER, MANY, SMOOTH

pytestmark = pytest.mark.cc
RNG = np.random.default_rng(1)
ORDERS = [(32, 0), (32, 1), (64, 2)]
SUMS = """
    sdfg @sums(x: f64[N, M], c: i64[3], m: f64[2]) symbols(N: size, M: size) {
      data gpu_x: f64[N, M] transient @global @heap
      data gpu_c: i64[3] transient @global @heap
      data gpu_m: f64[2] transient @global @heap
      state { copy x[0:N, 0:M] -> gpu_x[0:N, 0:M]  copy c[0:3] -> gpu_c[0:3]  copy m[0:2] -> gpu_m[0:2] }
      state { map bi = 0:N:2, bj = 0:M:32 @grid { state { map i = bi:min(bi + 2, N), j = bj:min(bj + 32, M) @block {
        state { tasklet (a <- gpu_x[i, j]) -> (o -> gpu_c[0] (add)) { o = i64(a > 0.5) }
                tasklet (a <- gpu_x[i, j]) -> (o -> gpu_m[0] (max)) { o = a }
                tasklet (a <- gpu_x[i, j]) -> (o -> gpu_m[1] (min)) { o = a }
                tasklet (a <- gpu_x[i, j]) -> (o -> gpu_c[1] (bitor)) { o = i64(a * 1000.0) }
                tasklet (a <- gpu_x[i, j]) -> (o -> gpu_c[2] (mul)) { o = 3 } }
      } } } }
      state { copy gpu_c[0:3] -> c[0:3]  copy gpu_m[0:2] -> m[0:2] }
    }"""


LARGE = """
    sdfg @large(x: f64[N], n) symbols(N: size, n: i64) {
      data gpu_x: f64[max(n, 0)] transient @global @heap
      state { map b = 0:N @grid { state { map i = 0:1 @block { state {
        tasklet () -> (o -> gpu_x[b]) { o = 3.0 } } } } } }
      state { copy gpu_x[0:N] -> x[0:N] }
    }"""


def options(warp=32, seed=0):
    return resolve_options({"device": "gpu", "gpu.backend": "simulator", "gpu.warp": warp, "gpu.seed": seed})


def compiled(text, **more):
    chosen = options(**more)
    return compiled_function(load(generate_gpu(parse_sdfg(text), None, None, chosen), chosen))


@pytest.fixture(params=ORDERS, ids=lambda order: f"warp{order[0]}-seed{order[1]}")
def order(request):
    return {"warp": request.param[0], "seed": request.param[1]}


@pytest.mark.parametrize("n", [0, 1, 255, 256, 1000])
def test_axpy(order, n):
    x, y = RNG.random(n), RNG.random(n)
    expected = 2.5 * x + y
    compiled(AXPY, **order)(2.5, x, y)
    assert np.array_equal(y, expected)


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (20, 70), (67, 33)])
def test_blocks_share_a_tile(order, shape):
    x, y = RNG.random(shape), np.zeros(shape)
    expected = y.copy()
    expected[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1]) / 2
    compiled(SMOOTH, **order)(x, y)
    assert np.array_equal(y, expected)


def test_grids_of_more_than_three_dimensions(order):
    y = RNG.random((3, 4, 2, 9, 2))
    expected = y.copy()
    part = np.broadcast_to(np.arange(3.0)[:, None, None, None, None] + np.arange(2.0), (3, 2, 2, 2, 2))
    for t in range(3):  # each sweep takes the neighbour's value
        part = part[..., ::-1] + t
    expected[:, ::2, :, ::8] = part
    compiled(MANY, **order)(y)
    assert np.array_equal(y, expected)


def test_threads_combine_in_one_place(order):
    x, c, m = RNG.random((7, 45)), np.array([5, 0, 1]), np.array([-1.0, 9.0])
    compiled(SUMS, **order)(x, c, m)
    bits = np.bitwise_or.reduce((x * 1000).astype(np.int64), axis=None)
    assert c.tolist() == [5 + (x > 0.5).sum(), bits, np.multiply.reduce(np.full(7 * 45, 3))]
    assert m.tolist() == [x.max(), x.min()]


def test_a_check_that_fails_on_the_device(order):
    program = compiled(GATHER, **order)
    x, h = RNG.random(100), np.zeros(100, np.int32)
    program(x, np.arange(2, 100), h)
    assert h.tolist() == [0, 0, *[1] * 98]
    k = np.arange(2, 100)
    k[40] = 100
    with pytest.raises(IndexError, match="index 100 is out of bounds for axis 0 with size 100"):
        program(x, k, h)
    k[40] = 0
    with pytest.raises(ValueError, match=r"^0"):
        program(x, k, h)
    h[:] = 0
    program(x, np.arange(2, 100), h)  # a failure is over when it has been told
    assert h.tolist() == [0, 0, *[1] * 98]


def test_a_call_leaves_no_memory_behind():
    program = compiled(GATHER)
    x, h = RNG.random(100), np.zeros(100, np.int32)
    program(x, np.arange(2, 100), h)
    before = memory_in_use(options())
    for _ in range(20):
        program(x, np.arange(2, 100), h)
        with pytest.raises(IndexError):
            program(x, np.arange(3, 101), h)
    assert memory_in_use(options()) < before + 100 * (8 + 8 + 4) + 4 * 4  # what the last call had may still wait


def test_the_memory_of_the_device_is_not_enough():
    program, x = compiled(LARGE), np.zeros(3)
    program(x, 3)
    assert x.tolist() == [3.0, 3.0, 3.0]
    for count in (2**32, 2**50):
        with pytest.raises(DeviceMemoryError):
            program(np.zeros(3), count)
    x[:] = 0
    program(x, 3)
    assert x.tolist() == [3.0, 3.0, 3.0]


def test_a_kernel_that_touches_what_it_may_not():
    x = np.zeros(3000)
    with pytest.raises(DeviceError, match="large_b"):
        compiled(LARGE, seed=9)(x, 1)  # its device is lost
    assert not x.any()


def test_threads_take_turns():
    program = compiled(AXPY)
    pairs = [(RNG.random(5000), RNG.random(5000)) for _ in range(8)]
    expected = [2.0 * x + y for x, y in pairs]
    threads = [threading.Thread(target=program, args=(2.0, x, y)) for x, y in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(y, found) for (_, y), found in zip(pairs, expected, strict=True))
