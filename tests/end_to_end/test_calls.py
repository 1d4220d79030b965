"""Calls: how programs take arguments, and functions that call functions, with views going in and coming out."""

import functools

import numpy as np
import pytest

import dcpy
from tests.support.oracles import assert_equal, check_same

pytestmark = pytest.mark.cc

A8 = np.arange(8.0)
M = np.arange(12.0).reshape(3, 4)
N = dcpy.symbol("N")


# -- how a program is called -----------------------------------------------------------------------------------------


def mixed(a, /, b=2.0, *, scale=1, offset=None):
    if offset is None:
        return a * b * scale
    return a * b * scale + offset


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ((A8,), {}),
        ((A8, 3.0), {}),
        ((A8,), {"b": A8}),
        ((A8,), {"scale": 2, "b": 3}),
        ((A8,), {"offset": 1}),
        ((A8, 1), {"scale": np.float32(2), "offset": A8}),
    ],
)
def test_positional_keyword_and_default_arguments(args, named):
    assert_equal(dcpy.program(mixed)(*args, **named), mixed(*args, **named))


@pytest.mark.parametrize(
    ("args", "named"),
    [((), {}), ((A8, 1, 2), {}), ((A8,), {"a": A8}), ((A8, 1), {"b": 1}), ((A8,), {"wrong": 1}), ((), {"a": A8})],
)
def test_wrong_calls_get_pythons_own_words(args, named):
    with pytest.raises(TypeError) as theirs:
        mixed(*args, **named)
    with pytest.raises(TypeError) as mine:
        dcpy.program(mixed)(*args, **named)
    assert str(mine.value) == str(theirs.value)


def test_default_values_are_pythons():
    table = np.arange(3.0)

    def f(x, t=table, n=2 + 1, mode="add", pair=(1, 2)):
        if mode == "add":
            return t[n - 1] + x + pair[1]
        return t[0] * x

    program = dcpy.program(f)
    assert program(1.0) == 5
    table[2] = 10
    assert program(1.0) == 13
    assert program(1.0, mode="multiply") == 0
    assert program(1.0, pair=(1, 5), n=1) == 6


def test_each_type_has_a_program_of_its_own():
    program = dcpy.program(lambda x, y: x * y)
    values = (2, 2.5, np.int8(3), np.float32(2.5), A8.astype(np.int32), M[0, :1])
    for x in values:
        for y in values:
            assert_equal(program(x, y), x * y)


def test_an_annotated_program():
    @dcpy.program
    def f(a: dcpy.float64[N, N], n: dcpy.int32, x: dcpy.float32 = 1.0):
        return a * x + n, N * 2

    got, size = f(np.eye(3), 5)
    np.testing.assert_array_equal(got, np.eye(3) + 5)
    assert size == 6
    assert f(np.eye(3), np.int32(5), np.float32(2))[0][0, 0] == 7
    for wrong in (2.5, np.int64(3), "3", None):
        with pytest.raises(TypeError, match="'n'"):
            f(np.eye(3), wrong)


def test_a_program_looks_like_its_function():
    @dcpy.program
    def f(a, n=3):
        """Adds."""
        return a + n

    assert f.__name__ == "f"
    assert f.__doc__ == "Adds."
    assert f.function(1) == f(1) == 4
    assert functools.partial(f, n=5)(1) == 6


# -- functions that call functions -----------------------------------------------------------------------------------


def add(a, b=1, *, scale=2.0):
    return (a + b) * scale


@dcpy.program
def decorated(a, b):
    a[0] = b
    return a[1:], a.sum()


@dcpy.program
def annotated(v: dcpy.float64[N], x: dcpy.float64):
    v += x * N


def optional(a, b=None):
    if b is None:
        b = a * 2
    return a + b


def extrema(a):
    return a.min(), (a.max(), a[::2])


def double(v):
    v *= 2


def rebinding(a):
    a = a + 1
    a[0] = 50
    return a


def identity(a):
    return a


def chosen(x):
    if x > 2:
        return x * 10
    for i in range(3):
        if x == i:
            return x - 1
    return x


def test_arguments_of_inner_calls():
    def f(a):
        return add(a), add(a, 2), add(a, b=3, scale=0.5), add(b=1, a=2), add(*(a, 2)), add(a, **{"b": 3})

    check_same(f, A8)


def test_defaults_and_none_in_inner_calls():
    def f(a):
        return optional(a), optional(a, a), optional(a, b=3)

    check_same(f, A8)


def test_decorated_and_annotated_functions():
    def f(a):
        v, s = decorated(a, 5.0)
        v[0] = 9
        annotated(a[2:5], 0.5)
        annotated(a[::2], s)
        return v, s

    check_same(f, A8)


def test_tuples_as_results():
    def f(a):
        low, (high, even) = extrema(a)
        even[1] = -7
        return high - low, even, extrema(even)[1][0]

    check_same(f, A8)


def test_windows_of_all_kinds_as_arguments():
    def f(a, m):
        double(a[2:5])
        double(m.T[1])
        double(m[0])
        double(a[::-2])
        double(m[:, 1:3])
        double(m.T[1:, ::2])
        double(m.reshape(4, 3)[1])
        for i in range(3):
            double(m[i, i:])

    check_same(f, A8, M)
    check_same(f, A8[::-1], np.ascontiguousarray(M[::-1]))


def test_rebinding_a_parameter_leaves_the_callers_array():
    def f(a):
        b = rebinding(a)
        c = identity(a)
        c[1] = 3
        d = identity(a + 0)
        d += 1
        return b, c, d, rebinding(identity(a[2:]))

    check_same(f, A8)


def test_results_of_one_call_as_arguments_of_the_next():
    def f(a):
        return add(add(add(a, 1), scale=3.0)[1:], extrema(add(a))[0])

    check_same(f, A8)


def test_scalars_in_and_out():
    def power(x, n):
        r = x * 0 + 1
        for _ in range(n):
            r *= x
        return r

    def f(a, n, x):
        a[0] = power(a[2], n)
        for i in range(8):
            a[i] = chosen(a[i])
        return power(2.0, n + 1), power(x, 2), power(3, n), power(a[1], 0)

    check_same(f, A8, 3, np.float32(1.5))


def test_swapped_arrays():
    def swapped(x, y):
        return y, x

    def f(a, m):
        x, y = swapped(a, m)
        x[0, 0] = 5
        y[0] = 6
        return x, y

    check_same(f, A8, M)


def test_calls_in_loops_branches_and_expressions():
    def f(a, b):
        for i in range(3):
            b[i : i + 2] += add(a[i : i + 2], i)
        first = add(a) if a[0] > 1 else add(a, 5)
        while extrema(b)[1][0] > 10:
            b /= 2
        return first, [add(x) for x in (1, 2)][1], sum([add(a[k]) for k in range(3)])

    check_same(f, A8, A8)


def test_deep_calls():
    def third(a):
        a[0] = 100
        return a.sum()

    def second(a):
        return third(a[::2]) * 2

    def first(a):
        return second(a[1:]) + 1

    def f(a):
        return first(a) + first(a[2:])

    check_same(f, A8)


def test_overlapping_arguments_of_inner_calls():
    def shift(to, source):
        to[:] = source + 1

    def f(a):
        shift(a[1:], a[:-1])
        shift(a[:-1], a[1:])
        shift(a, a[::-1])
        shift(a, a)

    check_same(f, A8)


def test_row_30_a_callee_that_is_passed_one_array_twice():
    def mix(x, y):
        x[0] = 5
        y[1] = x[0] + y[0]
        return x.sum() + y.sum()

    def f(a, b):
        return mix(a, b), mix(a, a), mix(a[1:], a[:-1])

    check_same(f, A8, A8 * 3)


def test_asserts_of_inner_functions():
    def positive(x):
        assert x > 0, "must be positive"
        return x * 2

    def f(x):
        return positive(x) + positive(x + 1)

    check_same(f, 3.0)
    check_same(f, -0.5)
    check_same(f, -3.0)


def test_variable_arguments():
    def total(*args, **named):
        s = named["start"]
        for x in args:
            s = s + x
        return s, len(args)

    def f(a):
        return total(a, 1.0, start=2), total(*(a, a), start=a)

    check_same(f, A8)


def test_functions_of_other_modules_and_methods_of_arrays():
    def f(a, m):
        return a.sum(), m.max(axis=0), np.add(a, 1).mean(), a.copy().astype(np.float32), abs(-a)

    check_same(f, A8, M)


def test_calls_that_do_not_fit_are_refused_with_pythons_words():
    for function, reason in (
        (lambda a: add(), "missing 1 required"),
        (lambda a: add(a, 1, 2), "takes 2 positional arguments but 3 were given"),
        (lambda a: add(a, wrong=1), "unexpected keyword argument 'wrong'"),
        (lambda a: add(a, a=1), "multiple values for argument 'a'"),
    ):
        with pytest.raises(dcpy.DcpyError, match=reason) as caught:
            dcpy.program(function)(A8)
        assert "test_calls.py" in str(caught.value)


def test_slices_that_are_passed_may_broadcast():
    def add(x, y):
        return x + y

    def f(a):
        return add(a, a[:1]), add(a[1:], a[:-1])

    check_same(f, np.arange(4.0))
    check_same(f, np.arange(2.0), compiled=False)


@pytest.mark.parametrize("number", [4, np.int32(4), np.int64(4), np.uint64(4)])
def test_compiled_functions_take_integers_as_their_samples_were(number):
    def total(n, x):
        s = 0.0
        for i in range(n):
            s += x[i]
        return s

    x = np.arange(10.0)
    assert dcpy.program(total).compile(number, x)(number, x) == 6.0


@pytest.mark.parametrize("number", [-(2**63), -(2**63) + 1, -(2**62), 2**62, 2**63 - 1])
@pytest.mark.parametrize("compiled", [False, True])
def test_bounds_of_slices_are_any_numbers_of_64_bits(number, compiled):
    def rest(n, x):
        return x[n:]

    x = np.arange(10.0)
    program = dcpy.program(rest)
    if compiled:
        program = program.compile(number, x)
    np.testing.assert_array_equal(program(number, x), rest(number, x))
