"""The model of hardware says how many cycles the simulation takes; values are NumPy's: NPBench in float32."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from benchmarks.fpga import measured
from benchmarks.npbench import kernels
from dcpy.base.errors import UnknownName

pytestmark = pytest.mark.cc
N, M = dcpy.symbol("N"), dcpy.symbol("M")


@pytest.mark.parametrize("name", ["atax", "jacobi_1d", "gesummv", "lu", "trisolv"])
def test_the_model_is_the_simulation(name):
    found = measured(kernels()[name], "XS")
    assert found.is_right
    assert found.cycles == found.model


@dcpy.program(device=dcpy.DeviceType.FPGA)
def axpy(a: dcpy.float32, x: dcpy.float32[N], y: dcpy.float32[N]):
    y[:] = a * x + y


def test_explain_with_arguments_has_both():
    x = np.ones(100, np.float32)
    told = axpy.explain(np.float32(2), x, x.copy())
    assert (x == 1).all(), "it runs on copies"
    assert "axpy_kernel: 135 cycles by the model, 135 simulated" in told
    assert "queue x_read: depth 2, needs 2, 2 used" in told
    assert "of 12288 DSPs" in told
    assert "sizes that are not given" in axpy.explain()


def test_an_unknown_board():
    with pytest.raises(UnknownName, match="no board is called 'u9'"):
        dcpy.program(axpy.function, device=dcpy.DeviceType.FPGA, **{"fpga.platform": "u9"}).explain()
