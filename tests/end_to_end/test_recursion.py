"""Functions that call themselves, for the sizes and integers of each call.

Section 3 of what real use found: "recursion (bounded depth, scalars and arrays: `fft` of halves)".
"""

import math

import numpy as np
import pytest

import dcpy
from tests.support.oracles import assert_equal

X = np.arange(8.0) + 1


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def scaled_fib(x, n):
    return x if n < 2 else scaled_fib(x, n - 1) + scaled_fib(x, n - 2)


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


def total(x):
    n = len(x)
    if n == 1:
        return x[0]
    return total(x[: n // 2]) + total(x[n // 2 :])


def fft(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = fft(x[::2]), fft(x[1::2])
    factor = np.exp(-2j * np.pi * np.arange(n // 2) / n)
    return np.concatenate([even + factor * odd, even - factor * odd])


def strassen(a, b):
    n = a.shape[0]
    if n <= 2:
        return a @ b
    h = n // 2
    c = np.zeros((n, n))
    c[:h, :h] = strassen(a[:h, :h], b[:h, :h]) + strassen(a[:h, h:], b[h:, :h])
    c[:h, h:] = strassen(a[:h, :h], b[:h, h:]) + strassen(a[:h, h:], b[h:, h:])
    c[h:, :h] = strassen(a[h:, :h], b[:h, :h]) + strassen(a[h:, h:], b[h:, :h])
    c[h:, h:] = strassen(a[h:, :h], b[:h, h:]) + strassen(a[h:, h:], b[h:, h:])
    return c


def stairs(x, n):
    """Writes into what it was passed, at each level."""
    if n > 0:
        x += n
        stairs(x[1:], n - 1)


def with_a_function_inside(x, n):
    def times(k):
        return 1.0 if k == 0 else x[0] * times(k - 1)

    return times(n) + times(2)


CALLS = [
    (fib, (10,)), (fib, (40,)), (scaled_fib, (1.5, 20)), (factorial, (20,)), (factorial, (30,)), (gcd, (12, 18)),
    (ackermann, (2, 3)), (is_even, (7,)),
    (power, (1.5, 13)), (total, (X,)), (fft, (X + 0j,)), (strassen, (np.arange(64.0).reshape(8, 8), np.eye(8))),
    (stairs, (X, 3)), (with_a_function_inside, (X + 1, 4)),
]  # fmt: skip


@pytest.mark.cc
@pytest.mark.parametrize(("f", "given"), CALLS, ids=[f"{f.__name__}{k}" for k, (f, _) in enumerate(CALLS)])
def test_s3_functions_that_call_themselves(f, given):
    mine, theirs = ([x.copy() if isinstance(x, np.ndarray) else x for x in given] for _ in range(2))
    caller = dcpy.program(lambda *args: f(*args))
    expected = by_addition(given) if f is fib else f(*theirs)
    assert_equal(caller(*mine), expected, rtol=1e-12)
    if f is not fib:
        assert_equal(tuple(mine), tuple(theirs))


def by_addition(given):
    """Python would take minutes."""
    a, b = 0, 1
    for _ in range(given[0]):
        a, b = b, a + b
    return a


@pytest.mark.cc
def test_s3_one_program_for_many_sizes_and_numbers():
    program, numbers = dcpy.program(fft), dcpy.program(factorial)
    for n in (8, 2, 16, 4, 32, 1, 64, 8):
        x = np.arange(n) * (1 - 0.5j)
        np.testing.assert_allclose(program(x), np.fft.fft(x), rtol=1e-10, atol=1e-10)
    for n in (3, 5, 4, 7, 6, 1, 25):
        assert numbers(n) == math.factorial(n)


def test_s3_there_are_as_many_functions_as_levels():
    @dcpy.program
    def f(x: dcpy.complex128[64]):
        return fft(x)

    sdfg = f.to_sdfg()
    sdfg.validate()
    names = [each.name for each in sdfg.all_sdfgs_recursive()]
    assert len(names) == 1 + 6  # that of one element is what it was passed
    assert "outlined" in str(sdfg)
    x = np.arange(64) * (1 - 0.5j)
    np.testing.assert_allclose(sdfg.interpret(x), np.fft.fft(x), rtol=1e-10, atol=1e-10)


def converging(x, tolerance):
    return x if x < tolerance else converging(x / 2, tolerance)


def quicksort(x, low, high):
    if low < high:
        i = low
        for j in range(low, high):
            if x[j] < x[high]:
                x[i], x[j] = x[j], x[i]
                i += 1
        x[i], x[high] = x[high], x[i]
        quicksort(x, low, i - 1)
        quicksort(x, i + 1, high)


def for_ever(n):
    return for_ever(n + 1)


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (lambda x: converging(x[0], 1e-3), "only data could end the recursion"),
        (lambda x: quicksort(x, 0, len(x) - 1), "deeper than 64 calls"),
        (lambda x: for_ever(1), "deeper than 64 calls"),
    ],
    ids=["float", "positions", "endless"],
)
def test_s3_recursion_that_data_ends_is_refused(f, reason):
    with pytest.raises(dcpy.FrontendError, match=rf"calls itself[\s\S]*{reason}[\s\S]*write a loop"):
        dcpy.program(f)(X)


def test_s3_sdfgs_of_samples_are_for_their_sizes_and_integers():
    sdfg = dcpy.program(fft).to_sdfg(X + 0j)
    np.testing.assert_allclose(sdfg.interpret(X + 0j), np.fft.fft(X), rtol=1e-10, atol=1e-10)
    with pytest.raises(dcpy.DcpyError, match=r"'x' has the shape \(4,\); the program takes \(8,\)"):
        sdfg.interpret(X[:4] + 0j)
    assert dcpy.program(factorial).to_sdfg(6).interpret() == 720
    scaled = dcpy.program(scaled_fib).to_sdfg(2.0, 10)
    assert scaled.interpret(1.5) == scaled_fib(1.5, 10)


@pytest.mark.cc
def test_s3_a_program_that_calls_itself_has_few_versions(monkeypatch):
    monkeypatch.setattr("dcpy.frontend.lower.functions.recursion.MAX_VERSIONS", 2)
    program = dcpy.program(factorial)
    assert (program(3), program(4), program(3)) == (6, 24, 6)
    with pytest.raises(dcpy.FrontendError, match=r"more than 2 combinations of sizes(.|\n)*write a loop"):
        program(5)
    assert program(4) == 24
