"""Graphs of launches: recorded, replayed with what they got then, on the simulator and on drivers."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import DeviceError
from dcpy.base.options import resolve_options
from dcpy.runtime.gpu.simulator.library import graphs_so_far
from tests.runtime.gpu.fakes import KERNELS, FakeDriver
from tests.runtime.gpu.kernels import AXPY, Call, compiled, device_of, number, place

pytestmark = pytest.mark.cc
N = 64
IDLE, OTHER = KERNELS.index("idle"), KERNELS.index("axpy")


@pytest.fixture(scope="module")
def library():
    return compiled(AXPY, "DCPY_ROW(axpy, 256, 0)")


def launch(device, a, x, y):
    device.launch(0, [1], [256], (number(a), x, y, number(N)))


@pytest.mark.parametrize("seed", [0, 3])
def test_a_graph_runs_with_what_it_was_recorded_with(library, seed):
    call = Call(device_of(library, seed=seed))
    x, y = call.put(np.ones(N)), call.put(np.zeros(N))
    assert call.device.has_graphs
    for a in (1.0, 10.0):
        call.device.graph_begin(7)
        for _ in range(3):
            launch(call.device, a, x, y)
        call.device.graph_end(7)
        call.device.graph_replay(7)
        call.device.graph_replay(7)
    assert np.array_equal(call.get(y, np.zeros(N)), np.full(N, 66.0))
    call.device.close()


def test_only_launches_are_recorded(library):
    call = Call(device_of(library))
    x, y = call.put(np.ones(N)), call.put(np.zeros(N))
    with pytest.raises(DeviceError, match="graph 2 has not been recorded"):
        call.device.graph_replay(2)
    with pytest.raises(DeviceError, match="graph 1 has not been begun"):
        call.device.graph_end(1)
    call.device.graph_begin(1)
    launch(call.device, 1.0, x, y)
    with pytest.raises(DeviceError, match="only launches can be recorded: graph 1 is not ended"):
        call.device.fill(y.value, 0, 8)
    call.device.wait()  # gives it up
    assert not call.get(y, np.ones(N)).any()
    call.device.close()


def test_arguments_are_looked_at_when_a_graph_runs(library):
    call = Call(device_of(library))
    x, y = call.put(np.ones(N)), call.put(np.zeros(N))
    call.device.graph_begin(0)
    launch(call.device, 1.0, x, y)
    call.device.graph_end(0)
    call.device.release(x.value)
    with pytest.raises(DeviceError, match="argument 1: use after release"):
        call.device.graph_replay(0)
    call.device.close()


# --- drivers ---


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_drivers_change_a_graph_whose_kernels_stay(backend, tmp_path):
    fake = FakeDriver(tmp_path, backend)
    program = fake.program()
    x, y = program.upload(np.ones(N)), program.upload(np.zeros(N))
    for a, kernels in ((1.0, [OTHER]), (2.0, [OTHER]), (4.0, [OTHER, IDLE])):
        program.graph_begin(0)
        for kernel in kernels:
            program.launch(kernel, [1], [64], [number(a), place(x), place(y), number(N)])
        program.graph_end(0)
        program.graph_replay(0)
        program.graph_replay(0)
    assert np.array_equal(program.download(y, np.zeros(N)), np.full(N, 14.0))
    calls = [line for line in fake.log() if line.split()[0] in ("instantiate", "change", "graph")]
    assert calls == [
        "instantiate 1", "graph", "graph", "change", "graph", "graph", "change", "instantiate 2", "graph", "graph"
    ]  # fmt: skip
    assert fake.get("graphs") == 1
    program.close()
    assert (fake.get("graphs"), fake.get("streams")) == (0, 0)


def test_a_wait_gives_a_recording_up(tmp_path):
    fake = FakeDriver(tmp_path)
    program = fake.program()
    program.graph_begin(0)
    program.launch(IDLE, [1], [64], [])
    with pytest.raises(DeviceError, match="graph 1 begins inside of another one"):
        program.graph_begin(1)
    program.wait()
    with pytest.raises(DeviceError, match="graph 0 has not been recorded"):
        program.graph_replay(0)
    assert fake.get("graphs") == 0
    program.close()


# --- programs ---


def sweeps(A: dcpy.float64[4200], B: dcpy.float64[4200], steps: dcpy.int64):
    for _ in range(steps):
        B[1:-1] = (A[:-2] + A[1:-1] + A[2:]) / 3.0
        A[1:-1] = B[1:-1]


def ramps(A: dcpy.float64[4200], steps: dcpy.int64):
    for t in range(steps):
        A[1:-1] = (A[:-2] + A[-1:1:-1]) / 2.0 + t  # one from the other end: no tile has both


@pytest.mark.parametrize(
    ("function", "rest", "counts"),
    [(sweeps, (np.zeros(4200),), (1, 0, 4)), (ramps, (), (1, 3, 4))],
)
def test_a_loop_of_launches_is_recorded(function, rest, counts):
    program = dcpy.program(function, device=dcpy.DeviceType.GPU, gpu_backend="simulator")
    start = np.random.default_rng(1).random(4200)
    ours, theirs = start.copy(), start.copy()
    before = graphs_so_far(resolve_options())
    program(ours, *(array.copy() for array in rest), 130)
    found = tuple(now - then for now, then in zip(graphs_so_far(resolve_options()), before, strict=True))
    function(theirs, *(array.copy() for array in rest), 130)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert found == counts


def test_a_short_loop_and_a_program_without_graphs_launch_one_by_one():
    for steps, options in ((20, {}), (130, {"gpu_graphs": False})):
        program = dcpy.program(ramps, device=dcpy.DeviceType.GPU, gpu_backend="simulator", **options)
        before = graphs_so_far(resolve_options())
        program(np.ones(4200), steps)
        assert graphs_so_far(resolve_options()) == before
