"""Python that the frontend takes, in the order of the list: one test per construct, `test_takes_...`.

The interpreter stands for compiled code where only the frontend is at stake; test_semantics.py and others compile.
"""

import functools
import math

import numpy as np
import pytest

import dcpy
from tests.support.oracles import assert_equal
from tests.support.oracles import check_same as check_all

A8 = np.arange(8.0)
M = np.arange(12.0).reshape(3, 4)
HALF, FACTOR, TABLE, WEIGHTS = np.float32(0.5), 2.5, {"left": 1.0, "right": (2.0, 3)}, np.linspace(0, 1, 8)
SCALARS = [True, 3, 2.5, 1 + 2j, np.bool_(True), np.float16(0.5), np.complex64(1j), np.uint64(2**63)]
DTYPES = [
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32,
    np.float64, np.complex64, np.complex128,
]  # fmt: skip

check_same = functools.partial(check_all, compiled=False)


def twice(x, factor=2):
    return x * factor


class Constants:
    """A namespace."""

    PI = 3.0


# -- arguments ---------------------------------------------------------------------------------------------------------


def test_takes_annotated_and_unannotated_arguments():
    @dcpy.program
    def f(a: dcpy.float64[8], b, n: int, x: float = 2.5, flag: bool = True):
        return a * b[0] + n * x if flag else a

    np.testing.assert_array_equal(f(A8, A8 + 1, 3), A8 + 7.5)
    np.testing.assert_array_equal(f(A8, A8 + 1, 3, flag=False), A8)


def test_takes_positional_keyword_and_default_arguments():
    def f(a, /, b, c=2.0, *, d=HALF, e=WEIGHTS):
        return a * b + c * d + e

    check_same(f, A8, 2)
    mine = dcpy.program(f)
    np.testing.assert_array_equal(mine(A8, c=5.0, b=A8, d=np.float32(1)), f(A8, c=5.0, b=A8, d=np.float32(1)))


@pytest.mark.cc
def test_takes_star_arguments_of_known_length():
    def f(a, *rest, scale=2):
        total = a * len(rest)
        for x in rest:
            total = total + x * scale
        if rest:
            rest[0][0] = 7
        return total

    program = dcpy.program(f)
    for given in ((A8,), (A8, np.array([3.0])), (A8, A8 + 1, 2)):
        mine, theirs = ([x.copy() if isinstance(x, np.ndarray) else x for x in given] for _ in range(2))
        assert_equal(program(*mine, scale=3), f(*theirs, scale=3))
        assert_equal(tuple(mine), tuple(theirs))


@pytest.mark.parametrize("x", SCALARS, ids=repr)
def test_takes_scalars_of_python_and_numpy(x):
    check_same(lambda x, a: (x, x == x, a * x), x, A8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_takes_arrays_of_all_dtypes(dtype):
    check_same(lambda a: (a[0], a[1:], a == a, a.sum(), a.copy()), np.array([3, 0, 1]).astype(dtype))


@pytest.mark.parametrize("rank", range(9))
def test_takes_arrays_of_0_to_8_dimensions(rank):
    check_same(lambda a: (a + 1, a.sum(), a.shape, a.T), np.arange(2.0**rank).reshape((2,) * rank))


@pytest.mark.parametrize("view", [M[::2], M.T, M[::-1, ::-1], M[:, 1:3], np.asfortranarray(M), M[None, :, ::3]])
def test_takes_any_strides(view):
    def f(a):
        a += 1
        return a * 2, a[-1]

    check_same(f, view)


# -- closures ----------------------------------------------------------------------------------------------------------


def test_takes_closures_over_constants():
    local = 4
    check_same(lambda a: a * FACTOR + TABLE["left"] + TABLE["right"][1] + Constants.PI + local, A8)


@pytest.mark.cc
def test_takes_closures_over_arrays():
    def f(a):
        return a * WEIGHTS

    assert_equal(dcpy.program(f)(A8), f(A8))


def test_takes_closures_over_functions_and_modules():
    bump = lambda x: x + 1  # noqa: E731
    check_same(lambda a: bump(a) + np.linalg.norm(a) + math.pi + twice(a), A8, rtol=1e-15)


def test_takes_global_names_that_are_read():
    def f(a):
        global FACTOR
        return a * FACTOR

    check_same(f, A8)


# -- loops -------------------------------------------------------------------------------------------------------------


def test_takes_for_over_ranges():
    def f(a, n):
        s = 0.0
        for i in range(n):
            s = s * 0.5 + a[i]
        for i in range(n - 1, -1, -2):
            s = s * 0.5 + a[i]
        for i in range(1, n, 3):
            s += i
        return s, i

    check_same(f, A8, 7)


def test_takes_for_over_arrays():
    def f(a, m):
        s = 0.0
        for x in a[::-1]:
            s = s * 0.5 + x
        for row in m:
            for x in row:
                s += x
            row[0] = s
        return s

    check_same(f, A8, M)


def test_takes_for_over_zip_enumerate_and_reversed():
    def f(a, b):
        s = 0.0
        for i, (x, y) in enumerate(zip(a, reversed(b)), start=2):
            s += i * x * y
        for i, x in reversed(list(enumerate((1.5, 2.5)))):
            s = s * 2 + i * x
        return s

    check_same(f, A8, A8 + 1)


def test_takes_for_over_dcpy_map():
    def f(a, m):
        for i, j in dcpy.map[0:3, 0:4]:
            m[i, j] = a[i + j] * 2

    sdfg = dcpy.program(f).to_sdfg(A8, M)
    m = M.copy()
    sdfg.interpret(A8, m)
    np.testing.assert_array_equal(m, 2 * np.add.outer(np.arange(3.0), np.arange(4.0)))


def test_takes_while():
    def f(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    check_same(f, 7)


@pytest.mark.parametrize("n", [0, 3, 9])
def test_takes_if_elif_else(n):
    def f(n):
        if n == 0:
            return 1
        elif n < 5:  # noqa: RET505
            x = 2
        else:
            x = 3
        return x

    check_same(f, n)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_takes_match(n):
    def f(a, n, mode="double"):
        match n:
            case 1:
                x = 1.0
            case 2 | 3:
                x = 2.0
            case other:
                x = other * 1.5
        match mode:
            case "double" if n > 1:
                x *= 2
            case None:
                x = 0.0
        return a * x

    check_same(f, A8, n)


def test_takes_slices_of_texts():
    def f(a, text="GATTACA"):
        k = 0
        for i in range(len(text) - 1):
            if text[i : i + 2] == "TT":
                k = i
        return k, text[::-1] == "ACATTAG", len(text[2:]), text[1:3].lower() == "at", "left"[:1] == "l"

    check_same(f, A8)


@pytest.mark.parametrize("n", [1, -1])
def test_takes_conditional_expressions(n):
    def f(a, n):
        y = a[:3] if n > 0 else a[2:7] * 2
        return y.sum(), (a if n > 0 else a + 1)[0], 1 if n > 0 else 2, a[n] if 0 <= n < 8 else a[0], (y if n else a)[-1]

    check_same(f, A8, n)


@pytest.mark.parametrize("n", [0, 3, 6])
def test_takes_break_continue_and_else_on_loops(n):
    def f(a, n):
        r = 0
        for i in range(n):
            if i == 4:
                break
            if i % 2:
                continue
            r += 1
        else:
            r += 100
        while n > 0:
            n -= 2
            if a[n] == 1:
                break
        else:
            r = -r
        return r

    check_same(f, A8, n)


@pytest.mark.parametrize("limit", [3.0, 100.0])
def test_takes_early_return(limit):
    def f(a, limit):
        for i in range(len(a)):
            for j in range(i):
                if a[i] + a[j] > limit:
                    return i, j
        if limit > 50:
            return -1, len(a)
        return -2, 0

    def nested(a, limit):
        def first(x):
            for i in range(8):
                if x[i] > limit:
                    return x[i]
            return -x[1]

        return first(a) + 1

    check_same(f, A8, limit)
    check_same(nested, A8, limit)
