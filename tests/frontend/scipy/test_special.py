"""Section 3, `scipy.special`: values, dtypes and keywords are SciPy's."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.special as sc

import dcpy
from dcpy.frontend.implements import find
from dcpy.frontend.scipy.special import BETWEEN_LOGARITHMS, FORMULAS, OPERATIONS
from tests.support.numpy_records import interpreted, outcome
from tests.support.oracles import check_same

REAL = np.array([-3.3, -1.5, -0.5, 0.0, 0.2, 0.5, 0.9, 1.0, 2.5, 7.0, 160.0])
UNIT = np.array([0.0, 1e-300, 1e-10, 0.01, 0.2, 0.4, 0.5, 0.51, 0.9, 0.99, 1.0, -0.3, np.nan, np.inf])
FUNCTIONS = [*OPERATIONS, *FORMULAS]
ZERO_BETWEEN = ("gammaln", "betaln", "digamma", "psi", "j0", "j1", "y0", "y1")  # relative to what is around a zero


def close(function, got, expected):
    assert got.dtype == expected.dtype
    single = expected.dtype == np.float32
    rtol = 1e-5 if single else 1e-10 if function.__name__ in BETWEEN_LOGARITHMS else 1e-13
    atol = 1e-14 if function.__name__ in ZERO_BETWEEN else 0
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-6 if single else atol)


def samples(function):
    """Limits at infinity are taken where a formula has them by itself."""
    if function.nin == 1:
        return [(REAL,), (UNIT if function in FORMULAS else UNIT[:-1],)]
    if function in (sc.beta, sc.betaln, sc.binom, sc.poch):
        return [tuple(part.ravel() for part in np.meshgrid(left, REAL[3:])) for left in (REAL[4:], UNIT[3:-3])]
    return [tuple(part.ravel() for part in np.meshgrid(left, REAL)) for left in (REAL, UNIT[2:])]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_values(function):
    def one(x):
        return function(x)

    def two(x, y):
        return function(x, y)

    assert find(function) is not None
    for arguments in samples(function):
        with np.errstate(all="ignore"):
            close(function, interpreted(one if function.nin == 1 else two, *arguments), function(*arguments))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int8", "uint8", "bool"])
@pytest.mark.parametrize("function", [sc.erf, sc.expit, sc.gamma, sc.xlogy, sc.j0], ids=lambda f: f.__name__)
def test_dtypes(function, dtype):
    x = np.array([0, 1, 3, 5]).astype(dtype)

    def one(x):
        return function(x)

    def two(x):
        return function(x, x + 1)

    program = one if function.nin == 1 else two
    close(function, interpreted(program, x), program(x))


def test_keywords_scalars_and_broadcasting():
    def f(x, y, out):
        sc.erf(x, out=out)
        a = sc.erfc(x, where=x > 0, out=np.zeros_like(x))
        return a, sc.xlogy(x, y[:, None]), sc.expit(0.3), sc.gamma(y[0]), sc.erf(2), sc.expit(x, dtype=np.float32)

    check_same(f, np.array([-1.0, 0.5]), np.array([1.0, 2.0, 3.0]), np.zeros(2), rtol=1e-6, compiled=False)


def sums(a):
    parts = sc.logsumexp(a), sc.logsumexp(a, axis=0), sc.logsumexp(a, axis=1, keepdims=True)
    signed = sc.logsumexp(a, axis=1, b=a, return_sign=True)
    return parts, signed, sc.softmax(a), sc.softmax(a, axis=1), sc.log_softmax(a, axis=0), sc.log_softmax(a[0])


def counts(a, n):
    chosen = sc.comb(10, a), sc.comb(n, 2), sc.comb(n, a, repetition=True), sc.perm(6, a), sc.factorial(a)
    return chosen, sc.comb(n, 3, exact=True), sc.factorial(n, exact=True), sc.perm(n, 2, exact=True)


def test_functions_of_arrays():
    for scale in (1, 1000):
        check_same(sums, scale * np.array([[0.3, -1.2, 2.0], [0.0, 5.0, -0.5]]), rtol=1e-13, compiled=False)
    check_same(sums, np.array([[-np.inf, 1.0], [0.5, -np.inf]]), rtol=1e-13, compiled=False)


def test_functions_of_counts():
    check_same(counts, np.array([0, 1, 2, 5, 12]), 7, rtol=1e-13, compiled=False)


@pytest.mark.cc
@pytest.mark.filterwarnings("ignore")
def test_compiled():
    def every(x, y):
        one = sc.erf(x), sc.erfc(x), sc.gamma(y), sc.gammaln(y), sc.j0(x), sc.j1(x), sc.y0(y), sc.y1(y), sc.expit(x)
        two = sc.xlogy(x, y), sc.rel_entr(y, y + 1), sc.beta(x, y), sc.binom(y, x), sc.digamma(x), sc.ndtri(x / 9)
        return one, two, sc.erfinv(x / 9), sc.entr(x), sc.log_expit(x), sc.logit(x / 9), sc.ndtr(x)

    x = np.array([0.3, 0.9, 2.5, 7.25, 8.9])
    check_same(every, x, x + 0.5, rtol=1e-12)
    check_same(sums, np.array([[0.3, -1.2, 2.0], [0.0, 5.0, -0.5]]), rtol=1e-13)


def refusal(program, *arguments):
    _, error = outcome(lambda: dcpy.program(program).to_sdfg(*arguments))
    assert isinstance(error, dcpy.DcpyError), error
    return str(error)


def test_refuses_what_it_has_not():
    import scipy.signal

    assert "docs/reference/scipy.md" in refusal(lambda a: sc.iv(1, a), REAL)
    assert "scipy.signal.fftconvolve() is not supported" in refusal(lambda a: scipy.signal.fftconvolve(a, a), REAL)
    assert "scipy.special.erf of complex numbers" in refusal(lambda a: sc.erf(a), REAL * 1j)
    assert "dcpy.callback(scipy.special.iv, returns=...)" in refusal(lambda a: sc.iv(1, a), REAL)


IN_THE_OTHER_ORDER = """
import scipy.special
import dcpy.frontend.scipy.special  # before NumPy's own functions are looked at
from dcpy.frontend.implements import implemented
print([name for name in implemented() if name.startswith("scipy.special.") and name.count(".") > 2])
"""


def test_what_is_imported_first_changes_nothing():
    """Methods of SciPy's ufuncs (`reduce`, `at`) are refused in any order of imports."""
    done = subprocess.run([sys.executable, "-c", IN_THE_OTHER_ORDER], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
