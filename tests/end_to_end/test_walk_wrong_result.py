"""A walk of a new user: a wrong result in a simulation of 60 lines is found in three commands."""

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.cc


def next_number(state: int) -> int:
    return (state * 1103515245 + 12345) % 2**31


@dcpy.program(int_overflow="wrap", auto_optimize=True)
def diffusion(walkers, steps, size, seed):
    """Random walkers in a box with a sticky wall; returns the density and how many are stuck."""
    x = np.zeros(walkers)
    y = np.zeros(walkers)
    stuck = np.zeros(walkers, dtype=np.bool_)

    # Everybody starts near the middle.
    state = seed
    for k in range(walkers):
        state = next_number(state)
        x[k] = size / 2 + (state % 1000) / 1000.0
        state = next_number(state)
        y[k] = size / 2 + (state % 1000) / 1000.0

    # A number of 64 bits that stands for the run, in all that is drawn from now on.
    key = 1
    for k in range(8):
        key = key * 6364136223846793005 + seed
    state = key % 1000003

    density = np.zeros((size, size))
    for t in range(steps):
        # One step for each walker that moves.
        for k in range(walkers):
            if stuck[k]:
                continue
            state = next_number(state)
            direction = (state // 65536) % 4
            if direction == 0:
                x[k] += 1.0
            elif direction == 1:
                x[k] -= 1.0
            elif direction == 2:
                y[k] += 1.0
            else:
                y[k] -= 1.0

            # Walls: the left one is sticky.
            if x[k] <= 0.0:
                stuck[k] = True
            x[k] = min(max(x[k], 0.0), size - 1.0)
            y[k] = min(max(y[k], 0.0), size - 1.0)

        # Where they are.
        for k in range(walkers):
            density[int(y[k]), int(x[k])] += 1.0

    density /= steps
    return density, int(np.sum(stuck))


def test_found_in_three_commands():
    arguments = (20, 30, 12, 4711)

    # 1. Is it the program, or my mistake?
    with dcpy.disable():
        expected, stuck = diffusion(*arguments)
    assert not np.array_equal(diffusion(*arguments)[0], expected)

    # 2. Where does it start?
    found = diffusion.check(*arguments)
    assert found.place.excerpt().strip() == "key = key * 6364136223846793005 + seed"
    assert [count for _, count in found.iterations] == [2]
    assert found.difference.name == "key"
    assert found.difference.python > 2**63 > found.difference.compiled

    # 3. Repaired: the program says what was wrong, and the sum of 64 bits is written.
    with pytest.raises(OverflowError, match="does not fit into the 64 bits"):
        dcpy.program(diffusion.function)(*arguments)
    assert stuck >= 0
