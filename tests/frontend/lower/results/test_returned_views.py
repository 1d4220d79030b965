"""Parts of arrays that a program makes are returned as in NumPy: with the strides of the array, and its memory."""

import numpy as np
import pytest

import dcpy
from tests.support.layouts import steps
from tests.support.oracles import assert_equal, sharing_among

A = np.arange(24.0).reshape(4, 6)


def every_second_column(a):
    b = a * 2
    return b[:, ::2]


def an_array_and_its_parts(a):
    b = a * 2
    return b, b[0], b.T


def parts_without_the_array(a):
    b = a * 2
    return b.T, b[::2, 1:]


def parts_of_what_is_sorted_in_another_layout(a):
    b = np.sort(a, axis=0)
    return b[:, ::2], b, b.T


def elements_in_one_line(a):
    b = a * 2
    return b.ravel()[::2], b.reshape(-1)


def real_and_imaginary_parts(a):
    b = a * 2j
    return b.real, b.imag


def the_real_part_alone(a):
    return (a * 2j).real


def the_imaginary_parts_backwards(a):
    return (a.T + 1j).imag[::-1]


def diagonals_and_repeated_rows(a):
    b = a * 2
    return np.diagonal(b), np.broadcast_to(b[0], (3, *b[0].shape))


def new_axes(a):
    return (a * 2)[None, :, ::2, None], (a * 3)[..., 0]


def halves(a):
    left, right = np.split(a * 2, 2, axis=1)
    return left, right


def two_names_of_one_array(a):
    x, y = np.mgrid[0:3, 0:4]
    return x, y, x.T, a


def part_of_a_size_that_is_known_early(a, n):
    b = a * 2
    return b[:n, ::2]


def made_in_a_loop(a, n):
    for i in range(n):
        b = a * 2 + i
    return b[:, 1:-1], b[::-1]


def made_in_a_branch(a, n):
    b = a * 2 if n > 2 else a * 3
    return b[:, 1:-1]


def one_part_at_two_places(a, n):
    b = a * 2
    if n > 1:
        b[0] = 7
        return b[:, ::2]
    b[1] = 8
    return b[:, ::2]


def with_a_row(a):
    b = a * 2
    return b, b[0]


def a_row_of_what_another_function_made(a):
    b, row = with_a_row(a)
    row[0] = 99
    return b, row[::2]


class Pair:
    """Two arrays."""

    def __init__(self, a):
        self.whole = a * 2
        self.part = self.whole[:, ::3]


def fields_of_an_object(a):
    pair = Pair(a)
    pair.part[0] = -1
    return pair.whole, pair.part


PROGRAMS = [
    every_second_column, an_array_and_its_parts, parts_without_the_array, parts_of_what_is_sorted_in_another_layout,
    elements_in_one_line, real_and_imaginary_parts, the_real_part_alone, the_imaginary_parts_backwards,
    diagonals_and_repeated_rows, new_axes, halves,
    two_names_of_one_array, part_of_a_size_that_is_known_early, made_in_a_loop, made_in_a_branch,
    one_part_at_two_places, a_row_of_what_another_function_made, fields_of_an_object,
]  # fmt: skip


def agree(got, expected):
    """Values, strides and what shares memory with what."""
    assert_equal(got, expected)
    pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
    assert all(steps(mine) == steps(theirs) for mine, theirs in pairs)
    assert sharing_among(got) == sharing_among(expected)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", "CF")
def test_interpreted(function, order):
    given = (np.asarray(A, order=order), 3)[: function.__code__.co_argcount]
    for simplify in (True, False):
        agree(dcpy.program(function).to_sdfg(*given, simplify=simplify).interpret(*given), function(*given))


@pytest.mark.cc
def test_compiled():
    def everything(a):
        return (*parts_of_what_is_sorted_in_another_layout(a), *an_array_and_its_parts(a), *new_axes(a))

    program = dcpy.program(everything)
    agree(program(A), everything(A))
    first, second = program(A), program(A)
    first[3][...] = 5
    assert (first[4] == 5).all()
    agree(second, everything(A))


def test_a_part_that_is_all_there_is_to_see_is_packed():
    def rows(a):
        return (a * 2)[1:3]

    sdfg = dcpy.program(rows).to_sdfg(A)
    assert [result.kind for result in sdfg.results] == ["array"]
    agree(sdfg.interpret(A), rows(A))


def test_different_parts_at_two_places_are_copies():
    def first_or_second(a, n):
        return (a * 2)[:, ::2] if n > 3 else (a * 3)[:, ::2]

    def apart(a, n):
        if n > 3:
            return (a * 2)[:, ::2]
        return (a * 3)[:, ::2]

    for function in (first_or_second, apart):
        found = dcpy.program(function).to_sdfg(A, 3).interpret(A, 3)
        np.testing.assert_array_equal(found, function(A, 3))


def test_a_part_that_is_found_out_on_the_way_is_a_copy():
    def until(a):
        b, k = a * 2, 0
        while k < 4 and a[0, k] < 2:
            k += 1
        return b[:, :k]

    found = dcpy.program(until).to_sdfg(A).interpret(A)
    np.testing.assert_array_equal(found, until(A))
