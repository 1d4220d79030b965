"""Row 36: loops of the vectorizer test suite TSVC, and relatives. What looks parallel and is not stays a loop.

Each runs as the auto-optimizer makes it, twice, against plain Python.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dcpy
from tests.support.oracles import assert_equal

pytestmark = pytest.mark.cc

CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def case(*arguments):
    """The function below is run on these arguments."""

    def register(function):
        CASES.append((function, arguments))
        return function

    return register


def A(n=20, k=1):
    """Numbers without an order."""
    return (np.arange(n * 1.0) * k * 7919 % 13) + 0.5


@case(A(), A(k=2))
def s111(a, b):
    for i in range(1, a.shape[0], 2):
        a[i] = a[i - 1] + b[i]


@case(A(), A(k=2))
def s1111(a, b):
    for i in range(10):
        a[2 * i] = a[i] + b[i]


@case(A(), A(k=2))
def s113(a, b):
    for i in range(1, a.shape[0]):
        a[i] = a[0] + b[i]


@case(A(36).reshape(6, 6), A(36, 2).reshape(6, 6))
def s114(a, b):
    for i in range(6):
        for j in range(i):
            a[i, j] = a[j, i] + b[i, j]


@case(A(36).reshape(6, 6), A(6))
def s115(a, b):
    for j in range(6):
        for i in range(j + 1, 6):
            b[i] -= a[j, i] * b[j]


@case(A(36).reshape(6, 6), A(6))
def s118(b, a):
    for i in range(1, 6):
        for j in range(i):
            a[i] += b[j, i] * a[i - j - 1]


@case(A(), A(k=2))
def s121(a, b):
    for i in range(a.shape[0] - 1):
        j = i + 1
        a[i] = a[j] + b[i]


@case(A(), A(k=2), 3, 2)
def s122(a, b, n1, n3):
    j = 1
    k = 0
    for i in range(n1 - 1, a.shape[0], n3):
        k += j
        a[i] += b[a.shape[0] - k]


@case(A(), A(k=2), A(k=3))
def s123(a, b, c):
    j = -1
    for i in range(10):
        j += 1
        a[j] = b[i] + c[i]
        if c[i] > 5:
            j += 1
            a[j] = c[i]
    return j


@case(A(), A(k=2))
def s127(a, b):
    j = -1
    for i in range(10):
        j += 1
        a[j] = b[i] * 2
        j += 1
        a[j] = b[i] * 3


@case(A(), A(k=2))
def s128(a, b):
    j = -1
    for i in range(10):
        k = j + 1
        a[i] = b[k]
        j = k + 1
        b[k] = a[i] + 3


@case(A())
def s131(a):
    m = 1
    for i in range(a.shape[0] - 1):
        a[i] = a[i + m] + 1


@case(A(), 1)
@case(A(), -1)
def s131b(a, m):
    for i in range(1, a.shape[0] - 1):
        a[i] = a[i + m] + 1


@case(A(), 5)
def s151b(a, k):
    for i in range(k, a.shape[0]):
        a[i] = a[i - k] * 2 + 1


@case(A(), A(k=2))
def s161(a, b):
    for i in range(a.shape[0] - 1):
        if b[i] < 6:
            a[i + 1] = b[i]
        else:
            b[i + 1] = a[i]


@case(A(), 2)
@case(A(), 0)
@case(A(), -2)
def s162(a, k):
    if k > 0:
        for i in range(a.shape[0] - k):
            a[i] = a[i + k] + 1


@case(A(), 2)
@case(A(), 0)
@case(A(40), 2)
def s171(a, inc):
    for i in range(20):
        a[i * inc % a.shape[0]] += 1.5


@case(A(), A(k=2))
def s173(a, b):
    k = 10
    for i in range(10):
        a[i + k] = a[i] + b[i]


@case(A(), A(k=2))
def s176(a, b):
    for j in range(10):
        for i in range(10):
            a[i] += b[i + 10 - j - 1] * 0.5


@case(A(), A(k=2))
def s212(a, b):
    for i in range(a.shape[0] - 1):
        a[i] *= 2
        b[i] += a[i + 1] * 3


@case(A(36).reshape(6, 6), A(36, 2).reshape(6, 6))
def s231(aa, bb):
    for i in range(6):
        for j in range(1, 6):
            aa[j, i] = aa[j - 1, i] + bb[j, i]


@case(A(36).reshape(6, 6), A(36, 2).reshape(6, 6))
def s233(aa, bb):
    for i in range(1, 6):
        for j in range(1, 6):
            aa[j, i] = aa[j - 1, i] + 1
        for j in range(1, 6):
            bb[j, i] = bb[j, i - 1] + aa[j, i]


@case(A(), A(k=2))
def s241(a, b):
    for i in range(a.shape[0] - 1):
        a[i] = b[i] * 2
        b[i] = a[i] * a[i + 1]


@case(A(), A(k=2))
def s244(a, b):
    for i in range(a.shape[0] - 1):
        a[i] = b[i] + 3
        b[i] = a[i] + 1
        a[i + 1] = b[i] + a[i + 1] * 2


@case(A(), A(k=2))
def s2244(a, b):
    for i in range(a.shape[0] - 1):
        a[i + 1] = b[i] + 5
        a[i] = b[i] + a[i]


@case(A(), A(k=2))
def s251(a, b):
    for i in range(a.shape[0]):
        s = b[i] + 1
        a[i] = s * s
    return s


@case(A(), A(k=2))
def s252(a, b):
    t = 0.0
    for i in range(a.shape[0]):
        s = b[i] * 2
        a[i] = s + t
        t = s


@case(A(36).reshape(6, 6), A(6))
def s256(aa, a):
    for i in range(6):
        for j in range(1, 6):
            a[j] = 1.0 - a[j - 1]
            aa[j, i] = a[j] + 0.5


@case(A(36).reshape(6, 6), A(6))
def s257(aa, a):
    for i in range(1, 6):
        for j in range(6):
            a[i] = aa[j, i] - a[i - 1]
            aa[j, i] = a[i] + 1


@case(A(), A(k=2))
def s258(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        if a[i] > 5:
            s = b[i] * 2
        b[i] = s + 1


@case(A(), A(k=2))
def s261(a, b):
    t = 0.0
    for i in range(1, a.shape[0]):
        t = a[i] + b[i]
        a[i] = t + b[i - 1]
        t = b[i] * 2
        b[i] = t
    return t


@case(A(), A(k=2))
def s281(a, b):
    n = a.shape[0]
    for i in range(n):
        x = a[n - i - 1] + b[i]
        a[i] = x - 1.0
        b[i] = x


@case(A(), A(k=2))
def s291(a, b):
    im1 = a.shape[0] - 1
    for i in range(a.shape[0]):
        a[i] = (b[i] + b[im1]) * 0.5
        im1 = i


@case(A(), A(k=2))
def s292(a, b):
    im1 = a.shape[0] - 1
    im2 = im1 - 1
    for i in range(a.shape[0]):
        a[i] = (b[i] + b[im1] + b[im2]) * 0.333
        im2 = im1
        im1 = i


@case(
    A(),
)
def s293(a):
    for i in range(a.shape[0]):
        a[i] = a[0]


@case(
    A(),
)
def s293b(a):
    for i in range(a.shape[0]):
        a[i] = a[5] * 2


@case(A(), np.array([3, 3, 1, 0, 2]))
def s491(a, ip):
    for i in range(5):
        a[ip[i]] = a[i] * 2 + i


@case(A(), np.array([3, 3, 1, 0, 2]))
def s4113(a, ip):
    for i in range(5):
        a[ip[i]] += a[i]


@case(A(), np.array([3, 3, 1, 0, 2]))
def s4114(a, ip):
    s = 0.0
    for i in range(5):
        s += a[ip[i]] * a[i]
    return s


@case(A())
def s311max(a):
    m = a[0]
    k = 0
    for i in range(a.shape[0]):
        if a[i] > m:
            m = a[i]
            k = i
    return m, k


@case(A())
def s3113(a):
    m = abs(a[0])
    for i in range(a.shape[0]):
        m = max(m, abs(a[i]))
    return m


@case(A())
def s321(a):
    for i in range(1, a.shape[0]):
        a[i] += a[i - 1] * 0.5


@case(A())
def s341(a):
    j = -1
    b = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        if a[i] > 5:
            j += 1
            b[j] = a[i]
    return b, j


@case(A(), A(k=2))
def s421(a, b):
    x = a[1:]
    y = a[:-1]
    for i in range(x.shape[0]):
        x[i] = y[i] + b[i]


@case(A(), A(k=2))
def s421b(a, b):
    x = a[::2]
    y = a[1::2]
    for i in range(x.shape[0]):
        x[i] = y[i] + b[i]


@case(A(), A(k=2))
def s421c(a, b):
    x = a[::-1]
    for i in range(x.shape[0]):
        x[i] = a[i] + b[i]


@case(A(36).reshape(6, 6))
def tri(a):
    for k in range(6):
        for i in range(k + 1, 6):
            a[i, k] /= a[k, k]
            for j in range(k + 1, 6):
                a[i, j] -= a[i, k] * a[k, j]


@case(A(36).reshape(6, 6))
def seidel(a):
    for t in range(2):
        for i in range(1, 5):
            for j in range(1, 5):
                a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i + 1, j] + a[i, j + 1]) * 0.25


@case(A(36).reshape(6, 6))
def tr(a):
    for i in range(6):
        for j in range(6):
            a[i, j] = a[j, i]


@case(A(36).reshape(6, 6))
def diag(a):
    for i in range(6):
        a[i, i] = a[i, 5 - i] + a[5 - i, i]


@case(A(36).reshape(6, 6))
def rows(a):
    for i in range(1, 6):
        a[i] = a[i - 1] + a[i]


@case(A(36).reshape(6, 6))
def rows2(a):
    for i in range(0, 6, 2):
        a[i] = a[i + 1] + a[i]


@case(A(36).reshape(6, 6))
def rowtmp(a):
    t = np.zeros(6)
    for i in range(6):
        t[:] = a[i] * 2
        a[i] = t + t[0]
    return t


@case(A(36).reshape(6, 6))
def rowtmp2(a):
    t = np.zeros(6)
    for i in range(6):
        t[:3] = a[i, :3] * 2
        a[i] = t + t[5]
        t[5] += 1
    return t


@case(A(36).reshape(6, 6))
def conditional_write(a):
    t = 0.0
    for i in range(6):
        for j in range(6):
            if a[i, j] > 6:
                t = a[i, j]
            a[i, j] += t
    return t


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_loops_with_dependences(function, arguments):
    program = dcpy.program(function, auto_optimize=True)
    theirs = copy.deepcopy(arguments)
    expected = function(*theirs)
    for _ in range(2):
        mine = copy.deepcopy(arguments)
        assert_equal(program(*mine), expected, 1e-12)
        assert_equal(mine, theirs, 1e-12)
