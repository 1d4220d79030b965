"""Shapes, views and parts against NumPy: also what a write through a view does."""

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError
from tests.support.lowering import same
from tests.support.numpy_records import ALL, LAYOUTS, SHAPES, check, interpreted, op
from tests.support.oracles import check_same

VECTOR = ((4,), (0,), (1,))
MATRIX = ((3, 4), (1, 4), (2, 0))
CUBE = ((2, 3, 4),)


def store_through_reshape(a):
    b = a.reshape(4, 3)
    b[1, 1] = 77
    return b


def store_through_transpose(a):
    b = a.T
    b[0, 1] = 77
    return b


def store_through_reshaped_parts(a):
    b = a[::2].reshape(2, 1, -1)
    b[1, 0, 0] = 77
    return b


def store_through_merged_dimensions(a):
    b = a[1:].reshape(2, 12)
    b[1] = 7
    a[2, 0, 0] = 8
    return b


def read_diagonal_after_store(a):
    b = np.diagonal(a, 1)
    a[0, 1] = 77
    return b + np.diag(a)[:-1]


def store_into_flat_copy(a):
    b = a.flatten()
    b[:] = 7
    return b


def store_through_ravel(a):
    b = a.ravel()
    b[2] = 7
    return b


def store_through_parts(a):
    low, high = np.split(a, 2)
    low[:] = high
    return low


def fill(a):
    a.fill(3)


def store_real(a):
    a.real[:] = 5
    return a.imag


VECTORS = ((5,), (1,), (0,))

RECORDS = [
    op(lambda a: a.reshape(2, -1), shapes=((4,), (3, 4), (2, 3, 4), (2, 0))),
    op(lambda a: np.reshape(a, (a.size,)), dtypes=("int8", "float64"), layouts=LAYOUTS),
    op(lambda a: a.reshape((4, 3)), shapes=((3, 4), (12,)), layouts=LAYOUTS),
    op(lambda a: a.reshape(-1, 3)[0], shapes=((6,),)),
    op(lambda a: a.reshape(5), shapes=((4,),)),
    op(lambda a: a.ravel(), layouts=LAYOUTS),
    op(lambda a: np.ravel(a.T), shapes=MATRIX),
    op(lambda a: a.flatten(), layouts=("C", "F")),
    op(lambda a: a.T, layouts=LAYOUTS),
    op(lambda a: np.transpose(a, (1, 2, 0)), shapes=CUBE),
    op(lambda a: a.transpose(2, 0, 1), shapes=CUBE),
    op(lambda a: np.transpose(a, (0, 0, 1)), shapes=CUBE),
    op(lambda a: np.swapaxes(a, 0, -1), shapes=CUBE),
    op(lambda a: a.mT, shapes=CUBE),
    op(lambda a: np.moveaxis(a, 0, -1), shapes=CUBE),
    op(lambda a: np.moveaxis(a, (0, 1), (-1, 0)), shapes=CUBE),
    op(lambda a: np.expand_dims(a, (0, -1)), shapes=SHAPES),
    op(lambda a: np.squeeze(a), shapes=((1, 3, 1), (1,), (1, 1), ())),
    op(lambda a: a.squeeze(axis=0), shapes=((1, 3), (2, 3))),
    op(lambda a: np.atleast_1d(a), shapes=((), (3,))),
    op(lambda a: np.atleast_2d(a), shapes=((), (3,), (2, 2))),
    op(lambda a: np.broadcast_to(a, (3, 4)) + 0, shapes=((4,), (1, 4), (3, 1), (), (3, 4), (2,))),
    op(lambda a, c: np.broadcast_arrays(a, c)[0] * 2, shapes=(((3, 1), (4,)),)),
    op(lambda a: np.flip(a) + 0, shapes=SHAPES),
    op(lambda a: np.flip(a, axis=1), shapes=MATRIX),
    op(lambda a: np.fliplr(a) - np.flipud(a), shapes=MATRIX),
    op(lambda a, c: np.concatenate((a, c)), shapes=(((3,), (2,)), ((0,), (2,)), ((2, 3), (1, 3)), ((2, 3), (2, 2)))),
    op(lambda a, c: np.concatenate([a, c], axis=-1), shapes=(((2, 3), (2, 2)), ((2, 3), (3, 3)), ((), ()))),
    op(lambda a, c: np.concatenate((a, c), axis=None), shapes=(((2, 3), (2,)),)),
    op(lambda a: np.concatenate((300, a, True, [2]), axis=None), shapes=(((2, 3),),)),
    op(lambda a: np.concatenate((a, 2.5), axis=None), shapes=(((2, 3),),)),
    op(lambda a: np.concatenate((a, a.astype(np.float32))), dtypes=("int8", "bool", "complex64"), shapes=VECTOR),
    op(lambda a, c: np.stack((a, c), axis=1), shapes=(((3,), (3,)), ((2, 3), (2, 3)), ((2,), (3,)))),
    op(lambda a: np.stack([a[0], a[1]]), shapes=((4,),)),
    op(lambda a, c: np.vstack((a, c)), shapes=(((3,), (3,)), ((2, 3), (3,)))),
    op(lambda a, c: np.hstack((a, c)), shapes=(((3,), (2,)), ((2, 3), (2, 1)))),
    op(lambda a, c: np.column_stack((a, c)), shapes=(((3,), (3,)), ((3, 2), (3,)))),
    op(lambda a: np.repeat(a, 3), shapes=((4,), (2, 3), (0,))),
    op(lambda a: np.repeat(a, 2, axis=1), shapes=MATRIX),
    op(lambda a: np.tile(a, 3), shapes=((4,), (2, 3), (0,))),
    op(lambda a: np.tile(a, (2, 1, 2)), shapes=((4,), (2, 3))),
    op(lambda a: np.roll(a, 1), shapes=((4,), (2, 3), (0,), (1,))),
    op(lambda a: np.roll(a, -1, axis=0) + np.roll(a, 5, axis=-1), shapes=((4,), (2, 3), (0,), (1,))),
    op(lambda a: np.roll(a, (1, -1), axis=(0, 1)), shapes=MATRIX),
    op(lambda a: np.split(a, 2)[1], shapes=((4,), (2, 3), (5,))),
    op(lambda a: np.split(a, [1, 3])[1], shapes=((4,), (6, 2))),
    op(lambda a: (a.shape, a.ndim, a.size, a.itemsize, a.nbytes), dtypes=("int8", "complex128")),
    op(lambda a: (np.shape(a), np.ndim(a), np.size(a))),
    op(lambda a: a.astype(np.int32), dtypes=("bool", "uint8", "float32"), layouts=LAYOUTS),
    op(lambda a: a.astype("float32", copy=False), dtypes=("int32", "float64")),
    op(lambda a: a.real + a.imag, dtypes=ALL, layouts=LAYOUTS),
    op(lambda a: np.real((a[0], 3)) + np.imag((1j, a[1])), shapes=((3,),), dtypes=("float32", "int64")),
    op(lambda a: a.conj(), dtypes=("float32", "complex64")),
    op(lambda a: a.item(), shapes=((), (1,), (1, 1), (3,)), dtypes=ALL),
    op(lambda a: a.item(2) + a.item(0), shapes=((4,), (3, 4)), dtypes=("int8", "float32")),
    op(store_through_reshape, shapes=((3, 4),), name="store_through_reshape"),
    op(store_through_transpose, shapes=((3, 4),), layouts=LAYOUTS, name="store_through_transpose"),
    op(store_through_reshaped_parts, shapes=((4,), (8,)), name="store_through_reshaped_parts"),
    op(store_through_merged_dimensions, shapes=((3, 3, 4),), name="store_through_merged_dimensions"),
    op(read_diagonal_after_store, shapes=((3, 3),), layouts=LAYOUTS, name="read_diagonal_after_store"),
    op(lambda a: np.real(a) - np.imag(a) * np.angle(a), dtypes=("float32", "complex64", "complex128")),
    op(store_into_flat_copy, shapes=((3, 4),), layouts=LAYOUTS, name="store_into_flat_copy"),
    op(store_through_ravel, shapes=((3, 4),), name="store_through_ravel"),
    op(store_through_parts, shapes=((4,), (2, 3)), name="store_through_parts"),
    op(fill, dtypes=ALL, layouts=LAYOUTS, name="fill"),
    op(store_real, shapes=((4,),), dtypes=("complex64", "complex128"), layouts=LAYOUTS, name="store_real"),
    op(lambda a: np.lib.stride_tricks.sliding_window_view(a, 2), shapes=((5,),(1,))),
    op(lambda a: np.lib.stride_tricks.sliding_window_view(a, (2,3)).sum(axis=(2,3)), shapes=MATRIX),
    op(lambda a: np.lib.stride_tricks.sliding_window_view(a, 3, axis=1)*1, shapes=MATRIX, layouts=("C","F","strided")),
    op(lambda a: np.concatenate((a,a), dtype=np.int32, casting="unsafe"), shapes=VECTORS),
    op(lambda a: np.concatenate((a,a), dtype=np.int32), shapes=VECTORS),
    op(lambda a: np.stack((a,a), dtype=np.float32, casting="no"), shapes=VECTORS),
    op(lambda a: np.hstack((a,a), dtype=np.float32), shapes=VECTORS),
    op(lambda a: (np.isfortran(a), np.isfortran(a.T)), shapes=MATRIX, layouts=("C","F")),
    op(lambda a: np.repeat(a, [0,2,1]), shapes=((3,),(4,))),
    op(lambda a: a.repeat(np.array([2,0,1]), axis=0), shapes=((3,4),)),
    op(lambda a: np.repeat(a, [1,0,3], axis=1), shapes=((2,3),)),
    op(lambda a: np.repeat(a, [2]), shapes=((3,),(3,4))),
    op(lambda a: np.repeat(a, [1,-1,1]), shapes=((3,),)),
    op(lambda a: a.ravel("F"), shapes=((3,4),(2,3,4),(5,))),
    op(lambda a: a.flatten(order="F"), shapes=((3,4),(2,3,4))),
    op(lambda a: np.reshape(a, (4,-1), order="F"), shapes=((3,4),(2,3,4)), layouts=("C","F","strided")),
    op(lambda a: np.reshape(a, (2,6), order="A"), shapes=((3,4),), layouts=("C","F")),
    op(lambda a: np.ravel(a, order="K"), shapes=((3,4),), layouts=("C","F")),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.parametrize("size", [0, 6])
def test_no_size_is_worked_out_beside_a_dimension_of_0(size):
    def reshape(a, n):
        return a.reshape(n, -1)

    assert interpreted(reshape, np.arange(size), 3).shape == (3, size // 3)
    with pytest.raises(ValueError, match=rf"cannot reshape array of size {size} into shape \(\?,newaxis\)"):
        interpreted(reshape, np.arange(size), 0)
    with pytest.raises(ValueError, match=rf"cannot reshape array of size {size} into shape \(0,newaxis\)"):
        interpreted(lambda a: a.reshape(0, -1), np.arange(size))


def test_reshape_checks_sizes_at_run_time():
    def reshape(a, n):
        return a.reshape(n, 3)

    assert interpreted(reshape, np.arange(6), 2).shape == (2, 3)
    with pytest.raises(ValueError, match="cannot reshape array of size 6"):
        interpreted(reshape, np.arange(6), 3)


def test_writes_to_a_reshaped_copy_are_refused():
    def store(a):
        b = a.T.reshape(-1)
        b[0] = 1
        return b

    with pytest.raises(FrontendError) as refusal:
        interpreted(store, np.ones((2, 3)))
    assert "copied" in refusal.value.notes[0]


def test_items_beyond_the_end_raise():
    with pytest.raises(IndexError):
        interpreted(lambda a, n: a.item(n), np.arange(3), 5)


def test_ravel_copies_what_lies_with_gaps_where_reshape_shows_it():
    def f(c):
        column = c[:, 1]
        flat, shown = column.ravel(), column.reshape(-1)
        flat[0] = 7
        shown[1] = 8
        return flat, shown, column.ravel(order="K")

    check_same(f, np.arange(12.0).reshape(3, 4), compiled=False)


def test_writes_to_what_ravel_may_have_copied_are_refused():
    def f(a):
        flat = a[::2].ravel()  # of one element or none: a view
        flat[0] = 7

    with pytest.raises(FrontendError) as refusal:
        interpreted(f, np.ones(3))
    assert "whether the elements of the array lie without gaps is not known" in refusal.value.notes[0]


@pytest.mark.parametrize("kind", ["float64", "complex64", "bool", "int8"])
def test_parts_of_numbers(kind):
    def f(a, k, x, p):
        return a[0].real, a[0].imag, k.imag, x.real, x.imag, p.real, p.imag, (k + 1.5).imag, (k > 0).imag, (k > 0).real

    arguments = np.array([np.nan if kind[0] in "fc" else 1]).astype(kind), 3, np.float32(np.inf), True
    check_same(f, *arguments, compiled=False)


def test_an_order_that_is_not_known_is_refused():
    with pytest.raises(FrontendError, match="order of this array in memory is not known") as refusal:
        interpreted(lambda a, n: a[:n].ravel(order="A"), np.asfortranarray(np.ones((3, 8))), 2)
    assert refusal.value.help == "name the order: 'C' or 'F'"


@pytest.mark.parametrize("n", [2**21, 2**22, 3 * 2**20 + 7, 2**32])
def test_s1_views_that_repeat_have_no_more_elements_than_64_bits_count(n):
    """S1: a product of sizes wrapped around, and the view had no or a negative number of elements."""

    def counted(a, n):
        return np.broadcast_to(a, (n, n, n)).size

    def element(a, n):
        return np.broadcast_to(a, (n, n, n))[0, 0, 0]

    def flat(a, n):
        return np.broadcast_to(a, (n, n, n)).reshape(-1)[0]

    def empty(a, n):
        return np.broadcast_to(a[:0], (n, n, 0)).size

    for function in (counted, element, flat, empty):
        check_same(function, np.ones(1), n, compiled=False)


def test_s1_views_of_a_known_size_are_free():
    def f(a, c):
        return np.broadcast_to(a, c.shape) + c, np.broadcast_to(a, (2, 3, 4)), np.broadcast_arrays(a, c)[0][0, 0]

    assert "mul_fits" not in str(dcpy.program(f).to_sdfg(np.ones(1), np.ones((3, 4))))


def test_dstack_of_rows_whose_number_run_time_knows():
    def f(a, b, rows, vectors, cubes):
        return np.dstack(np.mgrid[a:b, 0:b]), np.dstack(rows), np.dstack(vectors), np.dstack(cubes), np.dstack([[1, 2]])

    cubes = np.arange(24).reshape(2, 3, 2, 2)
    same(f, 1, 4, np.arange(24.0).reshape(2, 3, 4), np.arange(6.0).reshape(2, 3), cubes)
    same(lambda a: np.dstack(a), np.arange(4))
    same(lambda n: np.dstack(np.zeros((n, 2, 3))), 0)


@pytest.mark.filterwarnings("ignore:Numpy has detected")
def test_arrays_that_are_broadcast_together_take_stores_to_elements():
    def flags(a, c):
        x, y = np.broadcast_arrays(a + 1, c + 1)
        return x.flags.writeable, y.flags.writeable, np.broadcast_to(x, (2, 2, 3)).flags.writeable

    def stores(a, c):
        p, q = a + 1, c + 1
        x, y = np.broadcast_arrays(p, q)
        x[0, 1] = 5
        x[1] = x[1] * 2
        y[1, 1] = 7
        return p, q, x.copy(), y.copy()

    def columns(a, c):
        x, _ = np.broadcast_arrays(a + 1, c)
        x[:, 1] = 3
        return x.copy()

    arguments = np.arange(3.0), np.ones((2, 3))
    assert interpreted(flags, *arguments) == (True, True, False)
    same(stores, *arguments)
    with pytest.raises(FrontendError, match="assignment destination is read-only"):
        interpreted(columns, *arguments)
