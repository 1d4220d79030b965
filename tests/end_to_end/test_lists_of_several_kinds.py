"""Lists that hold ints, floats, bools, None, texts and tuples: each item keeps its kind, Python's or NumPy's."""

import heapq

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same
from tests.support.programs import checks_of

X = np.array([3.5, -1.0, 2.25, 0.0])
K = np.array([4, 1, 3, 2])


def fill_float(n, x):
    acc = [0] * n
    for i in range(n):
        if i % 2:
            acc[i] = float(x[i])
    return acc


def fill_first(n, x):
    acc = [0] * n
    acc[1] = 2.5
    return acc


def fill_npfloat(n, x):
    acc = [0] * n
    for i in range(1, n):
        acc[i] = x[i]
    return acc


def partial_sums(n, x):
    s = [0] * (n + 1)
    for i in range(n):
        s[i + 1] = s[i] + float(x[i])
    return s


def appended(n, x):
    s = [0]
    for i in range(n):
        s.append(s[-1] + float(x[i]))
    return s


def appended_np(n, x):
    s = [0]
    for i in range(n):
        s.append(s[-1] + x[i])
    return s


def dp(n, x):
    best = [0] * (n + 1)
    for i in range(n):
        for w in range(n, 0, -1):
            best[w] = max(best[w], best[w - 1] + float(x[i]))
    return best, best[n]


def table(n, x):
    t = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            t[i][j] = float(x[j]) * i
    return t


def total(n, x):
    acc = [0] * n
    for i in range(n - 1):
        acc[i] = float(x[i])
    return sum(acc), acc[n - 1], max(acc)


def comp(n):
    return [i / 2 if i % 2 else i for i in range(n)]


def branch_append(n):
    out = []
    for i in range(n):
        if i % 3 == 0:
            out.append(i)
        else:
            out.append(i * 0.5)
    return out


def zero_or(n):
    s = 0
    for i in range(n):
        s += 0.5
    return [s, n]


def zero_div(n, k):
    out = [0] * n
    for i in range(n):
        out[i] = k[i] % (i + 1)
    return out


def zero_div2(n, k):
    vals = []
    for i in range(n):
        if i % 2:
            vals.append(int(k[i]))
        else:
            vals.append(k[i])
    s = 0
    for v in vals:
        s += 7 % v
    return s


def np_or_py(n, k):
    vals = []
    for i in range(n):
        if i % 2:
            vals.append(int(k[i]))
        else:
            vals.append(k[i])
    return vals


def first_zero(n, x):
    m = [0.0] * n
    for i in range(n):
        m[i] = i
    return m


def bools(n):
    f = [False] * n
    for i in range(n):
        f[i] = i
    return f


def two_lists(n, x):
    a = [0, 0, 0]
    b = [0] * 3
    for i in range(n):
        a[i] = float(x[i])
        b[i] = b[i - 1] + 1.5
    return a, b


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


def sum_loop(n):
    s = 0
    for v in mixed(n):
        s += v
    return s


def sum_call(n):
    return sum(mixed(n)), sum(ints(n))


def extrema(n):
    a = mixed(n)
    return max(a), min(a)


def extrema_key(n):
    a = mixed(n)
    return max(a, key=lambda v: -v), min(a, key=lambda v: v * v)


def in_order(n):
    a = mixed(n)
    b = sorted(a)
    a.sort(reverse=True)
    return a, b, sorted(a, key=lambda v: -v)


def searches(n):
    a = mixed(n)
    return 1 in a, 0.5 in a, a.count(1.0), len(a), 7 not in a


def index(n):
    a = mixed(n)
    a.remove(1)
    return a.index(2.5), a


def comps(n):
    a = mixed(n)
    kinds = [type(v) is int for v in a], [isinstance(v, float) for v in a]
    return [v * 2 for v in a], [v for v in a if v > 1], any(v > 2 for v in a), kinds


def arr(n):
    a = mixed(n)
    z = np.zeros(n)
    for i, v in enumerate(a):
        z[i] = v
    return z, np.array(a), np.sum(a)


def augment(n):
    a = mixed(n)
    for i in range(n):
        a[i] += 1
    a[0] -= 1
    a[1] *= a[2]
    return a, a[1] + a[2], -a[1], a[1] // 2


def pops(n):
    a = mixed(n)
    x = a.pop()
    y = a.pop(0)
    a.insert(0, 3)
    a.extend([1, 2.5])
    del a[1]
    more = [1]
    return x, y, a, a[1:3], a[::-1], a + more


def texts(n):
    out = []
    for i in range(n):
        if i % 3 == 0:
            out.append("fizz")
        elif i % 2 == 0:
            out.append("buzz")
        else:
            out.append(i)
    k = 0
    for v in out:
        if v == "fizz":
            k += 1
    return out, k, out.count("fizz")


def tokens(codes):
    toks = []
    for c in codes:
        if c == -1:
            toks.append(("op", "+"))
        elif c == -2:
            toks.append(("op", "*"))
        else:
            toks.append(("num", int(c)))
    total = 0
    for kind, v in toks:
        if kind == "num":
            total += v
    return toks, total


def heap_mixed(n):
    h = [(0, 0)]
    for i in range(1, n):
        heapq.heappush(h, (5.5 - i, i))
    out = []
    while h:
        out.append(heapq.heappop(h))
    return out


def pairs_of(n):
    a = mixed(n)
    p = [(v, i) for i, v in enumerate(a)]
    q = list(zip(a, range(n)))
    return p, q, p == q, [x for x, i in q if i > 2]


def equal(n):
    a = mixed(n)
    b = mixed(n)
    c = list(a)
    c[0] = 9
    return a == b, a == c, a != c


def days(k):
    names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    return names[k % 7], len(names)


def bools_mixed(n):
    out = []
    for i in range(n):
        if i % 2:
            out.append(i > 2)
        else:
            out.append(i)
    return out, sum(out)


test_programs, test_programs_in_compiled_code = checks_of([
    (fill_float, (4, X), 0),
    (fill_first, (4, X), 0),
    (fill_npfloat, (4, X), 0),
    (partial_sums, (4, X), 0),
    (appended, (4, X), 0),
    (appended_np, (4, X), 0),
    (dp, (4, X), 0),
    (table, (4, X), 0),
    (total, (4, X), 0),
    (comp, (6,), 0),
    (branch_append, (6,), 0),
    (zero_or, (0,), 0),
    (zero_or, (3,), 0),
    (zero_div, (4, K), 0),
    (zero_div2, (4, K), 0),
    (zero_div2, (4, K * 0), 0),
    (np_or_py, (4, K), 0),
    (first_zero, (4, X), 0),
    (bools, (4,), 0),
    (two_lists, (3, X), 0),
    (two_lists, (0, X), 0),
    (sum_loop, (6,), 0),
    (sum_loop, (0,), 0),
    (sum_loop, (2,), 0),
    (sum_call, (6,), 0),
    (sum_call, (0,), 0),
    (sum_call, (2,), 0),
    (extrema, (6,), 0),
    (extrema, (0,), 0),
    (extrema, (2,), 0),
    (extrema_key, (6,), 0),
    (extrema_key, (2,), 0),
    (in_order, (6,), 0),
    (in_order, (0,), 0),
    (in_order, (2,), 0),
    (searches, (6,), 0),
    (searches, (0,), 0),
    (searches, (2,), 0),
    (index, (6,), 0),
    (comps, (6,), 0),
    (comps, (0,), 0),
    (comps, (2,), 0),
    (arr, (6,), 0),
    (augment, (6,), 0),
    (pops, (6,), 0),
    (texts, (6,), 0),
    (tokens, (np.array([3, -1, 4, -2, 5, -1]),), 0),
    (heap_mixed, (5,), 0),
    (pairs_of, (6,), 0),
    (equal, (6,), 0),
    (days, (3,), 0),
    (days, (1,), 0),
    (bools_mixed, (6,), 0),
])  # fmt: skip


def test_ints_beyond_floats_are_not_put_in_order_beside_them():
    def f(n):
        out = []
        for i in range(n):
            if i % 2:
                out.append(2**53 + i)
            else:
                out.append(0.5)
        return sorted(out)

    program = dcpy.program(f)
    assert program(1) == [0.5]
    with pytest.raises(OverflowError, match="more than 53 bits"):
        program(3)


def test_items_without_a_kind_that_matters_are_floats():
    """A list of zeros that becomes one of floats is an array of floats, as long as nobody asks which are ints."""

    def f(n, x):
        acc = [0] * n
        for i in range(n):
            acc[i % 2] += float(x[i])
        return np.array(acc) * 2

    assert "i64[max(0, n), 2]" not in str(dcpy.program(f).to_sdfg(4, X))
    check_same(f, 4, X)
