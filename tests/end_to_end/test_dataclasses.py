"""Dataclass objects, named tuples and tuples of arrays: what programs do with them, as Python does."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

import dcpy
from tests.support.records import assert_same_objects, check_objects


@dataclass
class Particles:
    x: np.ndarray
    v: np.ndarray
    mass: float = 2.0
    t: float = 0.0
    count: int = 3
    tag: ClassVar[float] = 3.0

    def kick(self, dt):
        self.v = self.v + dt
        self.t += dt
        if self.t > 1.0:
            self.count += 1
        return self.t

    def early(self, k):
        if k > 2:
            return self.t
        self.t = 5.0
        return self.t * 2

    @property
    def half(self):
        return self.t / 2

    @half.setter
    def half(self, value):
        self.t = 2 * value


@dataclass(frozen=True)
class Field:
    scale: float
    w: np.ndarray

    def scaled(self, k):
        return replace(self, scale=self.scale * k, w=self.w * k)


@dataclass
class World:
    first: Particles
    second: Particles
    forcing: Field


@dataclass(slots=True, kw_only=True)
class Slotted:
    a: np.ndarray
    b: np.float32
    c: complex = 1j

    def __post_init__(self):
        self.b = self.b * 2


class Filled(Particles):
    def __init__(self, n, t=2.0):
        self.x = np.zeros(n) + t
        self.v = self.x
        self.t, self.mass, self.count = t, 1.0, n


class Pair(NamedTuple):
    a: np.ndarray
    b: float


def particles(n=5):
    return Particles(np.arange(float(n)), np.ones(n))


def world():
    return World(particles(), particles(), Field(2.0, np.linspace(0.0, 1.0, 5)))


# -- fields are read, written, and given other objects ---------------------------------------------------------------


def step(p, dt):
    p.x += p.v * dt
    p.t += dt
    p.v = p.v * 0.5
    return p.x.sum()


def integers(p):
    for i in range(p.count):
        p.count += i
    return p.count // 2


def rebound_in_a_loop(p, n):
    for i in range(n):
        p.v = p.v * 0.5 + i


def swapped(p, n):
    for _ in range(n):
        p.x, p.v = p.v, p.x


def on_one_path(p, flag):
    if flag > 0:
        p.v = p.v * 2
        p.t = 7.0
        return 1.0
    p.mass += 1
    return 2.0


def early_return(p, limit):
    for i in range(10):
        p.t += i
        if p.t > limit:
            p.count = 99
            return p.t
    return -1.0


def nested_loops(p, m):
    for i in range(m):
        for j in range(m):
            if (i + j) % 2 == 0:
                p.t += i * j
                p.count -= 1
            else:
                p.v = p.v + p.t
        if p.t > 100:
            break
    else:
        p.mass = 7.0
    return p.v.sum()


def views_and_itself(p):
    p.x[1:] += p.v[:-1]
    return p.x[1:], p.x, p, (p.t, p)


def shrinks(p):
    while p.x.size > 2:
        p.x = p.x[p.x > 0.5][1:]


def other_dtype(p):
    p.x = p.x.astype(np.float32)
    p.count = p.x[1]


def parallel(p):
    for i in dcpy.map[0 : p.x.shape[0]]:
        p.x[i] = p.v[i] * p.mass + p.tag


def made_in_parallel(p):
    for i in dcpy.map[0 : p.x.shape[0]]:
        q = Particles(p.x, p.v, t=p.v[i])
        for _ in range(3):
            q.t += p.x[i]
        q.v = p.v * q.t
        p.x[i] = q.t + q.v[i]


FIELDS = [
    (step, particles(), 0.1), (integers, particles()), (rebound_in_a_loop, particles(), 3),
    (rebound_in_a_loop, particles(), 0), (swapped, particles(), 3), (swapped, particles(), 0),
    (on_one_path, particles(), 1), (on_one_path, particles(), -1), (early_return, particles(), 5),
    (early_return, particles(), 500), (nested_loops, particles(), 4), (views_and_itself, particles()),
    (shrinks, particles(9)), (other_dtype, particles()), (parallel, particles()), (made_in_parallel, particles()),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), [(f, args) for f, *args in FIELDS], ids=lambda part: getattr(
    part, "__name__", ""))  # fmt: skip
def test_fields(function, arguments):
    check_objects(function, *arguments)


@pytest.mark.cc
@pytest.mark.parametrize(("function", "arguments"), [
    (step, (particles(), 0.1)), (rebound_in_a_loop, (particles(), 3)), (rebound_in_a_loop, (particles(), 0)),
    (on_one_path, (particles(), 1)), (on_one_path, (particles(), -1)), (views_and_itself, (particles(),)),
])  # fmt: skip
def test_fields_compiled(function, arguments):
    check_objects(function, *arguments, compiled=True)


# -- methods, nesting, results ---------------------------------------------------------------------------------------


def methods(p):
    a = p.t + p.kick(0.25) + p.t * p.kick(0.5)
    b = [p.kick(1.0) for _ in range(3)][2]
    while p.kick(1.0) < 9:
        p.mass += 1
    p.half = p.half + p.early(3)
    return a, b, p.early(1), p.tag + Particles.tag


def closures(p):
    def scale(z):
        return z * p.t

    def add(y):
        p.t += y
        return p.t

    p.t = 3.0
    return scale(2.0) + add(1.0) + scale(1.0)


def deep(w, dt):
    w.first.kick(dt)
    for _ in range(4):
        w.second.kick(dt)
    w.first.x += w.forcing.w * w.forcing.scale
    return w.forcing.scaled(2.0), w.first


def new_objects(w):
    w.first = Particles(w.forcing.w * 2, w.second.v)
    w.first.t = 4.0
    w.second.t += 1.0
    w.second = w.first


def made(p):
    q = Particles(p.x * 2, v=p.v, count=p.count)
    q.t = q.x.sum()
    q.x[0] = 9
    return replace(q, mass=1.5), q


def made_by_its_own_constructor(n):
    p = Filled(n, t=3.0)
    p.v[0] = p.kick(1.0)
    return p


def carried(p, n):
    c = Field(1.0, p.x)
    for _ in range(n):
        c = c.scaled(1.5)
    return c


def new_ones_in_a_loop(p, n):
    for i in range(n):
        p = Particles(p.x + i, p.v, p.mass, p.t + 1.0)
        p = p if i % 2 == 0 else replace(p, t=0.5)
    return p


def one_of_two(p, q, flag):
    r = p if flag > 0 else q
    return r.x.sum() + r.t


def nested_values(w, n):
    s = World(w.first, w.second, w.forcing)
    for _ in range(n):
        s = replace(s, second=replace(s.second, t=s.second.t + 2.0), forcing=s.forcing.scaled(0.5))
    return s.second.t, s.forcing


def last_of_a_loop(p, n):
    for i in range(3):
        c = Particles(p.x * i, p.v, t=p.t + i)
        c.kick(0.5)
    for _ in range(n):
        d = Particles(c.x + 1.0, c.v)
        d.t += 1.0
    c.t += d.t
    return c, d.x


def identity(x):
    p, q = Particles(x, x), Particles(x, x)
    r = p
    return p is q, p is r, p, (r, q)


def slots(s):
    s.a = s.a * s.b
    s.c = s.c * 2
    return Slotted(a=s.a, b=s.b, c=s.c)


def optional(p, q=None):
    if q is not None:
        p.t += q.t
    return p is q, p is None


def truth(p):
    return 1.0 if p else 2.0


RECORDS = [
    (methods, particles()), (closures, particles()), (deep, world(), 0.3), (new_objects, world()), (made, particles()),
    (made_by_its_own_constructor, 3), (carried, particles(), 3),
    (new_ones_in_a_loop, particles(), 3),
    (one_of_two, particles(), particles(3), 1), (one_of_two, particles(), particles(), -1), (nested_values, world(), 3),
    (last_of_a_loop, particles(), 2), (identity, np.ones(3)),
    (slots, Slotted(a=np.ones(3, np.float32), b=np.float32(1.5))), (optional, particles()),
    (optional, particles(), particles()), (truth, particles()),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), [(f, args) for f, *args in RECORDS], ids=lambda part: getattr(
    part, "__name__", ""))  # fmt: skip
def test_objects(function, arguments):
    check_objects(function, *arguments)


@pytest.mark.cc
@pytest.mark.parametrize(("function", "arguments"), [
    (deep, (world(), 0.3)), (new_objects, (world(),)), (made, (particles(),)), (methods, (particles(),)),
    (slots, (Slotted(a=np.ones(3, np.float32), b=np.float32(1.5)),)),
])  # fmt: skip
def test_objects_compiled(function, arguments):
    check_objects(function, *arguments, compiled=True)


# -- tuples ----------------------------------------------------------------------------------------------------------


def nested_tuple(pair):
    a, (b, c) = pair
    a += b
    return a.sum() + c


def tuple_of_objects(pair, ps):
    total = 0.0
    for p in ps:
        total += p.x.sum() * p.mass
        p.t = total
    return Pair(pair.a * total, pair.b + total), total


@pytest.mark.cc
def test_tuples_of_arrays_compile_once():
    check_objects(nested_tuple, (np.ones(3), (np.arange(3.0), 4.0)), compiled=True)
    check_objects(tuple_of_objects, Pair(np.ones(2), 1.0), (particles(), particles()), compiled=True)
    program = dcpy.program(nested_tuple)
    for n in (2, 3, 7):
        assert program((np.ones(n), (np.arange(float(n)), n + 0.5))) == nested_tuple(
            (np.ones(n), (np.arange(n), n + 0.5))
        )
    assert program.specializations == 1


def test_tuples_of_constants_stay_constants():
    def f(a, shape, axes):
        return np.zeros(shape).shape[0] + a.sum(axis=axes)

    a = np.ones((2, 3, 4))
    sdfg = dcpy.program(f).to_sdfg(a, (2, 3), (0, 2))
    assert_same_objects(sdfg.interpret(a), f(a, (2, 3), (0, 2)))


# -- which objects are one -------------------------------------------------------------------------------------------


def both(p, q):
    p.t = 1.0
    q.t += 2.0
    p.x += q.v
    return p.t


def overlapping(p):
    p.x[1:] += p.v[:-1]
    return p.x.sum()


@pytest.mark.cc
def test_what_is_only_handed_on_is_the_same_object():
    def f(w, pair):
        return w.first, pair, w.second.t

    check_objects(f, world(), (particles(), np.ones(2)), compiled=True)


@pytest.mark.cc
def test_one_object_under_two_names():
    program = dcpy.program(both)
    for same in (False, True, False, True):
        mine, theirs = particles(), particles()
        others = (mine, theirs) if same else (particles(), particles())
        assert program(mine, others[0]) == both(theirs, others[1])
        assert_same_objects((mine, others[0]), (theirs, others[1]))
    assert program.specializations == 2


@pytest.mark.cc
def test_fields_that_share_memory():
    x = np.arange(6.0)
    check_objects(overlapping, Particles(x, x), compiled=True)
    program = dcpy.program(overlapping)
    mine, theirs = np.arange(7.0), np.arange(7.0)
    assert program(Particles(mine[1:], mine[:-1])) == overlapping(Particles(theirs[1:], theirs[:-1]))
    assert_same_objects(mine, theirs)


def test_rebinding_gives_the_object_another_array_and_leaves_the_old_one():
    p = particles()
    x, v = p.x, p.v
    dcpy.program(step).to_sdfg(p, 0.1).interpret(p, 0.1)
    assert p.x is x
    assert p.v is not v
    assert v[0] == 1.0


def test_random_generators_are_fields_too():
    def f(s):
        return s.b.random(3) + s.a

    s = Pair(np.ones(3), np.random.default_rng(1))
    assert_same_objects(dcpy.program(f).to_sdfg(s).interpret(s), np.random.default_rng(1).random(3) + 1)


def test_objects_are_dataclasses_of_dataclasses_to_any_depth():
    cls = Particles
    p = particles()
    for k in range(5):
        cls = dataclasses.make_dataclass(f"Level{k}", [("inner", cls)])
        p = cls(p)

    def f(p):
        q = p.inner.inner.inner.inner.inner
        q.t += 1.0
        p.inner.inner.inner.inner.inner.x[0] = q.t

    sdfg = dcpy.program(f).to_sdfg(p)
    sdfg.interpret(p)
    q = p.inner.inner.inner.inner.inner
    assert (q.t, q.x[0]) == (1.0, 1.0)
