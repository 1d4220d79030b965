"""Compiled draws: NumPy's C library, and dcpy's own PCG64, seeds, orders and choices, bit by bit."""

import numpy as np
import pytest

import dcpy
from tests.support.draws import ARGUMENTS, PROGRAMS
from tests.support.streams import BITS, SEEDS, assert_same, compare

pytestmark = pytest.mark.cc


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_generator_of_the_caller_is_used_in_place(program):
    compare(program, dcpy.program(program), *ARGUMENTS, bits=BITS)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_has_the_generator_that_numpy_would_make(program):
    def seeded(seed, a, n):
        return program(np.random.default_rng(seed), a, n)

    compiled = dcpy.program(seeded)
    for seed in (0, 42, 2**40):
        a, n = ARGUMENTS
        assert_same(compiled(seed, a.copy(), n), seeded(seed, a.copy(), n), str(seed))


def test_seeds():
    def numbers(seeds, seed):
        return (
            np.random.default_rng(seed).random(),
            np.random.default_rng(seeds).random(),
            np.random.default_rng(2**80).random(),
            np.random.default_rng([1, 2, seed]).random(),
            np.random.default_rng((seed, 2**40, 0, 3, 5, 7)).random(),
            np.random.default_rng([]).random(),
            np.random.Generator(np.random.PCG64(7)).random(),
            np.random.default_rng(np.random.default_rng(7)).random(),
        )

    compiled = dcpy.program(numbers)
    for seed in (0, 1, 2**32 - 1, 2**32, 2**62):
        for length in (0, 1, 3, 4, 5, 9):
            seeds = np.arange(length, dtype=np.uint64) * 2**31
            assert_same(compiled(seeds, seed), numbers(seeds, seed), f"{seed}, {length}")


def test_buffered_bits_are_left_as_numpy_leaves_them():
    """A draw of 32 bits leaves the other half for the next one, here and in the caller."""

    def one_more(rng):
        return rng.integers(0, 2**32, dtype=np.uint32), rng.random(dtype=np.float32), rng.integers(9, dtype=np.int32)

    compare(one_more, dcpy.program(one_more), bits=BITS, seeds=SEEDS)
