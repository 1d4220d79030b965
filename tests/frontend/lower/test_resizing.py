"""Arrays whose sizes depend on the path taken: they shrink in loops, and branches may disagree."""

import numpy as np
import pytest

from tests.support.lowering import body, refusal, same

Z = np.arange(10.0)
SQUARE, WIDE = np.arange(4.0).reshape(2, 2), np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("n", [0, 2, 40])
def test_an_array_that_shrinks_in_a_loop(n):
    def f(z, n):
        total = z[0]
        for i in range(n):
            if not len(z):
                break
            total += z.sum()
            z = z[z > i]
            z = z + 1e-3
        return total, len(z), z.sum()

    same(f, Z, n, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 3])
def test_arrays_that_shrink_together(n):
    def f(z, n):
        w = z * 1
        keep = w > 2
        for i in range(n):
            w, keep = w[keep], keep[keep]
            np.multiply(w, w, w)
            keep = w < 30 + i
        return w.sum(), keep.sum()

    same(f, Z, n)


@pytest.mark.parametrize("length", [0, 1, 6, 7])
def test_a_view_that_shrinks(length):
    def f(z):
        w = z + 0
        while len(w) > 2:
            w = w[1:-1]
        return w.sum(), len(w)

    same(f, Z[:length])


@pytest.mark.parametrize("wide", [0, 1])
def test_branches_of_different_shapes(wide):
    def f(a, b, wide):
        if wide > 0:  # noqa: SIM108
            y = a @ b
        else:
            y = a @ a
        if b[0, 1] > 0:
            y = -y
        return y.sum(), y.shape[1], y[:, -1].sum()

    same(f, SQUARE, WIDE, wide)


def test_a_part_of_an_argument_on_one_path():
    def f(z, some):
        if some > 0:
            z = z[1:]
        return z.sum(), len(z)

    same(f, Z, 1)
    same(f, Z, 0)


def test_an_array_that_grows_is_refused():
    def f(z, n):
        for _ in range(n):
            z = np.concatenate((z, z))
        return z.sum()

    assert "the shape of 'z' depends on the path taken" in refusal(f, Z, 2)


def test_how_it_is_written():
    def f(z, some):
        if some > 0:
            z = z[1:]
        return len(z)

    assert body(f, Z, 1).startswith(
        """\
data z_size: i64 transient
data z_1: f64[N] transient
data __return: i64[]
if 0 < some {
  state {
    tasklet () -> (out -> z_size) { out = max(0, N - 1) }
    copy z[1:N] -> z_1[0:max(0, N - 1)]
  }
} else {
  state {
    tasklet () -> (out -> z_size) { out = N }
    copy z[0:N] -> z_1[0:N]
  }
}
let n = z_size[]
"""
    )
