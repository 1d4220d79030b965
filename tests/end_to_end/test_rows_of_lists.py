"""Lists and objects in lists, found at positions known at run time only, and changed: as in Python, or refused."""

from dataclasses import dataclass

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

A = np.random.default_rng(0).random((3, 3))


def rows_of_one_list(i, j, a):
    board = [[0] * 3 for _ in range(3)]
    board[i][j] -= 2
    for k in range(i):
        board[k][k] += 1
        board[k][0], board[k][1] = board[k][1], board[k][0]
    board[-i][-j] = 7
    return board, board[i][j], len(board[j])


def positions_that_a_first_iteration_knows(i, j, a):
    g = [[0.5] * 2 for _ in range(3)]
    k = 0
    while k < i:
        g[k][j] += k
        k += 1
    return g, sum(map(sum, g)), max(max(r) for r in g)


def rows_with_names(i, j, a):
    g = [[1, 2], [3, 4]]

    def put(row, value):
        row[0] = value

    put(g[i - 1], 8)
    for r in g:
        put(r, r[0] + 1)
    row = g[j]
    row[1] *= 10
    g[1][0] = 5
    return g, row[0]


def copies_stay_copies(i, j, a):
    g = [[1, 2], [3, 4]]
    h = g[j] + [5]
    h[0] = 9
    f = [r[:] for r in g]
    f[j][0] = -1
    g[i - 1][1] = 3
    return g, h, f


def rows_change_places(i, j, a):
    g = [[1, 2], [3, 4]]
    g[i - 1], g[0] = g[0], g[i - 1]
    g[0][0] = 5
    t = [[0] * 2 for _ in range(2)]
    for x in range(2):
        for y in range(2):
            t[y][x] = g[x][y]
    return g, t


def three_levels(i, j, a):
    c = [[[0] * 2 for _ in range(2)] for _ in range(2)]
    for x in range(i):
        for y in range(i):
            for z in range(i):
                c[x][y][z] = x + 2 * y + 4 * z
    return sum(sum(sum(q) for q in p) for p in c), c


def a_factor(i, j, a):
    L = [[0.0] * 3 for _ in range(3)]
    for x in range(3):
        for y in range(x + 1):
            s = a[x, y]
            for z in range(y):
                s -= L[x][z] * L[y][z]
            L[x][y] = float(s)
    return np.array(L), L[i][j]


class Board:
    def __init__(self):
        self.cells = [[0] * 3 for _ in range(3)]

    def put(self, i, j, value):
        self.cells[i][j] = value


def rows_of_a_field(i, j, a):
    board = Board()
    for k in range(i):
        board.put(k, j, k + 1)
        board.cells[k][2] -= 1
    return board.cells


def only_read(i, j, a):
    first = [1, 2]
    g, h = [first, [3, 4]], [[5, 6], [7, 8]]
    g[0][1] = 5
    return first, g[j][0] + h[i - 1][j], g


@dataclass
class Point:
    x: float
    hits: int = 0


def objects(i, j, a):
    points = [Point(1.0), Point(2.0), Point(3.0)]
    points[i].x += 10
    total = 0.0
    for k in range(5):
        point = points[k % 3]
        point.x += float(a[0, k % 2])
        point.hits += 1
        total += points[(k + 1) % 3].x
    return total, points[j].hits, [point.x for point in points]


def items_of_several_kinds(i, j, a):
    layers = [(a, 1.0), (a[:2, :2], 2.0)]
    weights, bias = layers[j]
    return weights @ a[0, :2] + bias


def moves_until_one_fits(i, j, a):
    moves = [(1, 2), (2, 1), (-1, 2), (-2, 1)]
    board = [[0] * 4 for _ in range(4)]
    x = y = 0
    for step in range(1, i + 3):
        board[x][y] = step
        for dx, dy in moves:
            if 0 <= x + dx < 4 and 0 <= y + dy < 4 and board[x + dx][y + dy] == 0:
                x, y = x + dx, y + dy
                break
    return board


def rows_until_one_is_full(i, j, a):
    g = [[0, 1], [2, 3], [4, 5]]
    for row in g:
        row[0] += i
        g[2][1] += 1
        if row[0] > i + j:
            row[1] = 9
            break
    return g


def defaults_are_kept(i, j, a):
    def push(value, seen=[0]):  # noqa: B006
        seen.append(value)
        return len(seen)

    return push(i), push(j), push(5, [1]), push(i)


PROGRAMS = [
    objects, items_of_several_kinds, moves_until_one_fits, rows_until_one_is_full, defaults_are_kept,
    rows_of_one_list, positions_that_a_first_iteration_knows, rows_with_names, copies_stay_copies, rows_change_places,
    three_levels, a_factor, rows_of_a_field, only_read,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_rows_at_run_time_are_the_rows_of_the_list(f):
    check_same(f, 2, 1, A, compiled=False)


@pytest.mark.cc
@pytest.mark.parametrize("f", [rows_of_one_list, rows_with_names], ids=lambda f: f.__name__)
def test_compiled_code_changes_rows(f):
    check_same(f, 2, 1, A)


def with_another_name(i):
    first, second = [1, 2], [3, 4]
    g = [first, second]
    g[i][0] = 7
    return first, second


def of_a_tuple(i):
    first, second = [1, 2], [3, 4]
    (first, second)[i].append(7)
    return first, second


def of_another_length(i):
    g = [[1, 2], [3, 4]]
    g[i].append(5)
    return g


def ragged(i):
    g = [[1, 2], [3]]
    g[i][0] = 5
    return g


@pytest.mark.parametrize("f", [with_another_name, of_a_tuple, of_another_length, ragged], ids=lambda f: f.__name__)
def test_copies_are_never_changed_in_silence(f):
    with pytest.raises(dcpy.FrontendError, match=r"change|different lengths"):
        dcpy.program(f)(1)


@pytest.mark.cc
@pytest.mark.parametrize("f", [lambda a, n: [n, "x", 3][n], lambda a, n: [a, 2.5, (n, 1)][n]])
def test_items_differ_in_kind(f):
    for n in (0, 1, 2, -1):
        assert repr(dcpy.program(f)(A, n)) == repr(f(A, n))
    with pytest.raises(IndexError, match="list index out of range"):
        dcpy.program(f)(A, 3)
