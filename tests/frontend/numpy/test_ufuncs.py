"""Every ufunc of the table, on every dtype, against NumPy; keywords; what is built from ufuncs."""

import numpy as np
import pytest

from dcpy.frontend.lower.arithmetic.elementwise import UFUNCS
from tests.support.lowering import lower, same
from tests.support.numpy_records import ALL, LAYOUTS, Record, check, interpreted, op, sample

UNARY = sorted((f for f in UFUNCS if f.nin == 1), key=lambda f: f.__name__)
BINARY = sorted((f for f in UFUNCS if f.nin == 2), key=lambda f: f.__name__)
PAIRS = ((), (4,), ((), (3,)), ((3, 1), (4,)), ((0,), (1,)), ((2, 3), (3,)))

RECORDS = [
    op(lambda a: np.add(a, 1, out=a), dtypes=("int8", "float32", "float64")),
    op(lambda a: np.add(a, 1.5, out=a), dtypes=("int8", "float32")),
    op(lambda a, o: np.sqrt(a, out=o, where=a > 0), shapes=((5,), (3, 4))),
    op(lambda a, o: np.multiply(a, 2, o), shapes=(((3,), (2, 3)), ((3,), (1,)))),
    op(lambda a: np.add(a, a, dtype=np.float32), dtypes=("int32", "float16", "float64", "complex64")),
    op(lambda a, c: np.add.outer(a, c), shapes=((), (3,), ((2, 3), (4,)), ((), (2,)))),
    op(lambda a, c: np.minimum.outer(a, c), shapes=(((3,), (2,)),), dtypes=("int32", "float32")),
    op(lambda a: np.add([1, a[0]], [a[0], 2.5]), shapes=((3,),), dtypes=("int8", "float32")),
    op(lambda a: np.divmod(a, 2), dtypes=("int8", "uint8", "float32")),
    op(lambda a: np.modf(a), dtypes=("int8", "float16", "float64")),
    op(lambda a: np.fix(a), dtypes=("int32", "float32")),
    op(lambda a: np.round(a), dtypes=ALL),
    op(lambda a: a.round(1), dtypes=("int32", "float32", "float64", "complex128")),
    op(lambda a: np.around(a / 7, 3), dtypes=("float32", "float64"), rtol=1e-6),
    op(lambda a: np.round(a * 100, -2), dtypes=("float64",)),
    op(lambda a: np.nan_to_num(1 / (a - a[0])), shapes=((5,),), dtypes=("float32", "float64")),
    op(lambda a: np.nan_to_num(np.log(a), nan=1.0, neginf=-7.0), shapes=((5,),)),
    op(lambda a: np.float32(a) + np.float64(1), dtypes=("int32", "float64")),
    op(lambda a: np.int16(a), dtypes=("int32", "bool", "float64")),
    op(lambda a: np.abs(a) + np.conj(a), dtypes=("int32", "complex64")),
    op(lambda a: np.bitwise_count(a), shapes=((),(5,),(3,4)), dtypes=("int8","int16","int32","int64","uint8","uint64")),
    op(lambda a: np.bitwise_count(np.array([-128,127,-1],np.int8)), shapes=((1,),)),
    op(lambda a,c: np.ldexp(a,c.astype(np.int32)), shapes=((),(5,),(3,4)), dtypes=("float16","float32","float64")),
    op(lambda a: (a % 1.0, np.mod(a, 1)), shapes=((),(5,),(3,4)), dtypes=("int8","float16","float32","float64")),
    op(lambda a: np.ldexp(a,3), shapes=((),(5,),(3,4)), dtypes=("int8","float16","float32","float64")),
    op(lambda a: np.frexp(a), shapes=((),(5,),(3,4)), dtypes=("int8","float16","float32","float64")),
    op(lambda a,o,p: np.modf(a, out=(o,p)), shapes=((5,),)),
    op(lambda a: np.modf(a, dtype=np.float64), shapes=((5,),), dtypes=("float32",)),
    op(lambda a,o: np.add(a, 2.5, out=o, casting="unsafe"), shapes=((5,),), dtypes=("int32","float32")),
    op(lambda a: np.add(a, a, dtype=np.int64, casting="unsafe"), shapes=((5,),), dtypes=("int32","float32")),
    op(lambda a: np.sqrt(a, dtype=np.float32, casting="safe"), shapes=((5,),), dtypes=("int8","float64")),
    op(lambda a: np.add(a, np.float32(1), casting="no"), shapes=((5,),), dtypes=("int8","float32")),
    op(lambda a: np.add(a, 1, order="F", subok=False, signature=None), shapes=((3,4),)),
    op(lambda a: np.add(a, 1, order="X"), shapes=((3,4),)),
    op(lambda a: np.round(a*37, -1), shapes=((5,),(3,4)), dtypes=("int8","int32","int64")),
    op(lambda a: np.nan_to_num(1/(a-a[0])), shapes=((5,),), dtypes=("complex64","complex128")),
]  # fmt: skip


@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_unary(function):
    limited = function in (np.arccosh, np.arctanh, np.reciprocal)
    record = Record(
        lambda a: function(a), dtypes=ALL, layouts=("C", "reversed"), positive=limited, shapes=((), (0,), (5,))
    )
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_binary(function):
    record = Record(lambda a, c: function(a, c), dtypes=ALL, shapes=PAIRS)
    for arguments in record.cases():
        check(record, arguments)


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("number", [3, 2.5, 3j, True])
def test_python_numbers(function, number):
    for dtype in ("bool", "int8", "uint8", "float32", "complex64"):
        check(Record(lambda a: function(a, number)), (sample((4,), dtype, positive=True),))
        check(Record(lambda a: function(number, a)), (sample((4,), dtype, positive=True),))


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_mixed_dtypes(function):
    pairs = [("int8", "uint8"), ("int64", "uint64"), ("uint8", "float32"), ("float16", "int32"), ("bool", "int8")]
    for left, right in pairs:
        record = Record(lambda a, c: function(a, c))
        check(record, (sample((4,), left), sample((4,), right, seed=1, positive=True)))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in record.cases():
        check(record, arguments)


def test_nan_is_replaced_in_place():
    def f(a):
        b = np.nan_to_num(a, copy=False, nan=7.0)
        return a is b, a

    found, a = interpreted(f, np.array([1.0, np.nan]))
    assert found
    assert a.tolist() == [1.0, 7.0]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    record = Record(lambda a, c: a - 2 * c)
    check(record, (sample((3, 4), "float64", layout), sample((3, 4), "float32", layout, 1)))


def test_integer_powers_refuse_negative_exponents():
    def power(a, n):
        return a**n

    with pytest.raises(ValueError, match="negative integer powers"):
        interpreted(power, np.arange(3), np.array([2, -1, 0]))
    with pytest.raises(ValueError, match="negative integer powers"):
        interpreted(power, np.arange(3), -1)
    assert interpreted(power, np.arange(3), 2).tolist() == [0, 1, 4]


def _raised_in_place(a, n):
    a **= n
    return a


def _inverted_in_place(a):
    a **= -1
    return a


def test_integer_powers_in_place_refuse_negative_exponents():
    for n in (-1, np.array([2, -1, 0])):
        with pytest.raises(ValueError, match="negative integer powers"):
            interpreted(_raised_in_place, np.arange(3), n)
    with pytest.raises(ValueError, match="negative integer powers"):
        interpreted(_inverted_in_place, np.arange(3))
    assert interpreted(_raised_in_place, np.arange(3), np.array([2, 1, 0])).tolist() == [0, 1, 1]
    assert interpreted(_inverted_in_place, np.arange(0)).tolist() == []
    with pytest.raises(OverflowError, match="-1 out of bounds for uint8"):
        interpreted(_inverted_in_place, np.arange(3, dtype=np.uint8))


@pytest.mark.filterwarnings("ignore:'where' used without 'out'")
def test_where_without_out_leaves_the_rest_to_numpy():
    def f(a, m, row):
        root = np.sqrt(a, where=m)
        whole, rest = np.divmod(a, 2.0, where=m)
        return root[m], np.divide(1.0, a, where=a != 0)[a != 0], whole[m] + rest[m], np.add(a, 1, where=row).shape

    same(f, np.arange(6.0).reshape(2, 3), np.eye(2, 3, dtype=bool), np.ones((4, 1, 3), bool))


@pytest.mark.parametrize("f", [lambda m: -m, lambda m: m - m, lambda m: np.negative(m), lambda m: -m[0]])
def test_what_numpy_does_not_do_with_truth_values(f):
    with pytest.raises(TypeError, match="NumPy raises TypeError here"):
        lower(f, np.array([True, False]))
    with pytest.raises(TypeError):
        f(np.array([True, False]))
