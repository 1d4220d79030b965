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


def last_columns(a, b, q):
    return a[:, -2:q] * b


def to_the_one_after(a, q):
    return a[:, : q + 1] + np.zeros((2, a.shape[1]))


@pytest.mark.parametrize("q", [-3, -1, 0, 2])
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_a_negative_integer_is_no_size(q, columns):
    """A size of 0 is `q + 1` where `q` is -1; a symbol of sizes is not negative."""
    a = np.ones((2, columns))
    b = np.ones((1, a[:, -2:q].shape[1]))
    np.testing.assert_array_equal(dcpy.program(last_columns)(a, b, q), last_columns(a, b, q))
    if a[:, : q + 1].shape == a.shape:
        np.testing.assert_array_equal(dcpy.program(to_the_one_after)(a, q), to_the_one_after(a, q))
