"""The kernels of NPBench compute what they say: loops written out from the definition, or a property of the result."""

import copy

import numpy as np
import pytest

from benchmarks.npbench import kernels
from tests.benchmarks import definitions, properties, stencils  # noqa: F401  (stencils adds to LOOPS)

KERNELS = kernels()


def run(name, arguments):
    """Result and arguments afterwards."""
    after = copy.deepcopy(arguments)
    return KERNELS[name].function(**after), after


def test_there_are_54():
    assert len(KERNELS) == 54


@pytest.mark.parametrize("name", KERNELS)
def test_arguments_are_those_of_the_catalog(name):
    kernel = KERNELS[name]
    arguments = kernel.initialize("XS")
    assert tuple(arguments) == kernel.arguments
    assert set(kernel.outputs) <= set(arguments)
    assert set(kernel.sizes) - {"beyond"} == {"XS", "S", "M", "L", "paper"}  # that one: what no cache holds


def test_every_kernel_is_checked_here():
    assert sorted({*definitions.LOOPS, *properties.PROPERTIES}) == sorted(KERNELS)


@pytest.mark.parametrize("name", definitions.LOOPS)
def test_equals_its_definition(name):
    arguments = KERNELS[name].initialize("XS")
    expected = copy.deepcopy(arguments)
    expected_result = definitions.LOOPS[name](**expected)
    result, after = run(name, arguments)
    for got, want in zip(as_tuple(result), as_tuple(expected_result), strict=True):
        tolerance = 1e-4 if np.asarray(got).dtype == np.float32 else 1e-10
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    for argument in arguments:
        np.testing.assert_allclose(after[argument], expected[argument], rtol=1e-10)


@pytest.mark.parametrize("name", properties.PROPERTIES)
def test_has_its_property(name):
    before = KERNELS[name].initialize("XS")
    result, after = run(name, before)
    properties.PROPERTIES[name](before, after, result)


def as_tuple(result):
    if result is None:
        return ()
    return result if isinstance(result, tuple) else (result,)
