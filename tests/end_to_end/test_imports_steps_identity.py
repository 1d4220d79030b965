"""Imports inside of programs, slices whose step has a sign that is data, ``is True``, sizes that may be 1.

Section 3 of what real use found: "`import` inside a function", "`a[::k]` with the sign of k unknown", "`is True`",
"`np.squeeze(a[:1])`".
"""

import sys
import types

import numpy as np
import pytest

import dcpy
from tests.support.oracles import assert_equal, check_same

A = np.arange(10.0)
M = np.arange(12.0).reshape(3, 4)


def test_s3_imports_inside_of_programs():
    def f(a, n):
        import math as m
        from math import sqrt

        import numpy.linalg
        import numpy.linalg as la
        from numpy import sin as s

        return s(a) * sqrt(n) + m.pi + la.norm(a) + numpy.linalg.norm(a)

    def by_path(a, n):
        if n > 2:
            from math import sin as g
        else:
            from math import cos as g
        return g(n)

    check_same(f, A, 3, rtol=1e-12)
    check_same(by_path, A, 3, rtol=1e-12, compiled=False)


def test_s3_imports_of_the_users_modules_follow_what_they_have(monkeypatch):
    module = types.ModuleType("made_for_this_test")
    module.factor = 2.0
    monkeypatch.setitem(sys.modules, "made_for_this_test", module)

    @dcpy.program
    def f(a):
        from made_for_this_test import factor

        return a * factor

    np.testing.assert_array_equal(f(A), A * 2)
    module.factor = 3.0
    np.testing.assert_array_equal(f(A), A * 3)


def test_s3_imports_of_what_is_not_there_are_refused():
    def name(a):
        from math import nothing_of_that_name

        return nothing_of_that_name(a)

    def module(a):
        import a_module_that_nobody_has

        return a_module_that_nobody_has.f(a)

    with pytest.raises(dcpy.FrontendError, match="cannot import name 'nothing_of_that_name' from 'math'"):
        dcpy.program(name)(A)
    with pytest.raises(dcpy.FrontendError, match=r"has not been imported[\s\S]*top of the file"):
        dcpy.program(module)(A)


def read(a, k):
    return a[::k] * 2


def part(a, k):
    return a[7:1:k], a[1:7:k], a[-3::k], a[:2:k]


def written(a, k):
    a[::k] += a[::k][::-1]
    a[1:8:k] = 5.0


def rows(a, k):
    b = a[:9].reshape(3, 3)
    return b[::k, 1:] * 1, b[:, ::k].copy()


@pytest.mark.cc
@pytest.mark.parametrize("f", [read, part, written, rows], ids=lambda f: f.__name__)
def test_s3_the_sign_of_a_step_is_known_at_run_time_only(f):
    program = dcpy.program(f)
    for k in (2, -2, 1, -1, -20, 20, 3):
        theirs, mine = A.copy(), A.copy()
        assert_equal(program(mine, k), f(theirs, k))
        assert_equal(mine, theirs)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        program(A.copy(), 0)


def test_s3_steps_that_are_data():
    def f(a, steps):
        total = 0.0
        b = a.copy()
        for k in steps:
            total += a[::k][0] + len(a[1:8:k]) + a[8:1:k].sum()
            b[2:7:k] *= 2
            b[7:2:k] -= b[::k][:1]
        return total, b

    check_same(f, A, np.array([1, -1, 2, -3]))
    check_same(f, A, np.array([1, 0]), compiled=False)


def test_s3_is_true_and_is_false():
    def of_python(a, n):
        c = n > 2
        return (1 if c is True else 2), (1 if c is not False else 2), c is True, c is False, (not c) is True

    def of_numpy(a, n):
        c = a[0] > 2
        d = np.any(a > 3)
        return (1 if c is True else 2), (1 if d is not False else 2), d is True, n is True, (c is None)

    def until(a, n):
        done, k = False, 0
        while done is not True:
            k += 1
            done = k > n
        return k

    for n in (1, 3):
        for f in (of_python, of_numpy, until):
            check_same(f, A, n, compiled=False)
    check_same(lambda a, c: a + 1 if c is True else a, A, True, compiled=False)
    check_same(lambda a, c: a + 1 if c is True else a, A, np.bool_(True), compiled=False)


@pytest.mark.cc
def test_s3_squeezed_parts_of_a_size_that_may_be_1():
    @dcpy.program
    def f(a, n):
        return np.squeeze(a[:n]), np.squeeze(a[1 : n + 1]).ndim

    for n in (1, 2, 0, 5, 1):
        assert_equal(f(A, n), (np.squeeze(A[:n]), np.squeeze(A[1 : n + 1]).ndim))

    @dcpy.program
    def g(m, i):
        return np.squeeze(m[i : i + 1, :]), np.squeeze(m[:1]), np.squeeze(m[:, :1])

    for i in (0, 2, 1):
        assert_equal(g(M, i), (M[i], M[0], M[:, 0]))
    assert_equal(g(M[:, :1], 1), (np.squeeze(M[1:2, :1]), np.squeeze(M[:1, :1]), M[:, 0]))
