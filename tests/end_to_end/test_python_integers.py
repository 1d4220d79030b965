"""W5: integers of Python's own in programs have 64 bits. What does not fit raises, what surely fits costs nothing."""

import math

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

LARGEST, SMALLEST = 2**63 - 1, -(2**63)


def texts(function, *args) -> str:
    return str(dcpy.program(function).to_sdfg(*args))


# -- what is proved: no compiler needed --------------------------------------------------------------------------------


def proved():
    def loop_counters(a, n):
        for i in range(1, n - 1):
            for j in range(i + 1, a.shape[1] - 1):
                a[i, j] = a[i - 1, j + 1] + 2 * i - 3 * j
        return a

    def sizes(a):
        n, m = a.shape
        return n + m - 1, 2 * n, (n + 1) // 2, -m, abs(n - m), a.ndim + 1

    def counted(a):
        found = 0
        last = -1
        for k in range(a.shape[0]):
            if a[k, 0] > 1:
                found += 1
                last = k
        steps = 100
        while steps > 0:
            steps = steps - 2
        return found, last, steps

    def downwards(a):
        for i in range(a.shape[0] - 1, 0, -1):
            a[i - 1, 0] = a[i, 0] * (i + 1)
        return a

    def small_numbers(a, n):
        x = n % 1000
        return x * x + 7, (n & 255) << 8, (n >> 32) * 4

    return loop_counters, sizes, counted, downwards, small_numbers


@pytest.mark.parametrize("function", proved(), ids=lambda function: function.__name__)
def test_w5_what_surely_fits_is_not_checked(function):
    args = (np.arange(30.0).reshape(5, 6), 5)[: function.__code__.co_argcount]
    text = texts(function, *args)
    allowed = 2 if function.__name__ == "loop_counters" else 0  # ``n - 1`` and ``n + 1`` of an argument, once each
    assert text.count("_fits(") <= allowed
    if "loop i" in text:
        assert "_fits(" not in text.partition("loop i")[2]


def test_w5_counting_stays_a_parallel_reduction():
    def count(a):
        found = 0
        for k in range(a.shape[0]):
            if a[k] > 1:
                found += 1
        return found

    assert "_fits(" not in texts(count, np.arange(9.0))


def test_w5_code_of_dcpys_own_is_not_checked():
    def f(a, bins):
        return np.histogram(a, bins)[0], a[a > 2].size, np.sort(a)

    assert "does not fit into the 64 bits" not in texts(f, np.arange(9.0), 3)


def test_w5_wrap_checks_nothing():
    program = dcpy.program(lambda a, b: a * b + abs(a) - 2**b, int_overflow="wrap")
    assert "_fits(" not in str(program.to_sdfg(3, 4))


def test_w5_the_option_takes_two_values():
    with pytest.raises(dcpy.DcpyError, match="'raise' or 'wrap' is needed"):
        dcpy.program(lambda a: a, int_overflow="saturate")


def test_w5_integers_that_no_program_holds_are_refused():
    for function in (lambda x: x & 0xFFFFFFFFFFFFFFFF, lambda x: x % 2**64, lambda x: 2**70 - x):
        with pytest.raises(dcpy.FrontendError, match="does not fit into the 64 bits") as refused:
            dcpy.program(function).to_sdfg(3)
        assert "np.uint64" in refused.value.help


def test_w5_comparisons_with_wide_integers_are_known():
    def f(x, y):
        return x < 2**64, x > -(2**64), x == 2**70, x != 2**70, x >= 2**65, y * 2**64

    assert dcpy.program(f).to_sdfg(3, 1.5).interpret(3, 1.5) == f(3, 1.5)


def test_w5_the_interpreter_finds_it_too():
    for simplify in (False, True):
        sdfg = dcpy.program(lambda a, b: a * b).to_sdfg(2, 3, simplify=simplify)
        assert sdfg.interpret(2**31, 2**31) == 2**62
        with pytest.raises(OverflowError, match=r"4294967296 \* 4294967296 does not fit into the 64 bits"):
            sdfg.interpret(2**32, 2**32)


def test_w5_a_loop_tests_what_may_overflow():
    def f(n):
        i = 0
        while -i > -n:
            i += 1
        k = 1
        while k * k <= n:
            k += 1
        return i, k

    assert dcpy.program(f).to_sdfg(5).interpret(5) == f(5)


# -- what is not -------------------------------------------------------------------------------------------------------

OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "negative": lambda a, b: -a + 0 * b,
    "absolute": lambda a, b: abs(a) + 0 * b,
    "cube": lambda a, b: a**3 + 0 * b,
    "lcm": lambda a, b: math.lcm(a, b),
    "sum": lambda a, b: sum((a, b, a)),
    "twice the least": lambda a, b: 2 * min(a, b),
}
VALUES = (0, 1, -1, 2, 3, -7, 62, 63, 64, 2**21 - 1, 2**21, 2**31, -(2**31), 2**32, 2**40 + 1, LARGEST, SMALLEST)


@pytest.mark.cc
@pytest.mark.parametrize("name", OPERATIONS)
def test_w5_operations_give_pythons_value_or_raise(name):
    function = OPERATIONS[name]
    program = dcpy.program(function)
    for a in VALUES:
        for b in VALUES:
            if (name in ("//", "%") and b == 0) or (name in ("**", "<<", ">>") and not 0 <= b <= 100):
                continue
            expected = function(a, b)
            if name == "lcm" and SMALLEST in (a, b):
                continue  # the magnitude of an operand does not fit
            inside = SMALLEST <= expected <= LARGEST
            try:
                found = program(a, b)
            except OverflowError:
                partial = (a + b, -a, a**3) if name in ("sum", "negative", "absolute", "cube") else ()
                assert not inside or any(not SMALLEST <= part <= LARGEST for part in partial), (name, a, b)
            else:
                assert (inside, type(found), found) == (True, int, expected), (name, a, b)


@pytest.mark.cc
def test_w5_the_error_has_the_line_and_the_numbers():
    def f(n):
        return (2**n) % 1000003

    with pytest.raises(OverflowError, match=r"2 \*\* 100 does not fit into the 64 bits") as raised:
        dcpy.program(f)(100)
    notes = "\n".join(raised.value.__notes__)
    assert "return (2**n) % 1000003" in notes
    assert "test_python_integers.py" in notes
    assert "for x**y % m, pow(x, y, m)" in notes
    check_same(f, 62)


@pytest.mark.cc
def test_w5_number_theory():
    def factorial(n):
        product = 1
        for i in range(1, n + 1):
            product *= i
        return product

    def fibonacci(n):
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    def hashed(n):
        h = 5381
        for i in range(n):
            h = (h * 33 + i) % 2**32
        return h

    def squares(n):
        total = 0
        for i in dcpy.map[0:n]:
            total += i * i
        return total

    def guarded(n):
        return (2**n if n < 62 else 0), (n > 62 or 2**n > 10)

    for function, last in ((factorial, 20), (fibonacci, 91), (collatz, 27), (hashed, 1000), (squares, 100)):
        check_same(function, last)
    for n in (5, 100):
        check_same(guarded, n)
    for function, first in ((factorial, 21), (fibonacci, 93)):
        with pytest.raises(OverflowError):
            dcpy.program(function)(first)
    assert dcpy.program(factorial, int_overflow="wrap")(25) == 7034535277573963776


@pytest.mark.cc
def test_w5_powers_modulo_a_number():
    program = dcpy.program(lambda x, y, m: pow(x, y, m))
    for x in (0, 2, -7, LARGEST, SMALLEST):
        for y in (0, 1, 13, 2**40):
            for m in (1, -1, 7, -11, 1000003, LARGEST, SMALLEST):
                assert program(x, y, m) == pow(x, y, m), (x, y, m)
    for x, y, m in ((2, -1, 7), (2, 3, 0)):
        with pytest.raises(ValueError, match=r"pow\(\)"):
            program(x, y, m)


@pytest.mark.cc
def test_w5_numpys_integers_wrap():
    program = dcpy.program(lambda x, a: (x * x, a * 3))
    with np.errstate(all="ignore"):
        x, a = np.int64(2**40), np.array([2**62, 1])
        found, expected = program(x, a), (x * x, a * 3)
    assert found[0] == expected[0]
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.cc
def test_w5_int_of_what_64_bits_do_not_hold():
    program = dcpy.program(lambda x: int(x))
    for value in (np.uint64(2**63 - 1), np.uint8(255), np.float64(-(2.0**63)), -3.9, True):
        assert program(value) == int(value)
    for value in (np.uint64(2**63), 1e300, float("inf"), 2.0**63):
        with pytest.raises(OverflowError):
            program(value)
