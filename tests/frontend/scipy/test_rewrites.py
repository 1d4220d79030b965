"""What is refused of masked arrays and of `scipy.sparse`: the reason, and the rewrites that the message names."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import cg, spsolve

import dcpy
from tests.support.lowering import refusal, same

S = sp.csr_matrix(np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 2.0]]))
B = np.array([1.0, 2.0, 3.0])
X, MASK = np.arange(6.0), np.arange(6) % 3 == 0


def test_spsolve_says_what_to_write():
    text = refusal(lambda A, b: spsolve(A, b), B, B)
    assert "scipy.sparse.linalg.spsolve() is not supported" in text
    for word in ("np.linalg.solve(A.toarray(), b)", "A @ p", "@dcpy.callback(returns=...)", "A.indptr"):
        assert word in text


def test_other_functions_of_sparse_matrices_say_what_to_write():
    def iterated(A, b):
        return cg(A, b)

    def made(A):
        return sp.csr_matrix(A)

    assert "write the loop into the program" in refusal(iterated, B, B)
    assert "pass it as an argument" in refusal(made, B)


def densely(A, b):
    return np.linalg.solve(A.toarray(), b)


def by_iterations(A, b):
    x, r = np.zeros_like(b), b.copy()
    p, rr = r.copy(), r @ r
    for _ in range(len(b)):
        q = A @ p
        step = rr / (p @ q)
        x += step * p
        r -= step * q
        new = r @ r
        if new < 1e-24:
            break
        p = r + new / rr * p
        rr = new
    return x


N, M, R = dcpy.symbol("N"), dcpy.symbol("M"), dcpy.symbol("R")


@dcpy.callback(returns=dcpy.float64[N])
def solve(data, indices, indptr, b: dcpy.float64[N]):
    return spsolve(sp.csr_matrix((data, indices, indptr)), b)


def in_python(A, b):
    return solve(A.data, A.indices, A.indptr, b) + 0


@pytest.mark.cc
@pytest.mark.parametrize("f", [densely, by_iterations, in_python], ids=lambda f: f.__name__)
def test_the_rewrites_of_spsolve_run(f):
    np.testing.assert_allclose(dcpy.program(f)(S, B), spsolve(S, B), rtol=1e-10)


def test_masked_arrays_say_what_to_write():
    for function in (
        lambda x, m: np.ma.masked_array(x, m).mean(),
        lambda x, m: np.ma.masked_where(m, x).sum(),
        lambda x, m: np.ma.array(x, mask=m).mean(),
    ):
        text = refusal(function, X, MASK)
        assert "x[~mask].mean()" in text
        assert "np.where(mask, 0.0, x)" in text


def test_the_rewrites_of_masked_arrays_run():
    def f(x, mask):
        return x[~mask].mean(), np.where(mask, 0.0, x).sum()

    same(f, X, MASK, rtol=1e-14)
    masked = np.ma.masked_array(X, MASK)
    np.testing.assert_allclose(f(X, MASK), (masked.mean(), masked.sum()))
