"""Scans as generated kernels: values, the same bits each time, no races, and each element read once or twice."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.runtime.gpu.simulator.memory_checks import watching

pytestmark = pytest.mark.cc
RNG = np.random.default_rng(1)
ON = {"device": "gpu", "gpu_backend": "simulator", "gpu_hooks": True, "auto_optimize": True}


def watched(program, *arguments):
    """What a program returns, and what its kernels have moved. Each run gives the same."""
    with watching() as seen:
        found = program(*arguments)
    assert (seen.report.races, seen.report.unwritten) == ((), ())
    again = program(*arguments)
    for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in (found, again)), strict=True):
        np.testing.assert_array_equal(one, other)
    return found, sum(kernel.moved_bytes for kernel in seen.report.kernels), seen.report.kernels


def running(x):
    return np.cumsum(x)


@pytest.mark.parametrize("warp", [32, 64])
def test_one_line_is_read_once_if_one_block_has_it_and_twice_in_pieces(warp):
    program = dcpy.program(gpu_warp=warp, **ON)(running)
    for n in (0, 1, 31, 32, 33, 1025, 8192, 20_000):
        x = RNG.random(n)
        found, moved, kernels = watched(program, x)
        np.testing.assert_allclose(found, np.cumsum(x), rtol=1e-13)
        times = 2 if n <= 8192 else 3
        if n == 1:  # the host copies it
            continue
        assert len(kernels) == (1 if n <= 8192 else 3)
        assert times * 8 * n <= moved <= 1.01 * times * 8 * n + 64
        assert all(site.units <= 1.1 * site.least + 2 for kernel in kernels for site in kernel.sites)


def rows(x, y, z):
    return np.cumsum(x, axis=1), np.maximum.accumulate(y, axis=1), np.cumsum(z, axis=0), np.multiply.accumulate(z)


def test_rows_and_columns_of_several_dtypes():
    program = dcpy.program(**ON)(rows)
    for shape in ((9, 33), (3, 1100), (1100, 3), (0, 5), (5, 0)):
        x, y = RNG.random(shape).astype(np.float32), RNG.integers(-9, 9, shape)
        z = RNG.random(shape) + 1j * RNG.random(shape)
        found, moved, _ = watched(program, x, y, z)
        for one, expected in zip(found, rows(x, y, z), strict=True):
            assert one.dtype == expected.dtype
            np.testing.assert_allclose(one, expected, rtol=1e-5 if one.dtype == np.float32 else 1e-12)
        times = 3 if shape[0] > 1024 else 2  # columns in pieces
        assert moved <= 1.1 * (2 * (x.nbytes + y.nbytes) + 2 * times * z.nbytes) + 256


def selected(x, y):
    mask = x > 0.5
    (places,) = np.nonzero(mask)
    return places, y[mask], np.cumsum(mask)


def test_what_a_mask_selects():
    program = dcpy.program(**ON)(selected)
    for n in (0, 1, 33, 9000):
        x, y = RNG.random(n), RNG.integers(0, 99, n)
        for one, expected in zip(watched(program, x, y)[0], selected(x, y), strict=True):
            np.testing.assert_array_equal(one, expected)


def kept(x, y):
    s = 1.0
    for i in range(x.shape[0]):
        s += x[i] * x[i]
        y[i] = s
    return s


def test_a_loop_that_keeps_what_it_accumulates():
    x, y = RNG.random(300), np.zeros(300)
    found = dcpy.program(**ON)(lambda x: kept(x, np.empty_like(x)))(x)
    np.testing.assert_allclose(found, kept(x, y), rtol=1e-13)
