"""Two names of one array, where paths meet and loops go round: an old version stays what it was."""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

A8 = np.arange(8.0)


# -- what another name shows is not overwritten ---------------------------------------------------------


def branches(a, n):
    y = a + 1 if n else a * 2
    z = y
    pair = (y, 1)
    if n:  # noqa: SIM108
        y = a * 3
    else:
        y = a * 4
    return z + y, pair[0], y


def choices_in_one_expression(a, n):
    x = (a[n] if n < 8 else 0.5) + (a[0] if n > 8 else 1.5)
    pair = ((a * 2 if n < 1 else a * 3), (a * 4 if n > 1 else a * 5))
    return x, pair[0] + 10 * pair[1], (a * 2 if n else a * 3) + (a * 4 if n else a * 5)


def carried_by_a_loop(a, n):
    y, z = a, a
    for i in range(n):
        z = y
        y = y * 2 if i % 2 else y + 1
    return z, y


def set_by_each_iteration(a, n):
    y = a + 1
    v = y[2:5]
    for i in range(n + 1):
        z = y
        v = y[2:5]
        if i % 2:  # noqa: SIM108
            y = y * 2
        else:
            y = y + 1
    return z, v, y


def by_while(a, n):
    y = a + n
    while y[1] < 20:
        old = y
        y = y * 2
    return old, y


def left_by_break(a, n):
    y = a + 1
    for i in range(10):
        z = y
        if i == n:
            break
        y = y * 2
    return z, y


def unrolled(a, n):
    y, kept = a, []
    for k in (1, 2, 3):
        y = y * 2 if n > k else y + 1
        kept = [*kept, y]
    return kept[0] + kept[1] * 10 + kept[2] * 100


def filtered(a, n):
    y = a
    for i in range(n + 1):
        z = y
        y = y[y > i]
    return z.sum(), y.sum(), len(z), len(y)


def diagonals(a, n):
    m = a.reshape(2, 4)[:, :2].copy()
    d, e = np.diag(m), m.diagonal()
    m += n
    m[0, 0] = 50
    return d, e, m


def ends(a, n):
    return (a[-n:] if n else a[:0]).sum(), (a[n:] if n > 1 else a[:n])


PROGRAMS = [
    branches, choices_in_one_expression, carried_by_a_loop, set_by_each_iteration, by_while, left_by_break, unrolled,
    filtered, diagonals, ends,
]  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("program", PROGRAMS)
def test_old_versions_stay(program, n):
    check_same(program, A8, n, compiled=False, paths_meet=True)


@pytest.mark.cc
@pytest.mark.parametrize("program", [carried_by_a_loop, set_by_each_iteration])
def test_old_versions_stay_in_compiled_code(program):
    check_same(program, A8, 3, paths_meet=True)


# -- buffers that change places -------------------------------------------------------------------------


def test_two_buffers_change_places():
    def f(a, n):
        u, v = a.copy(), a * 1.5
        for _ in range(n):
            v[1:-1] = 0.5 * (u[:-2] + u[2:])
            u, v = v, u
        u[0] = 7
        return u, v

    for n in (0, 1, 4):
        check_same(f, A8, n, compiled=False)


@pytest.mark.cc
def test_three_buffers_rotate():
    def f(a, n):
        before, now, after = a.copy(), a * 1.1, np.zeros_like(a)
        for t in range(n):
            after[1:-1] = 2 * now[1:-1] - before[1:-1] + 0.1 * (now[2:] - 2 * now[1:-1] + now[:-2])
            if t % 2:
                after[0] = t
            before, now, after = now, after, before
        return before, now, after

    check_same(f, A8, 5, rtol=1e-14)


def test_a_new_array_in_each_step():
    def f(a, n):
        old, now = a, a * 1.1
        for t in range(n):
            new = np.zeros_like(now)
            new[1:-1] = 2 * now[1:-1] - old[1:-1]
            if t % 2:
                new[0] = t
            old = now
            now = new
        return old, now

    check_same(f, A8, 5, compiled=False)


# -- one array of Python's that would be two, if paths were not kept apart ------------------------------


def after_a_branch(a, n):
    y = a + 1
    if n > 2:
        z = y
        y = y * 2
    else:
        z = y
    z[0] = 100
    return y, z


def after_a_loop(a, n):
    y = a + 1
    for _ in range(n):
        y = y * 2
        v = y[2:5]
    v[0] = 100
    return y


def two_old_names(a, n):
    y = a + 1
    for _ in range(n):
        z = y
        w = y
        y = y * 2
    z[0] = 100
    return w, y


@pytest.mark.parametrize("n", [1, 3])
def test_writes_after_a_branch(n):
    check_same(after_a_branch, A8, n, compiled=False)


@pytest.mark.parametrize("program", [after_a_loop, two_old_names])
def test_refuses_writes_to_an_array_that_became_two(program):
    with pytest.raises(dcpy.DcpyError, match="may or may not be the one that another name shows"):
        dcpy.program(program).to_sdfg(A8, 3)
