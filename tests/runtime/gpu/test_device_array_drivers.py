"""Arrays of the device on the drivers' table, with a driver that has no device: order, memory, no waits."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from dcpy import gpu
from dcpy.base.errors import ArgumentError, DeviceMemoryError
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.gpu.arrays import ArrayDevice, device_of
from dcpy.runtime.loading.load import load
from tests.runtime.gpu import chips
from tests.runtime.gpu.fakes import FakeDriver

pytestmark = pytest.mark.cc
SCALE = """
    sdfg @scale(a: f64, x: f64[N] @global, y: f64[N] @global) symbols(N: size) -> (r: array) {
      data r: f64[N] @global
      state { map b = 0:N:256 @grid { state { map i = b:min(b + 256, N) @block { state {
        tasklet (xi <- x[i], s <- a) -> (o -> y[i]) { o = s * xi }
        tasklet (yi <- y[i]) -> (o -> r[i]) { o = yi + 1.0 }
      } } } } }
    }"""
X = np.arange(600.0)


@pytest.fixture
def fake(tmp_path):
    chips.nvrtc()
    return FakeDriver(tmp_path)


@pytest.fixture
def device(fake) -> ArrayDevice:
    return device_of(fake.options)


@pytest.fixture
def scale(fake, device):
    artifact = generate_gpu(parse_sdfg(SCALE), None, None, fake.options)
    fake.runs(artifact)
    program = compiled_function(load(artifact, fake.options))
    program.accept_devices(lambda: device.home)
    return program


def test_a_call_queues_and_does_not_wait(fake, device, scale):
    x, y = device.upload(X), device.upload(np.zeros_like(X))
    scale(2.0, x, y)  # the program is loaded, and its queues are there
    before = {call: len(fake.log(call)) for call in ("wait", "launch", "to_host", "to_device")}
    found = scale(3.0, x, y)
    after = {call: len(fake.log(call)) for call in before}
    assert after == {**before, "launch": before["launch"] + 1}
    assert np.array_equal(found.numpy(), 3 * X + 1)
    assert np.array_equal(y.numpy(), 3 * X)


def test_memory_goes_back_in_the_order_of_its_stream(fake, device, scale):
    x, y = device.upload(X), device.upload(np.zeros_like(X))
    before = fake.get("live")
    found = scale(2.0, x, y)
    assert fake.get("live") > before
    last = scale(2.0, found, y)
    del found  # while the call that reads it is queued
    gc.collect()
    assert np.array_equal(last.numpy(), 2 * (2 * X + 1) + 1)
    del last
    device.wait_for(x.stream)
    assert fake.get("live") == before


def test_arrays_of_two_streams(fake, device, scale):
    context = fake.context().program(b"", ())
    other = context.own_stream
    x, y = device.upload(X), device.upload(np.zeros_like(X))
    scale(2.0, x, y)
    holds = len(fake.log("hold"))
    scale(2.0, x, y)
    assert len(fake.log("hold")) == holds  # all is on one stream
    with gpu.stream(other):
        found = scale(3.0, x, y)
    assert len(fake.log("hold")) > holds
    assert {found.stream, x.stream, y.stream} == {other}
    assert np.array_equal(found.numpy(), 3 * X + 1)


def test_memory_that_does_not_suffice(fake, device, scale):
    x, y = device.upload(X), device.upload(np.zeros_like(X))
    fake.set(total=fake.get("live") + 100)
    with pytest.raises(DeviceMemoryError, match=r"an array of 4800 bytes"):
        scale(2.0, x, y)


def test_arrays_of_another_backend(fake, device, scale):
    simulated = gpu.array(X, backend="simulator")
    with pytest.raises(ArgumentError, match="it is on the simulated GPU, but the program runs on cuda:0"):
        scale(2.0, simulated, device.upload(X))


def test_no_arrays_at_all(scale):
    with pytest.raises(ArgumentError, match="argument 'x'"):
        scale(2.0, X, X.copy())
