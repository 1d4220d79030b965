"""Section 3, ping-pong: arrays that change places in lists, tuples and dictionaries, in place as in Python."""

import numpy as np
import pytest

from tests.support.lists import check_lists

U, V = np.arange(5.0), np.ones(5)


def swapped(u, v, n):
    fields = [u, v]
    for t in range(n):
        fields[1][1:-1] = (fields[0][2:] + fields[0][:-2]) * 0.5 + t
        fields[0], fields[1] = fields[1], fields[0]
    return fields[0]


def swapped_in_while(u, v, n):
    fields, t = [u.copy(), v.copy()], 0
    while t < n:
        fields[1][:] = fields[0] * 0.5 + t
        fields[0], fields[1] = fields[1], fields[0]
        t += 1
    return fields


def swapped_by_a_function(u, v, n):
    fields = [u, v]

    def step(f, t):
        f[1][:] = f[0] * 0.5 + t
        f[0], f[1] = f[1], f[0]

    for t in range(n):
        step(fields, t)
    return fields[0]


def swapped_if(u, v, n):
    fields = [u, v]
    for t in range(n):
        fields[1][:] = fields[0] * 0.5 + t
        if fields[1][0] > 1.0:
            fields[0], fields[1] = fields[1], fields[0]
    return fields[0], fields[1]


def swapped_twice_per_step(u, v, n):
    fields = [u, v]
    for t in range(n):
        for s in range(2 * t + 1):
            fields[1][1:] = fields[0][:-1] * 0.5 + s
            fields[0], fields[1] = fields[1], fields[0]
        fields[0][0] += 1
    return fields[0]


def swapped_until(u, v, n):
    fields = [u, v]
    for t in range(10):
        fields[1][1:] = fields[0][:-1] * 0.5 + t
        if t == n:
            break
        fields[0], fields[1] = fields[1], fields[0]
    return fields[0], fields[1]


def swapped_before(u, v, n):
    fields = [u, v]
    if n > 2:
        fields[0], fields[1] = fields[1], fields[0]
    fields[0][0] = 7
    return fields[1] * 2


def chosen(u, v, n):
    fields = [u, v] if n > 2 else [v, u]
    fields[0][0] = 7
    return fields[1] * 2


def of_two_names(u, v, n):
    fields = [u, v]
    same = fields
    for t in range(n):
        same[1][1:] = fields[0][:-1] * 0.5 + t
        fields[0], fields[1] = same[1], same[0]
    return same[0], fields is same


def reversed_in_place(u, v, n):
    fields = [u, v]
    for t in range(n):
        fields[1][:] = fields[0] * 0.5 + t
        fields.reverse()
    return fields[0]


def rotated(u, v, n):
    fields = [u, v, u * 3, v + 1]
    for t in range(n):
        fields[3][:] = fields[0] - fields[1] + fields[2] * 0.5
        fields.insert(0, fields.pop())
    return fields[0]


def new_lists(u, v, n):
    fields = [u, v, u * 2]
    for t in range(n):
        first, *rest = fields
        first[:] = rest[0] + rest[1]
        fields = [*rest, first]
    return fields[2]


def tuples(u, v, n):
    pair = (u, v)
    for t in range(n):
        pair[1][:] = pair[0] * 0.5 + t
        pair = pair[::-1]
    return pair[0]


def new_and_old(u, v, n):
    fields = [u, v]
    for t in range(n):
        fields[0], fields[1] = fields[1], fields[0] + fields[1]
    return fields


def written_history(u, v, n):
    """In a tuple with an array that was there and a new one, the new one got the memory of the old one."""
    pair = (u, v)
    for t in range(n):
        pair = (pair[1], pair[1] * 2 - pair[0])
        pair[0][0] = t
    return pair


def dictionary(u, v, n):
    state = {"now": u, "next": v, "t": 0}
    while state["t"] < n:
        state["next"][1:] = state["now"][:-1] * 0.5
        state["now"], state["next"] = state["next"], state["now"]
        state["t"] += 1
    return state["now"]


def levels(u, v, n):
    grids = [[u, v], [u + 1, v + 1]]
    for t in range(n):
        for grid in grids:
            grid[1][1:] = grid[0][:-1] * 0.5 + t
            grid[0], grid[1] = grid[1], grid[0]
    return grids[0][0] + grids[1][0]


def lists_in_a_dictionary(u, v, n):
    fields = {"E": [u, v], "H": [u + 1, v + 2]}
    for t in range(n):
        for name in fields:
            field = fields[name]
            field[1][:] = field[0] * 0.5 + t
            field[0], field[1] = field[1], field[0]
        for field in fields.values():
            field[0][0] += 2
    return fields["E"][0] + fields["H"][0]


def lists_beside_each_other(u, v, n):
    """A loop over lists may change lists in them: Python looks at each when its turn comes."""
    x, y = [[u, v], [v * 2, u * 3]], [[1, 2], [3, 4]]
    for a, b in zip(x, y, strict=True):
        x[1][0] = u * 5
        y[1][1] = n
        y[0].append(n)
        a[0], a[1] = a[1], a[0]
        b[0] += 1
    return x, y


def lists_that_grow(u, v, n):
    """Both names met in one list: what either had was lost."""
    now, then, first = [], [], [u[3]]
    for i in range(n):
        now.append(u[i])
        first.append(v[i])
        now, then, first = then, first, now
    return len(now), len(then), len(first), now, then, first


@pytest.mark.parametrize(
    "function",
    [
        lists_that_grow, swapped, swapped_in_while, swapped_by_a_function, swapped_if, swapped_twice_per_step,
        swapped_until, swapped_before, chosen, of_two_names, reversed_in_place, rotated, new_lists, tuples, new_and_old,
        written_history, dictionary, levels, lists_in_a_dictionary, lists_beside_each_other,
    ],
)  # fmt: skip
def test_s3_items_change_hands(function):
    for n in (0, 1, 4):
        check_lists(function, U, V, n)


@pytest.mark.cc
def test_s3_items_change_hands_when_compiled():
    def both(u, v, n):
        return swapped(u, v, n), levels(u, v, n + 1)

    check_lists(both, U, V, 4, compiled=True)


@pytest.mark.cc
def test_s3_a_list_holds_what_the_path_has_put_there():
    """The object was built of what it holds on the first path, whichever was taken."""

    def f(u, v, n):
        fields = [u, v]
        for t in range(n):
            fields[0], fields[1] = fields[1], fields[0]
            fields[1][0] = t
        return fields, (fields,)

    for n in (0, 2, 3):
        check_lists(f, U, V, n, compiled=True)
