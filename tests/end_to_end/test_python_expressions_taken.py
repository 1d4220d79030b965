"""Python that the frontend takes: assignment, displays, functions (see test_python_taken.py)."""

import cmath
import functools
import math
import operator

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same as check_all

A8 = np.arange(8.0)
M = np.arange(12.0).reshape(3, 4)
check_same = functools.partial(check_all, compiled=False)


def twice(x, factor=2):
    return x * factor


@dcpy.program
def plus_one(x):
    return x + 1


def tripled(function):
    @functools.wraps(function)
    def outer(*args, **kwargs):
        return function(*args, **kwargs) * 3

    return outer


@tripled
def shifted(x, by=1):
    return x + by


bound_twice = functools.partial(twice, factor=5)


# -- assignment --------------------------------------------------------------------------------------------------------


def test_takes_tuple_chained_and_starred_assignment():
    def f(a, m):
        x, (y, z) = a[0], (a[1], 2)
        b = c = a + 1
        b[0] = 9
        first, *middle, last = a[1], 2, 3.0, a[4]
        *start, end = (1, 2, 3)
        a[0], a[1] = a[1], a[0]
        rows, columns = m.shape
        i = j = 0
        return x, y, z, c, first, middle[1], last, len(start), end, rows * columns, i + j

    check_same(f, A8, M)


def test_takes_swaps():
    def f(x, y, a):
        x, y = y, x
        a[2], a[3] = a[3], a[2]
        p, q, r = 1, 2, 3
        p, q, r = r, p, q
        return x, y, p, q, r

    check_same(f, 1, 2.5, A8)


def test_takes_augmented_assignment():
    def f(a, n):
        a += 1
        a[1:] *= a[:-1]
        a[0] -= 2
        n <<= 2
        n //= 3
        n **= 2
        t = (1, 2)
        t += (3,)
        return n, len(t)

    check_same(f, A8, 5)


def test_takes_assignment_expressions_annotations_del_and_pass():
    def f(a):
        """A docstring."""
        x: float = 3.0
        if (n := len(a)) > 3:
            pass
        y = a
        del y
        ...
        return x * n

    check_same(f, A8)


# -- displays ----------------------------------------------------------------------------------------------------------


def test_takes_comprehensions_over_known_lengths():
    def f(a):
        squares = [i * i for i in range(4)]
        pairs = [(i, j) for i in range(3) for j in range(i) if (i + j) % 2]
        named = {key: a[k] for k, key in enumerate(("x", "y"))}
        total = sum(x * 2 for x in (1, 2, 3))
        return np.array(squares), len(pairs), named["y"], total, any(x > 2 for x in squares), a * max(squares)

    check_same(f, A8)


def test_takes_lists_that_grow_a_known_number_of_times():
    def f(a):
        squares, rows, both = [], [], [a[0]]
        for i in range(4):
            squares.append(a[i] * a[i])
            row = []
            for j in range(2):
                row.append(a[i + j])
            rows.append(row)
        both += [a[1], 5]
        both *= 2
        a[0] = 50
        return np.array(squares), np.array(rows), len(both), both[0], np.concatenate([a[k : k + 2] for k in (1, 3)])

    check_same(f, A8)


def test_takes_tuples_lists_dictionaries_and_sets_of_known_items():
    def f(a, n):
        t = (1, 2.5) + (n,)  # noqa: RUF005
        u = [0] * 2 + [3]
        d = dict(x=a, y=2)
        chosen = 3 in {1, 2, 3}, n in (1, 5), "x" in d, n not in [5], n in range(0, 10, 5)
        order = (n, 1) < (5, 2), t[:2] == (1, 2.5), (1, n) != (1, 2), a.shape == (8,)
        return t[-1], u[2], d["x"] * d["y"], chosen, order, len(t[1:]), sorted((3, 1, 2))[0]

    check_same(f, A8, 5)


def test_takes_slices_ellipsis_and_new_axes_as_values():
    def f(a, m, n):
        s, t = slice(1, n), np.s_[::2, 1]
        return a[s], m[t], m[..., 0], m[:, None, 1:].shape, a[np.newaxis][0], m[(1, 2)], a[-1:0:-2], m[1][2]

    check_same(f, A8, M, 5)


# -- functions ---------------------------------------------------------------------------------------------------------


def test_takes_nested_functions_and_lambdas():
    def f(a, k):
        def inner(x, power=2):
            def innermost(y):
                return y**power + k

            return innermost(x)

        late = lambda x: x * k  # noqa: E731
        k = k + 1
        return inner(a), inner(a, power=3), late(a), (lambda: a[0])()

    check_same(f, A8, 2)


def test_takes_calls_of_decorated_and_plain_functions():
    def f(a):
        deeper = lambda x: plus_one(twice(shifted(x, by=2)))  # noqa: E731
        return plus_one(a), twice(a), twice(factor=3, x=a), shifted(a), deeper(a)

    check_same(f, A8)


def test_takes_functions_as_arguments():
    def f(a):
        def apply(function, x, times=2):
            for _ in range(times):
                x = function(x)
            return x

        rule = functools.partial(twice, factor=3)
        reduced = functools.reduce(operator.add, (1, 2, 3))
        absolute = tuple(map(abs, (-1, 2)))
        return apply(plus_one, a), apply(lambda x: x * 2, a, 3), apply(rule, a), bound_twice(a), reduced, absolute

    check_same(f, A8)


def test_takes_star_and_double_star_in_calls():
    def f(a):
        def total(x, *rest, **named):
            return x + sum(rest) + named["p"] * len(named)

        args, keywords = (a, 1, 2), {"p": 3, "q": 4}
        return total(*args, **keywords), twice(*(a, 4)), twice(**{"x": a})

    check_same(f, A8)


# -- Python's own functions --------------------------------------------------------------------------------------------


def test_takes_python_functions():
    def f(a, n, x):
        numbers = min(n, 5), max(1, n, 2), sum([1, 2, n]), abs(-x), round(x), int(x), float(n), complex(n, 1), bool(n)
        powers = pow(n, 2), divmod(-n, 2), divmod(x, 2.0), len(range(0, n, 2)), n**2, 2**n, -n // 2, -n % 3, n / 2
        return numbers, powers, len(a), min(a), max(a), sum(a), abs(a), isinstance(n, int), type(a[0])(2)

    check_same(f, A8, 3, 2.5)


@pytest.mark.parametrize(("a", "b"), [(7, -2), (-7, 2), (-7.5, 2.0), (True, 3)])
def test_takes_pythons_arithmetic(a, b):
    check_same(lambda a, b: (a // b, a % b, a / b, a * b, -a, a < b, a == b, not a, a and b, a or b), a, b)


def test_takes_boolean_operators_and_comparisons():
    def f(a, n, w=None):
        x = a[1]
        return 0 < n < 5 != x, x and a[2], a[0] or a[3], not x, w is None, n is not None, (n > 2) & (x < 3), x != x

    check_same(f, A8, 3)


def test_takes_print_with_f_strings(capsys):
    def f(a, n, x):
        print("values:", a, n, f"{x:.3f} {n + 1:>4d} {a[1]!r} {{}}", sep="|")
        for i in range(2):
            print(i, end=" ")
        return a

    def printed(run, *arguments):
        run(*arguments)
        return capsys.readouterr().out

    expected = printed(f, A8, 3, 2.5)
    assert printed(dcpy.program(f).to_sdfg(A8, 3, 2.5).interpret, A8, 3, 2.5) == expected


@pytest.mark.cc
def test_takes_print_in_compiled_code(capsys):
    def f(a):
        print(f"{a.sum():.2f}", a[:2])

    f(A8)
    expected = capsys.readouterr().out
    dcpy.program(f)(A8)
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 0])
def test_takes_assert_and_raise_with_messages(n):
    def f(a, n):
        assert n != 1
        assert n != 2, f"n is {n}"
        if n == 3:
            raise ValueError(f"mean {a.mean():.2f} of {a.shape}")
        if n == 4:
            raise IndexError("no {braces}", n)
        if n == 5:
            raise RuntimeError
        return a

    def message(run):
        try:
            run(A8.copy(), n)
        except Exception as error:
            return type(error), error.args if n > 2 else ()  # pytest rewrites assertions
        return None

    expected = message(f)
    assert message(dcpy.program(f).to_sdfg(A8, n).interpret) == expected
    if n in (2, 3):
        assert message(dcpy.program(f)) == expected


def test_takes_math():
    def f(x, n):
        return (
            math.sqrt(x),
            math.floor(-x),
            math.hypot(x, 1.0),
            math.isclose(x, 2.5),
            math.gcd(n, 6),
            math.tau,
            math.log2(x),
        )

    check_same(f, 2.5, 4)


def test_takes_cmath():
    check_same(lambda x: (cmath.exp(1j * x), cmath.phase(1j * x), cmath.sqrt(-x), cmath.polar(1 + 1j)), 1.5, rtol=1e-15)


def test_takes_methods_of_known_strings():
    check_same(lambda a, mode: a + 1 if mode.lower().startswith("ab") else a, A8, "Abc")
