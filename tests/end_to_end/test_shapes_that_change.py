"""Arrays whose shape changes in loops and branches: windows that move, arrays that grow, levels of a multigrid.

Section 3 of what real use found: "a shape that changes in `while`".
"""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import assert_equal, check_same

X = np.arange(16.0)
M = np.arange(64.0).reshape(8, 8)


def dropped_from_the_front(x, n):
    for _ in range(n):
        x = x[1:]
        x[0] = -1.0
    return x


def dropped_on_both_sides(x, n):
    count = 0
    while len(x) > n:
        count += 1
        x = x[1:-1]
    return x, count


def every_second(x, n):
    total = 0.0
    while len(x) > n:
        total += x[-1]
        x = x[::2]
    return x, total


def bisected(x, value):
    while len(x) > 1:
        middle = len(x) // 2
        if x[middle] > value:  # noqa: SIM108
            x = x[:middle]
        else:
            x = x[middle:]
    return x


def with_a_second_name(x, n):
    y = x
    for i in range(n):
        x = x[1:]
        x[0] = 100 + i
        y[5] += x[0]
    return y, x


def two_that_move(x, n):
    head, tail = x, x[8:]
    for _ in range(min(n, 4)):
        head, tail = head[1:], tail[:-1]
        head[0] += tail[-1]
    return head


def the_best_row(x, n):
    rows = x.reshape(4, 4)
    best = rows[0]
    for row in rows:
        if row.sum() > best.sum():
            best = row
    best[:] = n


def in_a_tuple(x, n):
    state = (x, 0)
    for _ in range(n):
        state = (state[0][1:], state[1] + 1)
    return state


def returned_early(x, n):
    while True:
        x = x[1:]
        if x[0] > n:
            return x
        if len(x) < 2:
            break
    return x[:1]


def by_a_choice(x, n):
    y = x[1:] if n > 2 else x[:3]
    y[0] = 9
    return y


WINDOWS = [dropped_from_the_front, dropped_on_both_sides, every_second, bisected, with_a_second_name, two_that_move,
           the_best_row, in_a_tuple, returned_early, by_a_choice]  # fmt: skip


@pytest.mark.cc
@pytest.mark.parametrize("f", WINDOWS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 3])
def test_s3_windows_that_move_show_the_same_memory(f, n):
    check_same(f, X, n)
    theirs, mine = X.copy(), X.copy()
    expected, got = f(theirs, n), dcpy.program(f)(mine, n)
    assert_equal(got, expected)
    assert np.shares_memory(_first(got), mine) == np.shares_memory(_first(expected), theirs)


def _first(result):
    found = result[-1] if isinstance(result, tuple) and isinstance(result[-1], np.ndarray) else result
    found = found[0] if isinstance(found, tuple) else found
    return np.empty(0) if found is None else found


@pytest.mark.parametrize("n", [0, 15, 16, 40])
def test_s3_windows_may_become_empty(n):
    def f(x, n):
        for _ in range(n):
            x = x[1:]
        return x, len(x), x[5:], x.sum()

    check_same(f, X, n, compiled=False)


def test_s3_indices_are_checked_against_what_is_left():
    def f(x, n):
        while True:
            x = x[1:]
            x[n] = 5.0

    check_same(f, X, 3, compiled=False)


def concatenated(x, n):
    y = np.ones(2)
    for _ in range(n):
        x = np.concatenate([x, y])
    return x


def appended(x, n):
    found = np.zeros(0)
    for i in range(n):
        if x[i] != 1.0:
            found = np.append(found, x[i] * 2)
    return found


def skipped(x, n):
    found = x[:0]
    for value in x:
        if value > 10:
            break
        if value % 2 == 0:
            continue
        found = np.append(found, value)
    return found


def stacked(x, n):
    rows = x.reshape(4, 4)
    for i in range(n):
        rows = np.vstack((rows, rows[:1] * i))
    return rows


def doubled(x, n):
    for _ in range(n):
        fine = np.zeros(2 * len(x))
        fine[::2] = x
        fine[1::2] = x
        x = fine
    return x


def kept_from_before(x, n):
    before, total = x, np.float64(0.0)
    for i in range(n):
        before = x
        x = np.append(x, i)
        total += before.sum() + len(before)
    return before, x, total


def exchanged(x, n):
    p = x[:2]
    for _ in range(n):
        p, x = x, np.append(p, x)
    return p, x


def a_queue(x, n):
    queue, total = np.array([0.0]), 0.0
    while len(queue) > 0 and total < 40:
        value = queue[0]
        queue = queue[1:]
        total += value + 1
        if value < n:
            queue = np.append(queue, np.array([value + 1, value + 2]))
    return total, queue


def written_after_it_grew(x, n):
    y = x
    for i in range(n):
        x = np.concatenate([x, x[:1]])
        x[0] = 100 + i
    return y, x.sum()


def another_dtype_after_the_first(x, n):
    y = np.arange(2)
    for _ in range(n):
        y = np.append(y, 0.5)
    return y.sum(), len(y)


def polynomial_of_roots(x, n):
    p = np.array([1.0])
    for root in x[:n]:
        p = np.convolve(p, np.array([1.0, -root]))
    return p


GROWING = [concatenated, appended, skipped, stacked, doubled, kept_from_before, exchanged, a_queue,
           written_after_it_grew, another_dtype_after_the_first, polynomial_of_roots]  # fmt: skip


@pytest.mark.cc
@pytest.mark.parametrize("f", GROWING, ids=lambda f: f.__name__)
def test_s3_arrays_that_grow_in_loops(f):
    check_same(f, X, 4, rtol=1e-12, paths_meet=True)


@pytest.mark.parametrize("f", GROWING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1])
def test_s3_arrays_that_grow_rarely(f, n):
    check_same(f, X, n, rtol=1e-12, compiled=False, paths_meet=True)


def halves_added(x):
    while len(x) > 1:
        x = x[::2] + x[1::2]
    return x[0]


def multigrid(a):
    total = 0.0
    while a.shape[0] > 1:
        a = 0.25 * (a[::2, ::2] + a[1::2, ::2] + a[::2, 1::2] + a[1::2, 1::2])
        total += np.sum(a)
    return total, a


def fft_by_levels(x):
    n = x.shape[0]
    first = np.arange(min(n, 2))
    found = np.exp(-2j * np.pi * first * first[:, None] / min(n, 2)) @ x.reshape((min(n, 2), -1))
    while found.shape[0] < n:
        even, odd = found[:, : found.shape[1] // 2], found[:, found.shape[1] // 2 :]
        terms = np.exp(-1j * np.pi * np.arange(found.shape[0]) / found.shape[0])[:, None]
        found = np.vstack([even + terms * odd, even - terms * odd])
    return found.ravel()


def eliminated(a):
    total = 0.0
    while a.shape[0] > 1:
        a = a[1:, :] - a[:1, :]
        total += a[0, 0]
    return total


@pytest.mark.cc
@pytest.mark.parametrize(
    ("f", "given"), [(halves_added, X), (multigrid, M), (fft_by_levels, X + 0j), (eliminated, M)],
    ids=["halves", "multigrid", "fft", "elimination"],
)  # fmt: skip
def test_s3_levels(f, given):
    check_same(f, given, rtol=1e-12)


def test_s3_inside_of_maps_and_of_functions():
    def grown(x, n):
        for _ in range(n):
            x = np.append(x, x[-1] + 1)
        return x

    def shrunk(x, n):
        for _ in range(n):
            x = x[1:]
        return x

    def f(x, n):
        out = np.zeros(4)
        for i in dcpy.map[0:4]:
            y = x[:1] * 1
            for _ in range(i):
                y = np.append(y, y)
            out[i] = len(y) + shrunk(x, i)[0]
        z = shrunk(grown(x * 1, n), 2)
        z[0] = -1
        shrunk(x, n)[0] = -2
        return out, z

    check_same(f, X, 3, compiled=False)


def test_s3_an_array_that_may_or_may_not_be_the_callers_is_refused_where_it_is_written():
    def f(x, n):
        y = x
        for i in range(n):
            x = np.concatenate([x, x[:1]]) if i == 1 else x[1:]
            x[0] = 100 + i
        return y, x

    with pytest.raises(dcpy.FrontendError, match="may or may not be the one that another name shows"):
        dcpy.program(f)(X, 3)


def reshaped(a, n):
    while a.shape[0] > n:
        a = a[1:]
    b = a.reshape(4, -1)
    b[0] = 7
    return b, a, a[:, None, 0]


def raveled(a, n):
    while a.shape[0] > n:
        a = a[1:]
    flat = a.ravel()
    while flat.size > 3:
        flat = flat[1:]
    return flat, a.reshape(-1).reshape(2, -1).T


def reshaped_at_a_place_that_was_read(a, n):
    k = int(a[1, 1])
    return a.reshape(-1)[k:], a.ravel()[k : k + 4].reshape(2, 2)


def reshaped_in_a_branch(a, n):
    """The part of one branch is not there on the other path."""
    if n > 2:
        return a[n:].reshape(-1)
    return a[-n:].reshape(-1)


@pytest.mark.parametrize("f", [reshaped, raveled, reshaped_at_a_place_that_was_read, reshaped_in_a_branch])
def test_s3_windows_that_move_are_reshaped(f):
    table = np.arange(24.0).reshape(6, 4)
    for n in (2, 4):
        check_same(f, table, n, compiled=False)
        theirs, mine = table.copy(), table.copy()
        expected, got = f(theirs, n), dcpy.program(f).to_sdfg(mine, n).interpret(mine, n)
        assert np.shares_memory(_first(got), mine) == np.shares_memory(_first(expected), theirs)


@pytest.mark.cc
def test_s3_windows_that_move_are_reshaped_when_compiled():
    table = np.arange(24.0).reshape(6, 4)
    theirs, mine = table.copy(), table.copy()
    expected, got = reshaped(theirs, 2), dcpy.program(reshaped)(mine, 2)
    assert_equal(got, expected)
    got[0][1, 0] = -5
    assert mine[4, 2] == -5
