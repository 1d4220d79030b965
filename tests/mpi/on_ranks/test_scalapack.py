"""Products by ScaLAPACK on real ranks: precisions, transposed operands, summands, remainders; beside our own SUMMA."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.distributed import world
from dcpy.libraries.pblas.environments import SCALAPACK, SCALAPACK_OF_MKL

pytestmark = pytest.mark.mpi
FOUND = min((library.missing() for library in (SCALAPACK_OF_MKL, SCALAPACK)), key=len)


def product(A, B, C):
    C[:] = A @ B


def turned(A, B, C):
    C[:] = A.T @ B.T


def added(A, B, C, alpha, beta):
    C[:] = alpha * A @ B + beta * C


def _values(n, m, k, dtype, draw):
    shapes = ((n, k), (k, m), (n, m))
    real = [draw.uniform(-1, 1, shape) for shape in shapes]
    kind = np.dtype(dtype).kind
    return [(each + 1j * draw.uniform(size=each.shape) if kind == "c" else each).astype(dtype) for each in real]


@pytest.mark.skipif(bool(FOUND), reason=FOUND or "it is there")
@pytest.mark.parametrize(
    ("function", "dtype"), [(product, "f4"), (product, "c8"), (turned, "f8"), (added, "f8"), (added, "c16")]
)
def test_it_is_the_product(function, dtype):
    program = dcpy.program(function, distributed=True, auto_optimize=True)
    ranks = world().size
    for grid in (dcpy.grid(), dcpy.grid(ranks, 1), dcpy.grid(1, ranks)):
        for n, m, k in ((7, 5, 6), (1, 2, 1), (0, 3, 2), (3, 4, 0), (37, 41, 29)):
            a, b, c = _values(n, m, k, dtype, np.random.default_rng(n))
            given = [a.T.copy(), b.T.copy(), c] if function is turned else [a, b, c]
            dealt = [dcpy.distribute(each, grid, ("block", "block")) for each in given]
            expected = [each.copy() for each in given]
            rest = (0.5, 0.25) if function is added else ()
            program(*dealt, *rest)
            function(*expected, *rest)
            close = 1e-4 if np.dtype(dtype).itemsize // (2 if dtype[0] == "c" else 1) == 4 else 1e-11
            np.testing.assert_allclose(dealt[2].allgather(), expected[2], rtol=close, atol=close)


@pytest.mark.skipif(bool(FOUND), reason=FOUND or "it is there")
def test_nothing_times_infinity():
    a, b, c = _values(5, 5, 5, "f8", np.random.default_rng(1))
    a[1, 2] = np.inf
    dealt = [dcpy.distribute(each, dcpy.grid(), ("block", "block")) for each in (a, b, c)]
    dcpy.program(added, distributed=True, auto_optimize=True)(*dealt, 0.0, 1.0)
    with np.errstate(invalid="ignore"):
        added(a, b, c, 0.0, 1.0)
    np.testing.assert_allclose(dealt[2].allgather(), c)
