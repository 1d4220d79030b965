"""`dcpy.callback`: Python functions inside compiled programs, as Python itself would run them."""

import threading
import traceback
from typing import NamedTuple

import numpy as np
import pytest

import dcpy
from tests.support.callbacks import LOG, bounds, check, fill, norm, note, runs, scaled
from tests.support.oracles import assert_equal

pytestmark = pytest.mark.cc
TABLE = np.arange(3.0)


def test_results_and_writes():
    def program(a):
        b = a + 1
        c = scaled(b, factor=3.0)
        fill(b, norm(c))
        note(a, b, 3, "text", None, (1, 2.5))
        largest, where = bounds(c)
        return b + c * largest, where, c[where]

    check(program, np.arange(4.0))


class Point(NamedTuple):
    x: np.ndarray
    k: int


def test_named_tuples():
    @dcpy.callback
    def clear(point) -> None:
        point.x[...] = point.k

    def program(a, p):
        b = a + 1
        note(Point(b, (2, Point(b[0], 1))), p)
        clear(p)
        clear(Point(b, 5))
        return b

    check(program, np.arange(4.0), Point(np.ones(2), 3))


def test_order_is_kept_everywhere():
    def program(a, n):
        total = 0.0
        for i in range(n):
            note(i, a[i])
            if a[i] > 1:
                note("large")
                total += norm(a[:i])
        for i, j in dcpy.map[0:n, 0:2]:
            note(i, j)
            a[i] = a[i] + j
        note(total)
        return total

    check(program, np.arange(4.0), 4)


@dcpy.callback
def counted(k) -> int:
    LOG.append([("int", k, None)])
    return k


def test_order_within_expressions():
    def program(a, n):
        total = counted(n) + counted(n + 1) * counted(n + 2)
        note(counted(5), counted(counted(6)))
        if (counted(n) > 1 and counted(n + 3) > 2) or counted(7) > 8:
            total += 100
        a[counted(0)] += counted(1) * 2.0
        y = counted(3) if a[0] > 1 else counted(4)
        while norm(a) > 1:
            a[:] = a / 2
        return total, y

    for n in (0, 1, 2):
        check(program, np.arange(4.0), n)


def test_values_read_before_a_callback_stay():
    def program(a, m):
        first, kept = a[0], a[a > 1]
        fill(a, 9.0)
        note(first, kept, a[m])
        fill(m, True)
        return first, a[1] + first, kept

    check(program, np.arange(4, dtype=np.float32), np.array([True, False, True, False]))


def test_global_arrays_are_arguments():
    @dcpy.program
    def program(a):
        fill(TABLE, a[0])
        return a + TABLE

    assert_equal(program(np.arange(3.0) + 4), np.arange(3.0) + 8)
    assert TABLE.tolist() == [4.0, 4.0, 4.0]


def test_calls_within_functions_and_while():
    def inner(x, depth):
        note(x, depth)
        return x.sum() + norm(x)

    def program(a):
        s = 0.0
        depth = 0
        while s < 10:
            s += inner(a, depth)
            depth += 1
        return s, depth

    check(program, np.arange(3.0))


def test_kinds_of_scalars():
    def program(x, i, f, c):
        note(x[0], x[0] + 1, i, i + 1, f, f > 1, c, x.sum(), x.shape[0], x.shape)

    check(program, np.arange(3, dtype=np.float32) + 1, 3, 2.5, 1 + 2j)
    check(program, np.arange(3, dtype=np.int16), np.int64(3), np.float32(2.5), np.complex64(2))


def test_results_promote_as_in_numpy():
    @dcpy.callback(returns=dcpy.float64)
    def strong():
        return np.float64(2)

    @dcpy.callback
    def weak() -> float:
        return 2.0

    @dcpy.callback
    def count() -> int:
        return 3

    @dcpy.callback
    def flag() -> bool:
        return True

    def program(x):
        n = count()
        y = np.zeros(n)
        if flag():
            y[n - 1] = 1
        return x * strong(), x * weak(), x * n, y

    check(program, np.arange(3, dtype=np.float32))


def test_overlapping_views_are_one_memory():
    @dcpy.callback
    def swap(x, y) -> None:
        kept = x.copy()
        x[:] = y
        y[:] = kept

    def program(a):
        b = a * 2
        swap(b[0:4:2], b[1:4:2])
        swap(b[1:3], b[2:4])  # overlap
        swap(a[::-1], b)
        return b

    check(program, np.arange(4.0))
    check(lambda a: swap(a.T[0], a[:, 1]), np.arange(6.0).reshape(2, 3))


def test_read_only_arguments():
    @dcpy.callback(returns=float, writes=["out"])
    def add(x, out):
        assert not x.flags.writeable
        out += x
        return float(out.sum())

    def program(a, out):
        return add(a, out)

    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    out = np.ones(3)
    assert dcpy.program(program)(frozen, out) == 6
    assert out.tolist() == [1, 2, 3]
    check(lambda a: note(np.broadcast_to(a, (2, 3))), np.arange(3.0))


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit])
def test_exceptions_arrive_as_they_are(kind):
    error = kind("from the callback")

    @dcpy.callback
    def fail(x):
        note(x)
        raise error

    def program(a):
        a[0] = 5
        b = np.zeros(1000) + a[0]
        note(b[0])
        fail(a)
        a[0] = 6
        note("never")

    for how, run in runs(program):
        LOG.clear()
        a = np.zeros(3)
        with pytest.raises(kind) as caught:
            run(a)
        assert caught.value is error
        assert a[0] == 5
        assert len(LOG) == 2
        names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        assert names[-1] == "fail", how


def test_a_compiled_call_adds_no_frames():
    @dcpy.callback
    def fail():
        raise LookupError

    @dcpy.program
    def program(a):
        fail()
        return a

    for _ in range(2):
        with pytest.raises(LookupError) as caught:
            program(1.0)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names == ["test_a_compiled_call_adds_no_frames", "fail"]


def test_callbacks_may_call_programs():
    @dcpy.program
    def recurse(a, n):
        b = a + n
        again(b, n)
        return b

    @dcpy.callback
    def again(b, n):
        if n > 0:
            b += recurse(b, n - 1)

    expected = np.arange(3.0)

    def plain(a, n):
        b = a + n
        if n > 0:
            b += plain(b, n - 1)
        return b

    assert_equal(recurse(expected, 3), plain(expected, 3))


def test_threads_call_back_at_the_same_time():
    seen = {}

    @dcpy.callback
    def remember(x, i: int):
        seen.setdefault(int(x[0]), []).append((threading.get_ident(), i))

    @dcpy.program
    def program(a, n):
        for i in range(n):
            remember(a, i)

    threads = [threading.Thread(target=program, args=(np.full(2, float(k)), 50)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == [0, 1, 2, 3]
    for calls in seen.values():
        assert [i for _, i in calls] == list(range(50))
        assert len({thread for thread, _ in calls}) == 1


def test_what_a_callback_keeps_stays_valid():
    kept = []

    @dcpy.callback
    def keep(x):
        kept.append(x)
        kept.append(x[1:])

    @dcpy.program
    def program(a):
        b = a + 1
        for i in range(20):
            c = b * i  # memory of compiled code
            keep(c)
        keep(a)
        a[0] = 9
        return b

    a = np.arange(1000.0)
    program(a)
    for i in range(20):
        assert_equal(kept[2 * i], (np.arange(1000.0) + 1) * i)
        assert np.shares_memory(kept[2 * i], kept[2 * i + 1])
    assert kept[-2][0] == 9  # the caller's own array, as in NumPy
    del a
    assert kept[-2][999] == 999
