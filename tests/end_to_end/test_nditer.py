"""`np.nditer` over arrays, and sections of one.

Section 3 of what real use found: "`np.nditer` (2)".
"""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

M = np.arange(12.0).reshape(3, 4)


def weighted(a):
    total = 0.0
    for k, x in enumerate(np.nditer(a)):
        total += x * k
    return total


def doubled(a):
    for x in np.nditer(a, op_flags=["readwrite"]):
        x[...] = 2 * x


def in_a_context(a):
    with np.nditer(a, op_flags=["readwrite"]) as it:
        for x in it:
            x[...] = x * x + 1


def in_c_order(a):
    total = 0.0
    for x in np.nditer(a, order="C"):
        total = 2 * total + x
    return total


ARRAYS = {"plain": M, "flat": M[0].copy(), "fortran": np.asfortranarray(M), "deep": np.arange(24.0).reshape(2, 3, 4)}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("f", [weighted, doubled, in_a_context, in_c_order], ids=lambda f: f.__name__)
def test_s3_elements_in_the_order_of_memory(f, name):
    check_same(f, ARRAYS[name], compiled=False)


@pytest.mark.cc
def test_s3_elements_of_parts_compiled():
    def f(a):
        for x in np.nditer(a[1:, ::2], op_flags=[["readwrite"]]):
            x[...] = -x
        total = 0.0
        for x in np.nditer(a[:, 1:].T):
            total = 2 * total + x
        return weighted(a.T), total

    check_same(f, M)


def test_s3_what_else_nditer_does_is_refused():
    def by_index(a):
        it = np.nditer(a, flags=["multi_index"])
        total = 0.0
        while not it.finished:
            total += it[0] * it.multi_index[0]
            it.iternext()
        return total

    def only_read(a):
        for x in np.nditer(a):
            x[...] = 1.0

    for f, message in ((by_index, r"np\.ndindex\(a\.shape\)"), (only_read, "read-only")):
        with pytest.raises(dcpy.FrontendError, match=message):
            dcpy.program(f)(M)


@pytest.mark.parametrize("n", [1, 3, 11, 15, 0])
def test_s3_sections_whose_number_is_known_at_run_time(n):
    def f(a, n):
        total = 0.0
        for k, part in enumerate(np.array_split(a, n)):
            total += part.sum() * k + len(part)
            part += k
        means = np.array([part.sum() for part in np.array_split(a, n)])
        return total, means

    check_same(f, np.arange(11.0), n, compiled=False)
    check_same(lambda m, n: sum(part[0, 0] for part in np.array_split(m, n, axis=1)), M, min(n, 4), compiled=False)


def products(a, c):
    total = 0.0
    for x, y in np.nditer([a, c]):
        total = total / 2 + x * y
    return total


def into_the_second(a, c):
    for x, y in np.nditer([a, c], op_flags=[["readonly"], ["writeonly"]]):
        y[...] = 2 * x


def in_place_in_a_context(a, c):
    with np.nditer((a, c), op_flags=[["readonly"], ["readwrite"]], order="C") as it:
        for x, y in it:
            y[...] += 2 * x


@pytest.mark.parametrize("f", [products, into_the_second, in_place_in_a_context], ids=lambda f: f.__name__)
def test_several_arrays_together(f):
    check_same(f, M, M + 1, compiled=False)
    check_same(f, M[0], M.copy(), compiled=False)
    check_same(f, np.asfortranarray(M), np.asfortranarray(M + 1), compiled=False)
    check_same(f, np.array(2.0), np.array(3.0), compiled=False) if f is not in_place_in_a_context else None


@pytest.mark.cc
def test_several_arrays_together_compiled():
    check_same(lambda a, c: (into_the_second(a, c), products(c, a)), M[0], M.copy())


def test_several_arrays_that_do_not_go_together():
    check_same(products, M, np.ones(3), compiled=False)
    check_same(into_the_second, M, np.ones((1, 4)), compiled=False)
    check_same(products, np.ones((0, 4)), np.ones((0, 4)), compiled=False)
    with pytest.raises(dcpy.FrontendError, match="order='C'"):
        dcpy.program(products)(M, np.asfortranarray(M))
