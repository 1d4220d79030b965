"""Dictionaries, sets and queues whose contents are known at run time only: values, orders and types are Python's."""

import collections
import heapq
from collections import Counter, defaultdict, deque

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

RNG = np.random.default_rng(3)
XS = RNG.integers(0, 9, 40)
YS = RNG.integers(-100, 100, 30)
COMPLEMENT = {0: 3, 1: 2, 2: 1, 3: 0}


def counts(xs):
    found = {}
    for x in xs:
        found[x] = found.get(x, 0) + 1
    return found, len(found), max(found, key=found.get)


def counts_by_branches(xs):
    found = {}
    for x in xs:
        if x in found:
            found[x] += 1
        else:
            found[x] = 1
    best = -1
    for name, amount in found.items():
        if best < 0 or amount > found[best]:
            best = name
    return best, sum(found.values()), sorted(found)


def memoized(n):
    known = {0: 0, 1: 1}
    for k in range(2, n):
        known[k] = known[k - 1] + known[k - 2]
    return known[n - 1]


def deleted(xs):
    found = {x: 0.5 * i for i, x in enumerate(xs)}
    del found[xs[0]]
    last = found.pop(xs[1], -1.0)
    return found, last, [value for name, value in found.items() if name > 3]


def cells(points):
    grid = {}
    for x, y in points:
        cell = (int(4 * x), int(4 * y))
        grid.setdefault(cell, 0)
        grid[cell] += 1
    return grid, (0, 0) in grid


def sums(xs):
    found = defaultdict(int)
    for i, x in enumerate(xs):
        found[x] += i
    return found


def counted(xs):
    found = Counter(xs)
    return found, found[3], found[100], found.total()


def zipped(xs, ys):
    return dict(zip(xs, ys, strict=False))


def looked_up(xs):
    functions, total = {0: lambda x: x + 1, 1: lambda x: 2 * x}, 0
    for x in xs:
        total += functions[x % 2](x)
    return [COMPLEMENT[x % 4] for x in xs], [COMPLEMENT.get(x, -1) for x in xs], total


def two_that_sum(xs, wanted):
    seen = {}
    for i, x in enumerate(xs):
        if wanted - x in seen:
            return seen[wanted - x], i
        seen[x] = i
    return None


def shown(n):
    table = {n: 1, n + 1: 2}
    return table[3], n in {3, n}, 7 in table


def missing(n):
    return {1: 2, 3: 4}[n]


def missing_in_hashed(n):
    found = {}
    found[n] = 1
    return found[n + 1]


def in_order(xs):
    seen, out = set(), []
    for x in xs:
        if x in seen:
            continue
        seen.add(x)
        out.append(x)
    return out, len(seen), sorted(seen), seen


def combined(xs, ys):
    a, b = set(xs), set(ys)
    return list(a & b), list(a | b), list(a - b)


def taken(n):
    todo, order = set(range(n)), []
    while todo:
        best = min(todo, key=lambda v: v * 7 % n)
        todo.remove(best)
        order.append(best)
    return order


def popped(xs):
    left, total = set(xs), 0
    while left:
        total = 3 * total + left.pop()
    return total


def different(xs):
    return len({x % 5 for x in xs}), len(set(xs)), {x * x for x in xs}


def visited(n):
    seen, x, y = {(0, 0)}, 0, 0
    for k in range(n):
        x, y = (x + 1, y) if k % 3 else (x - 2, y - 1)
        seen.add((x, y))
    return len(seen), (0, 0) in seen


def of_constants(xs):
    return sum(xs[k] for k in {3, 1, 2}), sum(1 for x in xs if x in {1, 2, 3})


def breadth_first(indptr, indices, start):
    distance = np.full(len(indptr) - 1, -1)
    distance[start] = 0
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for other in indices[indptr[node] : indptr[node + 1]]:
            if distance[other] < 0:
                distance[other] = distance[node] + 1
                waiting.append(other)
    return distance


def window(xs):
    last, means = collections.deque(maxlen=3), []
    for x in xs:
        last.append(x)
        means.append(sum(last) / len(last))
    return means, last, last[0], list(last)


def turned(n):
    items = deque(range(n))
    items.rotate(2)
    items.appendleft(7)
    return items, items[-1], 3 in items


LINKS = (np.array([0, 2, 4, 5, 6, 6]), np.array([1, 2, 0, 3, 3, 4]), 0)
PROGRAMS = [
    (counts, (XS,)), (counts_by_branches, (XS,)), (memoized, (40,)), (deleted, (XS,)),
    (cells, (RNG.random((30, 2)),)), (sums, (XS,)), (counted, (XS,)), (zipped, (XS, RNG.random(40))),
    (looked_up, (XS,)), (two_that_sum, ([3, 8, 1, 6, 4], 10)), (two_that_sum, ([3, 8, 1], 20)), (shown, (3,)),
    (missing, (3,)),
    (missing, (2,)), (missing_in_hashed, (2,)), (in_order, (XS,)), (combined, (XS, YS)), (taken, (20,)),
    (popped, (XS,)), (different, (XS,)), (visited, (40,)), (of_constants, (XS,)), (breadth_first, LINKS),
    (window, (XS,)), (turned, (6,)),
]  # fmt: skip
IN_COMPILED_CODE = ("counts", "missing", "in_order", "breadth_first", "turned")


def _name(given):
    return getattr(given, "__name__", "")


@pytest.mark.parametrize(("program", "arguments"), PROGRAMS, ids=_name)
def test_programs(program, arguments):
    check_same(program, *arguments, compiled=False)


SOME = [one for one in PROGRAMS if one[0].__name__ in IN_COMPILED_CODE]


@pytest.mark.cc
@pytest.mark.parametrize(("program", "arguments"), SOME, ids=_name)
def test_programs_in_compiled_code(program, arguments):
    check_same(program, *arguments)


class Queue:
    def __init__(self, n):
        self.items = list(range(n))
        self.count = 0

    def put(self, x):
        if self.count == 0:
            self.items = [x, *self.items]
        self.count += 1


def test_lists_of_fields_that_a_loop_gives_others_keep_their_changes():
    def f(n):
        queue = Queue(n)
        for _ in range(n % 4):
            queue.put(queue.items.pop())
        return len(queue.items)

    check_same(f, 6)


@dcpy.program
def by_name(x, n):
    found = {"a": x, "b": 2 * x}
    return found[n]


def test_refuses_numbers_among_texts():
    with pytest.raises(dcpy.DcpyError) as caught:
        by_name(1.0, 2)
    assert "the key of a dictionary must be known at compile time" in str(caught.value)


def test_lists_with_starred_parts():
    def f(n):
        rest = list(range(n))
        return [n, *rest, *rest[1:]], [0, *rest], [*(1, 2), n]

    check_same(f, 4)


def shortest_way(grid, start, goal):
    """A search by A*, as it is written everywhere."""
    height, width = grid.shape
    frontier, came, cost = [(0, start)], {start: start}, {start: 0}
    while frontier:
        _, current = heapq.heappop(frontier)
        if current == goal:
            break
        x, y = current
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            place = x + dx, y + dy
            if 0 <= place[0] < height and 0 <= place[1] < width and grid[place] == 0:
                new = cost[current] + 1
                if place not in cost or new < cost[place]:
                    cost[place] = new
                    heapq.heappush(frontier, (new + abs(goal[0] - place[0]) + abs(goal[1] - place[1]), place))
                    came[place] = current
    return cost[goal], len(came)


def test_a_program_looks_up_tuples_at_many_places():
    grid = np.zeros((6, 7), np.int64)
    grid[2, :5] = grid[4, 3:] = 1
    assert dcpy.program(shortest_way)(grid, (0, 0), (5, 6)) == shortest_way(grid, (0, 0), (5, 6))


def test_texts_that_the_run_chooses():
    check_same(lambda a: {name for name in ("x", "long") if a[0] > 0}, XS)


def test_functions_of_containers_are_compiled_once():
    grid = np.zeros((6, 7), np.int64)
    sdfg = dcpy.program(shortest_way).to_sdfg(grid, (0, 0), (5, 6), simplify=False)
    calls = [call for call in sdfg.body.walk_calls() if call.outlined]
    assert len(calls) > len({call.sdfg for call in calls}) <= 8


def longest(n):
    found = {(0, 0.5): 1}
    for i in range(n):
        found[(i, i / 2)] = i
        if (i - 3, (i - 3) / 2) in found:
            found.pop((i - 3, (i - 3) / 2))
    return found


def freed(n):
    found, items = {}, []
    for i in range(n):
        found[i * 7 % 31] = i
        items.append(i)
    for i in range(0, n, 2):
        if i in found and found[i] < n:
            del found[i]
    for i in range(n):
        found[(i * 5 % 13) + 100] = i * 2
    del items[n // 2 :]
    del items[-2:]
    del items[100:]
    return found, items


def walked(n):
    seen = {(0, 0)}
    x, y = 0, 0
    for i in range(n):
        x += i % 3 - 1
        y += i % 2
        if (x, y) not in seen:
            seen.add((x, y))
    while len(seen) > 3:
        seen.pop()
    return seen, seen | {(1, 1), (0, 5)}


@pytest.mark.parametrize("function", [longest, freed, walked])
def test_keys_of_many_kinds(function):
    check_same(function, 50)
