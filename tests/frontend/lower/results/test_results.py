"""What Python gets back: arguments, views, fresh arrays, NumPy scalars, Python numbers, constants, tuples."""

import numpy as np

from tests.support.lowering import body, lower, refusal, same

A = np.arange(8) * 1.5 - 3


def kinds(function, *arguments):
    return [result.kind for result in lower(function, *arguments).sdfg.results]


def test_kinds():
    def f(a, n):
        return a, a[1:], a + 1, a[0], len(a), n, None, "x", 1.5

    same(f, A, 3)
    assert kinds(f, A, 3) == [
        "argument", "view", "array", "scalar", "python", "python", "constant", "constant", "constant"
    ]  # fmt: skip


def test_nested_tuples():
    def f(a):
        return (a[0], (a[1], a)), 3.5, "x"

    same(f, A)
    assert lower(f, A).sdfg.structure == ((0, (1, 2)), 3, 4)


def test_nothing():
    def f(a):
        a[0] = 1

    same(f, A)
    assert lower(f, A).sdfg.structure is None


def test_a_local_array_becomes_the_result():
    def f(a):
        b = a + 1
        return b

    assert body(f, A) == (
        "data __return: f64[N]\n"
        "state {\n"
        "  map i0 = 0:N {\n"
        "    tasklet (a_in <- a[i0]) -> (out -> __return[i0]) { out = a_in + 1.0 }\n"
        "  }\n"
        "}"
    )


def test_one_array_twice_and_parts_of_it():
    def f(a):
        b = a + 1
        return b, b, b[1:], b.T

    same(f, A)


def test_reshaped_arguments_are_views():
    def f(a):
        return a.reshape(2, 4), a.reshape(2, 4).T

    same(f, A)
    assert kinds(f, A) == ["view", "view"]


def test_each_return_gives_what_it_says():
    def g(a, n):
        if n > 2:
            return a, n
        return a * 2, 0

    same(g, A, 1)
    same(g, A, 3)
    assert kinds(g, A, 1) == ["argument", "python", "array", "constant", "python"]


def test_views_that_only_the_run_places_are_views():
    def f(a, n):
        for i in range(n):
            if a[i, 0] > 0:
                return a[i], i
        return a[0], -1

    same(f, A.reshape(4, 2), 3)
    same(f, -A.reshape(4, 2), 3)

    def g(a, n):
        for i in range(n):
            if a[i] > 0:
                return a[i:], i
        return a[1:], -1

    same(g, A, 3)
    same(g, -A, 3)

    def of_a_reshaped_one(a, n):
        rows = a.reshape(-1, 2)
        while n > 0:
            rows = rows[1:]
            n -= 1
        return rows

    same(of_a_reshaped_one, A, 1)

    def of_windows(a, n):
        return np.lib.stride_tricks.sliding_window_view(a, 2)[int(a[n]) :]

    def of_another_dtype(a, n):
        return a.view(np.int64)[int(a[n]) :]

    for f in (of_windows, of_another_dtype):
        assert "the view that is returned depends on run-time values" in refusal(f, A, 1)


def test_functions_are_refused():
    assert "a program cannot return a function" in refusal(lambda a: lambda: a, A)


def test_shapes_known_at_run_time_only():
    def f(a):
        n = int(a[7])
        b = np.zeros(n)
        return b.sum(), len(b)

    same(f, A)

    def g(a):
        return np.zeros(int(a[7]))

    same(g, A)
