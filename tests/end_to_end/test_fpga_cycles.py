"""The model of hardware says how many cycles the simulation takes; values are NumPy's: NPBench in float32."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from benchmarks.fpga import measured
from benchmarks.npbench import kernels
from dcpy.base.errors import InvalidSdfg, UnknownName

pytestmark = pytest.mark.cc
N, M = dcpy.symbol("N"), dcpy.symbol("M")


@pytest.mark.parametrize("name", ["atax", "jacobi_1d", "gesummv", "lu", "trisolv"])
def test_the_model_is_the_simulation(name):
    found = measured(kernels()[name])
    assert found.is_right
    assert found.cycles == found.model


COMPLEX = ("contour_integral", "mandelbrot1", "mandelbrot2", "scattering_self_energies", "stockham_fft")
LONG = ("channel_flow", "lenet")  # minutes


@pytest.mark.heavy
@pytest.mark.parametrize("name", [name for name in kernels() if name not in (*COMPLEX, *LONG)])
def test_the_model_is_the_simulation_for_every_kernel(name):
    found = measured(kernels()[name])
    assert found.is_right
    assert found.model in (found.cycles, None), "None: loops of the host depend on data"


@pytest.mark.heavy
@pytest.mark.parametrize("name", COMPLEX)
def test_kernels_of_complex_numbers_are_refused(name):
    with pytest.raises(InvalidSdfg, match=r"is c128, and hardware has no complex numbers \[fpga.dtypes\]"):
        measured(kernels()[name])


def heat_3d(T: dcpy.int64, A: dcpy.float32[6, 7, 9], B: dcpy.float32[6, 7, 9]):
    for _ in range(T):
        for X, Y in ((A, B), (B, A)):
            Y[1:-1, 1:-1, 1:-1] = (
                X[2:, 1:-1, 1:-1] + X[:-2, 1:-1, 1:-1] + X[1:-1, 2:, 1:-1] + X[1:-1, :-2, 1:-1] + X[1:-1, 1:-1, 2:]
            )


@pytest.mark.parametrize("steps", [1, 2])
def test_chains_in_three_dimensions(steps):
    """Processes wait for room there, and what pipelines have finished leaves while they wait for tokens."""
    A, B = np.random.default_rng(1).random((2, 6, 7, 9), np.float32)
    told = dcpy.program(heat_3d, device=dcpy.DeviceType.FPGA, **{"fpga.steps": steps}).explain(5, A, B)
    in_all = next(line for line in told.splitlines() if line.startswith("  in all: "))
    words = in_all.replace(":", " ").replace(",", " ").split()
    by_model, simulated = (words[words.index(unit) - 1] for unit in ("cycles", "simulated"))
    assert by_model == simulated, in_all


@dcpy.program(device=dcpy.DeviceType.FPGA)
def axpy(a: dcpy.float32, x: dcpy.float32[N], y: dcpy.float32[N]):
    y[:] = a * x + y


def test_explain_with_arguments_has_both():
    x = np.ones(100, np.float32)
    told = axpy.explain(np.float32(2), x, x.copy())
    assert (x == 1).all(), "it runs on copies"
    assert "axpy_kernel: 135 cycles by the model, 135 simulated" in told
    assert "queue x_read: depth 2, needs 2, 2 used" in told
    assert "about 5 of 12288 DSPs (0.0%), 0 of 2688 blocks of memory (0.0%), " in told
    assert "LUTs (0.0%) (AMD DS962, UG1393; operators: AMD PG060 and reports of Vitis HLS)" in told
    assert "sizes that are not given" in axpy.explain()


def test_what_runs_elsewhere_is_not_run_to_be_explained():
    program = dcpy.program(axpy.function, device=dcpy.DeviceType.FPGA, **{"fpga.mode": "emulate"})
    x = np.ones(100, np.float32)
    told = program.explain(np.float32(2), x, x.copy())
    assert "axpy_kernel: 135 cycles by the model\n" in told


def test_an_unknown_board():
    with pytest.raises(UnknownName, match="no board is called 'u9'"):
        dcpy.program(axpy.function, device=dcpy.DeviceType.FPGA, **{"fpga.platform": "u9"}).explain()


@pytest.mark.parametrize("name", ["bicg", "gesummv", "mvt"])
def test_products_side_by_side_are_one_network(name):
    found = measured(kernels()[name])
    assert found.is_right
    assert found.cycles == found.model
    assert (found.kernels, found.intervals) == (1, (1,))


def test_products_one_behind_the_other_are_one_network_where_sizes_are_numbers():
    @dcpy.program(device=dcpy.DeviceType.FPGA)
    def atax(A: dcpy.float32[40, 36], x: dcpy.float32[36]):
        return (A @ x) @ A

    random = np.random.default_rng(3)
    A, x = random.random((40, 36), np.float32), random.random(36, np.float32)
    np.testing.assert_allclose(atax(A, x), (A @ x) @ A, rtol=1e-5)
    (kernel,) = atax.compile().simulated(A, x).values()
    assert kernel.cycles < 3 * 40 * 36
    assert max(queue.used for queue in kernel.queues) <= 32, "a tile of sums"
    assert f"{kernel.cycles} cycles by the model, {kernel.cycles} simulated" in atax.explain(A, x)


def jacobi_2d(A: dcpy.float32[9, 12], B: dcpy.float32[9, 12]):
    for _ in range(2):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def test_stencils_read_each_element_once():
    random = np.random.default_rng(5)
    A, B = random.random((2, 9, 12), np.float32)
    mine, numpys = (A.copy(), B.copy()), (A.copy(), B.copy())
    program = dcpy.program(jacobi_2d, device=dcpy.DeviceType.FPGA)
    program(*mine)
    jacobi_2d(*numpys)
    assert all(map(np.array_equal, mine, numpys))
    told = program.explain(A, B)
    kernels_told = [line for line in told.splitlines() if "cycles by the model" in line]
    assert kernels_told
    for line in kernels_told:
        by_model, simulated = (int(word) for word in line.replace(",", "").split() if word.isdigit() and int(word) > 9)
        assert by_model == simulated
    reads = [line.split() for line in told.splitlines() if "_read_A" in line and "queue" not in line]
    assert [row[-2] for row in reads] == [str(4 * 9 * 12)]
    assert max(row[1] for row in reads) == "1"
