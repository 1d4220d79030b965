"""The comparison on GPUs, as far as it needs none: adapted sources, clocks, the table, the heat map, the words."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import signal
import subprocess
import sys
import types

import numpy as np
import pytest

import dcpy
from benchmarks import gpu
from benchmarks.devices import FRAMEWORKS, report, worker
from benchmarks.devices.adapt import for_cupy, for_dcpy, for_torch
from benchmarks.devices.calls import DcpyCall
from benchmarks.devices.clocks import EventClock, HostClock, Span, new_stream
from benchmarks.devices.device import MEASURED, Device, device_that_is_there, take_constants
from benchmarks.devices.turns import TURNS
from benchmarks.npbench import kernels
from benchmarks.peers import adapt, heatmap
from benchmarks.peers.calls import PlainCall
from benchmarks.peers.subject import Subject, subject_of
from benchmarks.peers.worker import compiled, difference_from
from dcpy.runtime.cache import Cache
from dcpy.runtime.devices import drivers
from dcpy.runtime.devices.constants import Constants, keep, kept
from tests.runtime.devices.fakes import FakeDriver
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
        "@torch.compile",
        "@torch.compiler.wrap_numpy",
    ]


def same(function):
    return function


@pytest.fixture
def stand_ins(monkeypatch):
    """NumPy in place of CuPy, and a PyTorch that changes nothing."""
    torch = types.ModuleType("torch")
    torch.compile, torch.compiler = same, types.SimpleNamespace(wrap_numpy=same)
    torch.set_default_device = same
    monkeypatch.setitem(sys.modules, "cupy", np)
    monkeypatch.setitem(sys.modules, "torch", torch)


@pytest.mark.parametrize("name", some(KERNELS, "softmax", "cavity_flow", "resnet", "spmv"))
@pytest.mark.parametrize("framework", ["cupy", "torch"])
def test_adapted_kernels_compute_the_same(name, framework, stand_ins):
    arguments = KERNELS[name].initialize("XS")
    subject, chosen = subject_of(KERNELS[name], "XS", arguments), FRAMEWORKS[framework]
    call = PlainCall(subject)
    function = compiled(chosen.variants[0](subject), name, chosen)
    mine, theirs = call.prepare(arguments), call.prepare(arguments)
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

    def make_clock(self):
        self.device, self.stream = dcpy.gpu, 1
        return CountingClock()


@pytest.mark.cc
def test_a_row_of_dcpy_with_arrays_on_the_device(monkeypatch):
    monkeypatch.setenv("DCPY_GPU_BACKEND", "simulator")
    framework = dataclasses.replace(FRAMEWORKS["dcpy"], call=SimulatedCall)
    row = worker.measure(KERNELS["jacobi_1d"], framework, ("XS", "XS"), 3, (60.0, 60.0))
    assert row["status"] == "ok"
    assert (row["times"], row["median"], row["host_median"]) == ([6.0, 7.0, 8.0], 7.0, 14.0)
    assert (row["clock"], row["version"]) == ("events", dcpy.__version__)


def test_nobody_multiplies_in_fewer_bits_than_numpy():
    for framework in FRAMEWORKS.values():
        assert framework.environment["NVIDIA_TF32_OVERRIDE"] == "0"
    assert FRAMEWORKS["jax-gpu"].environment["JAX_DEFAULT_MATMUL_PRECISION"] == "highest"
    assert FRAMEWORKS["jax-gpu"].environment["JAX_ENABLE_X64"] == "1"


def test_what_was_measured_on_the_device_is_handed_down(tmp_path, monkeypatch):
    measured, own = Cache(tmp_path / "measured"), Cache(tmp_path / "own")
    figures = Constants(*map(float, range(1, 10)))
    keep(measured, "sm_90", figures)
    monkeypatch.setenv(MEASURED, str(measured.root))
    take_constants(own.folder)
    assert kept(own, "sm_90") == figures
    assert FRAMEWORKS["dcpy"].setup is take_constants


@pytest.mark.cc
def test_the_device_has_a_name_and_costs(tmp_path, monkeypatch):
    fake = FakeDriver(tmp_path)
    monkeypatch.setenv("DCPY_GPU_DRIVER", str(fake.path))
    monkeypatch.setenv("DCPY_CACHE_DIR", str(tmp_path))
    keep(Cache(tmp_path), "sm_90", Constants(*[2.0] * 9))
    found = device_that_is_there()
    assert found.name == "No GPU at all, sm_90, 132 processors, driver 13.0"
    assert found.constants["block barrier"] == "2000000.000 µs"


def row(kernel, framework, median=None, status="ok", **more):
    times = {} if median is None else {"median": median, "times": [median] * 5, "first_call": 1.0}
    return {"kernel": kernel, "framework": framework, "preset": "S", "status": status} | times | more


DEVICE = Device("No GPU, sm_90", {"launch": "3.0 µs"})
STORED = [
    row("gemm", "dcpy", 1e-3),
    row("gemm", "cupy", 2e-3),
    row("gemm", "torch", status="refused: TypeError: no"),
    row("lu", "dcpy", 1e-2),
    row("lu", "cupy", status="timeout: more than 300 s"),
]


def test_the_table_from_stored_figures(tmp_path, capsys):
    stored = tmp_path / "figures.json"
    stored.write_text(json.dumps({"device": dataclasses.asdict(DEVICE), "rows": STORED}))
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    assert gpu.main(["--again", "--json", str(stored), "--report", str(page)]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:4] == [
        "No GPU, sm_90",
        "kernel framework first s median ms beside cupy status",
        "gemm dcpy 1.00 1.0000 2.00 ok",
        "gemm cupy 1.00 2.0000 1.00 ok",
    ]
    assert "dcpy: 2 of 2 kernels run, the fastest in 2" in lines
    assert "dcpy: 2.00 times cupy (geometric mean of 1 kernel; gemm: 2.00)" in lines
    assert "torch: 0 of 1 kernels run, the fastest in 0" in lines
    assert (tmp_path / "figures.svg").exists()
    told = page.read_text()
    assert "old" not in told
    for line in ("| launch | 3.0 µs |", "| gemm | 1 | 2 | refused |", "| lu | 10 | timeout |  |"):
        assert line in told.splitlines()


def test_by_the_host_s_clock_where_nobody_knows_the_stream():
    mine = row("gemm", "dcpy", 1e-3, clock="events", host_median=2e-3)
    theirs = row("gemm", "jax-gpu", 3e-3, clock="host", host_median=3e-3)
    assert report.ratio(mine, row("gemm", "cupy", 4e-3, clock="events", host_median=9e-3)) == pytest.approx(4)
    assert report.ratio(mine, theirs) == pytest.approx(1.5)
    assert report.comparison([mine, theirs], "jax-gpu", "dcpy").startswith("jax-gpu: 0.67 times dcpy")


def test_the_heat_map_is_beside_cupy():
    found = {(cell.x, cell.y): cell.text for cell in heatmap.cells(gpu.beside(STORED), "cupy")}
    texts = list(found.values())
    assert texts[:4] == ["dcpy", "torch", "cupy", "geometric mean"]
    assert "↑2" in texts
    assert "10 ms" in texts  # nothing to compare it with
    assert "refused" in texts


def test_words():
    chosen = gpu.options(["--only", "gemm,lu", "--frameworks", "dcpy,cupy", "--preset", "L"])
    assert (chosen.only, chosen.frameworks, chosen.preset, chosen.repeat) == (["gemm", "lu"], ["dcpy", "cupy"], "L", 50)
    with pytest.raises(SystemExit):
        gpu.options(["--only", "gem"])


def test_without_a_gpu_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(drivers, "LIBRARIES", {"cuda": ("libnothing.so",), "hip": ("libnothing.so",)})
    assert gpu.main(["--only", "gemm"]) == 2
    said = capsys.readouterr()
    assert said.err == gpu.NO_GPU + "\n"
    assert said.out == ""


def test_rows_of_others_stay(tmp_path):
    device = Device("a GPU")
    place = tmp_path / "found.json"
    place.write_text(json.dumps({"device": dataclasses.asdict(device), "rows": STORED}))
    chosen = gpu.options(["--add", "--frameworks", "cupy", "--json", str(place), "--preset", STORED[0]["preset"]])
    kept = gpu.stored_rows(chosen, device)
    assert kept == [row for row in STORED if row["framework"] != "cupy"]
    assert gpu.stored_rows(chosen, Device("another")) == []
    assert gpu.stored_rows(gpu.options(["--json", str(place)]), device) == []


IN_TURN = """
import sys, time
from benchmarks.devices.turns import measuring
with measuring():
    print("in", flush=True)
    time.sleep(0.2)
    print("out", flush=True)
"""


def test_one_process_at_a_time_is_measured(tmp_path):
    with open(tmp_path / "said", "w") as said:
        words = [sys.executable, "-c", IN_TURN]
        environment = {**os.environ, TURNS: str(tmp_path / "turns")}
        running = [subprocess.Popen(words, stdout=said, env=environment, cwd=gpu.ROOT) for _ in range(3)]
        assert [process.wait() for process in running] == [0, 0, 0]
    assert (tmp_path / "said").read_text().split() == ["in", "out"] * 3


def test_preparing_ends_in_time():
    text = "import time\nfrom benchmarks.devices.turns import within\nwith within(0.1):\n    time.sleep(60)\n"
    done = subprocess.run([sys.executable, "-c", text], cwd=gpu.ROOT, check=False)
    assert done.returncode == -signal.SIGALRM
