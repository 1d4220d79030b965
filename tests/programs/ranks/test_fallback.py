"""Distributed calls that passes refuse: slower ways are taken in turn, and the program says so."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import PerformanceWarning, TransformationRefused
from dcpy.ir.text import print_sdfg
from dcpy.programs.ranks import sdfg_distribution
from dcpy.programs.ranks.fallback import Fallback, distribute_with_fallback
from tests.support.virtual_calls import VirtualProgram

N = dcpy.symbol("N")


@dcpy.program
def smooth(A: dcpy.float64[N]):
    for _ in range(3):
        A[1:-1] = 0.5 * (A[:-2] + A[2:])


def function(A):
    for _ in range(3):
        A[1:-1] = 0.5 * (A[:-2] + A[2:])


@pytest.mark.parametrize("refused", range(3))
def test_the_first_way_that_is_not_refused(refused):
    """The program is as it was when the next way begins."""
    sdfg = smooth.to_sdfg()
    text, tried = print_sdfg(sdfg), []

    def distribute(way):
        assert print_sdfg(sdfg) == text
        tried.append(way)
        sdfg.add_symbol("changed")
        if len(tried) <= refused:
            raise TransformationRefused("a pass says no")
        del sdfg.symbols["changed"]
        return way.name

    if refused == 2:
        with pytest.warns(PerformanceWarning, match=r"smooth\(\): each rank .* computes all of it: a pass says no"):
            assert distribute_with_fallback(sdfg, distribute, False) == "GATHERED"
    else:
        assert distribute_with_fallback(sdfg, distribute, False) == tried[-1].name
    assert tried == list(Fallback)[: refused + 1]


def test_what_nothing_helps_is_refused():
    def distribute(way):
        raise TransformationRefused(way.name)

    with pytest.warns(PerformanceWarning), pytest.raises(TransformationRefused, match="GATHERED"):
        distribute_with_fallback(smooth.to_sdfg(), distribute, False)


@pytest.mark.parametrize("layout", [("block 0",), ("cyclic 0 by 2",)])
def test_gathered_programs_equal_numpy(monkeypatch, layout):
    """All arrays are copied to each rank, and back."""

    def refuse(*_, **__):
        raise TransformationRefused("no")

    monkeypatch.setattr(sdfg_distribution, "distribute", refuse)
    with pytest.warns(PerformanceWarning, match="computes all of it"):
        made = VirtualProgram(function, [np.arange(7.0) ** 2], 1, [layout])
    for ranks, size in ((3, 7), (4, 2), (2, 1)):
        expected = np.arange(size) ** 2.0
        function(expected)
        _, (found,) = made.run([np.arange(size) ** 2.0], (ranks,))
        np.testing.assert_array_equal(found, expected)
