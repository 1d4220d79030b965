"""Arrays that change hands: ping-pong, rotations, by parity, of arguments, locals, views and fields of objects.

Nothing is copied that NumPy does not copy, and the caller's arrays hold afterwards what NumPy's would.
"""

import dataclasses

import numpy as np
import pytest

import dcpy
from dcpy.ir.nodes import Copy
from tests.support.lowering import lower, refusal, same
from tests.support.oracles import check_same

A = np.arange(1.0, 9.0)
B = A[::-1] * 2
STEPS = [0, 1, 2, 3, 4, 7]


def relax(u, v):
    v[1:-1] = 0.5 * (u[:-2] + u[2:])


# -- arrays that change hands ------------------------------------------------------------------------------------------


def swapped_arguments(u, v, n):
    """Ping-pong of two arguments."""
    for _ in range(n):
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, v = v, u
    return u


def written_afterwards(u, v, n):
    for _ in range(n):
        relax(u, v)
        u, v = v, u
    u[0] = 100
    v[1] -= 3


def argument_and_local(u, n):
    v = u.copy()
    for _ in range(n):
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, v = v, u
    return u, v


def two_locals(a, n):
    u, v = a * 1, a * 2
    for _ in range(n):
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, v = v, u
    return u


def rotated(a, b, c, n):
    """A wave equation: three arrays, each of which is the next one's past."""
    for _ in range(n):
        c[1:-1] = 2 * b[1:-1] - a[1:-1] + 0.1 * (b[2:] - 2 * b[1:-1] + b[:-2])
        a, b, c = b, c, a
    a[0] = 7
    return b


def rotated_pairs(a, b, c, n):
    """Two swaps of two lengths: six states."""
    for k in range(n):
        a, b = b, a
        if k % 2 == 1:
            b, c = c, b
        a[k % 3] += k
    return c


def by_parity(u, v, n):
    for t in range(n):
        src, dst = (u, v) if t % 2 == 0 else (v, u)
        dst[1:-1] = 0.5 * (src[:-2] + src[2:])
    u[0] = -1


def by_parity_in_an_if(u, v, n):
    dst = v
    for t in range(n):
        if t % 2 == 0:
            src, dst = u, v
        else:
            src, dst = v, u
        relax(src, dst)
    return dst


def swapped_if(u, v, n):
    for k in range(n):
        u[k] += 1
        if v[k] > 9:
            u, v = v, u
    return u, v


def parts(u, n):
    """The halves of one array change places."""
    left, right = u[:4], u[4:]
    for _ in range(n):
        left[1:] = right[:-1] * 2
        left, right = right, left
    return left


def with_break(u, v, n):
    for k in range(n):
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, v = v, u
        if u[3] > 8:
            break
        u[0] += k
    else:
        v[-1] = 5
    return v


def with_continue(u, v, n):
    for k in range(n):
        u, v = v, u
        if u[k] > 4:
            continue
        u[k] = -1
    u[0] = 50


def nested_loops(u, v, n):
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            v[i] = u[i - 1] + u[i + 1]
        u, v = v, u
    return u


def swapped_inside_and_outside(u, v, n):
    for _ in range(n):
        for k in range(3):
            v[k] = u[k] + 1
            u, v = v, u
        u[0] += v[0]
    return u


def in_a_nested_function(u, v, n):
    def steps(a, b, count):
        for _ in range(count):
            relax(a, b)
            a, b = b, a
        return a

    last = steps(u, v, n)
    last[0] = 42


def of_names_outside(u, v, n):
    def step():
        v[1:-1] = 0.5 * (u[:-2] + u[2:])

    for _ in range(n):
        step()
        u, v = v, u
    return u


def step(u, v):
    v[1:-1] = 0.5 * (u[:-2] + u[2:])
    return v, u


def by_a_helper(u, v, n):
    for _ in range(n):
        u, v = step(u, v)
    return u


def with_a_sum(u, v, n):
    total = np.float64(0)
    for _ in range(n):
        relax(u, v)
        total += np.abs(u - v).max()
        u, v = v, u
    return total, u


def as_a_tuple(u, v, n):
    pair = (u, v)
    for _ in range(n):
        pair[1][1:-1] = pair[0][2:]
        pair = pair[::-1]
    return pair[0]


SWAPS = [
    swapped_arguments, written_afterwards, by_parity, by_parity_in_an_if, swapped_if, with_break, with_continue,
    nested_loops, swapped_inside_and_outside, in_a_nested_function, of_names_outside, by_a_helper, with_a_sum,
    as_a_tuple,
]  # fmt: skip


@pytest.mark.parametrize("n", STEPS)
@pytest.mark.parametrize("function", SWAPS, ids=lambda function: function.__name__)
def test_two_arguments(function, n):
    same(function, A, B, n)


@pytest.mark.parametrize("n", STEPS)
@pytest.mark.parametrize("function", [argument_and_local, two_locals, parts], ids=lambda function: function.__name__)
def test_one_argument(function, n):
    same(function, A, n)


@pytest.mark.parametrize("n", STEPS)
@pytest.mark.parametrize("function", [rotated, rotated_pairs], ids=lambda function: function.__name__)
def test_three_arguments(function, n):
    same(function, A, B, A * B, n)


def test_arguments_that_are_one_array():
    """The call passes one array twice, which the specialization knows."""

    def f(u, n):
        v = u
        for _ in range(n):
            v[1:] = u[:-1] + 1
            u, v = v, u
        return u

    same(f, A, 3)


@pytest.mark.parametrize("tolerance", [1e-3, 1.0, 1000.0])
def test_until_it_converges(tolerance):
    def f(u, v, tolerance):
        count, error = 0, 2 * tolerance
        while error > tolerance:
            relax(u, v)
            error = np.abs(u - v).max()
            u, v = v, u
            count += 1
        return u, count

    def g(u, v, tolerance):
        count = 0
        while count < 2 or np.max(np.abs(u - v)) > tolerance:
            relax(u, v)
            u, v = v, u
            count += 1
        return u, count

    same(f, A**2, A**2, tolerance)
    same(g, A**2, A**2, tolerance)


@pytest.mark.parametrize("function", [swapped_arguments, by_parity, rotated], ids=lambda function: function.__name__)
def test_nothing_is_copied(function):
    arrays = [A, B, A * B][: 3 if function is rotated else 2]
    sdfg = lower(function, *arrays, 3).sdfg
    copies = [node for node in sdfg.body.walk_nodes() if isinstance(node, Copy)]
    assert not {memlet.container for node in copies for memlet in node.reads()} & {*sdfg.arguments}


@dataclasses.dataclass
class Grid:
    u: np.ndarray
    v: np.ndarray

    def relax(self):
        self.v[1:-1] = 0.5 * (self.u[:-2] + self.u[2:])
        self.u, self.v = self.v, self.u


def run_grid(grid, n):
    for _ in range(n):
        grid.relax()
    grid.u[0] = 9
    return grid.v


@pytest.mark.parametrize("n", [0, 1, 4])
def test_fields_of_objects(n):
    mine, theirs = Grid(A.copy(), B.copy()), Grid(A.copy(), B.copy())
    arrays = [mine.u, mine.v], [theirs.u, theirs.v]
    got = dcpy.program(run_grid).to_sdfg(mine, n).interpret(mine, n)
    expected = run_grid(theirs, n)
    for name in ("u", "v"):
        now, then = getattr(mine, name), getattr(theirs, name)
        assert [now is array for array in arrays[0]] == [then is array for array in arrays[1]]
        assert np.array_equal(now, then)
    assert [got is array for array in arrays[0]] == [expected is array for array in arrays[1]]


@pytest.mark.cc
@pytest.mark.parametrize("n", [1, 4])
def test_compiled(n):
    for function in (swapped_arguments, by_parity_in_an_if, with_break, nested_loops, with_a_sum):
        check_same(function, A, B, n)
    check_same(rotated, A, B, A * B, n)
    check_same(argument_and_local, A, n)


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_too_many_states():
    def f(a, b, c, d, n):
        for k in range(n):
            if a[k] > 3:
                a, b = b, a
            else:
                a, b, c, d = b, c, d, a
            a[0] = k

    assert "this array may or may not be the one that another name shows" in refusal(f, A, B, A + B, A * B, 3)
