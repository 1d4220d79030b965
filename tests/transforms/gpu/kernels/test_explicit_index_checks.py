"""ExplicitIndexChecks: what the device has written comes back where an index is out of range, and only there."""

import numpy as np
import pytest

import dcpy
from dcpy.transforms.gpu.kernels.explicit_index_checks import ExplicitIndexChecks
from tests.support.passes import Passed

TAKES = """
    sdfg @f(A: f64[N], p: i64[M]) symbols(N: size {least = 1}, M: size) {
      loop i = 0:M {
        let k = wrap(p[i], N, 1)
        state { tasklet () -> (o -> A[k]) { o = 1.0 } }
      }
    }"""


def test_an_index_is_checked_and_taken():
    message = '"index {0} is out of bounds for axis 1 with size {1}"'
    check = f"check p[i] >= -N and p[i] < N else IndexError {message} (p[i], N)"
    taken = "let k = select(p[i] < 0, p[i] + N, p[i])"
    found = Passed(TAKES, ExplicitIndexChecks())
    found.becomes(TAKES.replace("let k = wrap(p[i], N, 1)", f"{check} {taken}"))


def test_indices_of_kernels_and_maps_stay():
    text = TAKES.replace("loop i = 0:M", "state { map i = 0:M").replace("(o -> A[k])", "(o -> A[k] (add))") + "}"
    Passed(text, ExplicitIndexChecks()).becomes(text)


@pytest.mark.cc
def test_arguments_are_as_python_leaves_them():
    def moved(a, p):
        for i in range(p.shape[0]):
            a[:] = 2 * a
            a[p[i], :] += a[0, :]

    program = dcpy.program(moved, device=dcpy.DeviceType.GPU, gpu_backend="simulator", auto_optimize=True)
    for p in (np.array([1, -1, 2]), np.array([1, 5, 0])):
        here, there = np.ones((3, 40)), np.ones((3, 40))
        if p.max() > 2:
            with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3"):
                moved(here, p)
            with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3"):
                program(there, p)
        else:
            moved(here, p)
            program(there, p)
        assert np.array_equal(here, there)
