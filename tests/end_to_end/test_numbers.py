"""Numbers that meet dtypes: Python's integers that do not fit, floats stored as integers, kinds that paths decide."""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

A8 = np.arange(8.0)
F4 = np.arange(4, dtype=np.float32)
BYTES = np.zeros(4, np.uint8)
SIGNED = np.zeros(4, np.int8)


# -- Python's integers fit, or raise OverflowError ---------------------------------------------------------------------


def element(a, n):
    a[0] = n


def window(a, n):
    a[1:] = n


def gathered(a, n):
    a[[0, 2]] = n


def masked(a, n):
    a[a == 0] = n


def added(a, n):
    return a + n


def added_in_place(a, n):
    a += n


def to_an_element(a, n):
    a[0] += n


def filled(a, n):
    a.fill(n)
    return np.full(3, n, dtype=np.uint8), np.full_like(a, n)


def converted(a, n):
    return np.uint8(n), np.array([n, 1], dtype=np.uint8)


def in_a_loop(a, n):
    for i in range(4):
        a[i] = i * n


def compared(a, n):
    return a == n, a < n, n < a, a / n


def reduced_first(a, n):
    for i in range(4):
        a[i] = (i * n) & 255
        a[i] = min(max(i * n, 0), 255)
        a[i] = (i * n) % 256
        a[i] = int(a[i]) // 2


INTO_BYTES = [
    element, window, gathered, masked, added, added_in_place, to_an_element, filled, converted, in_a_loop, compared,
    reduced_first,
]  # fmt: skip


@pytest.mark.parametrize("program", INTO_BYTES)
def test_python_integers_fit_or_raise(program):
    for n in (300, -1, 5):
        check_same(program, BYTES, n, compiled=False)


@pytest.mark.cc
@pytest.mark.parametrize("program", [added, in_a_loop, reduced_first])
def test_python_integers_fit_or_raise_in_compiled_code(program):
    for n in (300, 5):
        check_same(program, BYTES, n)


def test_what_is_proved_to_fit_is_not_checked():
    assert "out of bounds for uint8" not in str(dcpy.program(reduced_first).to_sdfg(BYTES, 3))
    assert "out of bounds for uint8" in str(dcpy.program(in_a_loop).to_sdfg(BYTES, 3))


# -- floats become integers as int(x) does -----------------------------------------------------------------------------


def rebuilt(a, x):
    return np.array([x, 1], dtype=np.int8), np.full(3, x, np.int8)


FLOATS = [300.5, -1.5, 7.9, float("nan"), float("inf"), np.float64(300.5), np.float64(7.9), np.float32("nan")]


@pytest.mark.parametrize("x", FLOATS, ids=repr)
@pytest.mark.parametrize("program", [element, window, rebuilt])
def test_floats_stored_as_integers(program, x):
    check_same(program, SIGNED, x, compiled=False)


@pytest.mark.cc
def test_floats_stored_as_integers_in_compiled_code():
    for x in (7.9, 300.5, float("nan")):
        check_same(window, SIGNED, x)


def test_whole_arrays_are_converted_as_by_astype():
    def f(a, b):
        a[:] = b

    for dtype in (np.int64, np.int32, np.int16, np.uint64):
        check_same(f, np.zeros(4, dtype), np.array([np.nan, np.inf, 2.5, -1e30]), compiled=False)


# -- Python's numbers do not promote, NumPy's do: a result must not depend on which of them it is ----------------------


def assigned(a, f, c):
    x = 1.5
    if c:
        x = a[0]
    return x * f


def chosen(a, f, c):
    x = a[1] if c else 2.5
    return -(x * 2) * f


def the_larger(a, f, c):
    return max(0, f[1]) * 0.1


def position(a, f, c):
    i = 0
    if c:
        i = np.argmax(a)
    return i * f


def passed_on(a, f, c):
    def scaled(y):
        return abs(y) * f

    return scaled(a[1] if c else 2.5)


def best(a, f, c):
    found = 0.0
    for i in range(8):
        if a[i] > found:
            found = a[i]
    return found * f


def replaced(a, f, c):
    found = a[0]
    for i in range(c):
        found = float(a[i])
    return found * f


def int_or_float(a, f, c):
    x = 2 if c else 0.5
    return (-x + 1) * np.arange(3)


def int_or_complex_element(a, f, c):
    x = 2
    if c:
        x = 1j
    return np.arange(3).sum() + x


def int_or_float_item(a, f, c):
    return np.array([2 if c else 0.5, 3])


def int_or_float_everywhere(a, f, c):
    return np.full(3, 2 if c else 0.5)


@pytest.mark.parametrize("c", [0, 1])
@pytest.mark.parametrize(
    "program",
    [
        assigned, chosen, position, passed_on, best, replaced,
        int_or_float, int_or_complex_element, int_or_float_item, int_or_float_everywhere,
    ],
)  # fmt: skip
def test_dtypes_that_the_path_decides(program, c):
    check_same(program, A8, F4, c, rtol=1e-6, compiled=False)


def test_dtypes_that_values_decide_are_those_of_the_chosen_number():
    for values in (F4, -F4):
        check_same(the_larger, A8, values, 1, compiled=False)


@pytest.mark.parametrize("c", [0, 1])
def test_python_code_sees_an_int_or_a_float(c):
    def f(c):
        x = 2 if c else 0.5
        return isinstance(x, int), x

    check_same(f, c, compiled=False)


def test_an_int_or_a_float_is_a_number_where_that_does_not_matter():
    def f(a, f, c):
        x = 2 if c else 0.5
        y = abs(-x) ** 2 * 3 + 1
        return x * f, y * a, x / 4, int(x), x > 1, round(x), np.sqrt(x), isinstance(x, int | float), np.array([x, 2.5])

    for c in (0, 1):
        check_same(f, A8, F4, c, rtol=1e-6, compiled=False)


def test_a_loop_does_not_convert_what_it_assigns():
    def carried(x, k):
        for i in range(3):
            x = k[i] + (x > 0)
        return x

    def set_anew(x, k):
        for value in k:
            x = value
        return x

    def summed(x, k):
        total, last = 0, x
        for value in k:
            last = total
            total += value * 0.5
        return total, last

    large = np.full(3, 2**53 + 1)  # no float64
    for program in (carried, set_anew):
        check_same(program, np.float64(1), large, compiled=False)
    check_same(set_anew, np.float64(1), large[:0], compiled=False)
    check_same(summed, np.float64(1), large, compiled=False)


def test_kinds_of_numbers_do_not_matter_where_the_dtype_is_the_same():
    def f(a, f, c):
        x = a[1] if c else 2.5
        i = np.argmax(a) if c else 0
        for k in range(3):
            x = x * 0.5 + a[k]
        return x * a, np.sqrt(x), -x / 3 * a, max(0, f[1]) * f, max(0.0, a[1]) * 0.1 * a, i * a, a[i], float(x) * f

    for c in (0, 1):
        check_same(f, A8, F4, c, rtol=1e-6, compiled=False)


def test_an_accumulator_has_the_kind_that_the_loop_gives_it():
    def f(a, f):
        s = 0.0
        for x in a:
            s += x
        return s * f, s

    check_same(f, A8, F4, rtol=1e-6, compiled=False)
