"""Lists of tuples of several kinds of numbers, whose length is known at run time only: all that lists do."""

import heapq
from collections import deque
from typing import NamedTuple

import numpy as np

from tests.support.oracles import check_same
from tests.support.programs import checks_of

X = np.array([3.5, -1.0, 2.25, 0.0])
K = np.array([4, 1, 3, 2])
NARROW = np.array([1.5, 2.5], np.float32), np.array([3, 250], np.uint8), np.array([2**63 + 5, 7], np.uint64)


def make(x, k):
    return [(a, b) for a, b in zip(x, k)]


def joined(x, k):
    a = [(float(v), 1) for v in x]
    b = [(2, 2.5)]
    for v in k:
        b.append((int(v), 0.5))
    more = [(0.0, 9)]
    c = a + more
    return c, b, a * 2, len(c)


def search(x, k):
    a = [(int(k[i]), float(x[i])) for i in range(len(k))]
    return (1, -1.0) in a, (9, 0.0) in a, a.index((3, 2.25)), a.count((3, 2.25)), (3, 2.25) not in a


def removed(x, k):
    a = [(int(k[i]), float(x[i])) for i in range(len(k))]
    a.remove((3, 2.25))
    b = a.copy()
    b.clear()
    c = list(a)
    c.append((0, 0.0))
    return a, b, c, a == c, a == list(a), a != c


def sorting(x, k):
    a = [(int(v % 2), float(u), bool(u > 0)) for u, v in zip(x, k)]
    b = sorted(a)
    c = sorted(a, key=lambda t: t[1], reverse=True)
    d = sorted(a, key=lambda t: (t[0], -t[1]))
    a.sort(reverse=True)
    return a, b, c, d, min(a), max(a), min(a, key=lambda t: t[1]), max(a, key=lambda t: (t[2], t[1]))


def columns(x, k):
    a = [(int(v), float(u)) for u, v in zip(x, k)]
    ks, xs = zip(*a)
    m = np.array(a)
    return ks, xs, m, sum(t[0] for t in a), sum(xs)


def walk(x, k):
    a = [(int(v), float(u)) for u, v in zip(x, k)]
    out = 0.0
    for i, (n, v) in enumerate(a):
        out += i * n * v
    for n, v in reversed(a):
        out = out / 2 + v
    for (n, v), (m, w) in zip(a, a[1:]):  # noqa: RUF007
        out += n * w - m * v
    picked = [n for n, v in a if v > 0]
    return out, picked, any(v > 3 for n, v in a), [(v, n) for n, v in a if n > 1]


def cplx(z):
    a = []
    for i, v in enumerate(z):
        a.append((i, complex(v), v))
    return a, a[0][1] * a[1][1]


def narrow(f, u, w):
    a = []
    for i in range(len(f)):
        a.append((f[i], u[i], w[i], i, f[i] > 2))
    s = a[0][0] + a[1][0]
    return a, s, a[0][1] + a[1][1], a[0][2] - a[1][2]


def specials(x):
    a = []
    for v in x:
        a.append((float(v) / 3 * float("nan"), -0.0, 1, 2**62 + 1))
        a.append((float("inf"), float(v), -2**63, 2**63 - 1))
    return a


def nested(x, k):
    a = []
    for i in range(len(x)):
        a.append((float(x[i]), (i, int(k[i]))))
    a.sort()
    f, (i, j) = a[0]
    return a, f, i, j, [t[1][1] for t in a]

class P(NamedTuple):
    cost: float
    node: int


def named(x, k):
    h = []
    for i in range(len(x)):
        heapq.heappush(h, P(float(x[i]), int(k[i])))
    best = heapq.heappop(h)
    return h, best, best.cost, [p.node for p in h]


def queue(x, k):
    q = deque()
    q.append((0, 1.5))
    out = []
    while q:
        i, v = q.popleft()
        out.append((i, v))
        if i < 4:
            q.append((i + 1, v * 0.5))
        if i == 1:
            q.appendleft((9, 9.5))
    return out


def given_back_in_branch(n):
    out = []
    if n > 1:
        out = [(1, 2.5)]
    else:
        for i in range(n):
            out.append((i, 0.5))
    return out


def two_lists(x, k):
    a = [(1, 2.0)]
    b = a
    for i in range(3):
        b.append((i, 0.5 * i))
    return a, b is a, len(a)

def push(q, c, i):
    q.append((c, i))
    return len(q)


def by_function(x, k):
    q = []
    n = 0
    for i in range(len(x)):
        n += push(q, float(x[i]), i)
    return q, n


def grid(a):
    table = [[(i, float(a[i, j])) for j in range(a.shape[1])] for i in range(a.shape[0])]
    return table, table[1][0], table[0][1][1]


def slices(x, k):
    a = [(int(v), float(u)) for u, v in zip(x, k)]
    a[1:3] = [(7, 7.5), (8, 8.5)]
    b = a[len(k) - 2:]
    a[0], a[-1] = a[-1], a[0]
    return a, b


def fixed(x, k):
    moves = [(0, 1.0), (1, 0.5), (2, 2.25)]
    s = 0.0
    for i in range(len(k)):
        n, w = moves[k[i] % 3]
        s += n * w
    return s, moves[k[0] % 3]


def kept_best(x, k):
    best = (-1, -1e9)
    for i in range(len(x)):
        if x[i] > best[1]:
            best = (i, float(x[i]))
    return best


def memo(n):
    seen = [(0, 0.0)] * n
    for i in range(n):
        seen[i] = (i, i / 2)
    return seen


def dictionary(x, k):
    d = {}
    for i in range(len(x)):
        d[int(k[i])] = (i, float(x[i]))
    out = []
    for key, (i, v) in d.items():
        out.append((key, i, v))
    return out


def while_swap(x, k):
    a = [(float(u), int(v)) for u, v in zip(x, k)]
    done = False
    while not done:
        done = True
        for i in range(len(a) - 1):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
                done = False
    return a


def changed(x, k):
    q = []
    for i in range(len(x)):
        q.append((float(x[i]), i, k[i] > 2))
    q[0] = (7.5, 9, False)
    q[-1] = (1.5, -1, True)
    q.insert(1, (0.25, 33, True))
    q.extend([(1.0, 2, False)])
    q += [(2.0, 3, True)]
    del q[2]
    first = q.pop(0)
    last = q.pop()
    q.reverse()
    n = len(q)
    return q, first, last, n, q[1:3], q[::-1]


def popped(x, k):
    a = [(i, 2 * i) for i in range(len(x))]
    first, third = a.pop(0), a.pop(1)
    return first, third, a, a.count(1), a.count((1, 2)), 1 in a, None in a


test_programs, test_programs_in_compiled_code = checks_of([
    (popped, (X, K), 0),
    (changed, (X, K), 0),
    (make, (X, K), 0),
    (make, (X[:0], K[:0]), 0),
    (joined, (X, K), 0),
    (search, (X, K), 0),
    (removed, (X, K), 0),
    (sorting, (X, K), 0),
    (columns, (X, K), 0),
    (walk, (X, K), 0),
    (cplx, (np.array([1 + 2j, 3 - 1j]),), 0),
    (narrow, NARROW, 0),
    (specials, (X,), 0),
    (nested, (X, K), 0),
    (named, (X, K), 0),
    (queue, (X, K), 0),
    (given_back_in_branch, (3,), 0),
    (given_back_in_branch, (0,), 0),
    (two_lists, (X, K), 0),
    (by_function, (X, K), 0),
    (grid, (np.array([[1.0, 2.0], [3.0, 4.0]]),), 0),
    (slices, (X, K), 0),
    (fixed, (X, K), 0),
    (kept_best, (X, K), 0),
    (memo, (5,), 0),
    (dictionary, (X, K), 0),
    (while_swap, (X, K), 0),
])  # fmt: skip


def test_items_of_empty_lists_are_not_deleted():
    def f(n):
        a = [(i, 0.5) for i in range(n)]
        del a[-1]
        return a

    for n in (0, 1, 3):
        check_same(f, n)
