"""Sizes, counts and offsets beyond what NumPy and Python hold raise what those raise."""

import numpy as np
import pytest

import dcpy

X = np.arange(16.0)
T = X.reshape(4, 4)


def raised(function, *args):
    """The class of what plain Python raises; the interpreter of the program is asked for the same."""
    with pytest.raises((OverflowError, MemoryError, ValueError)) as plain:
        function(*args)
    with pytest.raises(plain.type):
        dcpy.program(function).to_sdfg(*args).interpret(*args)
    return plain.type


def value(function, *args):
    found = dcpy.program(function).to_sdfg(*args).interpret(*args)
    np.testing.assert_array_equal(found, function(*args))
    return found


def diagonal(t, k):
    return np.diagonal(t, k)


def trace_far(t):
    return np.trace(t, 2**48)


def diag(x, k):
    return np.diag(x, k)


@pytest.mark.parametrize("offset", [2**31, 2**48, -(2**62)])
def test_offsets_of_diagonals_are_32_bits(offset):
    assert raised(diagonal, T, offset) is OverflowError


def test_constant_offsets_too():
    assert raised(trace_far, T) is OverflowError


@pytest.mark.parametrize("offset", [-5, -4, -1, 0, 3, 4, 2**31 - 1])
def test_offsets_of_diagonals_are_known_at_run_time(offset):
    value(diagonal, T, offset)


@pytest.mark.parametrize("offset", [-2, 0, 3])
def test_a_matrix_of_a_diagonal_that_is_known_at_run_time(offset):
    value(diag, X, offset)


def repeated_sum(k):
    return sum([0.5] * k)


def repeated_length(k):
    return len([0.0, 1.0] * k)


def repeated_twice(k):
    return len([k] * k * k)


@pytest.mark.parametrize("function", [repeated_sum, repeated_length, repeated_twice])
@pytest.mark.parametrize("count", [2**60, 2**62, 2**63 - 1])
def test_lists_without_room_are_memory_errors(function, count):
    assert raised(function, count) is MemoryError


def long_list():
    return sum([0.0, 1.0] * 33000)


def test_a_long_repetition_is_a_list_of_run_time():
    value(long_list)
    assert value(repeated_length, 5) == 10
    assert value(repeated_length, -(2**63)) == 0


def counted(x, k):
    return np.bincount(x, minlength=k)


def test_counts_have_memory():
    numbers = np.array([1, 2])
    assert raised(counted, numbers, 2**62) is ValueError
    value(counted, numbers, 5)


def window(k):
    return np.hanning(k)


def test_windows_of_negative_sizes_are_empty():
    assert value(window, -(2**62)).shape == (0,)
    value(window, 5)


def rounded(x):
    return np.round(x, 400), np.round(x, -400)


def far_rounded(x):
    return np.round(x, 2**40)


def test_decimals_that_a_power_of_ten_does_not_have():
    with np.errstate(all="ignore"):
        for mine, theirs in zip(dcpy.program(rounded).to_sdfg(X).interpret(X), rounded(X), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert raised(far_rounded, X) is OverflowError


def huge_power(x):
    return x + 2**2**64


def large_power(x):
    return x + (2**2**30 > 1)


def text_times(x):
    return x + len("ab" * 2**62)


def test_constants_are_small_or_refused():
    for function in (huge_power, text_times):
        with pytest.raises(MemoryError):
            dcpy.program(function).to_sdfg(X)
    with pytest.raises(dcpy.FrontendError, match="2147483648 bits"):
        dcpy.program(large_power).to_sdfg(X)


def unordered(x):
    return x, sorted([np, 1, 2])[0]


def unhashable(x):
    return {[1]: x}


def no_step(x):
    return x.reshape(x.shape[::0])


@pytest.mark.parametrize("function", [unordered, unhashable, no_step])
def test_constants_without_order_hash_or_step(function):
    with pytest.raises(ValueError if function is no_step else TypeError) as error:
        dcpy.program(function).to_sdfg(X)
    assert not isinstance(error.value, dcpy.CompilerFault)


def triangles(t, k):
    return np.tril(t, k), np.tri(4, 4, k)


def upper_triangle(t, k):
    return np.triu(t, k)


@pytest.mark.parametrize("k", [-(2**63), -(2**63) + 1])
def test_diagonals_that_numpy_cannot_count_from(k):
    assert raised(triangles, T, k) is OverflowError
    assert raised(upper_triangle, T, k) is OverflowError


@pytest.mark.parametrize("k", [-(2**63) + 5, -(2**62), -1, 0, 2, 2**63 - 1])
def test_diagonals_far_away(k):
    value(upper_triangle, T, k)
    for mine, theirs in zip(dcpy.program(triangles).to_sdfg(T, k).interpret(T, k), triangles(T, k), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def broadcast_beyond(x):
    return np.broadcast_to(x[0], (2**31, 2**31 - 4)).shape


def broadcast_far(x):
    return np.broadcast_to(x[0], (2**30, 2**30 - 4)).shape


def test_bytes_of_broadcast_views_are_counted_where_sizes_are_constants_too():
    assert raised(broadcast_beyond, X) is ValueError
    assert value(broadcast_far, X) == (2**30, 2**30 - 4)


def many_rows(x):
    rows = []
    for i in range(2**31):
        rows.append(x * i)
    return np.stack(rows), np.concatenate(rows), np.vstack(rows)


def some_rows(x):
    rows = []
    for i in range(100):
        rows.append(x * i)
    return np.stack(rows, 1), np.concatenate(rows), np.vstack(rows), np.hstack(rows), np.column_stack(rows)


def test_many_rows_are_joined_by_one_copy():
    assert len(str(dcpy.program(many_rows).to_sdfg(X)).splitlines()) < 40
    for mine, theirs in zip(dcpy.program(some_rows).to_sdfg(X).interpret(X), some_rows(X), strict=True):
        np.testing.assert_array_equal(mine, theirs)
