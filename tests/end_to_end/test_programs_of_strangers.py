"""Programs of people who know Python and NumPy, and nothing of dcpy: each gives Python's values and types."""

import itertools
import math
from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same
from tests.support.programs import checks_of

RNG = np.random.default_rng(11)


def derivatives(x, h):
    out = []
    for k in range(4):
        step = h * 10**-k
        out.append((math.sin(x + step) - math.sin(x - step)) / (2 * step))
    return out


def negated_power(n, k):
    return n**-k


def sum_of_powers(base, n):
    return sum(base**-e for e in range(n)), np.array([float(base**-j) for j in range(n)])


def power_in_a_loop(n, k):
    total = 0.0
    while k > 0:
        total += n**-k
        k -= 1
    return total


@dataclass
class Config:
    nx: int = 16
    name: str = "run"
    weights: list = field(default_factory=lambda: [0.25, 0.5, 0.25])

    def __post_init__(self):
        if self.nx < 2:
            raise ValueError("nx too small")
        self.dx = 1.0 / (self.nx - 1)
        self.grid = np.linspace(0, 1, self.nx)


def config_made_inside(nx):
    config = Config(nx=nx)
    return config.dx * config.grid


def config_passed(config):
    return config.dx * config.grid.sum()


def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def day_of_year(year, month, day):
    lengths = [31, 29 if is_leap(year) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return sum(lengths[: month - 1]) + day


def slices(items, i, j):
    return (1, 2, 3, 4, 5)[i:j], items[i:], [10.0, 20.0][j:], list(items[i:]), len(items[:j])


def parse_bytes(data):
    out, current = [], 0
    for code in data:
        if code == 10:
            out.append(current)
            current = 0
        else:
            current = current * 10 + (code - 48)
    return out, len(data), data[0]


def product_of_lists(a, b):
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=False)] for row in a]


def columns(rows):
    return list(zip(*rows)), [list(c)[::-1] for c in zip(*rows)], [max(c) for c in zip(*rows)]


def nearest(points, x, y):
    best = min(enumerate(points), key=lambda pair: (pair[1][0] - x) ** 2 + (pair[1][1] - y) ** 2)
    return best[0], best[1]


def peak(n):
    steps = [(k, k * (n - k)) for k in range(n)]
    return max(steps, key=lambda step: step[1]), min(steps), max(steps)


class Stack:
    def __init__(self):
        self.items = []

    def __len__(self):
        return len(self.items)

    def push(self, x):
        self.items.append(x)

    def pop(self):
        return self.items.pop()


def emptied(n):
    stack, total = Stack(), 0
    for k in range(n):
        stack.push(k)
    while stack:
        total = 2 * total + stack.pop()
    return total, len(stack)


def rows_returned(n):
    pairs, points = [[k, k * k] for k in range(n)], [(k, 2 * k) for k in range(n)]
    return pairs[0], pairs[1], points[n - 1], points[0], pairs

def exchanged_tuples(n):
    points = [((7 * k) % 5, k) for k in range(n)]
    for i in range(n):
        for j in range(n - 1 - i):
            if points[j] > points[j + 1]:
                points[j], points[j + 1] = points[j + 1], points[j]
    last, points[0] = points[0], (9, 9)
    return points, last


def kept_tuples(n):
    waiting, out = [(n - k, k + 1) for k in range(n)], []
    while waiting:
        first, last = waiting[0], waiting[-1]
        waiting.pop()
        if waiting:
            waiting[0] = last
        out.append(first)
    return out


def eliminated(n):
    a = [[float((7 * i + 3 * j) % 5) for j in range(n)] for i in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[pivot] = a[pivot], a[k]
        for i in range(k + 1, n):
            factor = a[i][k] / a[k][k] if a[k][k] != 0 else 0.0
            for j in range(k, n):
                a[i][j] -= factor * a[k][j]
    return a


def replaced_rows(n):
    rows = [[i, i + 1] for i in range(n)]
    first, second = rows[0], rows[1]
    rows[0] = [7, 8]
    second[0] = 5
    return first, rows


def primes_by_takewhile(n):
    found = []
    for k in range(2, n):
        if all(k % p for p in itertools.takewhile(lambda p, k=k: p * p <= k, found)):
            found.append(k)
    return found, list(itertools.dropwhile(lambda p: p < 8, found))


def run_lengths(bits):
    runs = [(int(k), len(list(run))) for k, run in itertools.groupby(bits)]
    longest = 0
    for bit, run in itertools.groupby(bits, key=lambda bit: bit > 1):
        if bit:
            longest = max(longest, len(list(run)))
    return runs, longest


def best_pair(n):
    best = None
    for k in range(n):
        if best is None or k * 7 % 5 > best[0]:
            best = (k * 7 % 5, k)
    first, second = best
    return first, second


class Reservoir:
    def __init__(self, capacity):
        self.capacity = capacity
        self.level = 0.0

    def step(self, inflow, demand):
        self.level += inflow
        if self.level > self.capacity:
            self.level = self.capacity
        released = min(demand, self.level)
        self.level -= released
        return released


def operated(inflows, demand):
    reservoir = Reservoir(10.0)
    return np.array([reservoir.step(inflow, demand) for inflow in inflows])


Point = namedtuple("Point", "x y")


class Vector(NamedTuple):
    x: float
    y: float

    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5


def polygon(xs, ys):
    points = [Point(x, y) for x, y in zip(xs, ys, strict=True)]
    area = 0
    for p, q in zip(points, points[1:] + points[:1], strict=True):
        area += p.x * q.y - q.x * p.y
    return abs(area) / 2, points, points[0]


def vectors(xs, ys):
    found = []
    for x, y in zip(xs, ys, strict=True):
        if x > 0.2:
            found.append(Vector(x, y))
    found.sort(key=lambda v: v.x)
    found[0], found[1] = found[1], found[0]
    found[1] = found[1]._replace(y=found[0].x)
    return max(found, key=lambda v: v.norm()), [v for v in found if v.y > 0.5], found, min(found), sorted(found)


def members(n):
    pairs = [(k, k * k) for k in range(n)]
    points = [Point(k, k) for k in range(n)]
    return (2, 4) in pairs, (2, 5) in pairs, (3, 3) in points, [0, 1] not in [[k, k + 1] for k in range(n)]


def pairs_counted(codes):
    table = {}
    for k in range(len(codes) - 1):
        pair = (codes[k], codes[k + 1])
        table[pair] = table.get(pair, 0) + 1
    return len(table), sorted(table, key=lambda pair: -table[pair])[:2]


def tokens(data):
    out, i = [], 0
    while i < len(data):
        if 48 <= data[i] <= 57:
            value = 0
            while i < len(data) and 48 <= data[i] <= 57:
                value = 10 * value + data[i] - 48
                i += 1
            out.append((0, value))
        else:
            out.append((1, data[i]))
            i += 1
    return out, len(data[:2])


ROWS = [[1, 2, 3], [4, 5, 6]]
test_programs, test_programs_in_compiled_code = checks_of([
    (derivatives, (0.7, 0.1), 1e-12), (negated_power, (2, 3), 0), (negated_power, (2, -3), 0),
    (negated_power, (0, 3), 0), (negated_power, (3, 0), 0), (sum_of_powers, (2, 5), 0), (power_in_a_loop, (2, 3), 0),
    (config_made_inside, (5,), 0), (config_passed, (Config(8),), 0), (day_of_year, (2024, 3, 15), 0),
    (slices, ((1.0, 2.0, 3.0), 1, 3), 0), (parse_bytes, (b"12\n345\n6\n",), 0),
    (product_of_lists, ([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]), 0), (columns, (ROWS,), 0),
    (columns, (np.arange(12.0).reshape(4, 3),), 0), (nearest, (RNG.random((9, 2)), 0.3, 0.6), 0), (peak, (9,), 0),
    (emptied, (5,), 0), (rows_returned, (4,), 0),
    (primes_by_takewhile, (30,), 0), (run_lengths, (RNG.integers(0, 3, 20),), 0), (best_pair, (6,), 0),
    (best_pair, (0,), 0), (operated, (5 * RNG.random(24), 2.5), 1e-12),
    (polygon, (RNG.random(6), RNG.random(6)), 0), (vectors, (RNG.random(9), RNG.random(9)), 0), (members, (5,), 0),
    (tokens, (b"12+3*(4-5)",), 0), (pairs_counted, (RNG.integers(0, 4, 60),), 0),
    (exchanged_tuples, (8,), 0), (kept_tuples, (4,), 0), (eliminated, (4,), 0), (replaced_rows, (4,), 0),
])  # fmt: skip


def powers(base, exponents):
    return [base**-e for e in exponents]


def powers_of_a_float(base, exponents):
    return [float(base) ** -e for e in exponents]


def test_refuses_powers_of_either_kind_in_comprehensions():
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(powers)(2, [1, 2, 3])
    assert "a power is a float or an int, as the sign of its exponent says" in str(caught.value)
    assert "write the base as a float: `float(base) ** -exponent`" in str(caught.value)
    check_same(powers_of_a_float, 2, [1, 2, 3])


def test_refuses_rows_that_would_be_one_list():
    def shared(n):
        rows = [[i, i + 1] for i in range(n)]
        rows[0] = rows[1]
        rows[0][0] = 9
        return rows

    def copied(n):
        rows = [[i, i + 1] for i in range(n)]
        rows[0] = list(rows[1])
        rows[0][0] = 9
        return rows

    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(shared)(4)
    assert "two items of a list would be one list" in str(caught.value)
    assert "`rows[i] = list(rows[j])`" in str(caught.value)
    check_same(copied, 4)


def test_refuses_rows_of_lists_that_were_sorted_since():
    def moved(n):
        rows = [[n - i, i + 1] for i in range(n)]
        first = rows[0]
        rows.sort()
        return first, rows

    def kept(n):
        rows = [[n - i, i + 1] for i in range(n)]
        first = list(rows[0])
        rows.sort()
        return first, rows

    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(moved)(4)
    assert "'first' is an item of a list whose items have moved, or were replaced, since" in str(caught.value)
    assert "`row = list(rows[k])`" in str(caught.value)
    check_same(kept, 4)


def test_lists_of_several_classes():
    def f(n):
        points = [Point(1.0 * k, 2.0) for k in range(n)]
        points.append(Vector(1.0, 2.0))
        return points

    def apart(n):
        return [Point(1.0 * k, 2.0) for k in range(n)], [Vector(1.0, 2.0)]

    check_same(f, 3)
    check_same(apart, 3)
