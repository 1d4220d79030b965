"""A list holds arrays, not copies of them: what is written through it shows elsewhere, or the program is refused."""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

A, B = np.array([1.0, 2, 3]), np.array([4.0, 5, 6])


def augmented(a, b, k):
    x = [a, b]
    x[0] += 1
    return x[0] * 2


def augmented_in_a_dictionary(a, b, k):
    x = {"a": a}
    x["a"] += b
    return x["a"] * 2


def augmented_list_in_a_list(a, b, k):
    x = [[1], [2]]
    y = x[0]
    x[0] += [5]
    return len(y), len(x[0])


def taken_and_written(a, b, k):
    x = [a, b]
    y = x[k]
    y[0] = 9
    return y * 1


def taken_and_written_elsewhere(a, b, k):
    x = (a, b)
    y = x[k]
    a[0] = 9
    return y + 0


def ping_pong(a, b, k):
    x = [a, b]
    for i in range(3):
        source, target = x[i % 2], x[1 - i % 2]
        target[...] = source * 2 + 1
    return a - b


def element_and_whole(a, b, k):
    x = [a, b]
    for i in range(2):
        x[i][0] = i
        x[i] *= 2
    return x[1] * 1


def swapped(a, b, k):
    x = [a, b]
    y, z = x[k], x[k - 1]
    y, z = z, y
    y += z
    return y * 1


def of_tuples(a, b, k):
    x = (a, b), (b, a)
    y = x[k][0]
    y[0] = 4
    x[k][1 - k][1] = 5
    return a + b


def read_only(a, b, k):
    x = [a, b]
    total = 0.0
    for i in range(4):
        total += x[i % 2].sum()
        a[0] += 1
    return total


def new_in_each_iteration(a, b, k):
    x = []
    for i in range(k + 2):
        row = np.zeros(3)
        row[0] = i
        x.append(row)
    return np.array(x)


def no_longer_needed(a, b, k):
    rows = np.array([a[i : i + 1] for i in (0, 1)])
    more = [a * i for i in range(k + 2)]
    a += 1
    return rows + a[0], more[0]


def in_place_behind_the_list(a, b, k):
    x = [b * i for i in range(k + 2)]
    x[k][0] = 7
    x[0] += 1
    return np.array(x)


@pytest.mark.parametrize(
    "function",
    [
        augmented, augmented_in_a_dictionary, augmented_list_in_a_list, taken_and_written, taken_and_written_elsewhere,
        ping_pong, element_and_whole, swapped, of_tuples, read_only, new_in_each_iteration, no_longer_needed,
        in_place_behind_the_list,
    ],
)  # fmt: skip
@pytest.mark.parametrize("k", [0, 1])
def test_arrays_in_lists_are_those_of_the_program(function, k):
    check_same(function, A, B, k, compiled=False)


@pytest.mark.cc
def test_compiled_buffers_in_a_list_change_places():
    check_same(ping_pong, A, B, 0)
    check_same(swapped, A, B, 1, optimized=True)


def test_positions_out_of_range_raise():
    def f(a, b, k):
        x = [a, b]
        x[k][0] = 1

    def g(a, b, k):
        x = (a, b)
        y = x[k]
        y += 1

    for function in (f, g):
        for k in (-3, -2, -1, 2):
            check_same(function, A, B, k, compiled=False)


def stored(a, b, k):
    x = [a, b]
    x[k] = a + 1
    a[1] = 7
    return x[0] + x[1]


def appended_and_written(a, b, k):
    x = []
    t = np.zeros(3)
    for i in range(3):
        t += i
        x.append(t)
    return np.array(x)


def written_through_the_list(a, b, k):
    x = []
    for i in range(k + 2):
        x.append(a)
    x[0][0] = 5
    return np.array(x)


def written_after_the_loop(a, b, k):
    x = []
    for i in range(k + 2):
        x.append(a)
    a[0] = 5
    return np.array(x)


def row_written(a, b, k):
    c = np.zeros((3, 3))
    x = []
    for i in range(k + 2):
        c[i] = a
        x.append(c[i])
    c[0] = 4
    return np.array(x)


def carried_and_written(a, b, k):
    x = []
    t = np.zeros(3)
    for i in range(3):
        t = t + i
        x.append(t)
    t[0] = 8
    return np.array(x)


def popped_and_written(a, b, k):
    x = [a, b]
    y = x.pop(k)
    y[0] = 3
    return x[0] + 0


def popped_until_empty(a, b, k):
    x = [a, b]
    while x:
        y = x.pop()
        y += 1


def inner_list_changed(a, b, k):
    row, x = [1, 2], []
    for _ in range(k + 2):
        x.append(row)
    row[0] = 7
    return np.array(x)


def inner_list_changed_through_the_outer_one(a, b, k):
    row, x = [1, 2], []
    for _ in range(k + 2):
        x.append(row)
    x[0][0] = 7
    return np.array(x), row


def one_of_a_slice(a, b, k):
    x = []
    for i in range(k + 2):
        x.append(a)
    y = x[1:]
    y[0][0] = 7
    return a * 1


@pytest.mark.parametrize(
    "function",
    [
        stored, appended_and_written, written_through_the_list, written_after_the_loop, row_written,
        carried_and_written, popped_and_written, popped_until_empty, inner_list_changed,
        inner_list_changed_through_the_outer_one, one_of_a_slice,
    ],
)  # fmt: skip
def test_a_list_that_is_an_array_inside_does_not_hide_writes(function):
    with pytest.raises(dcpy.DcpyError, match="this array is in a list, which has a copy of it"):
        dcpy.program(function).to_sdfg(A, B, 1)


def test_rows_that_are_one_list_are_not_written():
    def f(k):
        x = [[0, 0] for _ in range(k)] * 2
        x[0][0] = 5
        return np.array(x)

    def g(k):
        x = [np.zeros(2) for _ in range(k)] * 2
        x[0][0] = 5
        return np.array(x)

    for function in (f, g):
        with pytest.raises(dcpy.DcpyError, match="read-only"):
            dcpy.program(function).to_sdfg(2)


@pytest.mark.parametrize("k", [-5, -1, 0, 2, 4, 5])
def test_items_of_ranges(k):
    def f(k):
        return range(5)[k], range(2, 12, 2)[k]

    check_same(f, k, compiled=False)
