"""Section 3, `scipy.linalg`: solutions, factors and decompositions are SciPy's."""

import numpy as np
import pytest
import scipy.linalg as la

import dcpy
from tests.support.oracles import check_same

RNG = np.random.default_rng(0)
A = RNG.normal(size=(5, 5))
C = A + 1j * RNG.normal(size=(5, 5))
S = A @ A.T + np.eye(5)
H = C @ np.conj(C).T + np.eye(5)
T = np.triu(A) + 3 * np.eye(5)
R = RNG.normal(size=(6, 4))
VECTOR, MATRIX = RNG.normal(size=5), RNG.normal(size=(5, 3))
BANDS = RNG.normal(size=(3, 5)) + np.array([[0], [3], [0]])
F4 = A.astype(np.float32)

PROGRAMS = {
    "solve": (lambda a, b: la.solve(a, b), A, VECTOR),
    "solve a matrix": (lambda a, b: la.solve(a, b), A, MATRIX),
    "solve complex": (lambda a, b: la.solve(a, b), C, VECTOR),
    "solve positive": (lambda a, b: la.solve(a, b, assume_a="pos"), S, VECTOR),
    "solve lower": (lambda a, b: la.solve(a, b, assume_a="her", lower=True), H, VECTOR),
    "solve transposed": (lambda a, b: la.solve(a, b, transposed=True), A, VECTOR),
    "inv": (lambda a: (la.inv(a), la.det(a)), A),
    "inv integers": (lambda a: la.inv(a), np.array([[2, 1], [1, 3]])),
    "triangle": (lambda a, b: la.solve_triangular(a, b), T, VECTOR),
    "triangle lower": (lambda a, b: la.solve_triangular(a, b, lower=True), T.T.copy(), MATRIX),
    "triangle transposed": (lambda a, b: la.solve_triangular(a, b, trans=1), T, MATRIX),
    "triangle adjoint": (lambda a, b: la.solve_triangular(a, b, trans="C"), C, VECTOR),
    "triangle of ones": (lambda a, b: la.solve_triangular(a, b, unit_diagonal=True), T, VECTOR),
    "lu_factor": (lambda a: la.lu_factor(a), A),
    "lu_solve": (lambda a, b: la.lu_solve(la.lu_factor(a), b), A, VECTOR),
    "lu_solve transposed": (lambda a, b: la.lu_solve(la.lu_factor(a), b, trans=1), A, MATRIX),
    "lu_solve adjoint": (lambda a, b: la.lu_solve(la.lu_factor(a), b, trans=2), C, VECTOR),
    "lu": (lambda a: (la.lu(a), la.lu(a.T), la.lu(a, permute_l=True), la.lu(a, p_indices=True)), R),
    "cholesky": (lambda a: (la.cholesky(a), la.cholesky(a, lower=True), la.cho_factor(a)[0]), S),
    "cho_solve": (lambda a, b: la.cho_solve(la.cho_factor(a), b), S, VECTOR),
    "cho_solve lower": (lambda a, b: la.cho_solve(la.cho_factor(a, lower=True), b), S, MATRIX),
    "cho_solve complex": (lambda a, b: la.cho_solve(la.cho_factor(a), b), H, MATRIX),
    "qr": (lambda a: (la.qr(a), la.qr(a, mode="economic"), la.qr(a, mode="r")), R),
    "svd": (lambda a: (la.svd(a), la.svd(a, full_matrices=False), la.svdvals(a), la.pinv(a)), R),
    "eigvalsh": (lambda a: (la.eigh(a)[0], la.eigvalsh(a), la.eigh(a, eigvals_only=True, lower=False)), S),
    "eigh of a pair": (lambda a, b: la.eigh(a, b, eigvals_only=True), A + A.T, S),
    "norm": (lambda a: (float(la.norm(a)), float(la.norm(a, 1)), float(la.norm(a[0], np.inf))), A),
    "expm": (lambda a: (la.expm(a), la.expm(a * 8), la.expm(a * 0)), A),
    "expm complex": (lambda a: la.expm(a), C),
    "block_diag": (lambda a, b: la.block_diag(a, b, [1.0, 2.0]), A, R),
    "toeplitz": (lambda a: (la.toeplitz(a), la.toeplitz(a, a[:3])), VECTOR),
    "solve_banded": (lambda a, b: la.solve_banded((1, 1), a, b), BANDS, VECTOR),
    "gtsv": (lambda a, b: la.lapack.dgtsv(a[0, 1:], a[1], a[2, :-1], b), BANDS, VECTOR),
    "gtsv with swaps": (lambda a, b: la.lapack.dgtsv(a[0, 1:] * 9, a[1], a[2, :-1], b), BANDS, MATRIX),
    "gtsv singular": (lambda a, b: la.lapack.dgtsv(a[0, 1:] * 0, a[1] * 0, a[2, :-1], b)[4], BANDS, VECTOR),
    "solve_banded wide": (lambda a, b: la.solve_banded((2, 1), a, b), RNG.normal(size=(4, 5)), MATRIX),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name):
    program, *arguments = PROGRAMS[name]
    check_same(program, *arguments, rtol=1e-10, compiled=False)


def test_single_precision():
    check_same(lambda a, b: la.solve(a, b), F4, VECTOR.astype(np.float32), rtol=1e-3, compiled=False)


def test_eigenvectors_are_those_of_the_eigenvalues():
    def f(a):
        w, v = la.eigh(a)
        return np.abs(v), np.abs(a @ v - v * w) < 1e-10

    check_same(f, S, rtol=1e-10, compiled=False)


@pytest.mark.cc
@pytest.mark.parametrize("name", ["lu_solve", "lu", "cho_solve", "triangle transposed", "expm", "gtsv with swaps"])
def test_compiled(name):
    program, *arguments = PROGRAMS[name]
    check_same(program, *arguments, rtol=1e-10)


WRONG = {
    "singular": (lambda a: la.inv(a), np.zeros((2, 2))),
    "not positive": (lambda a: la.cholesky(a), -np.eye(3)),
    "not square": (lambda a: la.inv(a), R),
    "not finite": (lambda a: la.solve(a, a[0]), np.full((2, 2), np.nan)),
    "triangle": (lambda a: la.solve_triangular(a, a[0]), np.zeros((2, 2))),
    "banded": (lambda a: la.solve_banded((1, 1), a, a[0]), np.zeros((3, 4))),
}


@pytest.mark.parametrize("name", WRONG)
def test_exceptions(name):
    check_same(*WRONG[name], compiled=False)


def test_refuses_what_it_has_not():
    with pytest.raises(dcpy.DcpyError, match=r"scipy\.linalg\.sqrtm\(\) is not supported"):
        dcpy.program(lambda a: la.sqrtm(a)).to_sdfg(A)
    with pytest.raises(dcpy.DcpyError, match=r"scipy\.linalg\.lapack\.dgesv\(\) is not supported"):
        dcpy.program(lambda a: la.lapack.dgesv(a, a)).to_sdfg(A)


def test_options_that_are_not_compiled_are_refused_at_the_call():
    with pytest.raises(dcpy.DcpyError, match=r"qr with pivoting or mode='raw' is not compiled") as caught:
        dcpy.program(lambda a: la.qr(a, pivoting=True)).to_sdfg(A)
    assert "@dcpy.callback" in caught.value.help
    assert "test_linalg.py" in str(caught.value)
