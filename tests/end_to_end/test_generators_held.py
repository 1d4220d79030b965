"""Generators that are held: by a name, a parameter, an item or a field, their items are taken once, when asked for."""

import numpy as np
import pytest

import dcpy
from tests.support.lists import check_lists

A = np.array([1.0, 2.0, 3.0])


def late_name():
    c = 1.0
    it = (c * v for v in (1.0, 2.0))
    c = 5.0
    return sum(it)


def late_element(a):
    b = np.copy(a)
    it = (b[i] for i in range(2))
    b[0] = 100.0
    return sum(it)


def element_written_in_between(a):
    b, s = np.copy(a), 0.0
    for v in (b[i] for i in range(3)):
        b[2] = 7.0
        s += v
    return s


def unpacked():
    it = (v for v in (1.0, 2.0, 3.0))
    (a, b), c = (v for v in (1.0, 2.0)), 1.0
    d, *rest = it
    return a + b + c + d + sum(rest)


def taken_at_once(a):
    pairs = {k: v for k, v in ((k, k * k) for k in (1, 2))}
    return (
        2.0 in (v for v in (1.0, 2.0)),
        dict((k, k) for k in (1, 2))[2] + pairs[2],
        np.hypot(*(v for v in (3.0, 4.0))),
        list(zip((v for v in (1, 2)), (3, 4))),
        list(enumerate(v for v in (5, 6))),
        sorted(v for v in (2, 1)),
        np.array([*(v for v in (1.0, 2.0)), a[0]]),
        len(",".join(c for c in ("a", "b"))),
    )


@pytest.mark.parametrize("function", [late_name, unpacked])
def test_without_arguments_as_python(function):
    check_lists(function)


@pytest.mark.parametrize("function", [late_element, element_written_in_between, taken_at_once])
def test_as_python(function):
    check_lists(function, A)


def inner_loop():
    it = (x for x in (10.0, 20.0))
    return np.array([a + b for a in (1.0, 2.0) for b in it])


def inner_loop_of_known_items():
    it = iter([x for x in (10.0, 20.0)])
    return np.array([a + b for a in (1.0, 2.0) for b in it])


def inner_loop_of_items(a):
    it = iter(list(2 * v for v in a))
    return np.array([k + v for k in (1.0, 2.0) for v in it])


def twice(items):
    return sum(items) + sum(items)


class Holder:
    def __init__(self, g):
        self.g = g


def two_loops():
    it, s = (v for v in (1.0, 2.0)), 0.0
    for u in it:
        for v in it:
            s += u * v
    return s


def in_a_tuple(a):
    held = ((2 * v for v in a), 1.0)
    return sum(held[0]) + sum(held[0])


def in_a_list():
    held = [(v for v in (1.0, 2.0)), 1.0]
    return sum(held[0]) + sum(held[0])


def in_a_field(a):
    k = Holder(v for v in a)
    return sum(k.g) + sum(k.g)


def from_a_closure():
    it = (v for v in (1.0, 2.0))
    return (lambda: sum(it))() + (lambda: sum(it))()


@pytest.mark.parametrize(
    ("function", "name", "given"),
    [
        (inner_loop, "it", ()),
        (two_loops, "it", ()),
        (lambda a: twice(2 * v for v in a), "items", (A,)),
        (lambda: twice(v for v in (1.0, 2.0)), "items", ()),
        (in_a_tuple, "held[0]", (A,)),
        (in_a_list, "held[0]", ()),
        (in_a_field, "k.g", (A,)),
        (from_a_closure, "it", ()),
    ],
)
def test_a_second_loop_is_refused(function, name, given):
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(function)(*given)
    assert f"the generator '{name}' is asked for items at several places" in str(caught.value)
    assert "iter(list(...))" in str(caught.value)


def test_the_rewrite_runs():
    check_lists(inner_loop_of_known_items)
    check_lists(inner_loop_of_items, A)


def test_a_generator_has_no_length():
    with pytest.raises(TypeError, match="has no length"):
        dcpy.program(lambda: len(v for v in (1.0, 2.0)))()
