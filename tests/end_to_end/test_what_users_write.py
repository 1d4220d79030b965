"""Section 3, row by row: what users write and was refused, each as its smallest program, in the interpreter.

Each kind has a file of its own with variations, refusals and compiled code; here is what a row says, by its own words.
"""

import itertools
import math

import numpy as np
import pytest

import dcpy
from tests.support.lists import check_lists

X, Y = np.random.default_rng(0).random((2, 16))
A = np.random.default_rng(1).random((4, 4))
ROWS = []


def row(words, *arguments):
    """A program for a row, and the arguments of its calls."""

    def note(function):
        ROWS.append(pytest.param(function, arguments, id=words))
        return function

    return note


@row("arrays built by comprehensions of a length known at run time", (5,), (0,))
def _(n):
    return np.array([math.sin(i) * i for i in range(n)])


@row("nested ones too", (4, 3))
def _(n, m):
    return np.array([[i * j + 0.5 for j in range(m)] for i in range(n)])


@row("lists that grow or change", (X,))
def _(x):
    found = []
    for v in x:
        if v > 0.5:
            found.append(v)
    return np.array(found), len(found), found


@row("generators", (6,))
def _(n):
    def fibonacci(k):
        a, b = 0, 1
        for _ in range(k):
            yield a
            a, b = b, a + b

    return [v for v in fibonacci(n)], sum(fibonacci(n))


def scaled(x, k):
    return None if k < 1 else x * k


@row("None or a number by path, in helpers and results, tested by `is None`", (X, 2), (X, 0))
def _(x, k):
    middle = None
    if k > 0:
        middle = x.mean()
    found = scaled(x, k)
    return (x if middle is None else x - middle), (x if found is None else found), middle


@row("a name that is float64 before a loop and complex128 after its first iteration", (X, 3))
def _(v, n):
    psi = np.ones_like(v)
    for _ in range(n):
        psi = np.exp(-1j * v) * psi
    return psi


@row(".get of dictionaries", (X,))
def _(x):
    options = {"a": 2.0, "b": 3}
    return x * options.get("a", 1.0) + options.get("z", 7) + options.get("b")


def taken(x, *args, scale=1.0, **more):
    return x * scale + sum(args) + more.get("offset", 0)


@row("*args, **kwargs handed on", (X,))
def _(x):
    def handed(*args, **more):
        return taken(*args, **more)

    return handed(x, 1, 2, scale=3.0, offset=5)


@row("slice bounds that are an integer or None", (X, 1), (X, 2))
def _(x, k):
    stop = -2 + k or None
    return x[k:stop]


@row("-1 + kr or None with kr in range(2): unroll", (X,))
def _(x):
    total = 0.0
    for kr in range(2):
        total += x[1 : -1 + kr or None].sum()
    return total


@row("np.nditer", (X,))
def _(x):
    total = 0.0
    for v in np.nditer(x):
        total += v
    return total


@row("imports inside", (X,))
def _(x):
    from math import erf, gamma

    import numpy.linalg as la

    return erf(x[0]) + gamma(x[1] + 1) + la.norm(x)


@row("an array that may or may not be the one another name shows", (X, 1), (X, -1))
def _(a, k):
    b = a
    if k > 0:
        b = a * 2
    b[0] = 5
    return b


@row("np.array_split with a run-time number", (X, 3))
def _(x, n):
    return [part.sum() for part in np.array_split(x, n)]


@row("u, v = v, u in a time loop", (X, Y, 5), (X, Y, 4), (X, Y, 0))
def _(u, v, n):
    for _ in range(n):
        v[1:-1] = (u[2:] + u[:-2]) / 2
        u, v = v, u
    return u


@row("src, dst = (u, v) if t % 2 == 0 else (v, u)", (X, Y, 5))
def _(u, v, n):
    for t in range(n):
        src, dst = (u, v) if t % 2 == 0 else (v, u)
        dst[1:] = src[:-1] * 0.5
    return u, v


@row("math.erf erfc gamma lgamma comb, round(x, 1)", (3.14159,))
def _(x):
    return math.erf(x), math.erfc(x), math.gamma(x), math.lgamma(x), math.comb(5, 2), round(x, 1), round(-2.5)


@row("with np.errstate", (A,))
def _(a):
    with np.errstate(divide="ignore", invalid="ignore"):
        return a / (a - a[0, 0])


@row("sum/any/all(... for v in x) over an array", (X,))
def _(x):
    tests = any(v > 0.9 for v in x), all(v < 1 for v in x)
    return sum(v * v for v in x), tests, min(v for v in x), sorted(-v for v in x)


@row("is True", (X,))
def _(x):
    return (x[0] > 0.5) is True, (len(x) > 3) is True


@row("nonlocal in nested functions", (3,))
def _(n):
    count = 0

    def add(k):
        nonlocal count
        count += k

    for i in range(n):
        add(i)
    return count


@row("[0] * 101 with item assignment", (7,))
def _(n):
    table = [0] * 101
    for i in range(n):
        table[i * i] = i
    return table


@row("shape = list(a.shape); shape[2] += 2", (A,))
def _(a):
    shape = list(a.shape)
    shape[1] += 2
    return np.zeros(shape)


@row("pop", (2,), (0,), (5,))
def _(n):
    todo, total = [1, 2, 3], 0
    while todo and n > 0:
        total += todo.pop()
        n -= 1
    return total, todo


@row("itertools.repeat, enumerate/zip of them", (4,))
def _(n):
    total = 0
    for i, (a, b) in enumerate(zip(itertools.repeat(3), range(n), strict=False)):
        total += i * a * b
    return total


@row("a shape that changes in while", (X,))
def _(a):
    while len(a) > 1:
        a = a[::2] + a[1::2]
    return a


@row("a[::k] with the sign of k unknown (two versions)", (X, 2), (X, -2))
def _(a, k):
    return a[::k]


@row("results that differ in number by path", (X, 1), (X, -1))
def _(a, k):
    if k > 0:
        return a.sum()
    return a.sum(), a.max()


@row("np.vectorize(f)(x) of an element function", (X,))
def _(x):
    return np.vectorize(lambda v: v * 2 if v > 0.5 else -v)(x)


@pytest.mark.parametrize(("function", "calls"), ROWS)
def test_s3(function, calls):
    for arguments in calls:
        check_lists(function, *arguments, rtol=1e-12)


def halved(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = halved(x[::2]), halved(x[1::2])
    factor = np.exp(-2j * np.pi * np.arange(n // 2) / n)
    return np.concatenate([even + factor * odd, even - factor * odd])


def test_s3_recursion_fft_of_halves():
    x = X + 0j
    np.testing.assert_allclose(dcpy.program(halved).to_sdfg(x).interpret(x), np.fft.fft(x), rtol=1e-12)


def test_s3_masked_arrays_are_refused_with_the_rewrite():
    with pytest.raises(dcpy.FrontendError, match="mask"):
        dcpy.program(lambda x: np.ma.masked_array(x, x > 0.5).mean()).to_sdfg(X)
