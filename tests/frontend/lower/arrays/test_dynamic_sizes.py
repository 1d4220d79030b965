"""Arrays whose sizes depend on the path taken: they shrink in loops, and branches may disagree."""

import numpy as np
import pytest

from tests.support.lowering import body, same

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


def test_an_array_that_grows():
    def f(z, n):
        for _ in range(n):
            z = np.concatenate((z, z))
        return z.sum()

    same(f, Z, 2)
    assert "resize z_2: room = @max(2*room, 2*n_1) keep 0" in body(f, Z, 2)


def test_how_windows_that_move_are_written():
    def f(z, some):
        if some > 0:
            z = z[1:]
        return len(z)

    assert body(f, Z, 1).startswith(
        """\
data z_start: i64 transient
data z_size: i64 transient
data __return: i64[]
if 0 < some {
  state {
    tasklet () -> (out -> z_start, out_1 -> z_size) { \
out = select(0 < max(0, N - 1), index(1), 0); out_1 = max(0, N - 1) }
  }
} else {
  state {
    tasklet () -> (out -> z_start, out_1 -> z_size) { out = index(0); out_1 = N }
  }
}
let start = z_start[]
let n = z_size[]
"""
    )


def test_how_it_is_written():
    def f(z, some):
        if some > 0:
            z = z[1:] + 1
        return len(z)

    assert body(f, Z, 1).startswith(
        """\
data z_size: i64 transient
data z_2: f64[N] transient
data __return: i64[]
if 0 < some {
  data z_1: f64[N - 1] transient
  state {
    map i0 = 0:N - 1 {
      tasklet (z_in <- z[i0 + 1]) -> (out -> z_1[i0]) { out = z_in + 1.0 }
    }
  }
  state {
    tasklet () -> (out -> z_size) { out = max(0, N - 1) }
    copy z_1[0:N - 1] -> z_2[0:max(0, N - 1)]
  }
} else {
  state {
    tasklet () -> (out -> z_size) { out = N }
    copy z[0:N] -> z_2[0:N]
  }
}
"""
    )


def test_what_a_process_can_address_is_no_size_to_reserve():
    """Counts are checked against the memory of a process before they are filled, which bounds their number."""

    def f(index, pages, steps):
        rank = np.ones(pages)
        for _ in range(steps):
            rank = rank.sum() + np.bincount(index, minlength=pages)
        return rank

    index = np.array([0, 3, 3, 1])
    assert "f64[17592186044416]" not in body(f, index, 6, 2)
    same(f, index, 6, 2)
    same(f, index, 2, 3)
