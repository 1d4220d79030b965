"""New arrays against NumPy."""

import numpy as np
import pytest

import dcpy
from tests.support.lowering import refusal, same
from tests.support.numpy_records import ALL, LAYOUTS, check, interpreted, op

VECTOR = ((4,),)
MATRIX = ((3, 4),)

VECTORS = ((5,), (1,), (0,))

RECORDS = [
    op(lambda: np.zeros(3)),
    op(lambda: np.zeros((2, 3), dtype=np.int32)),
    op(lambda a: np.zeros(a.shape, a.dtype), dtypes=ALL),
    op(lambda a: np.ones((len(a), 2), dtype="f4"), shapes=VECTOR),
    op(lambda a: np.full(a.shape, 7), dtypes=("int32",)),
    op(lambda a: np.full((2, len(a)), a), shapes=VECTOR),
    op(lambda: np.full((2, 2), 1.5, dtype=np.int64)),
    op(lambda a: np.zeros_like(a), dtypes=ALL, layouts=("C", "F")),
    op(lambda a: np.ones_like(a, dtype=bool)),
    op(lambda a: np.full_like(a, 2.7), dtypes=("int32", "float32")),
    op(lambda a: np.ones_like(a, shape=(2, 2)), dtypes=("int8",)),
    op(lambda a: np.empty(a.shape, a.dtype).shape),
    op(lambda a: np.empty_like(a).dtype.itemsize, dtypes=("int8", "float64")),
    op(lambda: np.array([1, 2, 3])),
    op(lambda: np.array([[1, 2.5], [3, 4]])),
    op(lambda: np.array([1, 2], dtype=np.uint8)),
    op(lambda: np.array(3.5)),
    op(lambda: np.array([1, 300], dtype=np.uint8)),
    op(lambda: np.full(3, 300, dtype=np.uint8)),
    op(lambda: np.array([1.5, 2], dtype=np.int8)),
    op(lambda a: np.array([a[0], a[1]]), shapes=VECTOR, dtypes=ALL),
    op(lambda a: np.array([a[0], 2.0]), shapes=VECTOR, dtypes=("float32", "int32")),
    op(lambda a: np.array([a, 2 * a]), shapes=((4,), (2, 3))),
    op(lambda a: np.array([[a, (1, 2)], ((a[0], 3), a)]), shapes=((2,), (3,)), dtypes=("int8", "float64")),
    op(lambda a: np.array(a), dtypes=ALL),
    op(lambda a: np.asarray(a, dtype=np.float32), dtypes=("int32", "float32")),
    op(lambda a: np.ascontiguousarray(a.T), shapes=MATRIX),
    op(lambda a: np.asfortranarray(a)[0, 1], shapes=MATRIX),
    op(lambda a: np.copy(a), layouts=LAYOUTS),
    op(lambda a: a.copy() + a.copy(order="F"), shapes=MATRIX),
    op(lambda: np.array([1, 2], ndmin=3)),
    op(lambda: np.arange(5)),
    op(lambda: np.arange(2, 11, 3)),
    op(lambda: np.arange(5, -3, -2)),
    op(lambda: np.arange(5, 2)),
    op(lambda: np.arange(0, 1, 0.1)),
    op(lambda: np.arange(3, dtype=np.float32)),
    op(lambda: np.arange(0.5, 4, 0.75, dtype=np.float16)),
    op(lambda a: np.arange(len(a))),
    op(lambda a: np.arange(1, len(a), 2), shapes=((0,), (1,), (5,))),
    op(lambda a: np.arange(a[0], a[0] + a[1]).sum(), shapes=VECTOR, dtypes=("float32", "int32"), positive=True),
    op(lambda a: np.arange(0.0, 1.0, 1 / len(a)).mean(), shapes=((3,), (7,))),
    op(lambda: np.linspace(0, 1)),
    op(lambda: np.linspace(2, 3, 5, endpoint=False)),
    op(lambda: np.linspace(0, 10, 4, dtype=np.int32)),
    op(lambda: np.linspace(-1, -5, 4, dtype=int)),
    op(lambda: np.linspace(1, 2, 1)),
    op(lambda: np.linspace(1, 2, 0)),
    op(lambda: np.linspace(0, 1, 5, retstep=True)),
    op(lambda a: np.linspace(a[0], a[1], len(a)), shapes=VECTOR, dtypes=("float32", "float64", "int32", "complex128")),
    op(lambda: np.eye(3)),
    op(lambda a: np.eye(len(a), 3, k=1, dtype=a.dtype), shapes=VECTOR, dtypes=ALL),
    op(lambda: np.identity(3, dtype=np.int32)),
    op(lambda: np.tri(3, 4, -1)),
    op(lambda a: np.asarray(a, copy=True), shapes=VECTORS),
    op(lambda a: np.asarray(a, dtype=np.float32, copy=False), shapes=VECTORS),
    op(lambda a: np.arange(2, dtype=bool), shapes=((1,),)),
    op(lambda a: np.arange(3, dtype=bool), shapes=((1,),)),
    op(lambda a: a.astype(np.int32, casting="safe"), shapes=VECTORS),
    op(lambda a: np.astype(a, np.int32), shapes=VECTORS),
    op(lambda a: a*0 if np.isdtype(a.dtype, "real floating") else a, shapes=VECTORS, dtypes=("int32","float32")),
    op(lambda a: np.zeros(2, np.common_type(a, a)), shapes=VECTORS, dtypes=("int32","float32","complex64")),
    op(lambda a: (np.iterable(a), np.iterable(3)), shapes=VECTORS),
    op(lambda a: (np.shares_memory(a,a), np.may_share_memory(a, a*2)), shapes=((5,),)),
    op(lambda a,c: np.linspace(a, c, 5), shapes=((3,),(2,3),()), dtypes=("int32","float32","float64")),
    op(lambda a,c: np.linspace(a, 2, 4, endpoint=False, axis=-1, retstep=True), shapes=((3,),)),
    op(lambda a,c: np.linspace(0, c, 4, dtype=int), shapes=((3,),)),
    op(lambda a,c: np.linspace(a, c, 1), shapes=((3,),)),
    op(lambda a: np.asanyarray(a, dtype=np.float32), dtypes=("int32", "float32")),
    op(lambda a: np.require(a, np.float64, ["C", "W"]), dtypes=("int32", "float64"), layouts=("C", "F")),
    op(lambda a: np.require(a, requirements="F").strides, layouts=("C", "F"), shapes=((3, 4),)),
    op(lambda a: np.require(a, requirements="?"), shapes=((3, 4),)),
    op(lambda a: np.zeros(2, np.min_scalar_type(300)) + np.zeros(2, np.min_scalar_type(a)), shapes=((5,),)),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


def test_negative_sizes_raise():
    with pytest.raises(ValueError, match="negative dimensions"):
        interpreted(lambda n: np.zeros(n).sum(), -2)


def test_sizes_known_at_run_time():
    assert interpreted(lambda n: np.arange(n).sum(), 7) == 21
    assert interpreted(lambda n: np.ones((n, 2)), 0).shape == (0, 2)


def test_s1_sizes_that_64_bits_do_not_count():
    """What is never allocated is counted all the same: the number of elements wrapped around, NumPy raises."""

    def programs(n, k):
        if k == 0:
            return np.zeros((n, n, n)).size
        if k == 1:
            return np.ones((n, 2), np.int8).nbytes
        if k == 2:
            return np.empty((n, 0, 2), np.float32).shape
        if k == 3:
            return np.identity(n).size
        return np.zeros_like(np.arange(3.0), shape=n).shape

    for k in range(5):
        sdfg = dcpy.program(programs).to_sdfg(2, k)
        for n in (0, 3, 2**21, 2**62):
            mine, theirs = (_raised_or(lambda r=run, n=n: r(n, k)) for run in (sdfg.interpret, programs))
            assert mine == theirs or theirs is MemoryError


def _raised_or(run):
    try:
        return run()
    except (ValueError, MemoryError) as error:
        return str(error) if "too big" in str(error) else MemoryError


def test_s1_outer_products_that_64_bits_do_not_count():
    def f(x):
        return (x[:, None, None] * x[:, None] * x).size

    x = np.broadcast_to(np.float64(1.0), (2**21,))
    with pytest.raises(ValueError, match="array is too big"):
        dcpy.program(f).to_sdfg(x).interpret(x)
    assert dcpy.program(f).to_sdfg(x).interpret(x[: 2**10]) == 2**30


@pytest.mark.parametrize("count", [-1, 0, 2, 3, 9])
def test_fromiter(count):
    def f(x, count):
        return np.fromiter(map(abs, x), float, count), np.fromiter(x, np.int32, count=count)

    same(f, np.array([3.5, -1.0, 2.0]), count)


def test_fromiter_of_generators_and_rows():
    def generated(x, n):
        return np.fromiter((v * n for v in x if v > 0), np.float32)

    same(generated, np.array([3.5, -1.0, 2.0]), 3)
    assert "setting an array element" in refusal(lambda x: np.fromiter(x, float), np.ones((2, 3)))
    same(lambda x: np.fromiter((v * 2 for v in x), int), np.array([np.nan, 1.0]))
    assert "pass a list" in refusal(lambda x: np.fromiter((v * 2 for v in x), float, 2), np.ones(3))
    same(lambda x: np.fromiter([v * 2 for v in x], float, 2), np.ones(3))
