"""Rows sorted by C++'s standard library."""

import numpy as np
import pytest

from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, as_expr
from dcpy.libraries.sorting.nodes import Sort
from tests.support.oracles import check_same


def sort_rows(a):
    return np.sort(a), np.sort(a, axis=0), np.sort(a, axis=None)


@pytest.mark.cc
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float64"])
def test_as_numpy(dtype):
    a = np.random.default_rng(0).integers(0, 100, (7, 40)).astype(dtype)
    if a.dtype.kind == "f":
        a[::2, ::3] = np.nan
        a[1, 5] = np.inf
    check_same(sort_rows, a)


def test_operands_of_another_form_are_a_problem():
    def memlet(*sizes):
        return Memlet("x", Subset(tuple(Range(ZERO, as_expr(size)) for size in sizes)))

    assert list(Sort(inputs={"x": memlet(2, 3)}, outputs={"out": memlet(2, 3)}).problems()) == []
    assert list(Sort(inputs={"x": memlet(2, 3)}, outputs={"out": memlet(3, 2)}).problems())
    assert list(Sort(inputs={"x": memlet(3)}, outputs={"out": memlet(3)}).problems())
    assert list(Sort(inputs={"y": memlet(2, 3)}, outputs={"out": memlet(2, 3)}).problems())
