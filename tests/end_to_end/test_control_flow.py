"""Loops and branches: every way through them, what they leave behind, and what names stand for where paths meet."""

import numpy as np
import pytest

from tests.support.oracles import check_same

pytestmark = pytest.mark.cc

A8 = np.arange(8.0)
M = np.arange(12.0).reshape(3, 4)


# -- for -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("start", "stop"), [(0, 8), (2, 5), (5, 2), (3, 3), (-3, 2)])
def test_ranges_with_known_steps(start, stop):
    def f(a, start, stop):
        s, last = a[0], -100
        for i in range(start, stop):
            s, last = s * 2 + a[i], i
        for i in range(stop - 1, start - 1, -1):
            s = s * 2 + a[i]
        for i in range(start, stop, 3):
            s = s * 2 + a[i]
        for i in range(stop, start, -2):
            s = s * 2 - i
        return s, last

    check_same(f, A8, start, stop)


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(0, 8, 3), (7, -1, -2), (0, 8, -1), (8, 0, 1), (0, 5, 5), (0, 5, 0)]
)
def test_a_step_known_at_run_time(start, stop, step):
    def f(a, start, stop, step):
        s, count = a[0], 0
        for i in range(start, stop, step):
            s, count = s * 2 + a[i], count + 1
        if step > 0:
            for i in range(start, stop, step):
                s = s * 3 + a[i]
        for k, i in enumerate(range(start, stop, step)):
            s += k * i
        return s, count, len(range(start, stop, step))

    check_same(f, A8, start, stop, step)


def test_over_arrays_and_rows():
    def f(a, m):
        s = 0.0
        for x in a:
            s = s * 0.5 + x
        for row in m:
            row += 1
            s += row[0]
        for column in m.T:
            column[0] = s
        for x in a[::-2]:
            s = s * 0.5 + x
        return s, x, row

    check_same(f, A8, M)
    check_same(f, A8[::2], M[::-1])


def test_an_element_of_the_loop_is_a_copy_and_a_row_is_a_view():
    def f(a, m):
        for x in a:
            x += 100
            a[7] = 50
        for row in m:
            row += x
        return x

    check_same(f, A8, M)


def test_zip_enumerate_reversed():
    def f(a, b, m):
        s = 0.0
        for x, y in zip(a, b):
            s = s * 0.5 + x * y
        for i, x in enumerate(a, 1):
            a[i - 1] = x + i
        for i, (x, (y, k)) in enumerate(zip(a, zip(b, range(100)))):
            s += i * x - y * k
        for i, row in enumerate(m):
            row[i] = s
        for r, c in zip(m, m.T):
            s += r[0] * c[1]
        for i in reversed(range(8)):
            s = s * 0.5 + a[i]
        return s, i, k

    check_same(f, A8, np.arange(5.0), M, rtol=1e-14)


def test_over_tuples_and_lists():
    def f(a):
        s = 0.0
        for k in (1, 2, 5):
            s += a[k]
        for name, w in [("x", 2.0), ("y", 3)]:
            s += w if name == "x" else w * 10
        for i, (row, scale) in enumerate([([1, 2], 3), ([3, 4], 5.0)]):
            s += a[row[i]] * scale
        return s, k

    check_same(f, A8)


def test_the_loop_variable_may_be_assigned():
    def f(a):
        n = 3
        for i in range(n):
            n = 10
            i += 5
            a[i % 8] = i
        for j in range(3):
            for j in range(2):
                a[j] += 1
        return n, i, j

    check_same(f, A8)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_loops_that_may_not_run(n):
    def f(a, n):
        s, t = 5.0, a
        for i in range(n):
            s = a[i]
            t = t * 2
        while s > 100:
            s = 0.0
        return s + 0 * a[0], t.sum()

    check_same(f, A8, n)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_names_that_a_loop_may_set(n):
    def loop_variable(a, n):
        for i in range(n):
            a[i] = 1
        return i

    def inner(a, n):
        for i in range(n):
            for j in range(i):
                t = a[j] + i
        return t, j

    def by_while(a, n):
        k = 0
        while k < n:
            t = a[k]
            k += 1
        return t

    def found(a, n):
        for i in range(8):
            if a[i] >= n and a[i] > 0:
                k = i
                break
            last = a[i]
        return k, last

    for function in (loop_variable, inner, by_while, found):
        check_same(function, A8, n)  # Python raises UnboundLocalError where the name has no value


def test_names_that_the_first_iteration_sets():
    def f(a):
        for i in range(8):
            if i == 0:
                previous, count = a[0], 0
            else:
                a[i] += previous
                previous = a[i]
            count += 1
        return previous, count

    check_same(f, A8)


# -- break, continue, else -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 3, 5, 10])
def test_break_continue_else(n):
    def f(n):
        r = 0
        for i in range(n):
            if i == 5:
                break
            if i % 2:
                continue
            r += i
        else:
            r += 100
        k = n
        while k > 0:
            k -= 3
            if k == 1:
                break
            if k == 2:
                continue
            r += 1000
        else:
            r = -r
        return r, k

    check_same(f, n)


def test_nested_break_and_else():
    def f():
        c = 0
        for i in range(5):
            for j in range(5):
                if j > i:
                    break
                if (i + j) % 2:
                    continue
                c += 1
            else:
                c += 100
                continue
            c += 1000
            if i == 3:
                break
        else:
            c = -1
        return c, i, j

    check_same(f)


def test_while_true():
    def f(a):
        i = 0
        while True:
            i += 1
            if i > 5:
                break
            if i == 2:
                continue
            a[i] = 0
        while a[0] < 10:
            a += 1.5
        return i

    check_same(f, A8)


@pytest.mark.parametrize("n", [1, 2, 7, 27])
def test_loops_of_unknown_length(n):
    def f(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        a, b = 0, 1
        while a < steps:
            a, b = b, a + b
        return steps, a

    check_same(f, n)


# -- return ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("v", [-1.0, 5.0, 50.0])
def test_return_from_nested_loops(v):
    def f(m, v):
        for i in range(m.shape[0]):
            for j in range(m.shape[1]):
                if m[i, j] > v:
                    return i, j
            m[i, 0] = v
        return -1, -1

    check_same(f, M, v)


@pytest.mark.parametrize("x", [3, -3, 0])
def test_return_from_branches(x):
    def f(a, x):
        if x > 0:
            return a + 1
        elif x < 0:  # noqa: RET505
            if x < -2:
                return a * 2
        else:
            a[0] = 50
        return a - 1

    check_same(f, A8, x)


@pytest.mark.parametrize("n", [1, 3, 9])
def test_return_from_while_and_else(n):
    def f(a, n):
        while a[0] < n:
            a[0] += 1
            if a[0] == 5:
                return 1, a[1]
        else:
            return 2, a[2]

    check_same(f, A8, n)


@pytest.mark.parametrize("n", [0, 5])
def test_a_bare_return(n):
    def f(a, n):
        for i in range(8):
            if i == n:
                return
            a[i] = -1

    check_same(f, A8, n)


# -- conditions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("i", [0, 2, 7, 8, 100])
def test_what_is_not_chosen_is_not_evaluated(i):
    def f(a, i):
        x = a[i] if i < 8 else a[0] - 1
        inside = 0
        if i < 8 and a[i] > 1:
            inside = 1
        if i >= 8 or a[i] == 0:
            inside += 2
        return x, inside, i < 8 and i > 2, (1 if i == 0 else 2) + (3 if i else 4)

    check_same(f, A8, i)


@pytest.mark.parametrize("n", [0, 3, 5])
def test_chained_comparisons(n):
    def f(a, n):
        chains = 1 < n < 5, 1 < n > 4, n == 3 != 4, 0 <= a[n] <= 3 < a[7], 1 < 2 < n
        return *chains, not 0 < n, n in (0, 3), 5 not in [1, n]  # noqa: SIM300

    check_same(f, A8, n)


def test_truth_of_numbers():
    def f(a, n, x):
        r = 0
        if a[0]:
            r += 1
        if a[1] and not a[0]:
            r += 2
        if n:
            r += 4
        if not x:
            r += 8
        if a.shape[0]:
            r += 16
        return r

    check_same(f, A8, 3, 0.0)
    check_same(f, A8, 0, 2.5)


def test_chosen_at_compile_time():
    def f(a, flag, mode, b):
        if flag:
            a = a.reshape(2, 4)
        if mode == "double":
            a = a * 2
        if b is None:
            b = a
        elif isinstance(b, float):
            b = b + 1
        return a + b

    check_same(f, A8, True, "double", None)
    check_same(f, A8, False, "single", 2.5)


# -- where paths meet ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", [0, 1])
def test_dtypes_meet(flag):
    def f(a, flag):
        x = 0 * a[0]
        if flag:
            x = a[1] * 1.5
        y = np.int8(1)
        if flag > 0:
            y = np.int16(300)
        return x + a[0], y + np.int16(1)

    check_same(f, A8, flag)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.float32, np.float64, np.complex64, np.bool_])
def test_row_04_accumulators_of_all_dtypes(dtype):
    def f(a):
        s, p = 0, 1
        for i in range(a.shape[0]):
            s += a[i]
            p = p * a[i] + 1
        return s, p, s + 1

    check_same(f, (A8 + 100).astype(dtype), rtol=1e-6)


@pytest.mark.parametrize("flag", [0, 1])
def test_arrays_meet(flag):
    def f(a, flag):
        if flag:  # noqa: SIM108
            y = a + 1
        else:
            y = a * 2
        y[0] = 9
        z = a
        if flag > 0:
            z = a * 3
        return y, z + 0, a

    check_same(f, A8, flag)


@pytest.mark.parametrize("flag", [0, 1])
def test_names_set_in_one_branch(flag):
    def number(a, flag):
        if flag:
            y = a[1]
        return y

    def array(a, flag):
        if flag:
            y = a + 1
        if flag > 0:
            y[0] = 9
            return y
        return a * 2

    def view(a, flag):
        if flag:
            y = a[2:5]
        if flag > 0:
            y += 1

    for function in (number, array, view):
        check_same(function, A8, flag)


def test_arrays_that_loops_carry():
    def f(a):
        b, c = a, a * 2
        for i in range(4):
            b = b * 0.5 + c
            c = c - b
        return b, c, a

    check_same(f, A8)


def test_rank_and_memory_by_path():
    def rank(a):
        b = a if a[0] > 1 else 1.0
        return b * 2

    def memory(a):
        b = a
        if a[0] > 1:
            b = a * 2
        b[0] = 1
        return a

    for function in (rank, memory):
        check_same(function, A8)
        check_same(function, A8 + 5)
