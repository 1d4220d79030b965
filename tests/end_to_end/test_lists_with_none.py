"""Lists in which None stands for what is not known yet, and names that are None at the end."""

from collections import namedtuple

import numpy as np
import pytest

import dcpy
from tests.support.programs import checks_of

X = np.array([3.5, -1.0, 2.25, 0.0])
P = namedtuple("P", "x y")


def mixed(n):
    out = []
    for i in range(n):
        if i % 3 == 1:
            out.append(i)
        else:
            out.append(i * 0.5)
    return out
def ints(n):
    out = []
    for i in range(n):
        if i % 3 == 7:
            out.append(i*0.5)
        else:
            out.append(i)
    return out


def nones(n):
    best = [None] * n
    for i in range(n):
        if i % 2:
            best[i] = i * i
    k = 0
    for i in range(n):
        if best[i] is None:
            k += 1
        elif best[i] > 3:
            k += best[i]
    return best, k, sum(1 for b in best if b is not None), [b for b in best if b is not None], best[1]


def none_float(n):
    lo = [None] * n
    for i in range(2 * n):
        v = abs(i - 5.5)
        k = i % n
        if lo[k] is None or v < lo[k]:
            lo[k] = v
    return lo


def none_while(n):
    slot = [None] * n
    for i in range(n - 2):
        t = (i * i) % n
        while slot[t] is not None:
            t = (t + 1) % n
        slot[t] = i
    free = 0
    for s in slot:
        if s is None:
            free += 1
    return slot, free


def none_pairs(n):
    owner = [None] * n
    for i in range(n):
        if i % 3:
            owner[i] = (i, i / 2)
    total = 0.0
    for o in owner:
        if o is not None:
            a, b = o
            total += a * b
    return owner, total


def none_raise(n):
    best = [None] * n
    best[0] = 2
    return best[0] + best[1]


def table_none(n, x):
    t = [[None] * 3 for _ in range(n)]
    t[1][2] = 5
    t[2][0] = float(x[0])
    c = 0
    for row in t:
        for v in row:
            if v is not None:
                c += 1
    return t, c, t[2][0]


def carried(n):
    a = mixed(n)
    last = None
    for v in a:
        last = v
    return last


def two_results(n, x):
    lo, hi = [None] * n, [0] * n
    for i in range(n):
        hi[i] += x[i]
        if lo[i] is None:
            lo[i] = hi[i]
    return lo, hi


def pass_on(n, x):
    def better(a, b):
        if a is None:
            return b
        return a if a < b else b
    out = [None] * n
    for i in range(2 * n):
        out[i % n] = better(out[i % n], float(x[i % n]) - i)
    return out


def as_object(n, x):
    best = [None] * n
    cur = None
    for i in range(n):
        if cur is None or x[i] > cur:
            cur = float(x[i])
            best[i] = cur
    return best, cur


def index_by_item(n, x):
    nxt = [None] * n
    for i in range(n - 1):
        nxt[i] = i + 1
    i = 0
    order = []
    while i is not None:
        order.append(i)
        i = nxt[i]
    return order


def parents(n):
    parent = [None] * n
    queue = [0]
    while queue:
        u = queue.pop(0)
        for v in (2 * u + 1, 2 * u + 2):
            if v < n:
                parent[v] = u
                queue.append(v)
    path = []
    v = n - 1
    while v is not None:
        path.append(v)
        v = parent[v]
    path.reverse()
    return path, parent


def memo_fib(n):
    memo = [None] * (n + 1)
    stack = [n]
    while stack:
        k = stack[-1]
        if k < 2:
            memo[k] = k
            stack.pop()
        elif memo[k - 1] is None:
            stack.append(k - 1)
        elif memo[k - 2] is None:
            stack.append(k - 2)
        else:
            memo[k] = memo[k - 1] + memo[k - 2]
            stack.pop()
    return memo


def default_or(n, x):
    a = [None] * n
    for i in range(len(x)):
        a[i] = float(x[i])
    b = [v if v is not None else 0.0 for v in a]
    c = [0 if v is None else v for v in a]
    return b, c, sum(b)


def first_last(x):
    best = None
    hist = []
    for v in x:
        if best is None or v > best:
            best = float(v)
        hist.append(best)
    return hist


def fmt(n):
    best = [None] * n
    best[1] = 2
    if best[1]:
        best[0] = best[1] * 2
    if not best[2]:
        best[2] = -1.5
    return best


def plain(n):
    i = 0
    k = 0
    while i is not None:
        k += i
        i = i + 1 if i < n else None
    return k


def until_none(n, a):
    i = 0
    k = 0
    while i is not None:
        k += a[i]
        if i >= n:
            i = None
        else:
            i += 1
    return k


def sum_until_none(n):
    nxt = [None] * n
    for i in range(n - 1):
        nxt[i] = i + 1
    i = 0
    k = 0
    while i is not None:
        k += i
        i = nxt[i]
    return k


def attr(n, k):
    best = [None] * n
    for i in range(k):
        best[i] = P(i, i * 0.5)
    return best, best[0].x + best[1].y


def unpack(n, k):
    best = [None] * n
    for i in range(k):
        best[i] = (i, i * 0.5)
    a, b = best[0]
    return a, b


def index(n, k):
    best = [None] * n
    for i in range(k):
        best[i] = (i, i * 0.5)
    return best[1][1] * 2


def arith(n, k):
    best = [None] * n
    for i in range(k):
        best[i] = i
    return best[1] * 2 - best[0]


def cmp(n, k):
    best = [None] * n
    for i in range(k):
        best[i] = i
    return best[1] < 5


def neg(n, k):
    best = [None] * n
    for i in range(k):
        best[i] = i
    return -best[1]


def aug(n, k):
    best = [None] * n
    for i in range(k):
        best[i] = i
    s = 0
    s += best[1]
    best[1] += 2
    return s, best


def store_float(n, k):
    best = [None] * n
    for i in range(k):
        best[i] = i
    z = np.zeros(n)
    for i in range(n):
        z[i] = best[i]
    return z


def store_int(n, k):
    best = [None] * n
    for i in range(k):
        best[i] = i
    z = np.zeros(n, int)
    for i in range(n):
        if best[i] is not None:
            z[i] = best[i]
            z[best[i]] += 1
    return z


test_programs, test_programs_in_compiled_code = checks_of([
    (nones, (6,), 0),
    (none_float, (6,), 0),
    (none_while, (6,), 0),
    (none_pairs, (6,), 0),
    (none_raise, (6,), 0),
    (table_none, (6, X), 0),
    (carried, (6,), 0),
    (two_results, (4, X), 0),
    (pass_on, (4, X), 0),
    (as_object, (4, X), 0),
    (index_by_item, (4, X), 0),
    (index_by_item, (2, X), 0),
    (parents, (7,), 0),
    (memo_fib, (5,), 0),
    (default_or, (5, X), 0),
    (first_last, (X,), 0),
    (first_last, (X[:0],), 0),
    (fmt, (3,), 0),
    (plain, (5,), 0),
    (until_none, (5, np.arange(9)), 0),
    (sum_until_none, (4,), 0),
    (attr, (4, 2), 0),
    (attr, (4, 0), 0),
    (unpack, (4, 2), 0),
    (unpack, (4, 0), 0),
    (index, (4, 2), 0),
    (index, (4, 0), 0),
    (arith, (4, 2), 0),
    (arith, (4, 0), 0),
    (cmp, (4, 2), 0),
    (cmp, (4, 0), 0),
    (neg, (4, 2), 0),
    (neg, (4, 0), 0),
    (aug, (4, 2), 0),
    (aug, (4, 0), 0),
    (store_float, (4, 2), 0),
    (store_float, (4, 0), 0),
    (store_int, (4, 2), 0),
])  # fmt: skip


def refused(function, *arguments):
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(function).to_sdfg(*arguments)
    return str(caught.value)


def test_refuses_none_beside_arrays_and_many_kinds():
    def rows(n, x):
        best = [None] * n
        best[n - 1] = x * 2
        return best

    def many(n, x):
        out = []
        for i in range(n):
            out += [0, 0.5, True, None, (1, 2), (1, 2.5), "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
            out += ["m", "n", "o", "p", "q", "r", "s", "t", i]
        return out

    assert "cannot hold None beside these items" in refused(rows, 4, X)
    assert "more than 24 kinds" in refused(many, 4, X)


def test_none_is_no_new_axis():
    def f(n, k):
        best = [None] * n
        for i in range(k):
            best[i] = i
        z = np.arange(5.0)
        z[best[1]] = 7
        return z, z[best[1]]

    program = dcpy.program(f)
    assert program(4, 2)[1] == 7.0
    with pytest.raises(TypeError, match=r"write np\.newaxis"):
        program(4, 0)
