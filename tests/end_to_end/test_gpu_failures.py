"""Programs that end early on a device leave in their arguments what they leave on CPUs: what came before has happened,
and nothing behind it."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from tests.support import devices

pytestmark = pytest.mark.cc


def overwritten_behind(A, B, idx):
    A[:] = A + 1
    B[:] = A[idx]
    A[:] = A * 2


def in_a_condition(A, B, idx):
    A[:] = A + 1
    if np.sum(A[idx]) > 3:
        B[:] = A
    A[:] = A * 2


def two_checks(A, B, idx):
    A[:] = A + 1
    s = B[idx - 6]
    B[:] = s - 1
    A[:] = s + B[idx]


def fetched_between(A, B, idx):
    A[:] = A + 1
    t = A[np.abs(idx) % 5]
    B[:] = t - 1
    if B[0] > 3:
        A[:] = A[idx] + 1


def in_a_loop(A, B, idx):
    for i in range(4):
        A[:] = A + B
        B[:] = A[idx - 5 + i]
        A[:] = A + 1


def raised(A, B, idx):
    A[:] = A + 1
    B[:] = B - 1
    if A[0] > 5:
        raise ValueError("no")
    A[:] = A * 2


def singular(A, B, idx):
    C = A + 1
    A[:] = C
    B[:] = np.linalg.solve(np.outer(C, C) * 0, B)
    A[:] = 0


PROGRAMS = (overwritten_behind, in_a_condition, two_checks, fetched_between, in_a_loop, raised, singular)


def outcome(program):
    arguments = np.arange(5.0) + 5, np.arange(5.0), np.array([0, 1, 7, 2, 3])
    with pytest.raises((IndexError, ValueError, np.linalg.LinAlgError)) as caught:
        program(*arguments)
    return caught.value, arguments


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("function", PROGRAMS)
def test_arguments_are_as_python_leaves_them(function, optimized):
    expected, theirs = outcome(function)
    program = dcpy.program(
        function, device=dcpy.DeviceType.GPU, gpu_backend=devices.BACKEND, auto_optimize=optimized, gpu_seed=3
    )
    for _ in range(2):  # the next call finds nothing of the failure
        found, ours = outcome(program)
        assert (type(found), str(found).splitlines()[0]) == (type(expected), str(expected).splitlines()[0])
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine, other)


def test_the_line_of_python_is_named():
    with pytest.raises(IndexError) as caught:
        dcpy.program(overwritten_behind, device=dcpy.DeviceType.GPU, gpu_backend=devices.BACKEND)(
            np.zeros(5), np.zeros(5), np.array([0, 1, 7, 2, 3])
        )
    first = overwritten_behind.__code__.co_firstlineno
    assert f"test_gpu_failures.py:{first + 2}" in str(caught.value) or any(
        f"test_gpu_failures.py:{first + 2}" in note for note in getattr(caught.value, "__notes__", ())
    )


def several_of_one_row(A, B, idx):
    B[:] = A[idx]


def several_of_a_loop(A, B, idx):
    for i in range(len(idx)):
        for j in range(len(B)):
            B[j] = A[idx[i] + j]


def two_in_one_iteration(A, B, idx):
    for i in dcpy.map[0 : len(idx)]:
        B[i] = A[idx[i] + 3] + B[idx[i]]


SEVERAL = (several_of_one_row, several_of_a_loop, two_in_one_iteration)


@pytest.mark.parametrize("function", SEVERAL)
def test_of_several_checks_that_fail_the_first_is_told(function):
    def failed(program):
        idx = np.zeros(600, int)
        idx[[5, 77, 290, 291, 555]] = 1209, 603, 1200, 598, -1300
        with pytest.raises(IndexError) as caught:
            program(np.arange(600.0), np.zeros(600), idx)
        return str(caught.value).splitlines()[0]

    gpu = {"device": dcpy.DeviceType.GPU, "gpu_backend": devices.BACKEND, "auto_optimize": True}
    told = {failed(dcpy.program(function, gpu_seed=seed, **gpu)) for seed in range(5)}
    assert told == {failed(function)}


def test_rows_come_before_columns():
    @dcpy.program(device=dcpy.DeviceType.GPU, gpu_backend=devices.BACKEND, auto_optimize=True, gpu_seed=2)
    def rows(A, B, idx):
        for i in range(B.shape[0]):
            for j in range(B.shape[1]):
                B[i, j] = A[idx[i, j], j]

    idx = np.zeros((40, 70), int)
    idx[2, 3], idx[1, 65], idx[1, 64] = 99, 77, 88
    with pytest.raises(IndexError, match="index 88 is out of bounds"):
        rows(np.zeros((40, 70)), np.zeros((40, 70)), idx)
