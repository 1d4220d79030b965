"""Subscripts: views, elements, clamped slices, indices that wrap, gathers and scatters, reshapes, stores."""

import numpy as np
import pytest

from tests.support.lowering import body, refusal, refused_line, same

A = np.arange(8) * 1.5 - 3
M = np.arange(12.0).reshape(3, 4)


def test_slices_clamp():
    def f(a):
        return a[2:100], a[-100:3], a[50:60], a[-3:], a[:-3], a[::3], a[6:1:-2], a[::-1], a[-1:-20:-1], a[10:2:-1]

    same(f, A)
    same(f, A[:2].copy())
    same(f, A[:0].copy())


@pytest.mark.parametrize(("i", "j"), [(-3, 8), (5, 2), (0, 100), (-100, -1), (7, -7)])
def test_bounds_known_at_run_time(i, j):
    def f(a, i, j):
        return a[i:j].copy(), a[i:j], a[j:i:-1].sum(), len(a[i:j])

    same(f, A, i, j)


def test_slices_of_small_arrays_are_empty():
    def f(a):
        b = a[1:-1] * 2
        return b, len(b), a[1:-1].shape[0], b.size

    for n in range(4):
        same(f, np.arange(float(n)))


def test_views_write_through():
    def f(a, m):
        t = m.T
        t[0, 0] = 77
        r = a[::-1]
        r[0] = 5
        r[1:3] += 1
        c = m[:, None, 1]
        c[:] = 9
        return t, r[1:3] + a[:2]

    same(f, A, M)


@pytest.mark.parametrize(("i", "j"), [(-1, 2), (1, -4), (1, -5), (3, 0)])
def test_indices_wrap_or_raise(i, j):
    def f(m, i, j):
        return m[i, j], m[-1, j], m[i][j], m[:, j].sum()

    same(f, M, i, j)


def test_indices_in_memory():
    def f(a, idx):
        s = np.float64(0)
        for k in range(len(idx)):
            s += a[idx[k]]
            a[idx[k] + 1] = s
        return s

    same(f, A, np.array([-2, 0, 5]))
    same(f, A, np.array([0, 7]))


def test_indices_proved_in_range_cost_nothing():
    def f(m):
        for i in range(1, m.shape[0] - 1):
            for j in range(i):
                m[i, j] = m[i - 1, j] + m[i + 1, j]

    same(f, np.ones((5, 5)))
    assert "check" not in body(f, np.ones((5, 5)))
    assert "check" in body(f, np.ones((5, 6)))  # j < i < N says nothing of the other size


def test_conditions_prove_indices():
    def f(a, i):
        if 0 < i < len(a):
            a[i] = a[i - 1]

    text = body(f, A, 3)
    assert "check" not in text
    assert "let k" not in text


def test_gather_and_scatter():
    def f(m, idx):
        g = m[idx]
        m[idx] = -1.0
        m[idx, 0] = 5.0
        m[idx] += 1
        return g, m[:, idx], m[idx, idx], m[None, idx, 1:3]

    same(f, np.arange(16.0).reshape(4, 4), np.array([0, -1, 2]))
    same(f, np.arange(16.0).reshape(4, 4), np.array([0, -7, 2]))


def test_an_index_that_comes_twice():
    def f(a, idx, b):
        a[idx] += 1
        a[idx] = b

    same(f, A, np.array([1, 1, 2]), np.array([10.0, 20.0, 30.0]))


def test_masks_choose_elements():
    def f(a):
        a[a > 5] = 5
        a[a < 0] *= 2

    same(f, A)


def test_masks_select():
    def f(a, m, x):
        m = m[x[0] > 2]  # a mask may select masks
        a[m] = a[m] ** 2 + x[0][m]
        x[x > 3] += x[x > 3]
        x[x[:, 0] > 9] = a
        return x[1:, m].sum(), len(a[a > 100]), a[a > 100].sum()

    same(f, A[:4], np.array([True, False, True, True]), np.arange(3, 15.0).reshape(3, 4))


def test_masks_of_other_sizes():
    def read(a, m):
        return a[m].sum()

    def write(a, m, b):
        a[m] = b

    same(read, A, np.array([True, False]))
    same(write, A[:3], np.array([True, False, True]), A[:3])


def test_a_mask_selects_a_result():
    def f(a):
        return a[a > 0]

    same(f, A)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_shape_set_in_place():
    def f(a):
        x, y = np.mgrid[0:2, 0:4]
        b = a + 1
        x.shape = y.shape = b.shape = 8
        b[x > 0] = 7
        return b.sum(), y[5], len(x)

    same(f, np.arange(8.0).reshape(2, 4))


def test_a_shape_that_others_would_see_is_not_set():
    def f(a):
        a.shape = 8

    def g(a):
        b = a + 1
        c = b
        b.shape = 8
        return c

    def h(a):
        b = (a + 1).T
        b.shape = 8

    assert "the shape of 'a' cannot be set in place: it belongs to the caller" in refusal(f, A.reshape(2, 4))
    assert "the shape of 'b' cannot be set in place: another name" in refusal(g, A.reshape(2, 4))
    assert "the shape of 'b' cannot be set in place: it is not known to be contiguous" in refusal(h, A.reshape(2, 4))


def test_overlapping_stores_are_as_if_copied_first():
    def f(a, m):
        a[1:] = a[:-1]
        a[1:] += a[:-1]
        a[:] = a[::-1]
        m[:] = m.T
        m += m.T

    same(f, A, np.arange(9.0).reshape(3, 3))


def test_stores_broadcast_and_cast():
    def f(i, m):
        i[:] = 2.7
        i[1:3] = np.array([1.5, -1.5])
        m[:] = m[0]
        m[:, 1] = 3
        m[1:, :2] = m[:1, :2]
        m[0] = i[:4]

    same(f, np.arange(8), M)


@pytest.mark.parametrize("n", [3, 4])
def test_sizes_that_must_agree_at_run_time(n):
    def f(a, b):
        return a + b

    same(f, np.ones(4), np.ones(n))

    def g(m, b):
        m[:] = b

    same(g, np.ones((2, 4)), np.ones(n))


def test_in_place_keeps_container_and_dtype():
    def f(a):
        b = a
        a //= 2
        a[1:3] *= 2
        a[0] -= 1
        a[-1] **= 2
        return b

    same(f, A)
    same(f, np.arange(8, dtype=np.int32))


def test_in_place_of_another_kind_is_refused():
    def f(a):
        a += 1.5

    assert refusal(f, np.arange(3)) == (
        "error[frontend.raises]: Cannot cast ufunc 'add' output from dtype('float64') to dtype('int64') "
        "with casting rule 'same_kind'\n"
        "  = note: NumPy raises UFuncTypeError here\n"
        "  = help: write `x = x + ...` to make a new array of float64"
    )
    assert refused_line(f, np.arange(3)) == "a += 1.5"


@pytest.mark.parametrize("array", [M, M.T, M[:, ::-1], M[1:, 1:3]], ids=["C", "F", "reversed", "window"])
def test_reshape_and_new_axes_of_any_layout(array):
    def f(m):
        b = m.reshape(m.size)
        c = m[:, None] * m[None, :]
        return b, c, m[np.newaxis].shape, m.reshape(-1, 2), m.ndim

    same(f, array)


def test_too_many_indices_and_wrong_ones():
    assert "too many indices for array: array is 1-dimensional, but 2 were indexed" in refusal(lambda a: a[1, 2], A)
    assert "1.5 is not an index" in refusal(lambda a: a[1.5], A)


def test_zero_dimensional_arrays_and_empty_ones():
    def f(z, e):
        y = z + 1
        z[...] = 5
        return y, z[()], e.sum(), e + 1, e.shape

    same(f, np.array(2.0), np.zeros((0, 3)))


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_sizes_that_turn_out_to_be_one_stretch(n):
    def f(a, b):
        return a[1:] + b, b * a[::2], a[1:] * a[:-1]

    same(f, np.arange(float(n)), np.arange(3.0))

    def g(m, a):
        m[:] = a[1:]
        m[1:] += m[:1] + a[1:]

    same(g, np.ones((3, 4)), np.arange(float(n)))

    def h(a, k):
        a[None, k] -= a[:1]
        a[k, ...] += a[k]

    same(h, np.arange(n + 1.0), 0)


@pytest.mark.parametrize("n", [0, 2, 3])
def test_leading_dimensions_that_turn_out_to_be_one_are_dropped(n):
    def f(a, m):
        a[:] = m[1:]

    same(f, np.zeros(4), np.ones((n, 4)))


def test_ranges_are_index_arrays():
    def gathered(a, places, n):
        a[range(len(places)), places] -= 1
        a[range(0, n, 2)] *= 2
        taken = a[range(n - 1, -1, -1)], a[:, range(2)], np.take(a, range(n), axis=0)
        return a[range(len(places)), places], *taken, np.array(range(n)), np.sum(range(n)), a[range(0)].shape

    same(gathered, np.arange(12.0).reshape(4, 3), np.array([0, 2, 1, 0]), 4)
    same(lambda a, n: a[range(n)], np.arange(3.0), 5)


@pytest.mark.parametrize(("bins", "dtype", "checked"), [(256, "u1", False), (255, "u1", True), (256, "i1", True)])
def test_indices_whose_dtype_is_in_range_are_not_checked(bins, dtype, checked):
    def histogram(image):
        counts = np.zeros(bins, np.int64)
        for i in range(image.shape[0]):
            counts[image[i]] += 1
        return counts

    def table(image):
        return np.arange(bins)[image]

    image = np.array([3, 100, 3, 7], dtype)
    assert ("wrap" in body(histogram, image)) is checked
    assert ("proved = (0,)" in body(table, image)) is not checked
    same(histogram, image)
    same(table, image)
