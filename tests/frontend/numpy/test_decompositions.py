"""``numpy.linalg`` against NumPy: systems, determinants, decompositions, norms, ranks, powers, chains."""

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError
from tests.support import tiers
from tests.support.numpy_records import RELATIVE, assert_same, interpreted, op, outcome

DTYPES = ("int32", "float32", "float64", "complex64", "complex128")
DOUBLES = ("float64", "complex128")
LAYOUTS = ("C", "F", "strided", "reversed")
SQUARE = ((0, 0), (1, 1), (3, 3), (8, 8))
STACKS = ((2, 3, 3), (0, 2, 2), (2, 2, 1, 1))
RECTANGLES = ((3, 3), (5, 3), (3, 5), (1, 4))
SYSTEMS = (
    ((3, 3), (3,)),
    ((3, 3), (3, 2)),
    ((2, 3, 3), (3,)),
    ((2, 3, 3), (3, 4)),
    ((3, 3), (2, 3, 1)),
    ((0, 0), (0,)),
)
NORMS = ((5,), (3, 4), (1, 1), (2, 3, 4))


def regular(a):
    """A positive definite matrix that depends on all elements of a square one."""
    return a @ np.conj(np.swapaxes(a, -1, -2)) + 2 * np.eye(a.shape[-1], dtype=a.dtype)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def singular_parts(a):
    """What does not depend on the signs of vectors."""
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return s, (u * s[..., None, :]) @ vt, adjoint(u) @ u, vt @ adjoint(vt)


def all_singular_parts(a):
    u, s, vt = np.linalg.svd(a)
    return s, (u[:, : len(s)] * s) @ vt[: len(s)], adjoint(u) @ u, vt @ adjoint(vt)


def hermitian_parts(a):
    w, v = np.linalg.eigh(a)
    return w, (v * w[..., None, :]) @ adjoint(v), adjoint(v) @ v


def eigen_parts(a):
    w, v = np.linalg.eig(a)
    return w, a @ v - v * w[..., None, :], np.sum(np.abs(v) ** 2, axis=-2)


def factors(a):
    q, r = np.linalg.qr(a)
    return q @ r, adjoint(q) @ q, np.tril(r, -1)


def all_factors(a):
    q, r = np.linalg.qr(a, mode="complete")
    return q @ r, adjoint(q) @ q, np.tril(r, -1)


def least_squares(a, c):
    """All results; the sum of the residuals, of which there may be none."""
    x, residuals, rank, s = np.linalg.lstsq(a, c)
    return x, residuals.sum(), len(residuals), rank, s


RECORDS = [
    op(lambda a: np.linalg.cholesky(regular(a)), shapes=(*SQUARE, *STACKS), dtypes=DTYPES),
    op(lambda a: np.linalg.cholesky(regular(a), upper=True), shapes=SQUARE, dtypes=DOUBLES),
    op(lambda a, c: np.linalg.solve(regular(a), c), shapes=SYSTEMS, dtypes=DTYPES),
    op(lambda a, c: np.linalg.solve(a, c), shapes=(((3, 3), (3, 2)),), layouts=LAYOUTS, name="layouts"),
    op(lambda a: np.linalg.inv(regular(a)), shapes=(*SQUARE, *STACKS), dtypes=DTYPES),
    op(lambda a: np.linalg.inv(a), shapes=((3, 3),), layouts=LAYOUTS, name="inv of layouts"),
    op(lambda a: np.linalg.det(a), shapes=(*SQUARE, *STACKS), dtypes=DTYPES),
    op(lambda a: np.linalg.slogdet(a), shapes=(*SQUARE, *STACKS), dtypes=DTYPES),
    op(lambda a: np.linalg.slogdet(a).logabsdet, shapes=((3, 3),)),
    op(lambda a: np.linalg.qr(regular(a)), shapes=(*SQUARE, (2, 3, 3)), dtypes=DTYPES),
    op(lambda a: np.linalg.qr(regular(a)[:, :2], mode="complete"), shapes=((3, 3), (8, 8)), dtypes=DOUBLES),
    op(lambda a: np.linalg.qr(regular(a), "r"), shapes=SQUARE, layouts=LAYOUTS),
    op(factors, shapes=(*RECTANGLES, (2, 4, 3), (0, 3), (3, 0)), dtypes=DTYPES, name="qr"),
    op(all_factors, shapes=RECTANGLES, dtypes=DOUBLES, name="complete qr"),
    op(lambda a: np.linalg.qr(a).Q @ np.linalg.qr(a).R, shapes=RECTANGLES),
    op(lambda a: np.linalg.svd(a, compute_uv=False), shapes=(*RECTANGLES, (2, 3, 4), (0, 3)), dtypes=DTYPES),
    op(all_singular_parts, shapes=(*RECTANGLES, (0, 3)), dtypes=DTYPES, name="svd"),
    op(singular_parts, shapes=(*RECTANGLES, (2, 4, 3)), dtypes=DTYPES, name="thin svd"),
    op(lambda a: np.linalg.svd(a, False).S, shapes=((3, 4),), layouts=LAYOUTS),
    op(lambda a: np.linalg.svdvals(a), shapes=RECTANGLES, dtypes=DTYPES),
    op(hermitian_parts, shapes=(*SQUARE, (2, 3, 3)), dtypes=DTYPES, name="eigh"),
    op(lambda a: np.linalg.eigvalsh(a), shapes=(*SQUARE, *STACKS), dtypes=DTYPES),
    op(lambda a: np.linalg.eigvalsh(a, "U"), shapes=((3, 3),), dtypes=DTYPES),
    op(lambda a: np.linalg.eigh(a, UPLO="U").eigenvalues, shapes=((3, 3),), layouts=LAYOUTS),
    op(lambda a: np.sort(np.real(np.linalg.eigvals(a.astype(np.complex128)))), shapes=SQUARE),
    op(eigen_parts, shapes=((1, 1), (3, 3), (2, 3, 3)), dtypes=("complex64", "complex128"), name="eig"),
    op(least_squares, shapes=(((5, 3), (5,)), ((5, 3), (5, 2)), ((3, 5), (3, 2))), dtypes=DTYPES, name="lstsq"),
    op(least_squares, shapes=(((3, 3), (3,)), ((4, 2), (4, 0)), ((0, 3), (0,))), name="lstsq of few"),
    op(lambda a: least_squares(a[:, None] * np.ones(2), a), shapes=((5,),), name="lstsq of rank 1"),
    op(lambda a, c: np.linalg.lstsq(a, c, rcond=0.4)[2], shapes=(((3, 3), (3,)),)),
    op(lambda a: np.linalg.pinv(a), shapes=(*RECTANGLES, (2, 4, 3)), dtypes=DTYPES),
    op(lambda a: np.linalg.pinv(a, rcond=0.1), shapes=RECTANGLES),
    op(lambda a: np.linalg.pinv(a, rtol=None), shapes=RECTANGLES),
    op(lambda a: np.linalg.matrix_power(a, 5), shapes=((3, 3), (2, 2, 2)), dtypes=DTYPES),
    op(lambda a: np.linalg.matrix_power(regular(a), -3), shapes=((3, 3),), dtypes=DTYPES),
    op(lambda a: np.linalg.matrix_power(a, 0), shapes=((3, 3), (0, 0)), dtypes=DTYPES),
    op(lambda a: np.linalg.matrix_rank(a), shapes=((3, 4), (2, 3, 3), (3,), ()), dtypes=DTYPES),
    op(lambda a: np.linalg.matrix_rank(a[:, None] * a), shapes=((4,),), dtypes=DTYPES, name="rank of an outer product"),
    op(lambda a: np.linalg.matrix_rank(a, tol=3.0), shapes=((3, 4),)),
    op(lambda a: np.linalg.matrix_rank(a, rtol=0.2), shapes=((3, 4),)),
    op(lambda a: np.linalg.cond(a), shapes=((3, 3), (3, 4), (2, 3, 3), (0, 3)), dtypes=DTYPES),
    op(lambda a: np.linalg.cond(a, -2), shapes=((3, 3),)),
    op(lambda a: np.linalg.cond(a, 1), shapes=((3, 3), (3, 4)), dtypes=DTYPES),
    op(lambda a: np.linalg.cond(0 * a, np.inf), shapes=((3, 3),), name="cond of a singular matrix"),
    op(lambda a: np.linalg.multi_dot([a, a.T, a]), shapes=((3, 5),), dtypes=DTYPES),
    op(lambda a, v: np.linalg.multi_dot([v, a, a.T, v]), shapes=(((3, 5), (3,)),)),
    op(lambda a, v: np.linalg.multi_dot((a, a.T, v)), shapes=(((3, 5), (3,)),)),
    op(lambda a: np.linalg.norm(a), shapes=(*NORMS, (0,), ()), dtypes=DTYPES),
]


ORDERS = (None, 0, 1, -1, 2, -2, 3, 0.5, np.inf, -np.inf, "fro", "nuc", "x")


def norm_of_order(order, *, axis=None, keepdims=False):
    def norm(a):
        return np.linalg.norm(a, order, axis, keepdims)

    return norm


def vector_norm(order):
    def norm(a):
        return np.linalg.vector_norm(a, ord=order, axis=(0, 1), keepdims=True)

    return norm


def matrix_norm(order):
    def norm(a):
        return np.linalg.matrix_norm(a, ord=order)

    return norm


def named(function, name, **options):
    return op(function, name=name, **options)


MIXED = ("int32", "float32", "complex128")
for order in ORDERS:
    RECORDS += [
        named(norm_of_order(order), f"norm {order}", shapes=((5,), (3, 4), (1, 1)), dtypes=MIXED),
        named(norm_of_order(order, axis=1), f"norm {order} of rows", shapes=((3, 4), (2, 3, 4))),
        named(norm_of_order(order, axis=(2, 0), keepdims=True), f"norm {order} of planes", shapes=((2, 3, 4),)),
        named(vector_norm(order), f"vector_norm {order}", shapes=((2, 3, 4),)),
        named(matrix_norm(order), f"matrix_norm {order}", shapes=((2, 3, 4),)),
    ]


def check(record, arguments, run):
    """As `numpy_records.check`; decompositions of float32 differ in the signs of what is next to 0."""
    expected, raised = outcome(lambda: record.function(*arguments))
    got, error = outcome(lambda: run(record.function, *arguments))
    shown = ", ".join(f"{a.dtype}{list(a.shape)}" for a in arguments)
    if raised is not None:
        assert type(error) is type(raised) or isinstance(error, FrontendError), f"{shown}: {raised!r}, {error!r}"
        return
    if error is not None:
        raise error
    tolerance = max(1e-9, *(10 * RELATIVE.get(str(a.dtype), 0) for a in arguments))
    assert_same(got, tuple(expected) if isinstance(expected, tuple) else expected, tolerance, shown)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments, interpreted)


COMPILED = [record for record in RECORDS if "norm" not in record.name] + [r for r in RECORDS if "norm" in r.name][::5]


@pytest.mark.cc
@pytest.mark.parametrize("record", COMPILED, ids=lambda record: record.name)
def test_compiled_as_numpy(record):
    for arguments in list(record.cases())[-3 if tiers.EXHAUSTIVE else -1 :]:
        check(record, arguments, lambda function, *values: dcpy.program(function)(*values))


def has_no_inverse(a):
    return np.linalg.inv(a)


def has_no_solution(a):
    return np.linalg.solve(a, a[0])


def is_not_positive(a):
    return np.linalg.cholesky(a - 9)


def is_not_finite(a):
    return np.linalg.eigvals((a / 0).astype(np.complex128))


def does_not_converge(a):
    return np.linalg.svd(a * np.nan)


def is_not_square(a):
    return np.linalg.det(a[:, 1:])


def has_no_condition(a):
    return np.linalg.cond(a[:0])


def raises_by_itself(a):
    if np.linalg.det(a) == 0:
        raise np.linalg.LinAlgError("a cannot be inverted")
    return a


FAILURES = {
    has_no_inverse: "Singular matrix",
    has_no_solution: "Singular matrix",
    is_not_positive: "Matrix is not positive definite",
    is_not_finite: "Array must not contain infs or NaNs",
    does_not_converge: "SVD did not converge",
    is_not_square: "Last 2 dimensions of the array must be square",
    has_no_condition: "cond is not defined on empty arrays",
    raises_by_itself: "a cannot be inverted",
}


@pytest.mark.parametrize("function", FAILURES)
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)])
def test_failures_raise_as_numpy(function, shape):
    if len(shape) == 3 and function in (is_not_square, has_no_condition, has_no_solution, raises_by_itself):
        return
    with pytest.raises(np.linalg.LinAlgError, match=FAILURES[function]):
        interpreted(function, np.ones(shape))


@pytest.mark.cc
@pytest.mark.parametrize("function", FAILURES)
def test_failures_raise_as_numpy_when_compiled(function):
    with pytest.raises(np.linalg.LinAlgError, match=FAILURES[function]):
        dcpy.program(function)(np.ones((3, 3)))


@pytest.mark.cc
def test_one_singular_matrix_of_a_stack_raises():
    stack = np.stack([np.eye(3)] * 400)  # enough to be divided among threads
    compiled = dcpy.program(has_no_inverse)
    np.testing.assert_array_equal(compiled(stack), stack)
    stack[317, 2] = 0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        compiled(stack)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, -1, -2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64])
def test_powers_with_an_exponent_known_at_run_time(n, dtype):
    a = np.array([[3, 1], [1, 2]], dtype)

    def power(a, n):
        return np.linalg.matrix_power(a, n)

    if n < 0 and dtype == np.int64:  # floats in NumPy
        with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
            dcpy.program(power)(a, n)
        return
    expected, found = power(a, n), dcpy.program(power)(a, n)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype == np.float32 else 1e-14)


def magnitudes(a):
    largest = np.max(np.abs(np.linalg.eigvals(a)))
    return np.sort(np.abs(np.linalg.eigvals(a))), largest, bool((abs(np.linalg.eigvals(a / 4)) < 1).all())


@pytest.mark.parametrize("a", [
    np.array([[0.0, 1.0, 0.0], [-1.0, 0.5, 0.0], [0.0, 0.2, 0.3]]), np.array([[2.0, 1.0], [1.0, 3.0]]),
    np.array([[0, 4], [-4, 2]]), np.array([[0, 4], [-4, 2]], np.float32),
])  # fmt: skip
def test_magnitudes_of_eigenvalues_of_real_matrices(a):
    found, expected = dcpy.program(magnitudes)(a), magnitudes(a)
    assert [part.dtype for part in found[:2]] == [part.dtype for part in expected[:2]]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5 if a.dtype == np.float32 else 1e-12)


REFUSALS = {
    "gives real or complex numbers": lambda a: np.linalg.eig(a),
    "float16 is unsupported in linalg": lambda a: np.linalg.inv(a.astype(np.float16)),
    "1-dimensional array given": lambda a: np.linalg.inv(a[0]),
    "has no mode 'raw' here": lambda a: np.linalg.qr(a, "raw"),
    "UPLO argument must be": lambda a: np.linalg.eigh(a, "X"),
    "must be known at compile time": lambda a: np.linalg.qr(a, a[0, 0]),
    "Expecting at least two arrays": lambda a: np.linalg.multi_dot([a]),
    "takes matrices, and vectors as the first": lambda a: np.linalg.multi_dot([a, a[0], a]),
}


@pytest.mark.parametrize("message", REFUSALS)
def test_refusals(message):
    with pytest.raises(FrontendError, match=message):
        interpreted(REFUSALS[message], np.ones((3, 3)))


@pytest.mark.parametrize("axis", [(0, 2), (-3, 0), (1, -1)])
def test_axes_of_norms_are_checked(axis):
    with pytest.raises(ValueError, match=r"axis is out of bounds|Duplicate axes"):
        interpreted(norm_of_order(None, axis=axis), np.ones((2, 2)))
    with pytest.raises(ValueError, match="out of bounds"):
        interpreted(matrix_norm("fro"), np.ones(2))


def test_results_have_names():
    def names(a):
        return np.linalg.svd(a).Vh, np.linalg.eigh(a).eigenvectors, np.linalg.slogdet(a).sign, np.linalg.qr(a)[1]

    for got, expected in zip(interpreted(names, np.eye(3)), names(np.eye(3)), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.cc
def test_without_lapack_loops_compute():
    def solved(a, c):
        return (
            np.linalg.solve(a, c),
            np.linalg.inv(a),
            np.linalg.det(a),
            np.linalg.cholesky(regular(a)),
            np.linalg.qr(a),
        )

    a, c = np.random.default_rng(3).random((2, 6, 6))
    sdfg = dcpy.program(solved).to_sdfg(a, c).expand_library_nodes("pure")
    assert "lapack" not in str(sdfg)
    for got, expected in zip(sdfg(a, c), solved(a, c), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
