"""Section 3, `scipy.sparse`: CSR and CSC matrices as arguments and globals, in products with dense ones."""

import numpy as np
import pytest
import scipy.sparse as sp

import dcpy
from tests.support.oracles import assert_equal

RNG = np.random.default_rng(0)
KINDS = [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array]
DENSE = np.where(RNG.random((6, 4)) < 0.5, RNG.normal(size=(6, 4)), 0.0)
X, B, Y = RNG.normal(size=4), RNG.normal(size=(4, 3)), RNG.normal(size=6)
GLOBAL = sp.csr_matrix(DENSE)


def products(a, x, b, y):
    return a @ x, a @ b, a.dot(x), a.T @ y, a.T.T @ x, a.transpose().dot(y[:, None])


def parts(a, x, b, y):
    return a.data * 2, a.indices, a.indptr, a.shape, a.nnz, a.toarray(), a.diagonal(), a.data.dtype == a.dtype


def conjugate_gradients(a, x, b, y):
    rest = y[:4] - (a.T @ (a @ x) + x)
    direction, length = rest.copy(), rest @ rest
    x = x.copy()
    for _ in range(10):
        image = a.T @ (a @ direction) + direction
        step = length / (direction @ image)
        x += step * direction
        rest -= step * image
        before, length = length, rest @ rest
        direction = rest + length / before * direction
    return x


PROGRAMS = [products, parts, conjugate_gradients]


def arguments(kind, dtype="float64"):
    return kind(DENSE.astype(dtype)), X, B, Y


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_values(program, kind):
    given = arguments(kind)
    assert_equal(dcpy.program(program).to_sdfg(*given).interpret(*given), program(*given), 1e-12)


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128", "bool"])
def test_dtypes(dtype):
    for kind in KINDS[::2]:
        given = arguments(kind, dtype)
        assert_equal(dcpy.program(products).to_sdfg(*given).interpret(*given), products(*given), 1e-6)


@pytest.mark.cc
def test_compiled_with_other_matrices():
    for kind in KINDS[::2]:
        for program in PROGRAMS:
            compiled = dcpy.program(program)
            for rows in (6, 5):
                given = kind(DENSE[:rows]), X, B, Y[:rows]
                assert_equal(compiled(*given), program(*given), 1e-12)


@pytest.mark.cc
def test_empty_rows_duplicates_and_long_indices():
    data, places = np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0], np.int64)
    matrix = sp.csr_matrix((data, places, np.array([0, 0, 2, 3], np.int64)), shape=(3, 2))
    given = matrix, X[:2], B[:2], Y[:3]
    assert_equal(dcpy.program(products)(*given), products(*given), 1e-12)
    assert_equal(dcpy.program(lambda a: a.toarray())(matrix), matrix.toarray())


@pytest.mark.cc
def test_global_matrices():
    def f(x):
        return GLOBAL @ x, GLOBAL.shape

    program = dcpy.program(f)
    assert_equal(program(X), f(X), 1e-12)
    before = GLOBAL.data
    try:
        GLOBAL.data = before * 2
        assert_equal(program(X), f(X), 1e-12)
    finally:
        GLOBAL.data = before


def test_helpers_get_matrices():
    def residual(a, x, y):
        return y - a @ x

    def f(a, x, b, y):
        return residual(a, x, y), residual(a.T, y, x)

    given = arguments(sp.csr_matrix)
    assert_equal(dcpy.program(f).to_sdfg(*given).interpret(*given), f(*given), 1e-12)


def test_sizes_that_do_not_match():
    given = sp.csr_matrix(DENSE), Y, B, Y
    with pytest.raises(ValueError, match="dimension mismatch"):
        dcpy.program(lambda a, x, b, y: a @ x).to_sdfg(*given).interpret(*given)


@pytest.mark.parametrize("program", [lambda a: a + a, lambda a: 2.0 * a, lambda a: a[0, 0], lambda a: -a])
def test_refuses_what_makes_sparse_matrices(program):
    with pytest.raises(dcpy.DcpyError, match=r"test_sparse\.py(.*\n)*.*programs take products with dense"):
        dcpy.program(program).to_sdfg(sp.csr_matrix(DENSE))


def test_other_formats_are_refused():
    with pytest.raises(dcpy.DcpyError):
        dcpy.program(lambda a, x: a @ x).to_sdfg(sp.coo_matrix(DENSE), X)


def chosen(a, x, b, y, k):
    """One of what a program does with the elements of a matrix."""
    if k == 0:
        return (a @ x).sum()
    if k == 1:
        return (a @ b).sum()
    if k == 2:
        return (a.T @ y).sum()
    if k == 3:
        return (a.T @ y[:, None]).sum()
    return a.toarray().sum() if k == 4 else a.diagonal().sum()


def broken(kind):
    """Matrices that SciPy lets one make, and reads out of bounds with."""
    places, starts = "indices", "indptr"
    for field, position, value in ((places, 1, 10**8), (places, 1, 6), (starts, 2, 10**8), (places, 0, -100)):
        matrix = kind(DENSE)
        getattr(matrix, field)[position] = value
        yield matrix
    for field, length in ((places, 3), ("data", 3), (starts, 2), (starts, 0)):
        matrix = kind(DENSE)
        setattr(matrix, field, getattr(matrix, field)[:length].copy())
        yield matrix


def fails_or_is_inside(run):
    """IndexError, or a result of what is there: the diagonal of a matrix does not need all of it."""
    try:
        assert np.isfinite(run())
    except IndexError:
        return True
    return False


@pytest.mark.parametrize("kind", KINDS[::2], ids=lambda k: k.__name__)
def test_s3_broken_matrices_are_not_read_out_of_bounds(kind):
    sdfg = dcpy.program(chosen).to_sdfg(kind(DENSE), X, B, Y, 0)
    for matrix in broken(kind):
        for k in range(6):
            assert fails_or_is_inside(lambda m=matrix, k=k: sdfg.interpret(m, X, B, Y, k)) or k == 5


@pytest.mark.cc
def test_s3_broken_matrices_are_not_read_out_of_bounds_when_compiled():
    program = dcpy.program(chosen, auto_optimize=True)
    for matrix in broken(sp.csr_matrix):
        assert [fails_or_is_inside(lambda m=matrix, k=k: program(m, X, B, Y, k)) for k in range(5)] == [True] * 5
