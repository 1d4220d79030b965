"""Lists that hold numbers of Python's and of NumPy's: what both compute, an exception, or a refusal."""

import numpy as np
import pytest

import dcpy
from tests.support.lists import check_lists


def mixed_list(a, k):
    xs = []
    for i in range(len(a)):
        if i % 2:
            xs.append(k[i])
        else:
            xs.append(i + 1)
    return xs


def squares_of_mixed(a, k):
    out = np.zeros(len(a))
    xs = mixed_list(a, k)
    for i in range(len(a)):
        out[i] = xs[i] * xs[i] + xs[i] // 2
    return out


def quotients_of_mixed(a, k):
    xs = []
    for i in range(len(a)):
        if i % 2:
            xs.append(a[i])
        else:
            xs.append(float(k[i]))
    s = 0.0
    for x in xs:
        s += 1.0 / x
    return s


def test_lists_of_python_s_numbers_and_numpy_s_compute_what_both_do_or_raise():
    a, k = np.array([1.0, 2.0, 3.0, 4.0]), np.array([4, 5, 6, 7])
    for f in (squares_of_mixed, quotients_of_mixed):
        check_lists(f, a, k)
    check_lists(lambda a, k: np.array(mixed_list(a, k)), a, k)
    large = k + 2**40  # NumPy's wrap around, Python's do not: nobody knows which they are
    with pytest.raises(OverflowError, match="does not fit into the 64 bits"):
        interpreted(squares_of_mixed, a, large)
    with pytest.raises(ZeroDivisionError):
        interpreted(quotients_of_mixed, a, k * 0)


@pytest.mark.parametrize("f", [
    lambda a, k: [isinstance(x, int) for x in mixed_list(a, k)],
    lambda a, k: mixed_list(a, k),
    lambda a, k: [type(x) is int for x in mixed_list(a, k)],
])  # fmt: skip
def test_numbers_of_mixed_lists_keep_their_kinds(f):
    check_lists(f, np.ones(3), np.arange(3))


def interpreted(f, *arguments):
    return dcpy.program(f).to_sdfg(*arguments).interpret(*arguments)
