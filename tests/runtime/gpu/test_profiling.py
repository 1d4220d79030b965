"""Times of kernels, by events of the device, in a table."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import DeviceError
from dcpy.runtime.gpu.device_table import Device
from dcpy.runtime.gpu.profiling import kernel_times
from tests.runtime.gpu import chips
from tests.runtime.gpu.fakes import FakeDriver

pytestmark = pytest.mark.cc
AXPY, _, _, IDLE = range(4)


@pytest.fixture(params=["cuda", "hip"])
def fake(request, tmp_path):
    return FakeDriver(tmp_path, request.param)


def test_launches_are_counted_and_timed(fake):
    program = fake.program()
    program.take_times()
    for _ in range(3):
        program.launch(IDLE, [1], [32], [])
    program.wait()
    launches, seconds = program.time_of(IDLE)
    assert launches == 3
    assert seconds == pytest.approx(3e-3)  # the fake's clock counts events
    assert program.time_of(AXPY) == (0, 0)
    program.launch(IDLE, [1], [32], [])
    assert program.time_of(IDLE)[0] == 4
    with pytest.raises(DeviceError):
        program.launch(IDLE, [1], [2048], [])
    assert program.time_of(IDLE)[0] == 4
    program.close()


def test_many_launches_reuse_events(fake):
    program = fake.program()
    before = fake.get("events")
    program.take_times()
    for _ in range(3000):
        program.launch(IDLE, [1], [32], [])
    assert program.time_of(IDLE)[0] == 3000
    assert fake.get("events") - before <= 2048
    program.close()
    assert fake.get("events") == before


class Timed(Device):
    """Kernels of given times."""

    def __init__(self, **times):
        self.kernels = tuple(times)
        self.kernel_spans = {}
        self._times = tuple(times.values())

    def time_of(self, kernel):
        return self._times[kernel]


def test_the_table():
    assert kernel_times([Timed(f_i=(2, 0.5e-3), f_j=(0, 0.0)), Timed(g_tile=(10, 1.5e-3))]).splitlines() == [
        "kernel  line  launches     ms  us each  share",
        "g_tile              10  1.500    150.0   75 %",
        "f_i                  2  0.500    250.0   25 %",
    ]


def axpy(a, x, y):
    y[:] = a * x + y


def test_a_program_of_the_user(tmp_path):
    chips.nvrtc()
    fake = FakeDriver(tmp_path)
    options = {"gpu_backend": "cuda", "gpu_driver": str(fake.path), "gpu_profile": True}
    program = dcpy.program(axpy, device=dcpy.DeviceType.GPU, **options)
    for _ in range(2):
        program(2.0, np.ones(10), np.ones(10))
    _, row = program.kernel_times().splitlines()
    assert row.split()[1:4] == [f"test_profiling.py:{axpy.__code__.co_firstlineno + 1}", "2", "2.000"]


def test_where_no_times_are_taken():
    program = dcpy.program(axpy, device=dcpy.DeviceType.GPU, gpu_backend="simulator")
    program(2.0, np.ones(10), np.ones(10))
    with pytest.raises(DeviceError, match="gpu_profile=True"):
        program.kernel_times()
    program = dcpy.program(axpy, device=dcpy.DeviceType.GPU, gpu_backend="simulator", gpu_profile=True)
    program(2.0, np.ones(10), np.ones(10))
    with pytest.raises(DeviceError, match="no times of kernels are taken here"):
        program.kernel_times()
