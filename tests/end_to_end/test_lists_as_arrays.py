"""Lists as arguments that are annotated as arrays: converted, and only read."""

import numpy as np
import pytest

import dcpy

N, M = dcpy.symbol("N"), dcpy.symbol("M")
pytestmark = pytest.mark.cc


@dcpy.program
def mean(x: dcpy.float64[N], m: dcpy.float64[N, M]):
    return x.sum() / N, m * 2


def test_lists_become_arrays_of_the_annotation():
    for x, m in (([1.0, 2.0], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), ([1, 2], np.ones((2, 3))), ([True], [[2]])):
        got, table = mean(x, m)
        assert got == np.mean(x)
        np.testing.assert_array_equal(table, np.array(m, float) * 2)
    assert mean([], np.ones((0, 1)))[1].shape == (0, 1)


def test_lists_that_are_no_such_arrays_are_refused():
    for x in ([1j], [[1.0]], [[1.0], [1.0, 2.0]], ["a"], [None]):
        with pytest.raises(dcpy.ArgumentError, match="argument 'x' is a list"):
            mean(x, np.ones((1, 1)))
    with pytest.raises(dcpy.DcpyError, match="N is 3"):
        mean([1.0, 2.0, 3.0], [[1.0], [2.0]])


def test_what_is_written_to_is_no_list():
    @dcpy.program
    def double(x: dcpy.float64[N]):
        x *= 2

    with pytest.raises(dcpy.ArgumentError, match="would not change the list"):
        double([1.0, 2.0])
    x = np.ones(2)
    double(x)
    assert x.tolist() == [2.0, 2.0]
