"""Section 3, `math.*`: every function of the module gives Python's values, types and exceptions; `round` to digits."""

import cmath
import itertools
import math

import numpy as np
import pytest

import dcpy
from dcpy.frontend.implements import implemented
from tests.support.numpy_records import assert_same, interpreted, outcome
from tests.support.oracles import check_same

FLOATS = [
    0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.0, -2.0, 2.5, -2.5, 3.7, 7.0, -7.25, 12.0, 100.5, 171.5, 172.0, 1e-310,
    -1e-310, 5e-324, 2.0**-1022, 1e16, -1e17, 1e300, 1.7976931348623157e308, math.inf, -math.inf, math.nan,
]  # fmt: skip
INTEGERS = [0, 1, 2, 3, 5, 8, 20, 21, 35, -1, -4, 10**6, 3037000499**2, 3037000500**2 - 2**40, 2**62, 2**63 - 1]
ONE = [
    math.acos, math.acosh, math.asin, math.asinh, math.atan, math.atanh, math.cbrt, math.ceil, math.cos, math.cosh,
    math.degrees, math.erf, math.erfc, math.exp, math.exp2, math.expm1, math.fabs, math.floor, math.frexp, math.gamma,
    math.isfinite, math.isinf, math.isnan, math.lgamma, math.log, math.log10, math.log1p, math.log2, math.modf,
    math.radians, math.sin, math.sinh, math.sqrt, math.tan, math.tanh, math.trunc, math.ulp,
]  # fmt: skip
TWO = [
    math.atan2, math.copysign, math.fmod, math.hypot, math.log, math.nextafter, math.pow, math.remainder, math.isclose
]  # fmt: skip
WHOLE = [math.factorial, math.isqrt, math.perm]
WHOLE_PAIRS = [math.comb, math.perm, math.gcd, math.lcm]


def same_everywhere(function, columns, rtol):
    """A program that calls `function` on numbers gives Python's results, and raises where Python raises.

    An integer that does not fit raises `OverflowError` in a program only.
    """

    def of_one(x):
        return function(x)

    def of_two(x, y):
        return function(x, y)

    program = of_one if len(columns[0]) == 1 else of_two
    for values in columns:
        expected, raised = outcome(lambda values=values: program(*values))
        got, error = outcome(lambda values=values: interpreted(program, *values))
        if raised is None and type(expected) is int and not -(2**63) <= expected < 2**63:
            assert isinstance(error, OverflowError), (values, error, got)
            continue
        assert type(error) is type(raised), (function, values, error, raised, got, expected)
        if raised is None:
            assert_same(got, expected, rtol, f"{function} of {values}")


def test_all_of_math_is_there():
    known = implemented()
    newer = {"sumprod", "fma"}  # of Python 3.12 and 3.13
    public = [name for name, found in vars(math).items() if callable(found) and not name.startswith("_")]
    assert [name for name in public if f"math.{name}" not in known and name not in newer] == []
    public = [name for name, found in vars(cmath).items() if callable(found) and not name.startswith("_")]
    assert [name for name in public if f"cmath.{name}" not in known] == []


@pytest.mark.parametrize("function", ONE, ids=lambda f: f.__name__)
def test_functions_of_one_float(function):
    same_everywhere(function, [(x,) for x in FLOATS], 1e-14)


@pytest.mark.parametrize("function", TWO, ids=lambda f: f.__name__)
def test_functions_of_two_floats(function):
    same_everywhere(function, list(itertools.product([*FLOATS[:-1:2], math.nan, math.inf], repeat=2)), 1e-14)


@pytest.mark.parametrize("function", WHOLE, ids=lambda f: f.__name__)
def test_functions_of_one_integer(function):
    same_everywhere(function, [(n,) for n in INTEGERS if function is math.isqrt or n < 10**6], 0)


@pytest.mark.parametrize("function", WHOLE_PAIRS, ids=lambda f: f.__name__)
def test_functions_of_two_integers(function):
    divides = function in (math.gcd, math.lcm)
    columns = [(n, k) for n, k in itertools.product(INTEGERS, repeat=2) if divides or n < 10**6]
    same_everywhere(function, [*columns, (66, 33), (62, 31), (10**9, 2), (2**62, 1)], 0)


def test_ldexp():
    exponents = [0, 1, -1, 52, -52, 1023, -1074, -1075, -1100, 1100, 2000, -2000, 10**15]
    columns = [(x, e) for x in [*FLOATS, 0.7, 1 / 3, 3e-308] for e in exponents]
    same_everywhere(math.ldexp, columns, 0)


def test_round_to_digits():
    numbers = [2.675, 1.005, 0.125, 0.375, -0.125, 2.5, -2.5, 1234.5678, 15.0, 25.0, -35.0, 4503599627370497.5, 1e22]
    digits = [0, 1, 2, 3, 5, 12, 22, -1, -2, -3, -22]
    same_everywhere(round, [(x, n) for x in numbers + FLOATS for n in digits], 0)
    whole = [0, 5, 15, 25, -5, -15, 1234, 2**62, -(2**63)]
    same_everywhere(round, [(x, n) for x in whole for n in (0, 3, -1, -2, -18, -20, -30)], 0)


def test_round_to_known_digits():
    def f(x, n, a):
        return round(x, 1), round(x, -2), round(n, -1), round(n, 2), round(a[0], 1), [round(v, 2) for v in (x, 2 * x)]

    for x in (2.25, 0.15, -1234.05, 1e300):
        check_same(f, x, 1235, np.array([0.25, 1.0]), compiled=False)


def test_round_to_more_digits_than_powers_of_ten_are_exact_is_refused():
    with pytest.raises(dcpy.DcpyError, match="takes between -22 and 22 digits"):
        dcpy.program(lambda x: round(x, 23)).to_sdfg(1.5)
    with pytest.raises(ValueError, match="takes between -22 and 22 digits"):
        interpreted(lambda x, n: round(x, n), 1.5, 23)


def total(x):
    return math.fsum(x)


def test_fsum():
    rng = np.random.default_rng(8)
    samples = [
        [], [0.1] * 10, [1e100, 1.0, -1e100], [1e16, 1.0, 1e-16], [-1e16, -1.0, -1e-16], [1e308, 1e308, -1e308],
        [math.inf, 1.0], [math.inf, -math.inf], [math.nan, 1.0], [-0.0], [2.0**53, 0.5, 2.0**-60, 0.5],
        [1e-320, 1e-310, 1.0], [1e200, 1e-300, -1e200, 1e-320],
    ]  # fmt: skip
    samples += [list(rng.normal(size=40) * 10.0 ** rng.integers(-20, 20, 40)) for _ in range(3)]
    for sample in samples:
        check_same(total, np.array(sample), compiled=False)


def test_fsum_of_what_is_not_an_array():
    def f(x, y, a):
        return math.fsum((x, y, 0.1, 2)), math.fsum([x] * 10), math.fsum(a[::2]), math.fsum(v * v for v in a)

    check_same(f, 0.1, 1e16, np.array([0.1, 0.7, 1e18]), compiled=False)

    def g(a, n):
        return math.prod(v + 1 for v in a), math.prod(range(1, n)), math.prod([k + 0.5 for k in range(n)], start=2)

    check_same(g, np.array([0.1, 0.7, 3.0]), 6, rtol=1e-15, compiled=False)


def test_products_lengths_and_distances():
    def f(a, k, x, y):
        lengths = math.hypot(), math.hypot(x), math.hypot(x, y, 2), math.dist((x, y), (1, 2)), math.dist(a, a[::-1])
        return lengths, math.prod(a), math.prod(k), math.prod((x, y, 3)), math.prod(k, start=x), math.prod([])

    k = np.array([2, -3, 7], np.int32)
    for x, y in ((3.0, 4.0), (1e300, 1e300), (1e-300, 2e-300), (math.inf, math.nan), (0.0, -0.0), (math.nan, 1.0)):
        check_same(f, np.array([1.5, -2.25, 3.0]), k, x, y, rtol=1e-15, compiled=False)


def test_distances_of_points_that_do_not_match():
    with pytest.raises(ValueError, match="both points must have the same number of dimensions"):
        interpreted(lambda p, q: math.dist(p, q), np.ones(3), np.ones(2))


def test_parts_are_pythons_numbers():
    def f(x):
        mantissa, exponent = math.frexp(x)
        return mantissa * np.float32(2), np.float32(exponent), math.ldexp(mantissa, exponent) == x, math.ulp(x)

    check_same(f, 10.5, compiled=False)


def test_tolerances():
    def f(x, y, t):
        return math.isclose(x, y, rel_tol=t), cmath.isclose(x, y, rel_tol=t), cmath.isclose(x * 1j, y, abs_tol=t)

    for t in (1e-9, 0.5, -1.0):
        check_same(f, 1.0, 1.5, t, compiled=False)
    check_same(f, math.inf, math.inf, 0.0, compiled=False)


REFUSED = [
    (lambda x: math.factorial(x), 2.5, "math.factorial takes integers"),
    (lambda x: math.comb(x, 2), 2.5, "math.comb takes integers"),
    (lambda x: math.ldexp(x, x), 2.5, "Expected an int as second argument to ldexp"),
    (lambda x: math.erf(x), 1j, "math.erf does not take"),
    (lambda x: math.erf(x), np.ones(3), "math.erf does not take an array"),
    (lambda x: math.fsum(x), np.ones((3, 2)), "math.fsum takes real numbers in one dimension"),
    (lambda x: round(x, 1), 1j, "round\\(\\) does not take"),
]


@pytest.mark.parametrize(("program", "argument", "message"), REFUSED)
def test_refuses(program, argument, message):
    with pytest.raises(dcpy.DcpyError, match=message):
        dcpy.program(program).to_sdfg(argument)


@pytest.mark.cc
def test_compiled():
    def f(x, y, n, k, a):
        floats = math.erf(x), math.erfc(x), math.gamma(x), math.lgamma(x), math.remainder(x, y), math.ulp(x)
        parts = math.frexp(x), math.ldexp(x, n), math.hypot(x, y, x), math.dist(a, a[::-1]), math.fsum(a)
        return floats, parts, math.comb(n, k), math.perm(n, k), math.factorial(n), math.isqrt(n), round(x, k)

    for x, n, k in ((2.675, 10, 2), (0.5, 20, 7), (-3.0, 5, 1), (1.5, 12, 1), (171.7, 3, -1)):
        check_same(f, x, 0.7, n, k, np.array([1e16, 1.0, 0.1, -1e16]), rtol=1e-13)


@pytest.mark.cc
def test_compiled_over_arrays():
    def f(a):
        out = np.empty_like(a)
        for i in range(a.size):
            out[i] = math.erf(a[i]) + round(float(a[i]), 1) + math.comb(i, 2) + math.isqrt(i)
        return out

    check_same(f, np.linspace(-3, 3, 101), rtol=1e-13)
