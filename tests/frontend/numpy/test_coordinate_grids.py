"""Coordinates, and questions about dtypes, against NumPy."""

import numpy as np
import pytest

import dcpy
from tests.support.numpy_records import ALL, check, op
from tests.support.oracles import assert_equal, check_same

VECTORS = (((3,), (4,)), ((0,), (2,)), ((), (2,)))

RECORDS = [
    op(lambda a: np.mgrid[0 : a.shape[0], 0 : a.shape[1]], shapes=((3, 4), (0, 2))),
    op(lambda: np.mgrid[0:3]),
    op(lambda: np.mgrid[0:1:0.25, 1:3]),
    op(lambda: np.mgrid[0:1:5j]),
    op(lambda: np.ogrid[0:3, 0:2]),
    op(lambda a: a + np.ogrid[0:3], shapes=((3,),)),
    op(lambda a, c: np.meshgrid(a, c), shapes=VECTORS, dtypes=("int8", "float64")),
    op(lambda a, c: np.meshgrid(a, c, indexing="ij", sparse=True), shapes=VECTORS),
    op(lambda: np.indices((2, 3))),
    op(lambda a: np.finfo(a.dtype).eps * a, dtypes=("float32", "float64")),
    op(lambda a: np.iinfo(np.int32).max + a),
    op(lambda a: a.astype(np.dtype("f4"))),
    op(lambda a: np.zeros(2, np.result_type(a, np.float32)), dtypes=ALL),
    op(lambda a: np.zeros(2, np.promote_types(a.dtype, np.int16)), dtypes=ALL),
    op(lambda a: (np.issubdtype(a.dtype, np.floating), np.isscalar(a)), dtypes=ALL),
    op(lambda a: (np.iscomplexobj(a), np.isrealobj(a)), dtypes=ALL),
    op(lambda a: np.can_cast(a.dtype, np.float32), dtypes=ALL),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.cc
def test_positions_one_after_the_other():
    def f(a):
        b = np.zeros_like(a)
        for i, j in np.ndindex(a.shape):
            b[i, j] = a[i, j] + i * 10 + j
        for at, x in np.ndenumerate(a):
            b[at] += x
        count = 0
        for (k,) in np.ndindex(3):
            count += k
        for at in np.ndindex(2, 2):
            b[at] *= 2
        return b, count

    check_same(f, np.arange(12.0).reshape(3, 4))


def test_s3_imaginary_steps_that_are_known_at_run_time_only():
    """They were taken for steps of 1: an empty grid."""

    def f(n, z):
        return np.mgrid[-1 : 1 : n // 2 * 1j, -2:0.5:z], np.ogrid[0 : 1 : n * 1j], np.r_[0 : 1 : z, 5:7]

    for n, z in ((8, 3j), (1, -2j), (0, 1j)):
        assert_equal(dcpy.program(f).to_sdfg(n, z).interpret(n, z), f(n, z), 1e-14)
