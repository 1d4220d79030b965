"""Methods that are compiled, and what a program with objects is compiled for: classes, constants, annotations."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same
from tests.support.records import assert_same_objects, check_objects


class Kind(enum.Enum):
    PLAIN = 1
    DOUBLE = 2


@dataclass
class Grid:
    h: float
    u: np.ndarray
    kind: Kind = Kind.PLAIN
    name: str = ""
    history: list = field(default_factory=list)

    @dcpy.method
    def laplacian(self):
        return (self.u[2:] - 2 * self.u[1:-1] + self.u[:-2]) / self.h**2

    @dcpy.method(auto_optimize=True)
    def relax(self, n: int, w=0.5):
        for _ in range(n):
            self.u[1:-1] += w * self.h**2 * self.laplacian()
            self.after()

    @dcpy.program
    def factor(self):
        return self.two() * (3.0 if self.kind is Kind.PLAIN else 4.0) * self.scale()

    def after(self):
        self.h = self.h * 1.5

    def scale(self):
        return 1.0

    @staticmethod
    def two():
        return 2.0

    @classmethod
    def flat(cls, n, h):
        return cls(h, np.zeros(n), history=None)


@dataclass
class Scaled(Grid):
    k: float = 2.0

    def scale(self):
        return self.k * super().scale()


@pytest.mark.cc
def test_methods_are_bound():
    g = Grid(0.5, np.arange(6.0) ** 2)
    assert_same_objects(g.laplacian(), np.full(4, 8.0))
    assert_same_objects(Grid.laplacian(g), np.full(4, 8.0))
    g.relax(2, w=0.0)
    assert g.h == 0.5 * 1.5**2
    assert g.laplacian.to_sdfg().name == "laplacian"
    assert_same_objects(g.relax.to_sdfg(1).interpret(g, 1, 0.5), None)
    assert g.laplacian.compile()(g).shape == (4,)
    assert (Grid.laplacian.specializations, g.relax.program.options.auto_optimize) == (1, True)


@pytest.mark.cc
def test_constants_are_guarded_subclasses_are_new_and_unread_fields_do_not_count():
    g = Grid(0.5, np.arange(4.0))
    assert g.factor() == 6.0
    for k in range(3):
        g.name, g.u = str(k), np.zeros(k)
        g.history.append(k)
        assert g.factor() == 6.0
    assert Grid.factor.specializations == 1
    assert Grid(0.5, g.u, Kind.DOUBLE).factor() == 8.0
    assert Scaled(0.5, g.u).factor() == 12.0
    assert Scaled(0.5, g.u, k=3.0).factor() == 18.0
    assert Grid.factor.specializations == 3


GRID = Grid(0.25, np.ones(4))


@pytest.mark.cc
def test_global_objects_are_read_as_they_are_at_each_call():
    @dcpy.program
    def f(a):
        return (GRID.u * GRID.h).sum() + a.sum() + GRID.laplacian()[0] + GRID.scale()

    laplacian, scale = GRID.laplacian, GRID.scale

    @dcpy.program
    def bound(a):
        return laplacian()[0] + scale() + a

    assert bound(1.0) == 2.0

    @dcpy.program
    def raised():
        GRID.u += 1.0

    raised()
    assert_same_objects(GRID.u, np.full(4, 2.0))
    for h, u in ((0.25, np.ones(4)), (0.25, np.ones(4)), (1.0, np.arange(4.0))):
        GRID.h, GRID.u = h, u
        assert f(np.ones(3)) == f.function(np.ones(3))
    assert f.specializations == 2


@pytest.mark.cc
def test_an_object_that_is_changed_is_not_a_global_one():
    @dcpy.program
    def f(g):
        g.h += 1.0
        return GRID.h, GRID

    GRID.h = 0.5
    g = Grid(0.5, GRID.u)
    assert f(g) == (0.5, GRID)
    assert g.h == 1.5
    with pytest.raises(dcpy.DcpyError, match="argument 'g' is also the global object 'GRID' that the program reads"):
        f(GRID)


N = dcpy.symbol("N")


@dataclass
class Annotated:
    x: dcpy.float64[N]
    y: dcpy.float64[N + 1]
    mass: float
    count: int
    label: str = ""

    @dcpy.method
    def moment(self):
        return (self.x * self.y[1:]).sum() * self.mass


@dcpy.program
def ahead(p: Annotated, a: dcpy.float64[N]):
    p.x += a * p.mass + p.y[1:]
    p.count += 1


@pytest.mark.cc
def test_annotated_fields_compile_ahead_of_time():
    sdfg = ahead.to_sdfg()
    text = str(sdfg)
    assert text.startswith("sdfg @ahead(p_x: f64[N], p_y: f64[N + 1], p_mass: f64, p_count, a: f64[N])")
    assert str(dcpy.parse(text)) == text
    compiled, p = ahead.compile(), Annotated(np.arange(3.0), np.ones(4), 2.0, 1)
    compiled(p, np.ones(3))
    assert_same_objects(p, Annotated(np.array([3.0, 4.0, 5.0]), np.ones(4), 2.0, 2))
    with pytest.raises(dcpy.DcpyError, match=r"'p.y' has shape \(3,\), but a float64\[N \+ 1\] is needed"):
        compiled(replace(p, y=np.ones(3)), np.ones(3))
    assert Annotated.moment.compile()(p) == p.moment() == Annotated.moment.function(p)
    assert dcpy.parse(text).interpret(np.zeros(3), np.ones(4), 2.0, 1, np.ones(3)) == (None, (2,))


def test_a_classmethod_makes_an_object():
    def f(n, h):
        return Grid.flat(n, h)

    check_objects(f, 3, 0.5)


@dataclass(frozen=True)
class Vector:
    x: float
    y: float

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __lt__(self, other):
        return self.x < other.x

    def __getitem__(self, k):
        return self.x if k == 0 else self.y

    def __call__(self, t):
        return self.x + t * self.y

    def __abs__(self):
        return (self.x**2 + self.y**2) ** 0.5


@dataclass
class Counter:
    a: np.ndarray

    def __iadd__(self, other):
        self.a += other
        return self


@pytest.mark.cc
def test_special_methods():
    def f(v, w, c, n):
        s = v
        for _ in range(n):
            s += 2.0 * w + (-v)
        c += 2.0
        return s, s < v, s[1], v(3.0), abs(w), w * 2

    check_objects(f, Vector(1.0, 2.0), Vector(0.5, 0.25), Counter(np.ones(3)), 3, compiled=True)


class Ring:
    def __init__(self, size):
        super().__init__()
        self.a, self.size, self.writes = np.zeros(size), size, 0

    def __getitem__(self, k):
        return self.a[k % self.size]

    def __setitem__(self, k, value):
        self.a[k % self.size] = value
        self.writes += 1

    def __contains__(self, value):
        return (self.a == value).any()


class Named:
    def __init__(self, **rest):
        super().__init__(**rest)
        self.name = 4


@pytest.mark.cc
def test_assignments_to_items_of_objects():
    def f(x, n):
        ring = Ring(n)
        for i, value in enumerate(x):
            if value > 0.3:
                ring[i] = value
            ring[i + 1] += 2 * value
        ring[0], ring[1] = 3.0, ring[0]
        return ring.writes, ring.a, ring[2], 3.0 in ring, 7.0 not in ring, Named().name

    check_same(f, np.random.default_rng(0).random(9), 4)
    with pytest.raises(dcpy.FrontendError, match="does not take assignments to its items"):
        dcpy.program(lambda n: _assign(Named(), n))(2)


def _assign(named, n):
    named[n] = n
