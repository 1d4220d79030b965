"""Section 3: lists that grow or change, and lists as results.

Each function is run by Python, by the interpreter (as written and simplified) and, where marked, compiled: values, the
types of the items, which lists are one list, and the words of exceptions.
"""

import numpy as np
import pytest

import dcpy
from tests.support.lists import check_lists

A8 = np.arange(8.0) * 1.5 - 3


def a_queue_that_is_empty_at_first(a, n):
    waiting, total = [], 0.0
    for x in np.abs(a) * np.array([1, 1, -1, 1, -1, -1, 1, 1]):
        if x >= 0:
            waiting.append(x)
        else:
            total += waiting[0]
            waiting[0] -= 1.0
    return total, waiting


def pairs_taken_from_the_front(a, n):
    lots, gain = [], 0.0
    for k in range(len(a)):
        if k % 3 < 2:
            lots.append([a[k], 1.0])
        else:
            gain += lots[0][0]
            lots[0][1] -= 0.5
            lots.pop(0)
    return gain


def the_largest_so_far(a, n):
    seen, total = [], 0.0
    for k in range(len(a)):
        if k % 2 == 0:
            seen.append(a[k])
        else:
            total += max(seen)
    return total


def zeros_with_item_assignment(a, n):
    b = [0] * 101
    for i in range(n):
        b[i] = i * i
    return b


def append_in_an_if(a, n):
    b = []
    for i in range(n):
        if a[i] > 0:
            b.append(a[i])
    return b


def a_shape_that_is_changed(a, n):
    shape = list(a.reshape(2, 2, 2).shape)
    shape[2] += 2
    return np.zeros(shape)


def two_names_of_one_list(a, n):
    b = [1, 2, 3]
    c = b
    c.append(4)
    b[0] = 7
    return b, c, len(b)


def append_in_a_while_loop(a, n):
    b = [n]
    while b[-1] != 1:
        x = b[-1]
        b.append(x // 2 if x % 2 == 0 else 3 * x + 1)
    return b


def a_stack(a, n):
    stack = [n]
    out = []
    while stack:
        x = stack.pop()
        out.append(x)
        if x > 1:
            stack.append(x - 1)
            if x % 2:
                stack.append(x - 2)
    return out


def a_grid_of_rows(a, n):
    g = [[0] * n for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(n):
            g[i][j] = i * 10 + j
    return g


def a_function_that_appends(a, n):
    def add(items, x):
        items.append(x)

    b = []
    add(b, 1)
    add(b, n)
    for i in range(n):
        add(b, i)
    return b


def the_row_before(a, n):
    prev = [0.0] * n
    for t in range(3):
        cur = [0.0] * n
        for i in range(n):
            cur[i] = prev[i] + a[i] + (prev[i - 1] if i > 0 else 0.0)
        prev = cur
    return prev


def methods_of_a_known_list(a, n):
    b = [3, 1, 2]
    b.sort()
    b.reverse()
    b.insert(1, 10)
    b.remove(2)
    b.extend([7, 8])
    del b[0]
    b += [n]
    return b, b.index(7), b.count(7), b.copy()


def methods_of_a_counted_list(a, n):
    b = [i * 7 % 5 for i in range(n)]
    b.sort()
    b.reverse()
    b.insert(1, 10)
    b.extend([7, 8])
    b += [n]
    b.remove(10)
    x = b.pop(0)
    del b[1]
    return b, b.index(7), b.count(7), b.copy(), x


def pop_from_an_empty_list(a, n):
    b = []
    return b.pop()


def pop_from_a_list_that_becomes_empty(a, n):
    b = [i for i in range(n)]
    for i in range(100):
        b.pop()
    return b


def an_assignment_out_of_range(a, n):
    b = [i for i in range(n)]
    b[n + 3] = 4
    return b


def floats_in_a_list_of_zeros(a, n):
    d = [0] * n
    for i in range(n):
        d[i] = a[i] * 0.5
    return np.array(d)


def arrays_appended(a, n):
    rows = []
    for i in range(n):
        rows.append(a * i)
    return np.array(rows), len(rows)


def two_lists_by_a_condition(a, n):
    xs, ys = [], []
    for i in range(n):
        if a[i] > 0:
            xs.append(i)
        else:
            ys.append(float(a[i]))
    return xs, ys


def lists_by_path(a, n):
    b = [1, 2, 3]
    if n > 3:
        b.append(n)
    else:
        b = [5]
    b.append(6)
    return b


def primes(a, n):
    primes = []
    for i in range(2, n * 10):
        if all(i % p for p in primes):
            primes.append(i)
    return primes


def a_history(a, n):
    hist = []
    x = 10.0
    while x > 1e-3:
        x = x * 0.5
        hist.append(x)
    return hist, len(hist), sum(hist), max(hist), hist[-1], hist[2:5]


def a_queue(a, n):
    q = [0]
    seen = [False] * n
    order = []
    seen[0] = True
    k = 0
    while k < len(q):
        v = q[k]
        k += 1
        order.append(v)
        for w in (v * 2 + 1, v * 2 + 2):
            if w < n and not seen[w]:
                seen[w] = True
                q.append(w)
    return order, seen


def a_matrix_power(a, n):
    m = [[1, 0], [0, 1]]
    for t in range(n):
        m = [[sum(m[i][k] * [[1, 1], [1, 0]][k][j] for k in range(2)) for j in range(2)] for i in range(2)]
    return m


def two_items_swapped(a, n):
    b = [a[0], a[1]]
    b[0], b[1] = b[1], b[0]
    for i in range(n):
        b[i % 2] = a[i]
    return b


def rows_that_are_one_list(a, n):
    grid = [[0] * 3 for _ in range(3)]
    grid[1][2] = 5
    r = grid[0]
    r[1] = 9
    bad = [[0] * 2] * 2
    bad[0][0] = 1
    return grid, bad


def counters(a, n):
    acc = [0] * 3
    for i in range(n):
        acc[0] += i
        acc[1] += a[i]
        acc[2] += 1
    return acc


def slices_assigned(a, n):
    b = [x * 2 for x in a]
    b[1:3] = [a[0], a[1] * 2]
    return b, 2 * b[0] in b, b == b[:], b * 2


def counts_by_class(a, n):
    c = [0, 0, 0]
    for x in a:
        if x > 1:
            c[0] += 1
        elif x < -1:
            c[1] += 1
        else:
            c[2] += 1
    return c


def rows_that_are_built(a, n):
    res = []
    for i in range(n):
        row = []
        for j in range(3):
            row.append(i * j)
        res.append(row)
    return res


def a_list_in_a_tuple(a, n):
    x = [1, 2]
    t = (x, 3)
    x.append(5)
    return t, x


TAKEN = [
    zeros_with_item_assignment,
    append_in_an_if,
    a_shape_that_is_changed,
    two_names_of_one_list,
    append_in_a_while_loop,
    a_stack,
    a_grid_of_rows,
    a_function_that_appends,
    the_row_before,
    methods_of_a_known_list,
    methods_of_a_counted_list,
    pop_from_an_empty_list,
    pop_from_a_list_that_becomes_empty,
    an_assignment_out_of_range,
    floats_in_a_list_of_zeros,
    arrays_appended,
    two_lists_by_a_condition,
    lists_by_path,
    primes,
    a_history,
    a_queue,
    a_matrix_power,
    two_items_swapped,
    rows_that_are_one_list,
    counters,
    slices_assigned,
    counts_by_class,
    rows_that_are_built,
    a_list_in_a_tuple,
    a_queue_that_is_empty_at_first,
    pairs_taken_from_the_front,
    the_largest_so_far,
]


@pytest.mark.parametrize("function", TAKEN, ids=lambda function: function.__name__)
def test_as_python(function):
    check_lists(function, A8, 5, rtol=1e-13)


@pytest.mark.cc
@pytest.mark.parametrize("function", TAKEN[::3], ids=lambda function: function.__name__)
def test_compiled_as_python(function):
    check_lists(function, A8, 5, compiled=True, rtol=1e-13)


def indices_that_were_found(x, n):
    peaks = [i for i in range(1, len(x) - 1) if x[i] > x[i - 1] and x[i] > x[i + 1]]
    some = [2 * i for i in range(n)]
    x[some] += 1
    return x[peaks], x[[v > 0.5 for v in x]]


def test_s3_lists_of_run_time_length_are_indices():
    x = np.random.default_rng(0).random(12)
    for n in (0, 3):
        check_lists(indices_that_were_found, x, n)


def numbers_of_arrays(x, k):
    v = x.tolist()
    v.append(2.5)
    return v, k.tolist(), x[0].tolist(), len(k.tolist()[0]), sum(v), (k > 2).tolist(), k[0].sum().item().bit_length()


def bits(n):
    return n.bit_length(), (7).bit_length(), (n > 3).bit_length()


@pytest.mark.cc
def test_lists_of_the_numbers_of_arrays():
    k = np.arange(6).reshape(2, 3)
    for x in (np.random.default_rng(0).random(4), np.float32([1.5])):
        for shape in (k, k.astype(np.int8)):
            assert repr(dcpy.program(numbers_of_arrays)(x, shape)) == repr(numbers_of_arrays(x, shape))
    program = dcpy.program(bits)
    for n in (0, 1, -1, 7, -7, 8, -8, 2**63 - 1, -(2**63)):
        assert program(n) == bits(n)
    with pytest.raises(dcpy.FrontendError, match="bit_length"):
        dcpy.program(lambda x: x.sum().bit_length())(np.ones(2))


def chosen_or_empty(x, n):
    return [2 * v for v in x if v > 0.5] if n else []


def returned_or_empty(x, n):
    if n:
        return [v for v in x if v > 0.5]
    return []


def part_or_list(x, n):
    """Of what another path returns, there is nothing here, not even a shape."""
    if n > 0:
        k = int(x[0] * 3) + 1
        return x[k:].reshape(-1, 1)
    return [v for v in x if v > 0.5], {"n": n}


@pytest.mark.cc
@pytest.mark.parametrize("f", [chosen_or_empty, returned_or_empty, part_or_list], ids=lambda f: f.__name__)
def test_s3_lists_on_one_path(f):
    x = np.random.default_rng(0).random(12)
    program = dcpy.program(f)
    for n in (3, 0, 2):
        assert repr(program(x, n)) == repr(f(x, n))
        assert repr(program.to_sdfg(x, n).interpret(x, n)) == repr(f(x, n))
