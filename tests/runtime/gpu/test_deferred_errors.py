"""``gpu.errors = deferred``: a call with a check returns before it has run; what has failed is told later, once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dcpy
from dcpy.base.option_groups.gpu import Failures
from dcpy.base.options import resolve_options
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.gpu.arrays import device_of
from dcpy.runtime.loading.load import load
from tests.runtime.gpu import chips
from tests.runtime.gpu.fakes import FakeDriver

GPU = {"device": dcpy.DeviceType.GPU, "gpu_backend": "simulator", "auto_optimize": True, "gpu_errors": "deferred"}
CHECKED = """
    sdfg @checked(x: f64[N] @global, k: i64[M] @global) symbols(N: size, M: size) {
      state { map b = 0:M:64 @grid { state { map i = b:min(b + 64, M) @block {
        let p = k[i]
        check p < N else IndexError "too large"
        state { tasklet () -> (o -> x[i]) { o = 1.0 } } } } } }
    }"""


def take(x, k):
    return x[k]


def ours(values):
    return dcpy.gpu.array(np.asarray(values), backend="simulator")


@pytest.mark.cc
def test_a_call_does_not_wait_and_the_next_one_tells():
    program = dcpy.program(take, **GPU)
    x, good, bad = ours(np.arange(4.0)), ours([1, 2]), ours([1, 9])
    program(x, good)
    program(x, bad)  # returns
    program(x, good)  # not known yet: the simulator runs nothing before somebody waits
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4") as caught:
        dcpy.gpu.synchronize()
    assert any("an earlier call" in note for note in caught.value.__notes__)
    dcpy.gpu.synchronize()  # told once
    assert np.array_equal(program(x, good).numpy(), [1, 2])
    failed = program(x, bad)
    failed.numpy()  # waits, but an array is not the one who tells
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        program(x, good)
    assert np.array_equal(program(x, good).numpy(), [1, 2])


@pytest.mark.cc
def test_nothing_visible_happens_behind_it():
    @dcpy.program(**GPU)
    def twice(x, k, y):
        x[:] = x + 1
        for t in range(3):
            y[:] = x[k + t]
            x[:] = x * 2

    x, y, good, bad = (ours(one) for one in (np.zeros(4), np.zeros(2), [0, 1], [0, 2]))
    twice(x, bad, y)
    twice(x, good, y)  # does nothing: the call before has failed
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        dcpy.gpu.synchronize()
    assert np.array_equal(x.numpy(), np.full(4, 4.0))
    assert np.array_equal(y.numpy(), np.full(2, 2.0))


@pytest.mark.cc
def test_where_the_host_has_a_part_the_call_tells():
    program = dcpy.program(take, **GPU)
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        program(np.arange(4.0), np.array([9]))
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        program(ours(np.arange(4.0)), np.array([9]))


@pytest.mark.cc
def test_drivers_are_not_waited_for(tmp_path):
    chips.nvrtc()
    fake = FakeDriver(tmp_path)
    options = replace(fake.options, gpu=replace(fake.options.gpu, errors=Failures.DEFERRED))
    device = device_of(options)
    artifact = generate_gpu(parse_sdfg(CHECKED), None, None, options)
    fake.runs(artifact)
    program = compiled_function(load(artifact, options))
    program.accept_devices(lambda: device.home)
    x, good, bad = device.upload(np.zeros(4)), device.upload(np.array([1, 2])), device.upload(np.array([1, 2, 9]))
    program(x, good)  # the program is loaded, and its mailbox is there
    waits = len(fake.log("wait"))
    program(x, bad)
    program(x, bad)
    assert len(fake.log("wait")) == waits
    with pytest.raises(IndexError, match="too large"):
        dcpy.gpu.synchronize()
    program(x, good)
    dcpy.gpu.synchronize()


def test_the_text_of_the_host():
    def text(errors):
        options = resolve_options({"device": "gpu", "gpu.backend": "simulator", "gpu.errors": errors}, environ={})
        return generate_gpu(parse_sdfg(CHECKED), None, None, options).units[0].text

    exact, deferred = text("exact"), text("deferred")
    words = ("dcpy_device_seal();", "dcpy_device_defer(", "dcpy_device_recall(error, ", "checked_told(int64_t")
    assert [word in exact for word in words] == [False] * 4
    assert "dcpy_device_finish(error" in exact
    assert [word for word in words if word not in deferred] == []
    assert deferred.count("dcpy_device_finish(error") == 1  # where something has failed
