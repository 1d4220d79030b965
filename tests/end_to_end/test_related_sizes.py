"""Sizes that differ by a few are one symbol at the first call; a call that breaks the pattern compiles without it."""

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.cc


def interior(field, out):
    n = out.shape[0]
    out[:] = field[2 : n + 2] - field[1 : n + 1]


def expected(field, out):
    interior(field, out)
    return out


def run(program, field_size: int, size: int) -> np.ndarray:
    field, out = np.arange(float(field_size)) ** 2, np.zeros(size)
    program(field, out)
    np.testing.assert_array_equal(out, expected(field, np.zeros(size)))
    return out


def test_the_halo_is_known():
    program = dcpy.program(interior, auto_optimize=True)
    for size in (8, 64, 200, 0, 1, 2):
        run(program, size + 4, size)


def test_a_broken_pattern_is_another_specialization():
    program = dcpy.program(interior)
    run(program, 68, 64)
    assert program.specializations == 1
    run(program, 132, 128)
    assert program.specializations == 1
    run(program, 100, 64)
    run(program, 90, 80)
    assert program.specializations == 2
    with pytest.raises(ValueError, match="broadcast"):
        program(np.ones(65), np.ones(64))


def test_a_size_that_becomes_one_broadcasts():
    @dcpy.program
    def add(a, b):
        return a[: b.shape[0]] + b

    assert add(np.ones(12), np.ones(9)).shape == (9,)
    assert add(np.ones(3), np.ones(0)).shape == (0,)
    assert add(np.ones(4), np.ones(1)).shape == (1,)


def test_sizes_of_sizes_stay_short():
    """Unrelated sizes of a stencil are decided at run time, without writing each out at every mention."""
    from examples import hdiff

    sdfg = hdiff.hdiff.to_sdfg(**hdiff.initialize(11))
    assert max(map(len, str(sdfg).splitlines())) < 2000
