"""Iterators that know how far they are: `iter`, `next`, and loops that go on where others have stopped.

Values, the types of items and `StopIteration` are Python's, in the interpreter and (where marked) compiled.
"""

import itertools

import numpy as np
import pytest

import dcpy
from tests.support.lists import check_lists

A, B, E = np.arange(6.0), np.array([3, 1, 2]), np.zeros(0)


def the_rest_of_a_loop(a):
    it = iter(a)
    first = next(it)
    s = 0.0
    for v in it:
        s = s * 3 + v * first
    return s, next(it, None)


def until_none_is_left(a):
    it = iter(a)
    s = 0.5
    while True:
        v = next(it, None)
        if v is None:
            break
        s = s * 2 + v
    return s


def two_at_a_time(a):
    it = iter(a)
    s = 0.5
    for x, y in zip(it, it):
        s += x * y
    return s, next(it, 99)


def a_loop_that_breaks_and_one_that_goes_on(a):
    it = iter(a)
    s = 0.5
    for v in it:
        if v > 1.5:
            break
        s += v
    for v in it:
        s += 10 * v
    return s


def items_skipped_inside(a):
    it = iter(range(len(a)))
    out = []
    for i in it:
        if a[i] > 1:
            out.append((i, next(it, -1)))
    return out


def under_conditions(a):
    it, s = iter(a), 0.0
    for i in range(4):
        s += next(it) if i % 2 else 1.0
        if i > 1 and next(it) > 1:
            s += 100
    return s


def a_list_that_grows(a):
    xs = [1, 2]
    it = iter(xs)
    s = 0
    for v in it:
        if len(xs) < 6:
            xs.append(v * 2)
        s += v
    xs.append(100)
    return s, next(it, -1), xs


def comprehensions(a):
    it = iter(a)
    pairs = [(v, next(it, v)) for v in it]
    jt = iter(a)
    next(jt, 0)
    return pairs, any(v > 1 for v in jt), list(jt), list(jt)


def counted_from_where_it_is(a):
    it = iter(a)
    next(it, 0)
    s = 0.5
    for k, v in enumerate(it, 3):
        s += k * v
    for v in map(lambda v: v * 2, it):
        s += v
    return s


def the_first_that(a):
    k = next((i for i, v in enumerate(a) if v > 2.5), None)
    if k is None:
        return -5
    return k * 2, next(i for i in range(10) if i * i > 30), next(n for n in (3, 4, 5) if n > len(a) - 3)


def take(it, n):
    s = np.float64(0.5)
    for _ in range(n):
        s += next(it, 0.0)
    return s


def handed_to_functions(a):
    it = iter(a)
    jt = it
    first = take(it, 2)
    last = next(jt)
    return first, last, take(iter(it), 2)


def rows_are_views(a):
    m = np.ones((len(a), 2))
    it = iter(m)
    r = next(it)
    r[:] = 5
    for r in it:
        r += a[0]
    return m


def chosen_by_a_branch(a):
    if len(a) > 4:
        it = iter(a)
        next(it)
    else:
        it = iter(a[::-1])
    s = next(it)
    for v in it:
        s = s * 3 + v
    return s


def numbers_of_a_tuple(a):
    it = iter((3, 1, 2))
    x = next(it)
    for v in it:
        x = x * 10 + v
    return x, next(iter([(1, 2.5), (3, 4.5)]))


def one_for_each_row(a):
    s = 0.5
    for i in range(3):
        it = iter(a)
        for v in it:
            s += v
            if v > i:
                break
        s += 100 * next(it, 1)
    return s


def zip_is_used_up(a):
    z, e, m = zip(a, range(4)), enumerate((1, 2)), map(lambda v: v * 2, a)
    s = 0.5
    for x, k in z:
        s += x * k
        if x > 1.5:
            break
    for x, k in z:
        s += 10 * x * k
    return s, [x * k for x, k in z], list(e), list(e), sum(m)


def zip_in_a_loop(a):
    z = zip(a, range(100))
    s = 0.5
    for i in range(3):
        for x, k in z:
            s += x * k + i
            if k % 2:
                break
    return s


def counters_without_end(a):
    c = itertools.count(2)
    s = 0.5
    for v in a:
        s += v * next(c)
    return s, next(c)


def reversed_and_a_tuple_beside_it(a):
    it = reversed(a)
    x = next(it)
    return x, [v * k for v, k in zip(it, (1, 2))]


RUNS = [
    the_rest_of_a_loop, until_none_is_left, two_at_a_time, a_loop_that_breaks_and_one_that_goes_on,
    items_skipped_inside,
    under_conditions, a_list_that_grows, comprehensions, counted_from_where_it_is, the_first_that, handed_to_functions,
    rows_are_views, chosen_by_a_branch, numbers_of_a_tuple, one_for_each_row, zip_is_used_up, zip_in_a_loop,
    counters_without_end, reversed_and_a_tuple_beside_it,
]  # fmt: skip


@pytest.mark.parametrize("function", RUNS, ids=lambda f: f.__name__)
def test_as_python(function):
    for a in (A, B):
        check_lists(function, a)


@pytest.mark.cc
@pytest.mark.parametrize(
    "function", [the_rest_of_a_loop, two_at_a_time, a_list_that_grows, zip_is_used_up, under_conditions]
)
def test_compiled_as_python(function):
    check_lists(function, A, compiled=True)


@pytest.mark.parametrize("function", [
    lambda a: next(iter(a)),
    lambda a: next(v for v in a if v > 100),
    lambda a: next(zip(a, ())),
    the_rest_of_a_loop,
])  # fmt: skip
def test_none_is_left(function):
    check_lists(function, E)


# -- tuples beside something of run-time length ----------------------------------------------------------------------


def names_beside_an_array(a):
    s = 0.5
    for n, v in zip(("a", "b", "c"), a):
        s += v * 2 if n == "a" else -v
    for n, v in zip(("a", "b", "c", "d"), np.ones(3)):
        s += v if n == "c" else 0.25
    return s


def kinds_beside_a_range(a):
    s = 0
    for n, k in zip((1, 2.5, 3), range(len(a))):
        s += n * k
    return s


def left_and_cut_short(a):
    s = np.float64(0.5)
    for n, v in zip(("a", "b", "c"), a):
        if v > 1.5:
            break
        if n == "b":
            continue
        s += v + 1
    for n in ("x", 2.5, 3):
        if len(a) > 3 and n == 2.5:
            break
        s += 1
        if len(a) == 3:
            continue
        s += 10
    return s


def returned_from(a):
    for n, v in zip(("a", "b", "c"), a):
        if v > 2.5:
            return v * 2
    return v


def with_an_else(a):
    for _, v in zip(("a", "b", "c"), a):
        if v > 2.5:
            break
    else:
        return a[0]
    return v


def in_a_loop(a):
    out = np.zeros(len(a))
    for i in range(len(a)):
        for n, v in zip(("p", "q"), a[i:]):
            if n == "p":
                out[i] += v
            else:
                out[i] -= 2 * v
    return out


def functions_beside_two_arrays(a):
    s = 0.5
    for k, (f, v, w) in enumerate(zip((np.sin, np.cos), a, a[1:])):
        s += f(v) * w * k
    return s, sum(v for n, v in zip(("a", "b"), a) if n == "b"), [v for _, v in zip(("a", "b", "c", "d"), a)]


BESIDE = [names_beside_an_array, kinds_beside_a_range, left_and_cut_short, returned_from, with_an_else, in_a_loop,
          functions_beside_two_arrays]  # fmt: skip


@pytest.mark.parametrize("function", BESIDE, ids=lambda f: f.__name__)
def test_tuples_beside_something_else_as_python(function):
    for a in (A, B):
        check_lists(function, a, rtol=1e-12)


@pytest.mark.cc
@pytest.mark.parametrize("function", [names_beside_an_array, left_and_cut_short])
def test_tuples_beside_something_else_compiled(function):
    check_lists(function, A, compiled=True, rtol=1e-12)


# -- refusals --------------------------------------------------------------------------------------------------------


def squares(a):
    for v in a:
        yield v * v


def generator_twice(a):
    g = squares(a)
    s = 0.0
    for v in g:
        if v > 2:
            break
    for v in g:
        s += v
    return s


def generator_as_a_list(a):
    g = iter(list(squares(a)))
    s = 0.0
    for v in g:
        if v > 2:
            break
    for v in g:
        s += v
    return s


def generator_by_a_branch(a):
    g = squares(a)
    if a[0] > 1:
        return sum(g)
    if a[1] > 1:
        s = max(g)
    else:
        s = 0.0
        for k, v in enumerate(g):
            s += k * v
    return s


def generator_by_an_expression(a):
    g = (v for v in a if v > 0.3)
    return sum(g) if a[0] > 1 else min(g)


def generator_on_one_side(a):
    g = squares(a)
    s = sum(g) if a[0] > 1 else 0.0
    return s + sum(g)


def generator_left_on_one_side(a):
    for k in range(2):
        g = squares(a)
        s = 0.0
        if a[k] > 0:
            s = sum(g)
            break
    return s + sum(g)


@pytest.mark.parametrize("function", [generator_by_a_branch, generator_by_an_expression])
def test_sides_of_a_branch_exclude_one_another(function):
    for first in (2.0, 0.5):
        for second in (2.0, 0.25):
            check_lists(function, np.array([first, second, 3.0, 0.5]))


REFUSED = [
    (generator_on_one_side, "the generator 'g' is asked for items at several places"),
    (generator_left_on_one_side, "the generator 'g' is asked for items at several places"),
    (generator_twice, "the generator 'g' is asked for items at several places"),
    (lambda a: next([1, 2]), "next() of a list of 2, which is no iterator"),
    (lambda a: next(iter((3, 2.5))), "an iterator over a tuple whose items are of several kinds"),
    (lambda a: next(iter((a, a))), "an iterator over a tuple or list that holds an array float64[N]"),
    (lambda a: iter(a)[0], "an iterator has no positions"),
    (lambda a: len(iter(a)), "an iterator has no len()"),
    (lambda a: iter(3), "iter() of 3"),
    (lambda a: reversed(iter(a)), "reversed() of an iterator"),
    (lambda a: tuple(zip(*iter(a))), "how many items an iterator has left is known at run time only"),
    (lambda a: iter(a), "a program cannot return an iterator"),
]


@pytest.mark.parametrize(("function", "words"), REFUSED)
def test_refuses(function, words):
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(function).to_sdfg(A)
    text = str(caught.value)
    assert words in text
    assert "= help: " in text
    assert "test_iterators.py:" in text


def test_the_rewrite_of_a_generator_that_is_asked_twice_runs():
    check_lists(generator_as_a_list, A)
