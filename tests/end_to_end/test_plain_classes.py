"""Plain classes with an ``__init__``: made anew in loops, chosen by branches, changed in place; as dataclasses."""

import functools

import numpy as np
import pytest

from tests.support.oracles import check_same as check_all

check_same = functools.partial(check_all, compiled=False)
A = np.array([0.5, 0.25, 0.75])


class Vec:
    """A value: no program assigns to its fields."""

    def __init__(self, x, y=0.0):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, other):
        return Vec(self.x * other.x - self.y * other.y, self.x * other.y + self.y * other.x)

    def length(self):
        return (self.x**2 + self.y**2) ** 0.5


class Sum:
    """Changes."""

    def __init__(self, count):
        self.total, self.count = 0.0, count
        self.buffer = np.zeros(count)

    def add(self, x):
        self.total += x
        self.buffer[self.count - 1] = x


class Magnitude:
    """A field that each path sets."""

    def __init__(self, x):
        if x > 0:
            self.x = x
        else:
            self.x = -x


class Far(Vec):
    """A class with a base."""

    def __init__(self, x, z):
        super().__init__(x, 1.0)
        self.z = z


class Ring:
    """Its constructor hands the object on."""

    def __init__(self, x):
        self.x = x
        self.next = [self]


def walk(a):
    p = Vec(0.0, 0.0)
    for v in a:
        p = p + Vec(v, -v)
    return p.x, p.y


def longest(a):
    best = Vec(0.0)
    for v in a:
        p = Vec(v, v * v)
        if p.length() > best.length():
            best = p
    return best.x, best.y


def changed(a):
    s = Sum(3)
    other = s
    for v in a:
        s.add(v)
    return s.total, other.total, other.buffer


def bases(a):
    s = 0.0
    for v in a:
        far = Far(v, 2 * v)
        s += far.x * far.y * far.z + Magnitude(-v).x + Ring(v).x
    return s


def one_object(a):
    p = Vec(a[0], a[1])
    q = p
    q.x = a[2]
    return p.x, p is q


def in_lists(a):
    first = min([Vec(a[0], 1.0), Vec(a[1], 2.0)], key=lambda p: p.x)
    return first.y, sum(p.x for p in (Vec(a[0]), Vec(a[1])))


@pytest.mark.parametrize("f", [walk, longest, changed, bases, one_object, in_lists])
def test_objects_are_those_of_python(f):
    check_same(f, A)


@pytest.mark.parametrize("t", [2.0, 0.5])
def test_objects_chosen_by_a_branch(t):
    def f(t):
        p = Vec(0.0, t)
        if t > 1:
            p = Vec(t, 1.0)
        q = Vec(t) if t < 1 else p
        return p.x + p.y + q.length()

    check_same(f, t)


@pytest.mark.cc
def test_numbers_of_a_class_of_the_user():
    def escapes(w, h):
        out = np.zeros((h, w), dtype=np.int64)
        for i in range(h):
            for j in range(w):
                c = Vec(-2 + 3 * j / w, -1 + 2 * i / h)
                z = Vec(0.0)
                k = 0
                while k < 20 and z.length() < 2:
                    z = z * z + c
                    k += 1
                out[i, j] = k
        return out

    check_all(escapes, 6, 5)


class Slotted:
    """An object without a dictionary, which gives its fields one after the other."""

    __slots__ = ("x", "y")

    def __init__(self, x, y=0.0):
        self.x, self.y = x, y

    def __iter__(self):
        yield self.x
        yield self.y

    def __lt__(self, other):
        return self.x < other.x


class Rows:
    """The rows of a matrix that begin with more than 0.2."""

    def __init__(self, m):
        self.m = m

    def __iter__(self):
        for k in range(len(self.m)):
            if self.m[k, 0] > 0.2:
                yield self.m[k]


class Held:
    """What its tuple has."""

    def __init__(self, x, y):
        self.items = (x, y)

    def __iter__(self):
        return iter(self.items)


def test_objects_with_slots():
    def f(a):
        far = Slotted(0.0)
        for v in a:
            new = Slotted(v, 1 - v)
            far = new if far < new else far
        return far.x, far.y

    check_same(f, A)


@pytest.mark.cc
def test_objects_that_are_iterated_over():
    def f(a, m):
        x, y = Slotted(a[0], a[1])
        total = 0.0
        for row in Rows(m):
            total += row.sum()
        for v in Held(x, y):
            total = total * 2 + v
        both = Slotted(x, total)
        return x - y, total, sum(both), list(both), [t * 2 for t in both], max(both), sum(r[1] for r in Rows(m))

    check_all(f, A, np.arange(12.0).reshape(4, 3) / 10)


class Names:
    """Names of fields that lists and dictionaries use inside."""

    def __init__(self, x):
        self.items, self.keys = x, 2 * x


def test_any_name_is_one_of_a_field():
    check_same(lambda x: (Names(x).items, Names(x).keys), 1.5)


class Game:
    """Gets a field in a loop without end."""

    def __init__(self, n):
        self.n = n
        self.place()

    def place(self):
        k = 0
        while True:
            k += 3
            if k > self.n:
                self.food = k
                return

    def place_twice(self):
        k = 0
        while True:
            k += 5
            if k > self.n:
                self.other = k
                break
            if k == 10:
                self.other = -k
                break


def field_of_an_endless_loop(n):
    game = Game(n)
    first = game.food
    for _ in range(3):
        game.n += game.food
        game.place()
    game.place_twice()
    return first, game.food, game.other


def test_fields_that_a_loop_without_end_sets():
    check_same(field_of_an_endless_loop, 7)
    check_same(field_of_an_endless_loop, 0)
