"""Sizes and trip counts near the limits of 64 bits: errors of NumPy, iterations of Python, enough memory."""

import numpy as np
import pytest

import dcpy

LARGEST = 2**63 - 1
X = np.ones(16)
REPEATED = np.broadcast_to(np.float64(1.0), 2**32)


def tiled(x, k):
    return np.tile(x, k)


def padded(x, k):
    return np.pad(x, k)


def sum_of_padded(x, k):
    return np.pad(x, k).sum()


def repeated(x, k):
    return np.repeat(x, k)


def outer(b):
    return np.outer(b, b).ravel()


def zeros(n):
    return np.zeros(n)


def sum_of_zeros(n, m):
    return np.zeros((n, m)).sum()


def sum_of_ones_and_one(n):
    return (np.ones(n) + 1).sum()


def sum_of_repeated(x, n):
    return np.broadcast_to(x[0], (n, n)).sum()


def identity(n):
    return np.eye(n).sum()


def spaced(n):
    return np.linspace(0.0, 1.0, n)


def spaced_logarithms(n):
    return np.logspace(0.0, 1.0, n)


def most_of_samples(n):
    return np.linspace(0.0, 1.0, n).max()


def most_of_steps(n):
    return np.arange(0.0, n, 1.0).max()


def most_of_range(n):
    return np.array(range(n)).max()


def counted(a, b, c):
    return np.arange(a, b, c)


def iterations(a, b, c):
    found = 0
    for _ in range(a, b, c):
        found += 1
    return found


def loads(x, a, b, c):
    total = 0.0
    for i in range(a, b, c):
        total += x[i]
    return total


def part(x, a, b, c):
    return x[a:b:c].sum()


def joined(x, a, b, c):
    return np.concatenate((x[a:b], x[c:], x[:a]))


CONSTANTS = {
    "pad": (lambda x: np.pad(x, 2**62), ValueError),
    "pad of a matrix": (lambda x: np.pad(x.reshape(4, 4), 2**31), ValueError),
    "repeat": (lambda x: np.repeat(x, 2**60), ValueError),
    "repeat each": (lambda x: np.repeat(x, np.full(16, 2**60)), ValueError),
    "tile": (lambda x: np.tile(x, 2**62), ValueError),
    "tile twice": (lambda x: np.tile(x, (2**40, 2**40)), (ValueError, MemoryError)),
    "resize": (lambda x: np.resize(x, (2**40, 2**40)), (ValueError, OverflowError)),
    "zeros": (lambda x: np.zeros((2**40, 2**40)) + x[0], ValueError),
    "ones": (lambda x: np.ones((2**30, 2**30, 2**30)).sum() + x[0], ValueError),
    "one of zeros": (lambda x: np.zeros(2**62)[0] + x[0], ValueError),
    "full": (lambda x: np.full((2**40, 2**40), 3.0) * x[0], ValueError),
    "eye": (lambda x: np.eye(2**40) * x[0], ValueError),
    "arange": (lambda x: np.arange(2**62) + x[0], ValueError),
    "arange of floats": (lambda x: np.arange(0, 2.0**70, 1.0) + x[0], ValueError),
    "arange of nan": (lambda x: np.arange(0, np.nan, 1.0) + x[0], ValueError),
    "arange in steps of 0": (lambda x: np.arange(0.0, 10.0, 0.0) + x[0], ZeroDivisionError),
    "linspace": (lambda x: np.linspace(0, 1, 2**62) + x[0], ValueError),
    "linspace to the end": (lambda x: np.linspace(0, 1, 2**63 - 1) + x[0], IndexError),
    "linspace of arrays to the end": (lambda x: np.linspace(x, 1, 2**63 - 1), IndexError),
    "linspace before the end": (lambda x: np.linspace(0, 1, 2**63 - 513) + x[0], ValueError),
    "logspace to the end": (lambda x: np.logspace(0.0, 1.0, 2**63 - 512) + x[0], IndexError),
    "geomspace to the end": (lambda x: np.geomspace(1.0, 2.0, 2**63 - 1) + x[0], IndexError),
    "kron": (lambda x: np.kron(np.ones(2**40), np.ones(2**40))[0] + x[0], (ValueError, MemoryError)),
    "broadcast": (lambda x: np.broadcast_to(x, (2**62, 16)).sum(), ValueError),
    "list": (lambda x: np.array([x[0]] * 2**62), MemoryError),
}


def padded_twice(x, k):
    return np.pad(x.reshape(4, 4), k)


def resized(x, k):
    return np.resize(x, (k, k))


def tiled_twice(x, k):
    return np.tile(x, (k, k))


def ones(k):
    return np.ones((k, k, k)).sum()


def filled(k):
    return np.full((k, k), 3.0)


def repeated_each(x, k):
    return np.repeat(x, k)


#: NumPy raises these (some of its functions corrupt its heap instead, so none of them is called here)
RAISED = [
    (tiled, (X, 2**60), ValueError),
    (padded, (X, LARGEST), ValueError),
    (padded, (X, 2**50), MemoryError),
    (sum_of_padded, (X, LARGEST), ValueError),
    (sum_of_padded, (X, 2**50), MemoryError),
    (repeated, (X, 2**60), ValueError),
    (outer, (REPEATED,), (ValueError, MemoryError)),
    (zeros, (10**14,), MemoryError),
    (zeros, (2**61,), ValueError),
    (sum_of_zeros, (2**40, 2**40), ValueError),
    (sum_of_zeros, (2**24, 2**23), MemoryError),
    (sum_of_zeros, (0, 2**62), ValueError),
    (sum_of_ones_and_one, (10**14,), MemoryError),
    (sum_of_repeated, (X, 2**32), ValueError),
    (identity, (2**32,), ValueError),
    (spaced, (2**62,), ValueError),
    (spaced, (LARGEST,), ValueError),
    (most_of_samples, (10**14,), MemoryError),
    (most_of_steps, (10**14,), MemoryError),
    (most_of_range, (10**14,), MemoryError),
    (spaced_logarithms, (LARGEST,), ValueError),
    (counted, (-(2**63), LARGEST, 1), ValueError),
    (padded_twice, (X, 2**31), ValueError),
    (resized, (X, 2**40), (ValueError, OverflowError)),
    (tiled_twice, (X, 2**40), (ValueError, MemoryError)),
    (ones, (2**30,), ValueError),
    (filled, (2**40,), ValueError),
    (repeated_each, (X, np.full(16, 2**60)), ValueError),
    (loads, (X, -(2**63), LARGEST, 2**62), IndexError),
]


@pytest.mark.parametrize("auto", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_that_memory_cannot_hold_raise(name, auto):
    function, error = CONSTANTS[name]
    with pytest.raises(error):
        dcpy.program(function, auto_optimize=auto)(X)


@pytest.mark.cc
@pytest.mark.parametrize("auto", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize(("function", "arguments", "error"), RAISED)
def test_what_memory_cannot_hold_raises(function, arguments, error, auto):
    program = dcpy.program(function, auto_optimize=auto)
    with pytest.raises(error):
        program(*arguments)


INTERPRETED = [case for case in RAISED if case[0] not in (outer, repeated_each)]


@pytest.mark.parametrize(("function", "arguments", "error"), INTERPRETED)
def test_what_memory_cannot_hold_raises_in_the_interpreter(function, arguments, error):
    small = [argument if isinstance(argument, np.ndarray) else 2 for argument in arguments]
    sdfg = dcpy.program(function).to_sdfg(*small)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    with pytest.raises(error):
        sdfg.interpret(**dict(zip(names, arguments, strict=True)))


@pytest.mark.cc
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (iterations, (-(2**63), LARGEST, 2**62)),
        (iterations, (LARGEST, -(2**63), -(2**62))),
        (iterations, (0, 10, -3)),
        (iterations, (10, 0, -3)),
        (counted, (-(2**63), LARGEST, 2**62)),
        (counted, (2, 11, 4)),
        (part, (X, -(2**63), LARGEST, 1)),
        (part, (X, 0, LARGEST, LARGEST)),
        (part, (X, LARGEST, -(2**63), -LARGEST)),
        (joined, (X, -16, 17, LARGEST)),
        (joined, (X, LARGEST, -(2**63), LARGEST - 1)),
        (joined, (X, -(2**63), LARGEST, -LARGEST)),
        (tiled, (X, 3)),
        (padded, (X, 2)),
        (zeros, (0,)),
    ],
)
def test_extreme_bounds_give_the_numbers_of_python(function, arguments):
    program = dcpy.program(function)
    np.testing.assert_array_equal(program(*arguments), function(*arguments))


@pytest.mark.cc
def test_the_largest_number_is_a_bound_like_others_in_c():
    program = dcpy.program(joined, cpu_language="c")
    for arguments in ((X, -16, 17, LARGEST), (X, -LARGEST, LARGEST, 3)):
        np.testing.assert_array_equal(program(*arguments), joined(*arguments))


@pytest.mark.cc
def test_a_small_step_beyond_64_bits_is_refused():
    def by_threes(a, b):
        found = 0
        for _ in range(a, b, 3):
            found += 1
        return found

    program = dcpy.program(by_threes)
    assert program(2, 12) == 4
    with pytest.raises(OverflowError, match="goes beyond the 64 bits"):
        program(LARGEST - 5, LARGEST)


DOCUMENT = """
sdfg @document(x: f64[N], k) symbols(k: i64, N: size) -> (__return: array) {
  data t: f64[SIZE] transient
  data __return: f64[N]
  state {
    map i = 0:N {
      tasklet (a <- x[i]) -> (b -> t[i]) { b = a }
    }
    map j = 0:N {
      tasklet (a <- t[j]) -> (b -> __return[j]) { b = a }
    }
  }
}
"""


@pytest.mark.cc
@pytest.mark.parametrize("size", ["k*k*N", "N + 2*k", "max(N, k*k) + N"])
@pytest.mark.parametrize("k", [2**32, LARGEST])
def test_a_document_gets_no_memory_for_a_size_that_wraps(size, k):
    sdfg = dcpy.parse(DOCUMENT.replace("SIZE", size))
    np.testing.assert_array_equal(sdfg(x=X, k=2), X)
    for run in (sdfg, sdfg.interpret):
        with pytest.raises((MemoryError, ValueError)):
            run(x=X, k=k)


def test_no_axis_of_an_argument_is_longer_than_memory():
    def third(x):
        return x[3]

    endless = np.broadcast_to(np.int8(1), 2**60)
    program = dcpy.program(third)
    with pytest.raises(dcpy.ArgumentShapeError, match="more than memory can hold"):
        program(endless)
    with pytest.raises(dcpy.ArgumentShapeError, match="more than memory can hold"):
        program.to_sdfg(np.ones(4, np.int8)).interpret(x=endless)


def test_steps_of_either_sign_that_are_known_at_run_time_only():
    sdfg = dcpy.program(counted).to_sdfg(0, 9, 2)
    for bounds in ((0, 9, 2), (9, 0, -2), (-2, 2**32, -(2**48)), (5, 5, 1)):
        np.testing.assert_array_equal(sdfg.interpret(*bounds), counted(*bounds))
    for run in (counted, sdfg.interpret):
        with pytest.raises(ZeroDivisionError, match="division by zero"):
            run(0, 5, 0)


def repeated_by_numbers(x):
    return np.repeat(x.reshape(4, 4), 2**60, axis=0)


def tiled_by_numbers(x):
    return np.tile(x, (2**60, 2))


def repeated_by_known_counts(x):
    return np.repeat(x, np.full(16, 2**60))


@pytest.mark.parametrize(
    ("function", "given"),
    [(repeated_by_numbers, (X,)), (tiled_by_numbers, (X,)), (repeated, (X, np.full(16, 2**60)))],
)
@pytest.mark.parametrize("auto_optimize", [False, True])
def test_sizes_that_64_bits_do_not_count_are_too_big(function, given, auto_optimize):
    with pytest.raises(ValueError, match="array is too big"):
        dcpy.program(function, auto_optimize=auto_optimize).to_sdfg(*given).interpret(*given)


def test_loops_of_many_iterations_are_analysed_at_once():
    dcpy.program(repeated_by_known_counts, auto_optimize=True).to_sdfg(X)


def empty_of(shape):
    return np.zeros((shape, 0)), np.ones((shape, 0, 5)).sum(), np.full((0, shape), 3, np.int8).T + 1


@pytest.mark.cc
@pytest.mark.parametrize("auto_optimize", [False, True])
def test_arrays_without_elements_have_dimensions_of_any_length(auto_optimize):
    program = dcpy.program(empty_of, auto_optimize=auto_optimize)
    for size in (3, 2**40, 2**48 - 2, 2**57):
        found, expected = program(size), empty_of(size)
        assert [np.shape(part) for part in found] == [np.shape(part) for part in expected]
        assert found[1] == 0.0
    with pytest.raises(ValueError, match="array is too big"):
        program(2**62)
