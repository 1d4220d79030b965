"""Unsigned numbers that int64 does not hold, as sizes, bounds and counts: NumPy's meaning, or an error of its kind."""

import numpy as np
import pytest

import dcpy

WIDE = np.uint64(2**63)
X = np.arange(16.0)


def up_to(x, n):
    return x[:n].sum()


def up_to_sum(x, n):
    return x[: n + np.uint64(1)].sum()


def size_after(x, n):
    return x[n:].shape[0]


def by_steps(x, n):
    return x[::n].sum()


def backwards_from(x, n):
    return x[n::-1].sum()


def set_up_to(x, n):
    y = x.copy()
    y[:n] = 1.0
    return y


def up_to_constant(x, n):
    return x[:WIDE].sum() + n


def zeros(x, n):
    return np.zeros(n)


def sum_of_full(x, n):
    return np.full((2, n), 1.0).sum()


def reshaped(x, n):
    return x.reshape(n, 1)


def zeros_of_constant(x, n):
    return np.zeros(WIDE)


def iterations(x, n):
    found = 0
    for _ in range(n):
        found += 1
    return found


def shifted(x, n):
    return np.roll(x, n)


SLICES = [up_to, up_to_sum, size_after, by_steps, backwards_from, set_up_to, up_to_constant]


@pytest.mark.cc
@pytest.mark.parametrize("function", SLICES)
def test_slices_take_all_that_is_there(function):
    program = dcpy.program(function)
    for number in (np.uint64(1), np.uint64(3), np.uint64(2**63 - 1), WIDE, np.uint64(2**64 - 2)):
        np.testing.assert_array_equal(program(X, number), function(X, number))


@pytest.mark.parametrize("function", SLICES)
def test_slices_take_all_that_is_there_in_the_interpreter(function):
    sdfg = dcpy.program(function).to_sdfg(X, np.uint64(3))
    for number in (np.uint64(3), WIDE):
        np.testing.assert_array_equal(sdfg.interpret(x=X, n=number), function(X, number))


@pytest.mark.cc
@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (zeros, ValueError, "Maximum allowed dimension exceeded"),
        (sum_of_full, ValueError, "Maximum allowed dimension exceeded"),
        (reshaped, ValueError, "Maximum allowed dimension exceeded"),
        (zeros_of_constant, ValueError, "Maximum allowed dimension exceeded"),
        (iterations, OverflowError, "an argument of range does not fit into the 64 bits"),
        (shifted, OverflowError, "shift does not fit into the 64 bits"),
    ],
)
def test_sizes_and_counts_raise(function, error, message):
    program = dcpy.program(function)
    if function not in (reshaped, zeros_of_constant):
        np.testing.assert_array_equal(program(X, np.uint64(3)), function(X, np.uint64(3)))
    with pytest.raises(error, match=message):
        program(X, WIDE)
    if function is not zeros_of_constant:
        with pytest.raises(error, match=message):
            program.to_sdfg(X, np.uint64(16)).interpret(x=X, n=WIDE)


def element(x, n):
    return x[n]


def elements(x, places):
    found = 0.0
    for k in range(len(places)):
        found += x[places[k]]
    return found


@pytest.mark.cc
def test_elements_are_named_by_what_int64_holds():
    program = dcpy.program(element)
    for number in (np.uint64(2**63), np.uint64(2**64 - 1)):
        for run in (element, program, program.to_sdfg(X, number).interpret):
            with pytest.raises(OverflowError, match="Python int too large to convert to C long"):
                run(X, number)
    assert program(X, np.uint64(3)) == X[3]
    with pytest.raises(IndexError, match=f"index {len(X)} is out of bounds"):
        program(X, np.uint64(len(X)))


def test_elements_named_by_unsigned_arrays():
    for places in ([1, 2], [1, 2**64 - 1]):
        places = np.array(places, np.uint64)
        sdfg = dcpy.program(elements).to_sdfg(X, places)
        if places[1] == 2:
            assert sdfg.interpret(X, places) == elements(X, places)
            continue
        with pytest.raises(OverflowError, match="too large to convert"):
            sdfg.interpret(X, places)
