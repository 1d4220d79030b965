"""Random memory orders under all oracles. `python -m tests.fuzz.orders N` runs many more."""

import numpy as np
import pytest

from tests.fuzz import orders
from tests.fuzz.orders import arguments_of, check, source_of
from tests.fuzz.program import define


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_interpreted(first):
    found = [check(seed) for seed in range(first, first + 20)]
    assert found.count("") > 14


@pytest.mark.cc
def test_compiled():
    for seed in range(60, 62):
        check(seed, "compiled")


def test_a_wrong_order_is_found(monkeypatch):
    def packed(function, given):
        return tuple(np.array(one, order="C") if isinstance(one, np.ndarray) else one for one in function(*given))

    monkeypatch.setitem(orders.RUNS, "packed", packed)
    wrong = 0
    for seed in range(30):
        try:
            check(seed, "packed")
        except AssertionError:
            wrong += 1
    assert wrong > 5


def test_layouts_and_operations_are_drawn():
    text = "".join(map(source_of, range(300)))
    assert all(part in text for part in (".ravel('K')", ".flatten('A')", "np.sort(", "np.where(", ".flags."))
    strides = {array.strides for seed in range(300) for array in arguments_of(seed)[:2]}
    assert any(0 in steps for steps in strides)
    assert any(step < 0 for steps in strides for step in steps)
    assert source_of(7) == source_of(7)
    assert define(source_of(7))
