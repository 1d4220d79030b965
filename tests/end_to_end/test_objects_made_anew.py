"""Objects whose fields change, made anew in loops and branches: each name has one, and aliases stay aliases."""

import dataclasses
import functools

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError
from tests.support.oracles import check_same as check_all

check_same = functools.partial(check_all, compiled=False)
A = np.array([0.5, 0.25, 2.0, 0.75])


class Counter:
    def __init__(self, start):
        self.n = start
        self.seen = np.zeros(4)

    def hit(self, k):
        self.n += 1
        self.seen[k % 4] += 1


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


class Node:
    def __init__(self, v):
        self.v = v
        self.p = Point(v)


def in_a_loop(a):
    c = Counter(0)
    counts = []
    for k in range(6):
        c.hit(k)
        if c.n == 3:
            counts.append(c.n)
            c = Counter(10)
    return counts, c.n, c.seen


def by_a_branch(a):
    if a[0] > 1:
        c = Counter(1)
    else:
        c = Counter(2)
        c.hit(3)
    c.hit(0)
    return c.n, c.seen


def by_an_expression(a):
    c = Counter(0) if a[0] > 1 else Counter(5)
    d = c
    d.hit(1)
    return c.n, c.seen


def of_another_name(a):
    best = Point(-1.0)
    for v in a:
        p = Point(v * (3 - v), v)
        p.y *= 2
        if p.x > best.x:
            best = p
    return best.x, best.y


def moved(p, h):
    q = Point(p.x, p.y)
    q.x += h * p.y
    q.y -= h * q.x
    return q


def by_a_function(a):
    p, r = Point(1.0), Point(2.0)
    for h in a:
        p = moved(p, h)
        r = moved(moved(r, h), h)
    return p.x, p.y, r.x, r.y


def with_objects_inside(a):
    n = Node(0.0)
    for v in a:
        n = Node(v + n.p.x)
        n.p.y += 1
        n.v -= 1
    return n.v, n.p.x, n.p.y


def kept_by_another_name(a):
    p = Point(1.0)
    kept = p
    for v in a:
        p.y += v
    p = Point(2.0)
    p.x += 1
    return kept.x, kept.y, p.x


def kept_inside(a):
    n = Node(0.0)
    p = n.p
    n = Node(5.0)
    n.p.y += 1
    p.y -= 3
    return p.x, p.y, n.p.x, n.p.y


def kept_by_a_loop(a):
    p, q, s = Point(1.0), Point(2.0), 0.0
    for o in [q, p]:
        p = Point(7.0 + s)
        p.y = 3.0
        s += o.x * 10 + p.x
    return s, p.x, p.y


def kept_by_an_operand(a):
    p = Point(1.0)

    def reset():
        nonlocal p
        p = Point(4.0)
        return p

    difference = p.x - reset().x
    p.x += 1
    return difference, p.x


def kept_by_a_function(a):
    def make():
        c = Counter(0)

        def hit():
            c.hit(1)
            return c

        return hit

    hit = make()
    d = hit()
    d.hit(2)
    hit()
    return d.n, hit().seen


def kept_by_a_default(a):
    new = Point(5.0)

    def f(k, o=new):
        return o.x + k

    c = new
    c = Point(1.0)
    c.x += 1
    return f(1), c.x


def read_late(a):
    c = Point(1.0)
    items = (c.x + v for v in a)
    c = Point(2.0)
    c.x += 1
    return sum(items)


MADE = [in_a_loop, by_a_branch, by_an_expression, of_another_name, by_a_function, with_objects_inside]
KEPT = [kept_by_another_name, kept_inside, kept_by_a_loop, kept_by_an_operand, kept_by_a_function, kept_by_a_default,
        read_late]  # fmt: skip


@pytest.mark.parametrize("function", [*MADE, *KEPT])
def test_objects_are_those_of_python(function):
    check_same(function, A, rtol=1e-12)


@pytest.mark.cc
@pytest.mark.parametrize("function", [in_a_loop, of_another_name, kept_by_another_name])
def test_objects_compiled(function):
    check_all(function, A, rtol=1e-12, optimized=True)


def two_names(a):
    best, worst = Point(-1.0), Point(9.0)
    for v in a:
        p = Point(v)
        p.y += 1
        if p.x > best.x:
            best = p
        if p.x < worst.x:
            worst = p
    return best.x, best.y, worst.x, worst.y


def two_names_rewritten(a):
    best, worst = Point(-1.0), Point(9.0)
    for v in a:
        p = Point(v)
        p.y += 1
        if p.x > best.x:
            best = dataclasses.replace(p)
        if p.x < worst.x:
            worst = dataclasses.replace(p)
    return best.x, best.y, worst.x, worst.y


def swapped(a):
    p, q = Point(1.0), Point(2.0)
    for v in a:
        p, q = q, Point(v)
        q.y += p.x
    return p.x, p.y, q.x, q.y


def swapped_rewritten(a):
    p, q = Point(1.0), Point(2.0)
    for v in a:
        p, q = dataclasses.replace(q), Point(v)
        q.y += p.x
    return p.x, p.y, q.x, q.y


@pytest.mark.parametrize(("function", "rewritten"), [(two_names, two_names_rewritten), (swapped, swapped_rewritten)])
def test_refuses_objects_that_two_names_share_on_some_paths(function, rewritten):
    with pytest.raises(FrontendError, match="is one of 2 objects here") as caught:
        dcpy.program(function).to_sdfg(A)
    assert "give each name a new object: `x = dataclasses.replace(...)`" in str(caught.value)
    assert rewritten(A) == function(A)
    check_same(rewritten, A)
