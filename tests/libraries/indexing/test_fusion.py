"""Gathers go into the maps that read them; an index that is out of range is still found first."""

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.ir.nodes import LibraryNode
from tests.support.oracles import check_same

RANDOM = np.random.default_rng(4)


def product(a, i, b):
    return a[i] * b


def stored(a, i, b):
    b[:] = a[i] * b + a[i]


def rows(a, i, b):
    b[:] = np.sqrt(a[i]) * b


CASES = [(product, 1), (stored, 1), (rows, 2)]


def sample(function, rank, last=3):
    i = RANDOM.integers(-7, 7, 20)
    i[-1] = last
    return RANDOM.random((7, 4)[:rank]), i, RANDOM.random((20, 4)[:rank])


@pytest.mark.parametrize(("function", "rank"), CASES)
def test_nothing_is_gathered_into_memory(function, rank):
    sdfg = dcpy.program(function).to_sdfg(*sample(function, rank))
    driver.auto_optimize(sdfg)
    assert not [node for node in sdfg.body.walk_nodes() if isinstance(node, LibraryNode)]
    assert not [desc for desc in sdfg.containers.values() if desc.transient and desc.shape]


@pytest.mark.cc
@pytest.mark.parametrize("last", [3, 7, -8])
@pytest.mark.parametrize(("function", "rank"), CASES)
def test_values_and_exceptions(function, rank, last):
    check_same(function, *sample(function, rank, last), optimized=True)


def scaled(a, m, b):
    a[m] *= 2
    a[m] += b
    a[1:][m[1:]] -= 0.5
    b[a[: len(b)] > 1] /= 3


@pytest.mark.cc
def test_augmented_assignments_to_what_a_mask_selects():
    flags = RANDOM.random(90) < 0.3
    check_same(scaled, RANDOM.random(90), flags, RANDOM.random(flags.sum()), optimized=True)
