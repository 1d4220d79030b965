"""Moved arrays: loops that exchange pointers, and what they leave behind however they end."""

import os
import signal
import threading

import numpy as np
import pytest

import dcpy

N = dcpy.symbol("N")


def diffused(u, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return u


def in_place(u, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[:] = new


def around(u, n):
    for _ in range(n):
        u = 0.5 * (np.roll(u, 1) + np.roll(u, -1)) - 0.1 * u
    return u


def until_it_rests(u, n):
    k = 0
    while True:
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        change = np.abs(new - u).max()
        u = new
        k += 1
        if change < 1e-3 or k >= n:
            break
    return u, k


def returns_early(u, n):
    for k in range(n):
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        if new[3] < 0.3:
            return new, k
        u = new
        if u[4] > 0.7:
            return u, k
    return u, n


def two_fields(u, v, n):
    for _ in range(n):
        p, q = u.copy(), v.copy()
        p[1:-1] = u[1:-1] + 0.1 * (v[2:] - v[:-2])
        q[1:-1] = v[1:-1] + 0.1 * (u[2:] - u[:-2])
        u = p
        v = q
    return u, v


def two_loops(u, n):
    sums = np.zeros(n)
    for k in range(n):
        for _ in range(k):
            new = u.copy()
            new[1:-1] = 0.5 * (u[2:] + u[:-2])
            u = new
        sums[k] = u.sum()
    return u, sums


def skips(u, n):
    for k in range(n):
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        if k % 3 == 1:
            continue
        u = new
    return u


def results(function, *arguments):
    """What a function returns, and what it leaves in its arguments."""
    mine = [np.copy(each) if isinstance(each, np.ndarray) else each for each in arguments]
    found = function(*mine)
    arrays = [each for each in mine if isinstance(each, np.ndarray)]
    return [*(found if isinstance(found, tuple) else () if found is None else (found,)), *arrays]


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize(
    "function", [diffused, in_place, around, until_it_rests, returns_early, two_fields, two_loops, skips]
)
def test_any_number_of_turns(function, optimized):
    program = dcpy.program(auto_optimize=optimized)(function)
    rng = np.random.default_rng(2)
    fields = [rng.random(40) for _ in range(2 if function is two_fields else 1)]
    for turns in (0, 1, 2, 7):
        for _ in range(2):
            for one, other in zip(results(program, *fields, turns), results(function, *fields, turns), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-13)


def code(function, optimized=True):
    def made(u: dcpy.float64[N], n: dcpy.int64):
        return function(u, n)

    return dcpy.program(auto_optimize=optimized)(made).to_sdfg().code()


@pytest.mark.parametrize("function", [diffused, in_place, until_it_rests, two_loops])
def test_no_iteration_copies_the_array(function):
    text = code(function)
    loop = text[text.rindex("_turn = ") :]
    assert "_turn;" in text
    assert "N*sizeof(double)" not in loop.partition("}")[0]


def test_an_argument_is_whole_when_the_loop_is_interrupted():
    program = dcpy.program(in_place)
    u = np.random.default_rng(3).random(2000)
    program(u.copy(), 1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for _ in range(4):
            mine = u.copy()
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                program(mine, 10**12)
            timer.join()
            assert np.ptp(mine[1:-1]) <= np.ptp(u[1:-1])
            assert np.all(np.isfinite(mine))
            assert mine[0] == u[0]
            assert mine[-1] == u[-1]
    finally:
        signal.signal(signal.SIGINT, before)


def fails_in_between(u, k, n):
    for t in range(n):
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        u[:] = new
        k[t] = t


def test_an_argument_of_a_loop_that_raises_is_as_in_python():
    u, k = np.random.default_rng(4).random(30), np.zeros(5)
    expected, found = u.copy(), u.copy()
    with pytest.raises(IndexError):
        fails_in_between(expected, k, 9)
    with pytest.raises(IndexError):
        dcpy.program(auto_optimize=True)(fails_in_between)(found, k, 9)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
