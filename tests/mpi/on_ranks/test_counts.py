"""Messages and bytes of kernels, counted by MPI's profiling interface: as many as formulas of N and P say."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from benchmarks.cluster_kernels import doitgen, gemm
from benchmarks.npbench.fdtd_2d import fdtd_2d
from benchmarks.npbench.hdiff import hdiff
from benchmarks.npbench.heat_3d import heat_3d
from benchmarks.npbench.jacobi_1d import jacobi_1d
from benchmarks.npbench.jacobi_2d import jacobi_2d
from tests.support.message_counter import counted
from tests.support.messages_of_stencils import along, one_update
from tests.support.ranks_of_mpi import sent

pytestmark = pytest.mark.mpi(4)
STENCILS = {"jacobi_1d": (jacobi_1d, 1), "jacobi_2d": (jacobi_2d, 2), "heat_3d": (heat_3d, 2), "fdtd_2d": (fdtd_2d, 2)}


def program_of(function, steps=-1, overlap=False):
    return dcpy.program(function, distributed=True, auto_optimize=True, halo_steps=steps, halo_overlap=overlap)


@pytest.mark.parametrize("name", STENCILS)
def test_stencils_send_faces(name):
    """Twice the steps are twice the messages, and no more collectives. dcpy's own numbers are MPI's."""
    function, dims = STENCILS[name]
    grid, n, m = dcpy.grid(dims=dims), 9, 7 if name == "fdtd_2d" else 9
    shape = {"jacobi_1d": (n,), "heat_3d": (n, n, n)}.get(name, (n, m))
    count = 3 if name == "fdtd_2d" else 2
    wholes = list(np.random.default_rng(0).random((count, *shape)))
    blocks = ("block",) * dims + (None,) * (len(shape) - dims)
    arrays, program, collectives = [dcpy.distribute(each, grid, blocks) for each in wholes], program_of(function), []
    for steps in (1, 2, 4):
        more = 0 if name == "fdtd_2d" else 1  # the others begin at 1
        rest = [np.arange(4.0)] if name == "fdtd_2d" else []
        with counted() as seen, sent(program) as told:
            program(steps + more, *arrays, *rest)
        function(steps + more, *wholes, *rest)
        for mine, whole in zip(arrays, wholes, strict=True):
            np.testing.assert_allclose(mine.allgather(), whole, rtol=1e-12)
        if steps > 1:  # the first call is compiled
            messages, elements = one_update(name, n, m, (*grid.sizes, 1)[:2])
            assert (seen.messages, seen.bytes) == (steps * messages, steps * 8 * elements)
            assert (told.messages, told.bytes, told.collectives) == (seen.messages, seen.bytes, 0)
            collectives.append(seen.collectives)
    assert collectives[0] == collectives[1]


@pytest.mark.parametrize("steps", [1, 2])
def test_deep_halos_are_sent_once_for_several_iterations(steps):
    """Of 8 iterations: what is beyond the own elements comes 8 or 4 times, and that of B once. Results are the same."""
    grid, n = dcpy.grid(dims=1), 40
    whole = np.random.default_rng(0).random(n)
    found = {}
    for depth in (-1, steps):
        A, B = dcpy.distribute(whole, grid), dcpy.distribute(whole, grid)
        program = program_of(jacobi_1d, depth)
        program(1, A, B)  # no iteration: it is compiled
        with counted() as seen, sent(program) as told:
            program(9, A, B)
        assert (told.messages, told.bytes) == (seen.messages, seen.bytes)
        found[depth] = A.allgather()
    sides = 2 * (grid.ranks - 1)
    assert (seen.messages, seen.bytes) == (sides * (1 + 8 // steps), sides * 8 * (2 * steps - 1 + 8 * 2))
    np.testing.assert_array_equal(found[-1], found[steps])


@pytest.mark.parametrize("steps", [-1, 2])
def test_overlapped_halos_are_the_same_messages(steps):
    """What needs no halo is computed between their start and their end; the same is sent, and the same computed."""
    grid, found = dcpy.grid(dims=2), {}
    whole = np.random.default_rng(0).random((13, 11))
    for overlap in (False, True):
        A, B = dcpy.distribute(whole, grid), dcpy.distribute(whole, grid)
        program = program_of(jacobi_2d, steps, overlap)
        program(1, A, B)  # no iteration: it is compiled
        with counted() as seen, sent(program) as told:
            program(8, A, B)
        assert (told.messages, told.bytes) == (seen.messages, seen.bytes)
        found[overlap] = (seen.messages, seen.bytes, *A.allgather().flat)
    assert found[True] == found[False]


def test_halos_of_two_with_corners():
    """hdiff: as blocks of N + 4 and of N elements are not known to be aligned, each sends twice to each."""
    grid, program = dcpy.grid(dims=2), program_of(hdiff)
    wholes = [np.random.default_rng(0).random(shape) for shape in ((12, 10, 2), (8, 6, 2), (8, 6, 2))]
    arrays = [dcpy.distribute(each, grid, ("block", "block", None)) for each in wholes]
    found = []
    for _ in range(3):
        with counted() as seen, sent(program) as told:
            program(*arrays)
        found.append((seen.messages, seen.bytes, told.collectives))
        assert found[-1] == (told.messages, told.bytes, 0)
    hdiff(*wholes)
    np.testing.assert_allclose(arrays[1].allgather(), wholes[1], rtol=1e-12)
    assert found[0] == found[1] == found[2]
    assert found[0][0] == 2 * grid.ranks * (grid.ranks - 1)


def test_products_of_rows():
    """doitgen sends nothing; gemm sends each block of B to all others."""
    draw, grid = np.random.default_rng(0), dcpy.grid(dims=1)
    a, c4 = draw.random((9, 3, 4)), draw.random((4, 4))
    A, program = dcpy.distribute(a, grid, ("block", None, None)), program_of(doitgen)
    program(A, c4)
    with counted() as seen:
        program(A, c4)
    assert seen.messages == 0
    c, a, b = draw.random((16, 7)), draw.random((16, 8)), draw.random((8, 7))
    C, A, B = (dcpy.distribute(each, grid, ("block", None)) for each in (c, a, b))
    program, ranks = program_of(gemm), grid.ranks
    program(1.5, 1.25, C, A, B)
    with counted() as seen, sent(program) as told:
        program(1.5, 1.25, C, A, B)
    assert (seen.messages, seen.bytes) == (ranks * (ranks - 1), (ranks - 1) * b.nbytes)
    assert (told.messages, told.bytes, told.collectives) == (seen.messages, seen.bytes, 0)


def two_fields(steps, A, B, C):
    for _ in range(steps):
        C[1:-1] = 0.25 * (A[:-2] + A[2:] + B[:-2] * B[2:])
        A[1:-1] += C[1:-1]
        B[1:-1] -= 0.5 * C[1:-1]


def test_what_goes_to_one_rank_is_one_message():
    """Halos of two arrays, of other types: half as many messages as faces."""
    grid, program, steps = dcpy.grid(dims=1), program_of(two_fields), 3
    draw = np.random.default_rng(0)
    wholes = [draw.random(11), draw.random(11).astype(np.float32), draw.random(11)]
    arrays = [dcpy.distribute(each, grid) for each in wholes]
    for _ in range(2):
        with counted() as seen, sent(program) as told:
            program(steps, *arrays)
        two_fields(steps, *wholes)
    for mine, whole in zip(arrays, wholes, strict=True):
        np.testing.assert_allclose(mine.allgather(), whole, rtol=1e-6)
    _, above, below = along(11, grid.ranks)
    assert (seen.messages, seen.bytes) == (steps * (above + below), steps * (8 + 4) * (above + below))
    assert (told.messages, told.bytes, told.collectives) == (seen.messages, seen.bytes, 0)
