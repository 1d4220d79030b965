"""What the fuzzer found on a simulated GPU, made small: one program per cause."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from tests.support.oracles import assert_equal

pytestmark = pytest.mark.cc


def same(function, *arguments):
    """NumPy and kernels compute the same, with one thread after the other and in another order."""
    expected = function(*arguments)
    for options in ({}, {"auto_optimize": True, "gpu_warp": 64, "gpu_seed": 3}):
        program = dcpy.program(function, device=dcpy.DeviceType.GPU, gpu_backend="simulator", **options)
        assert_equal(program(*arguments), expected, 1e-12)


def test_one_row_is_spread_over_blocks():
    def f(c):
        return c.argmin(axis=1), c.max(axis=1)

    same(f, np.array([[2.0, -1.0, 3.0]]))


def test_callees_reshape_views_of_one_element():
    def f(z, s):
        return np.sort(np.power(s, np.expand_dims(z, 0)))

    same(f, np.array(2.5), 2 + 1j)


def test_each_path_has_a_result_of_its_own_size():
    def f(b, c, s):
        t = s if b[0] <= 1 else None
        return c[:t] + 1

    for first in (1.0, 2.0):
        same(f, np.array([first]), np.arange(6.0).reshape(3, 2), 2)


def test_a_map_of_the_host_gets_what_it_reads_before_it_runs():
    def f(a):
        b = a.copy()  # numbers of 16 bits: the host's, while indices are checked on the device
        b[[0, -1]] = b[[-1, 0]]
        return b

    same(f, np.arange(300, dtype=np.float16))


def test_what_is_computed_with_16_bits_is_the_hosts():
    def f(x):
        return x.astype(np.float16).mean(axis=-1)

    same(f, np.arange(1500.0).reshape(5, 300))


def test_parts_with_steps_are_sorted():
    """Rows of it are views, told in strides that the caller knows; on the device there are no gaps."""

    def f(a):
        return np.argsort(a), np.sort(a[-1:0:-1]), np.sort(a.reshape(2, 3))

    same(f, np.array([3.0, 9.0, 1.0, 9.0, 2.0, 9.0, 0.5, 9.0, 7.0, 9.0, -1.0, 9.0])[::2])
    same(lambda z: np.sort(z), np.array([1 + 2j, 1 - 1j, 0.5j]))
