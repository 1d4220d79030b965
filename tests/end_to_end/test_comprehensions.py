"""Section 3: arrays and lists by comprehensions of a length known at run time, generator expressions in functions.

Each function is run by Python, by the interpreter (as written and simplified) and, where marked, compiled: values, the
types of the items, which lists are one list, and the words of exceptions.
"""

import functools

import numpy as np
import pytest

import dcpy
from tests.support.lists import check_lists

A8 = np.arange(8.0) * 1.5 - 3


def numbers(a, n):
    return [a[i] * 2 for i in range(n)]


def integers(a, n):
    return [i * i for i in range(n)]


def floats_that_are_left_and_tests(a, n):
    return [float(x) for x in a if x > 0], [x > 0 for x in a]


def lists_in_a_list(a, n):
    return [[i + j for j in range(n)] for i in range(n + 1)]


def tuples_in_a_list(a, n):
    return [(i, i + 1) for i in range(n)]


def arrays_in_a_list(a, n):
    return [a * i for i in range(n)]


def arrays_of_rows(a, n):
    return np.array([a * i for i in range(n)]), np.stack([a[:3] * i for i in range(n)])


def sums_of_generators(a, n):
    return (
        sum(x > 0 for x in a),
        sum(x for x in a),
        sum(i * i for i in range(n)),
        sum(a[i] for i in range(n) if i % 2),
        sum(a * i for i in range(n)),
    )


def any_and_all_that_stop_early(a, n):
    return any(x > 2 for x in a), all(x < 100 for x in a), any(a[i] > 5 and a[i + 100] > 2 for i in range(n))


def extrema_with_keys_and_defaults(a, n):
    return (
        min(x * x for x in a),
        max(abs(x) for x in a),
        min(range(n), key=lambda i: a[i]),
        max((a[i], i) for i in range(n)),
        min((x for x in a if x > 100), default=np.float64(-1.0)),
    )


def an_extremum_of_nothing(a, n):
    return max(x for x in a if x > 100)


def sorted_lists_and_tuples(a, n):
    return (
        sorted(x for x in a),
        sorted(a, reverse=True),
        sorted(range(n), key=lambda i: -a[i]),
        list(a),
        list(range(n)),
        tuple(i for i in range(n)),
    )


def loops_over_lists(a, n):
    s = 0.0
    for x in [v * v for v in a]:
        s += x
    for i, x in enumerate([v * v for v in a]):
        s += x * i
    for x, y in zip([v * v for v in a], a):
        s += x * y
    return s


def items_slices_lengths_and_membership(a, n):
    b = [v * v for v in a]
    return b[0], b[-1], b[n], len(b), b[1:3], b[n] in b, 3 in [i for i in range(n)], (1 if b else 2)


def an_index_out_of_range(a, n):
    b = [v * v for v in a]
    return b[n + 100]


def sums_and_repetitions_of_lists(a, n):
    return [x for x in a] + [np.float64(1.5)], [i for i in range(n)] + [j for j in range(n)], [0] * n, [1, 2] * n


def numpy_functions_of_lists(a, n):
    return np.array([x * 2 for x in a]) + [x for x in a], np.sum([i for i in range(n)]), np.mean([x for x in a])


def pairs_and_numbered_items(a, n):
    return (
        [x * y for x, y in zip(a, a[2:])],
        [i * x for i, x in enumerate(a)],
        [a[i] + a[j] for i in range(n) for j in range(n)],
    )


def triangles_and_other_directions(a, n):
    return [i * j for i in range(n) for j in range(i)], [x for x in reversed(a)], [i for i in range(n, 0, -1)]


def a_tuple_indexed_at_run_time(a, n):
    w = (1.0, 2.0, 3.0)
    s = 0.0
    for i in range(n):
        s += w[i % 3]
    return s


def reduce(a, n):
    return functools.reduce(lambda x, y: x * y, [i + 1 for i in range(n)]), functools.reduce(
        lambda x, y: x + y, (x for x in a), 0.0
    )


def sums_and_extrema_of_lists(a, n):
    return (
        sum([x * 2 for x in a]),
        max([x * 2 for x in a]),
        min([i for i in range(n)]),
        any([x > 0 for x in a]),
        all([x > 0 for x in a]),
    )


def joined_rows(a, n):
    return (
        np.concatenate([a[:2] * i for i in range(n)]),
        np.vstack([a * i for i in range(n)]),
        np.hstack([a[:2] for i in range(n)]),
        np.concatenate([a.reshape(2, 4) * i for i in range(n)], axis=1),
    )


TAKEN = [
    numbers,
    integers,
    floats_that_are_left_and_tests,
    lists_in_a_list,
    tuples_in_a_list,
    arrays_in_a_list,
    arrays_of_rows,
    sums_of_generators,
    any_and_all_that_stop_early,
    extrema_with_keys_and_defaults,
    an_extremum_of_nothing,
    sorted_lists_and_tuples,
    loops_over_lists,
    items_slices_lengths_and_membership,
    an_index_out_of_range,
    sums_and_repetitions_of_lists,
    numpy_functions_of_lists,
    pairs_and_numbered_items,
    triangles_and_other_directions,
    a_tuple_indexed_at_run_time,
    reduce,
    sums_and_extrema_of_lists,
    joined_rows,
]


@pytest.mark.parametrize("function", TAKEN, ids=lambda function: function.__name__)
def test_as_python(function):
    check_lists(function, A8, 5, rtol=1e-13)


@pytest.mark.cc
@pytest.mark.parametrize("function", TAKEN[::3], ids=lambda function: function.__name__)
def test_compiled_as_python(function):
    check_lists(function, A8, 5, compiled=True, rtol=1e-13)


def test_comprehensions_are_the_maps_that_one_writes_by_hand():
    def built(a):
        return np.array([x * 2 + 1 for x in a])

    def nested(a, b):
        return np.array([[x * y for y in b] for x in a])

    text = str(dcpy.program(built).to_sdfg(A8))
    assert "map x = 0:N" in text
    assert "loop" not in text
    text = str(dcpy.program(nested).to_sdfg(A8, A8[:5].copy()))
    assert "loop" not in text
    assert "copy" not in text


def test_loops_that_append_once_become_maps():
    def built(a):
        found = []
        for x in a:
            found.append(x * 2 + 1)
        return np.array(found)

    program = dcpy.program(built, auto_optimize=True)
    assert "resize" not in str(program.to_sdfg(A8))
    assert "loop" not in str(program.to_sdfg(A8).auto_optimize())
