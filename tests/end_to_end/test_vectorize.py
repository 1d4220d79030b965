"""`np.vectorize` of element functions, and what stays refused beside it.

Section 3 of what real use found: "`np.vectorize(f)(x)` of an element function", "`np.ma`".
"""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

A = np.arange(10.0)
M = np.arange(12.0).reshape(3, 4)


def stepped(x, k=2.0):
    if x > k:
        return x * 2
    return x - 1.0


def mixed(x):
    if x > 3:
        return x * 2
    return 0


of_the_module = np.vectorize(stepped)
with_a_type = np.vectorize(mixed, otypes=["f"])


@np.vectorize
def decorated(x, y):
    return x + y if x > y else y


PROGRAMS = {
    "function": lambda a, m: np.vectorize(stepped)(a),
    "second argument": lambda a, m: np.vectorize(stepped)(m, 5.0),
    "keyword otypes": lambda a, m: np.vectorize(mixed, otypes=[float])(m),
    "code": lambda a, m: np.vectorize(mixed, "i")(a),
    "lambda": lambda a, m: np.vectorize(lambda x: x * x + 1)(m),
    "broadcast": lambda a, m: np.vectorize(lambda x, y: x + y if x > y else y)(m, m[0]),
    "of the module": lambda a, m: of_the_module(a) + with_a_type(a),
    "decorated": lambda a, m: decorated(m, m[:, :1]),
    "integers": lambda a, m: np.vectorize(lambda k: k // 2)(np.arange(5)),
    "bools": lambda a, m: np.vectorize(lambda x: x > 3)(m),
    "number": lambda a, m: np.vectorize(stepped)(a[3]),
    "transposed": lambda a, m: np.vectorize(lambda x: x + 1)(m.T),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_s3_vectorized_element_functions(name):
    check_same(PROGRAMS[name], A, M, compiled=False)


@pytest.mark.cc
def test_s3_vectorized_element_functions_compiled():
    def f(a, m):
        @np.vectorize
        def inner(x):
            return x + a[0]

        return inner(m), np.vectorize(stepped)(a)

    check_same(f, A, M)


def test_s3_no_elements_tell_no_dtype():
    check_same(lambda a: np.vectorize(stepped)(a[:0]), A, compiled=False)
    check_same(lambda a: np.vectorize(stepped, otypes="d")(a[:0]), A, compiled=False)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda a: np.vectorize(lambda v: v.sum(), signature="(n)->()")(a), "np.vectorize with a signature"),
        (lambda a: np.vectorize(stepped, excluded=["k"])(a, k=1.0), "arguments that are left out"),
        (lambda a: np.vectorize(mixed)(a), "dtype of the result depends on the path"),
        (lambda a: np.frompyfunc(stepped, 1, 1)(a), r"numpy.frompyfunc\(\) is not supported"),
        (lambda a: np.ma.masked_where(a > 3, a).mean(), r"keep the mask as an array of its own"),
        (lambda a: np.ma.array(a, mask=a > 3).sum(), r"keep the mask as an array of its own"),
    ],
    ids=["signature", "excluded", "mixed", "frompyfunc", "masked_where", "ma.array"],
)
def test_s3_what_has_no_one_dtype_is_refused(f, message):
    with pytest.raises(dcpy.FrontendError, match=message) as caught:
        dcpy.program(f)(A)
    assert "test_vectorize.py" in str(caught.value)
