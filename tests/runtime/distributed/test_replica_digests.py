"""Digests of replicated arrays: of all elements or of some, whatever the strides."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.base.option_groups.ranks import Replicas
from dcpy.runtime.distributed.replica_digests import ELEMENTS, digest, digests


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 4), (ELEMENTS * 5 + 3,), (90, 60), (20, 30, 40)])
def test_order_in_memory_does_not_count(shape):
    array = np.random.default_rng(1).random(shape)
    spread = np.repeat(array[..., None], 2, -1)[..., 0]
    for everything in (False, True):
        assert digest(array, everything) == digest(np.asfortranarray(array), everything) == digest(spread, everything)
        assert array.size == 0 or digest(array, everything) != digest(array + 1, everything)


def test_one_element_of_many_is_found_where_all_count():
    array = np.zeros(10 * ELEMENTS)
    other = array.copy()
    other[7] = 1
    assert digest(array) == digest(other)
    assert digest(array, True) != digest(other, True)
    assert digest(array[:ELEMENTS]) != digest(other[:ELEMENTS])


def test_arrays_that_are_read_are_compared():
    bound = {"x": np.ones(3), "y": np.ones(3), "n": 4}
    assert list(digests(bound, ["x", "n"], Replicas.SAMPLE)) == ["x"]
    assert digests(bound, ["x", "y"], Replicas.OFF) == {}
