"""Symbols that are assigned the same value are one: sizes that are computed alike are alike (value numbering)."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dcpy


def assigned(program, *arguments):
    """Symbols with the texts of their values, in order."""
    text = str(program.to_sdfg(*arguments, simplify=False))
    return re.findall(r"^ *let (\w+) = (.*)$", text, re.MULTILINE)


def test_a_power_that_is_computed_twice_is_one_size():
    @dcpy.program
    def twice(x, R, i):
        return np.reshape(x, (R**i, 2)) + np.zeros((R**i, 2))

    assert [value for _, value in assigned(twice, np.ones(18), 3, 2)] == ["R ** i"]
    sdfg = twice.to_sdfg(np.ones(18), 3, 2)
    assert "min(" not in str(sdfg)  # no axis could be stretched
    assert sdfg.interpret(np.ones(18), 3, 2).shape == (9, 2)


def test_in_loops_values_are_those_of_the_iteration():
    @dcpy.program
    def grown(R, K):
        total = 0.0
        for i in range(K):
            a, b = np.ones(R**i), np.ones(R**i)
            total += np.sum(a + b)
        return total + np.sum(np.ones(R**K))

    assert len(assigned(grown, 2, 3)) == 2
    assert grown.to_sdfg(2, 3).interpret(2, 3) == 2 * (1 + 2 + 4) + 8


def test_what_a_branch_has_computed_is_not_known_behind_it():
    @dcpy.program
    def chosen(R, i, n):
        a = 0.0
        if n > 5:
            a = np.ones(R**i).sum()
        return a + np.ones(R**i).sum()

    assert len(assigned(chosen, 3, 2, 7)) == 2
    for n in (7, 3):
        assert chosen.to_sdfg(3, 2, n).interpret(3, 2, n) == 9 * (1 + (n > 5))


def test_what_memory_holds_is_read_each_time():
    @dcpy.program
    def counted(x):
        first = x[x > 0]
        x[:] = x + 1
        return first.sum() + x[x > 0].sum()

    assert len(assigned(counted, np.arange(-2.0, 3))) == 2
    x = np.arange(-2.0, 3)
    assert counted.to_sdfg(x).interpret(x.copy()) == 3 + (1 + 2 + 3)


def test_lists_that_grow_have_rooms_of_their_own():
    @dcpy.program
    def listed(n):
        a, b = [], []
        for i in range(n):
            a.append(i)
        for i in range(2):
            b.append(i)
        return np.array(a).sum(), np.array(b).sum()

    assert tuple(listed.to_sdfg(30).interpret(30)) == (435, 1)


@pytest.mark.cc
def test_compiled_sizes_are_checked_all_the_same():
    @dcpy.program(auto_optimize=True)
    def reshaped(x, R, i):
        return np.reshape(x, (R**i, 2)) * np.reshape(x, (R**i, 2))

    x = np.arange(18.0)
    np.testing.assert_array_equal(reshaped(x, 3, 2), np.reshape(x, (9, 2)) ** 2)
    with pytest.raises(ValueError, match="cannot reshape"):
        reshaped(x, 3, 1)
