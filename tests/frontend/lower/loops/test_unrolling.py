"""Short loops whose index shapes slices are written out: what they compute, when they stay loops, what comes after."""
# ruff: noqa: SIM108  (the programs are spelled as users do)

import numpy as np
import pytest

import dcpy
from tests.support.lowering import body, same

X = np.arange(12) * 1.5 - 3
CUBE = np.sin(np.arange(4 * 5 * 6.0)).reshape(4, 5, 6)
TABLE = ((0, 0), (0.5, 0))


def test_shapes_are_known_in_each_iteration():
    def f(x):
        out = np.zeros_like(x)
        for k in range(2):
            first = 0 if k == 1 else 1
            out[first:] += x[: -1 + k or None] * (k + 1)
        return out, k, first

    same(f, X)
    text = body(f, X)
    assert "loop" not in text
    assert "x_in <- x[i0_" in text


def test_branches_with_slices_that_the_index_decides():
    def f(x):
        out = np.zeros_like(x)
        for k in range(2):
            upper = 1 if k == 1 else 0
            if upper == 1:
                step = x[1:] - x[:-1]
            else:
                step = x[:-1] - x[1:]
            out[1:] += step * (k + 1)
        for k in range(2):
            out[1:] += x[:-1] if k == 0 else x[1:]
        return out

    same(f, X)
    text = body(f, X)
    assert "loop" not in text
    assert "if" not in text


def test_branches_of_numbers_stay_in_a_loop():
    def f(x):
        for k in range(4):
            x[k] = x[k] * 2 if k % 2 == 0 else x[k + 4]
        return x

    same(f, X)
    assert body(f, X).count("loop k") == 1


def test_branches_that_the_index_alone_decides_are_gone():
    def f(x, out):
        for k in range(3):
            for i in range(len(x)):
                for b in range(3):
                    if k != 1 or b != 1:
                        out[i] += x[i] * (k + b)

    same(f, X, np.zeros(12))
    text = body(f, X, np.zeros(12))
    assert text.count("loop ") == 3  # over `i`, behind each other
    assert "if" not in text


def test_branches_at_the_edge_are_written_out_where_no_long_loop_is_inside():
    def f(x, out):
        n = len(x)
        for i in range(n):
            for k in range(3):
                for b in range(2):
                    if 0 <= i + k - b < n:
                        out[i] += x[i + k - b]

    same(f, X, np.zeros(12))
    text = body(f, X, np.zeros(12))
    assert text.count("loop ") == 1
    assert text.count("if ") == 4  # at `i` and `i + 1` none is needed


LENGTH = 9


def test_copies_of_long_loops_save_no_branch():
    def f(x, y, out):
        for i in range(len(x)):
            for k in range(2):
                for a in range(len(y)):
                    if i - k >= 0:
                        out[i] += x[i - k] * y[a]

    def g(x, y, out):
        for i in range(len(x)):
            for k in range(2):
                for a in range(LENGTH):
                    if i - k >= 0:
                        out[i] += x[i - k] * y[a]

    for function in (f, g):
        arguments = (X, np.arange(10.0), np.zeros(12))
        same(function, *arguments)
        assert body(function, *arguments).count("loop ") == 3


def test_bounds_that_branches_decide_and_inner_loops():
    def f(x):
        out = np.zeros((3, 2, len(x)))
        for i in range(3):
            if i < 2:
                start = i
            else:
                start = 4
            for j in range(2):
                out[i, j, start:] = x[: len(x) - start] + j
        return out

    same(f, X)
    text = body(f, X)
    assert "loop i" not in text
    assert text.count("loop j") == 3  # whose index shapes nothing


def test_an_index_that_shapes_nothing_stays_that_of_a_loop():
    def f(x, w):
        for k in range(3):
            x[k] = w[k + 1] * k
            x[4:8] += x[k]
            first = int(x[k])
            x[min(max(first, 0), 3):] *= 0.5

    same(f, X, X + 1)
    assert body(f, X, X + 1).count("loop ") == 1


def test_long_loops_and_large_bodies_stay_loops():
    def f(x):
        for k in range(9):
            x[k:] += x[: len(x) - k]

    def g(x):
        for a in range(8):
            for b in range(8):
                for c in range(8):
                    x[a % 3 + b % 2 + c % 2:] += 1.0

    assert body(f, X).count("loop ") == 1
    assert body(g, X).count("loop ") == 1  # the inner ones have 72 statements
    same(f, X)
    same(g, X)


def test_what_the_program_says_goes_first():
    def f(x):
        for k in dcpy.nounroll(range(3)):
            x[k:] += 1.0

    assert body(f, X).count("loop ") == 1


def test_breaks_that_the_index_decides():
    def f(x):
        for k in range(5):
            if k == 1:
                continue
            if k == 3:
                break
            x[k:] += k
        else:
            x += 100
        return k

    same(f, X)
    assert "loop" not in body(f, X)


@pytest.mark.parametrize("last", [2, 9])
def test_breaks_that_the_data_decide_leave_a_loop(last):
    def f(x, last):
        for k in range(5):
            if k == last:
                break
            x[k:] += k
        else:
            x += 100
        return k

    same(f, X, last)
    assert body(f, X, last).count("loop ") == 1


def test_returns_from_a_loop():
    def first(x, limit):
        for k in range(4):
            if x[k:].sum() > limit:
                return k
        return -1

    def f(x, limit):
        return first(x, limit), first(x, 1e9)

    same(first, X, 30.0)
    same(f, X, 30.0)


def test_the_index_may_be_set_anew_and_closures_see_the_last_one():
    def f(x):
        for k in range(3):
            k = 2 * k + 1
            x[k:] += x[:-k]
        return k, (lambda: k)()

    same(f, X)
    assert "loop" not in body(f, X)


def test_axes():
    def f(x):
        total = np.zeros_like(x)
        for axis in range(3):
            total += np.roll(x, 1, axis) - x + np.take(x, 1, axis=axis).sum()
        return total, np.diff(x, axis=axis)

    same(f, CUBE)
    assert "loop" not in body(f, CUBE)


def test_methods_and_functions_with_an_axis():
    def central(x, axis):
        return np.roll(x, -1, axis) - np.roll(x, 1, axis)

    def f(x):
        total = 0.0
        for axis in range(x.ndim):
            def square(along):
                return central(x, along) ** 2

            total += square(axis).sum()
        return total

    def g(x):
        total = 0.0
        for k in range(3):
            def rest():
                return x[k:, :, : k + 1]

            total += rest().sum() + x.sum(k).max()
        return total

    same(f, CUBE)
    same(g, CUBE)
    assert "loop" not in body(g, CUBE)


def test_lists_of_slices_and_of_arrays():
    def f(x, y):
        total = 0.0
        for d in range(3):
            low = [slice(None)] * 3
            high = [slice(None)] * 3
            low[d], high[d] = slice(0, -1), slice(1, None)
            total += np.abs(x[tuple(high)] - x[tuple(low)]).sum()
        fields = [x, y[1:]]
        for d in range(2):
            total += fields[d].sum()
        return total

    same(f, CUBE, X)


def test_tables_and_lists_that_grow():
    def f(y):
        stages = []
        for i in range(2):
            z = y.copy()
            for j in range(i):
                z += TABLE[i][j] * stages[j]
            stages.append(z[i:] * 2)
        return stages[0], stages[1]

    def g(y):
        for i in range(2):
            for j in range(i + 1):
                y[j + i:] += TABLE[i][j]

    same(f, X)
    same(g, X)


def test_iterators_over_ranges():
    def f(x):
        out = np.zeros(len(x) - 4)
        for n, (k, s) in enumerate(zip(range(5), range(4, -1, -1))):
            out += x[k : len(x) - s] * n
        for k in reversed(range(1, 3)):
            out[k:] -= k
        return out

    same(f, X)
    assert "loop" not in body(f, X)


def test_errors_are_placed_in_the_iteration_that_makes_them():
    def f(x, y):
        for k in range(2):
            y[k:] = x[k + 1 :]

    same(f, X, X[:-1].copy())
    same(f, X, X.copy())  # raises, after nothing was written
