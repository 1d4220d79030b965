"""What the fuzzer found, made small: one program per cause, under all oracles."""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

A3 = np.array([0.5, -1.0, 2.0])


def same(function, *arguments):
    check_same(function, *arguments, rtol=1e-12, compiled=False)


def is_refused(function, *arguments, reason):
    with pytest.raises(dcpy.DcpyError, match=reason):
        dcpy.program(function).to_sdfg(*arguments)


def test_ufunc_outer_takes_numbers_as_arrays():
    def f(a, k):
        return np.add.outer(a, k)

    same(f, np.ones(2, np.int16), 1)


def test_extrema_of_numbers_without_a_common_type_are_refused():
    def f(a, k, s):
        a[0] = min(k, s)

    is_refused(f, A3, -1, np.uint8(200), reason="depending on their values")
