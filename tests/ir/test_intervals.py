"""Which sizes 64 bits are proved to count."""

import pytest

from dcpy.ir.symbolic import Ranges, ceil_div, max_of, min_of, sym
from dcpy.ir.symbolic.intervals import SymbolIntervals

N, M, k, i = sym("N"), sym("M"), sym("k"), sym("i")
RANGES = Ranges().bind("N", 0).bind("M", 0).bind("i", 0, N - 1)
KNOWN = SymbolIntervals(RANGES, ["N", "M"], [((N, M), 8)])


@pytest.mark.parametrize("size", [N + M, 1000 * N, N - 2, k - 2, N * M, i + 1, min_of(N, k), ceil_div(N, k), -k])
def test_sizes_that_count(size):
    assert KNOWN.counts(size)


@pytest.mark.parametrize("size", [N + k, k + 1, 2 * k, k * k, N * N, max_of(k + 1, 0) // 2, N * M * M])
def test_sizes_that_may_wrap(size):
    assert not KNOWN.counts(size)


def test_boxes_within_an_argument_count():
    assert KNOWN.counts_all([N, M])
    assert KNOWN.counts_all([max_of(N - 2, 0), max_of(M - 2, 0)])
    assert not KNOWN.counts_all([N, N])
    assert not KNOWN.counts_all([M, N])
