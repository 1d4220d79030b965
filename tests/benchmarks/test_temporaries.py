"""Which kernels compute arrays only to read them again, and that those without still compute the same."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.npbench import kernels
from benchmarks.temporaries import sdfg_of_call, table, temporaries
from dcpy.ir.interp import interpret

NONE_LEFT = ("hdiff", "softmax")


@pytest.mark.parametrize("name", NONE_LEFT)
def test_nothing_is_stored_between_the_maps_of(name):
    ((_, plain, auto),) = table([name], "XS")
    assert len(plain.names) > 3
    assert plain.bytes > 0
    assert auto.names == ()
    assert auto.bytes == 0


def test_the_weather_kernel_keeps_its_values_to_the_last_bit():
    """Five Laplacians and four fluxes for each element, with the conditions of the limiter as they were."""
    kernel = kernels()["hdiff"]
    arguments = kernel.initialize("XS")
    sdfg = sdfg_of_call(kernel.function, arguments.values(), auto=True)
    expected = {name: value.copy() for name, value in arguments.items()}
    kernel.function(**expected)
    dims = zip(sdfg.containers["out_field"].shape, arguments["out_field"].shape, strict=True)
    sizes = {dim.name: size for dim, size in dims if dim.name is not None}
    interpret(sdfg, arguments, sizes)
    np.testing.assert_array_equal(arguments["out_field"], expected["out_field"])


def test_rows_and_results_do_not_count():
    kernel = kernels()["jacobi_2d"]
    arguments = tuple(kernel.initialize("XS").values())
    found = temporaries(sdfg_of_call(kernel.function, arguments, auto=True), arguments)
    assert (found.bytes, found.unknown) == (0, 0)
    assert str(found).strip() == "0             0"


def test_a_contour_integral_stores_a_matrix_and_a_solution():
    """Not the products that it adds up, nor the results of the branches that it chooses from, nor what it scales."""
    ((_, plain, auto),) = table(["contour_integral"], "XS")
    assert len(plain.names) == 6  # in two versions of the loop
    assert {name.rstrip("_0123456789") for name in auto.names} == {"Tz", "X"}
    assert len(auto.names) == 4
    assert auto.unknown == 0


def test_stars_store_nothing_between_pairs_of_stars():
    """Distances, masks of them, what they select, forces, potentials: one pass over all pairs in a step of time."""
    ((_, plain, auto),) = table(["nbody"], "S")
    bodies = kernels()["nbody"].sizes["S"]["N"]
    assert plain.bytes > 40 * 8 * bodies**2
    assert auto.unknown == 0
    assert auto.bytes < 8 * bodies**2
