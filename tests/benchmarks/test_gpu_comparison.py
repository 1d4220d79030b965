"""The comparison on GPUs, as far as it needs none: adapted sources, clocks, the table, the heat map, the words."""

from __future__ import annotations

import copy
import dataclasses
import sys
import types

import numpy as np
import pytest

import dcpy
from benchmarks.devices import FRAMEWORKS, worker
from benchmarks.devices.adapt import for_cupy, for_dcpy
from benchmarks.devices.adapt_torch import for_torch
from benchmarks.devices.calls import DcpyCall
from benchmarks.devices.clocks import EventClock, HostClock, Span, new_stream
from benchmarks.devices.device import device_that_is_there
from benchmarks.npbench import kernels
from benchmarks.peers import adapt
from benchmarks.peers.calls import PlainCall
from benchmarks.peers.subject import Subject, subject_of
from benchmarks.peers.worker import compiled, difference_from
from dcpy.runtime.gpu.measured_costs import MeasuredConstants, keep
from dcpy.runtime.storage.cache import Cache
from tests.runtime.gpu.fakes import FakeDriver
from tests.support.tiers import some

KERNELS = kernels()
SOURCE = "import numpy as np\n\n\ndef twice(x):\n    x[:] = 2 * x\n    return np.sum(x)\n"
SUBJECT = Subject(SOURCE, "twice", {"x": np.ones(3)}, {}, ())


def added(adapted):
    return [line for line in adapt.lines(adapted) if line not in adapt.lines(SOURCE)]


def test_what_each_framework_is_given():
    assert added(for_dcpy(SUBJECT)) == [
        "import dcpy",
        "@dcpy.program(auto_optimize=True, device=dcpy.DeviceType.GPU)",
    ]
    assert added(for_cupy(SUBJECT)) == ["import cupy as np"]
    assert added(for_torch(SUBJECT)) == [
        "import torch",
        "from benchmarks.devices.on_device import on_device",
        "@torch.compile",
        "@torch.compiler.wrap_numpy",
    ]


MAKING = """import numpy as np


def made(x):
    y = np.zeros((len(x), 2), dtype=x.dtype) + np.arange(2)  # two columns
    i, j = np.mgrid[0:2, 0:2]
    x[x > 1] = x[x > 1] ** 2
    return np.ndarray((2,), np.int64), y
"""


def test_arrays_that_pytorch_s_functions_make_are_on_the_device():
    adapted = for_torch(Subject(MAKING, "made", {"x": np.ones(3, np.float32)}, {}, ()))
    assert [line.strip() for line in adapted.splitlines() if "on_device(" in line] == [
        "y = on_device(np.zeros((len(x), 2), dtype=np.float32)) + on_device(np.arange(2))  # two columns",
        "i, j = on_device(np.mgrid[0:2, 0:2])",
        "return on_device(np.empty((2,), np.int64)), y",
    ]
    assert "    x[...] = np.where(x > 1, x ** 2, x)\n" in adapted
    mixed = {"x": np.ones(3), "z": np.ones(3, complex)}
    assert "dtype=x.dtype" in for_torch(Subject(MAKING, "made", mixed, {}, ()))


def same(function):
    return function


@pytest.fixture
def stand_ins(monkeypatch):
    """NumPy in place of CuPy, and a PyTorch that changes nothing."""
    torch = types.ModuleType("torch")
    torch.compile, torch.compiler = same, types.SimpleNamespace(wrap_numpy=same)
    torch.from_numpy = lambda array: types.SimpleNamespace(to=lambda place: types.SimpleNamespace(numpy=lambda: array))
    monkeypatch.setitem(sys.modules, "cupy", np)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delitem(sys.modules, "benchmarks.devices.on_device", raising=False)


@pytest.mark.parametrize("name", some(KERNELS, "softmax", "cavity_flow", "resnet", "spmv"))
@pytest.mark.parametrize("framework", ["cupy", "torch"])
def test_adapted_kernels_compute_the_same(name, framework, stand_ins):
    arguments = KERNELS[name].initialize("XS")
    subject, chosen = subject_of(KERNELS[name], "XS", arguments), FRAMEWORKS[framework]
    call = PlainCall(subject)
    function = compiled(chosen.variants[0](subject), name, chosen)
    mine, theirs = call.prepare(arguments), call.prepare(arguments)
    with np.errstate(all="ignore"):  # choices between whole arrays compute what they do not choose, too
        seen = call.seen(call.run(function, mine), mine)
    assert difference_from(seen, call.seen(KERNELS[name].function(**theirs), theirs), strict=True) == ""


class CountingClock:
    name = "events"

    def __init__(self):
        self.calls = 0

    def span(self, run):
        run()
        self.calls += 1
        return Span(float(self.calls), 2.0 * self.calls)


class CountingCall(PlainCall):
    """On NumPy's arrays, by a clock that counts."""

    def __init__(self, subject):
        super().__init__(subject)
        self.clock, self.sets = CountingClock(), []

    def prepare(self, arguments):
        self.sets.append(copy.deepcopy(arguments))
        return self.sets[-1]

    def span(self, function, arguments):
        return self.clock.span(lambda: self.run(function, arguments))


def test_fifty_calls_after_five_on_arrays_of_their_own():
    call, calls = CountingCall(SUBJECT), []
    times = worker.repeated(call, lambda x: calls.append(x), {"x": np.ones(1 << 20)}, 50, 60.0)
    assert [span.device for span in times] == [float(number) for number in range(6, 56)]
    assert len({id(x) for x in calls}) == len(calls)


def test_caches_are_passed_by():
    assert worker.sets_of({"x": np.ones(8)}) == worker.MOST_SETS
    assert worker.sets_of({"x": np.ones(10 << 20), "n": 3}) == 2
    assert worker.sets_of({"x": np.ones(1 << 20)}) * 8 * (1 << 20) >= worker.ROTATED


def test_the_host_s_clock_waits_before_and_behind():
    order = []
    span = HostClock(lambda: order.append("wait")).span(lambda: order.append("run"))
    assert order == ["wait", "run", "wait"]
    assert span.host == span.device >= 0


@pytest.mark.cc
def test_events_of_a_driver(tmp_path):
    fake = FakeDriver(tmp_path)  # one millisecond lies between two events
    clock = EventClock(new_stream(str(fake.path)), str(fake.path))
    span = clock.span(lambda: None)
    assert span.device == pytest.approx(1e-3)
    assert 0 < span.host != span.device


class SimulatedCall(DcpyCall):
    """dcpy's arrays on the simulated device, by a clock that counts."""

    def __init__(self, subject):
        super().__init__(subject)
        self.clock = CountingClock()


@pytest.mark.cc
def test_a_row_of_dcpy_with_arrays_on_the_device(monkeypatch):
    monkeypatch.setenv("DCPY_GPU_BACKEND", "simulator")
    framework = dataclasses.replace(FRAMEWORKS["dcpy"], call=SimulatedCall)
    row = worker.timed(KERNELS["jacobi_1d"], framework, "XS", 3, 60.0)
    assert row["status"] == "ok"
    assert (row["times"], row["median"], row["host_median"]) == ([6.0, 7.0, 8.0], 7.0, 14.0)
    assert (row["clock"], row["version"]) == ("events", dcpy.__version__)


def test_nobody_multiplies_in_fewer_bits_than_numpy():
    for framework in FRAMEWORKS.values():
        assert framework.environment["NVIDIA_TF32_OVERRIDE"] == "0"
    assert FRAMEWORKS["jax-gpu"].environment["JAX_DEFAULT_MATMUL_PRECISION"] == "highest"
    assert FRAMEWORKS["jax-gpu"].environment["JAX_ENABLE_X64"] == "1"


@pytest.mark.cc
def test_the_device_has_a_name_and_costs(tmp_path, monkeypatch):
    fake = FakeDriver(tmp_path)
    monkeypatch.setenv("DCPY_GPU_DRIVER", str(fake.path))
    monkeypatch.setenv("DCPY_CACHE_DIR", str(tmp_path))
    keep(Cache(tmp_path), "sm_90", MeasuredConstants(*[2.0] * 9))
    found = device_that_is_there()
    assert found.name == "No GPU at all, sm_90, 132 processors, driver 13.0"
    assert found.constants["block barrier"] == "2000000.000 µs"
