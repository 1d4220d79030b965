"""Loops: iterables, what names stand for afterwards, break, continue, else, early returns."""
# ruff: noqa: RUF007  (the programs are spelled as users do)

import numpy as np
import pytest

from tests.support.lowering import body, refusal, same

A = np.arange(8) * 1.5 - 3


def test_the_loop_variable_keeps_its_last_value():
    def f(a):
        for i in range(5):
            a[i] = i
        return i

    same(f, A)


@pytest.mark.parametrize("n", [0, 3])
def test_a_name_set_in_a_loop_that_may_not_run(n):
    def f(a, n):
        for i in range(n):
            x = a[i]
        return x, i

    same(f, A, n)


def test_an_old_value_survives_an_empty_loop():
    def f(a, n):
        x, i = a[1], -1
        for i in range(n):
            x = a[i]
        return x, i

    same(f, A, 0)
    same(f, A, 2)


def test_break_else_and_continue():
    def f(a, limit):
        total = 0.0
        for i in range(len(a)):
            if a[i] < 0:
                continue
            if a[i] > limit:
                break
            total += a[i]
        else:
            i = -1
        return total, i

    same(f, A, 3.0)
    same(f, A, 100.0)


def test_while_with_a_test_that_needs_code():
    def f(a):
        x, n = a.copy(), 0
        while np.abs(x).max() > 0.1:
            x *= 0.5
            n += 1
        else:
            n += 100
        return x, n

    same(f, A)


def test_while_true():
    def f(n):
        x = 0
        while True:
            x += 1
            if x > n:
                break
        return x

    same(f, 5)


def test_a_while_that_is_known_to_start_but_not_to_last_forever():
    def f(a):
        n = 0
        while n < 3:
            n += 1
        return n

    same(f, A)


@pytest.mark.parametrize("n", [3, 8])
def test_return_from_a_loop(n):
    def f(a, n):
        for i in range(n):
            if a[i] > 2:
                return a[i]
        return a[0]

    same(f, A, n)


def test_ranges_forth_and_back():
    def f(a, n):
        s = np.float64(0)
        for i in range(n, -n, -1):
            for j in range(1, 7, 2):
                s += a[i] * j
        return s

    same(f, A, 4)
    same(f, A, 0)


def test_loops_over_arrays_zip_and_enumerate():
    def f(a, b):
        s = 0.0
        for row in b:
            s += row[0]
        for k, x in enumerate(a, 1):
            s += k * x
        for x, y in zip(a, a[1:]):
            s += x * y
        for x in reversed(a):
            s -= x
        return s

    same(f, A, np.arange(6.0).reshape(3, 2))


def test_loops_over_tuples_are_unrolled():
    def f(a):
        s = 0
        for k, name in enumerate(("x", "y", "z")):
            if name == "y":
                continue
            s += k
        for x in (a, a[0]):
            s = s + x
        return s

    same(f, A)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_arrays_rebound_in_a_loop(n):
    def f(a, n):
        b = a + 0
        for _ in range(n):
            c = b * 0.5
            b = c + 1
        return b

    same(f, A, n)


def test_a_loop_that_carries_nothing_declares_nothing_outside():
    def f(a, n):
        for i in range(1, len(a)):
            x = a[i - 1] * 2
            a[i] = x

    assert body(f, A, 3) == (
        "loop i = 1:N {\n"
        "  data x: f64 transient\n"
        "  state {\n"
        "    tasklet (a_in <- a[i - 1]) -> (out -> x) { out = a_in * 2.0 }\n"
        "  }\n"
        "  state {\n"
        "    tasklet (x_in <- x) -> (out -> a[i]) { out = x_in }\n"
        "  }\n"
        "}"
    )


def test_an_accumulator_is_updated_in_place():
    def f(a):
        s = 0.0
        for i in range(len(a)):
            s += a[i]
        return s

    assert body(f, A) == (
        "data s: f64 transient\n"
        "data __return: f64[]\n"
        "state {\n"
        "  tasklet () -> (out -> s) { out = 0.0 }\n"
        "}\n"
        "loop i = 0:N {\n"
        "  state {\n"
        "    tasklet (s_in <- s, a_in <- a[i]) -> (out -> s) { out = s_in + a_in }\n"
        "  }\n"
        "}\n"
        "state {\n"
        "  tasklet (s_in <- s) -> (out -> __return) { out = s_in }\n"
        "}"
    )


def test_deep_nests_of_carried_names():
    def f(a):
        s, t = 0, 0
        for i in range(2):
            for j in range(2):
                for k in range(2):
                    for m in range(2):
                        s += a[i + j + k + m]
                        t = s * 0.5
        return s, t

    same(f, A)


def test_break_in_an_unrolled_loop_skips_the_copies_behind():
    def f(a):
        s = np.float64(0.0)
        for k in (1, 2, 3):
            if a[k] > 0:
                break
            s += a[k]
        return s

    same(f, A)
    same(f, -A)


def test_a_loop_over_a_list_that_it_changes_is_not_left_under_a_condition_of_the_run():
    def f(a):
        xs, s = [1, 2.5, 3], 0.0
        for x in xs:
            if a[0] > 0:
                break
            xs[0] = 4
            s += x
        return s

    assert "a loop changes the list that it iterates over" in refusal(f, A)


def test_what_a_body_assigns_is_kept_where_the_test_needs_code():
    def f(a):
        s, k = 0.0, 0
        while k < 2 and a.sum() > -100:
            s = float(k) + 1
            k += 1
        k = 0
        while k < 1 or a[k] < 5:
            u = a * k
            k += 1
        return s, u, k

    same(f, A)
