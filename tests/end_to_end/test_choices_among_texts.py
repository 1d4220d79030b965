"""``max`` and ``sorted`` with a key, of texts, tuples with texts, and keys of dictionaries that are tuples."""

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

X = np.array([1.0, 2.0, 0.5])


def best_key(x):
    scores = {"first": x[0], "second": x[1], "third": x[2]}
    best = max(scores, key=scores.get)
    return best, min(scores, key=lambda name: scores[name]), scores[best]


def best_of_a_grid(x):
    scores = {}
    for a in (1.0, 2.0):
        for b in (0.1, 0.3):
            scores[(a, b)] = (x[0] - a) ** 2 + b * x[1]
    return max(scores, key=lambda pair: scores[pair]), min(scores, key=scores.get)


def ranking(x):
    scores = {}
    for name, function in [("min", np.min), ("max", np.max), ("first", lambda v: v[0])]:
        scores[name] = function(x)
    ranked = sorted(scores.items(), key=lambda item: item[1], reverse=True)
    return ranked, ranked[0][0]


def names_in_order(x):
    points = [("a", x[0]), ("b", x[1]), ("c", x[2])]
    order = sorted(points, key=lambda point: -point[1])
    return min(points, key=lambda point: point[1]), [name for name, _ in order], [value for _, value in order]


def equal_ones(x):
    names = ["a", "b", "c"]
    return max(names, key=lambda name: 1), sorted(names, key=lambda name: x[0] * 0, reverse=True)


def items_by_path(x):
    p = ("a", x[0]) if x[0] > 0.5 else ("b", x[1])
    q = ("c", x[0]) if x[0] > 1.5 else ("d", x[1])
    return [name for name, _ in [p, q]], [value * 2 for _, value in [p, q]], sum(value for _, value in (p, q))


@pytest.mark.parametrize("program", [best_key, best_of_a_grid, ranking, names_in_order, equal_ones, items_by_path])
@pytest.mark.parametrize("x", [X, X[::-1].copy(), np.array([2.0, 2.0, 2.0])], ids=["up", "down", "equal"])
def test_as_in_python(program, x):
    check_same(program, x)


def printed(x):
    scores = {"mean": x[0], "median": x[1]}
    best = max(scores, key=scores.get)
    print(f"best is {best}: {scores[best]:.3f}")
    for name, value in sorted(scores.items(), key=lambda item: item[1]):
        print(name, value)


def test_is_printed(capfd):
    printed(X)
    expected = capfd.readouterr().out
    dcpy.program(printed)(X)
    assert capfd.readouterr().out == expected


def depth(graph):
    n = len(graph)
    parent = [None] * n
    for u in range(n):
        for v in range(n):
            if graph[u, v] > 0:
                parent[v] = u
    found = 0
    node = n - 1
    while parent[node] is not None:
        node = parent[node]
        found += 1
    return found, node


def beyond_the_root(graph):
    parent = [None, 0]
    node = 1
    for _ in range(len(graph)):
        node = parent[node]
    return node


def test_an_index_that_may_be_none():
    check_same(depth, np.triu(np.ones((5, 5), int), 1))
    check_same(depth, np.zeros((3, 3), int))


def test_an_index_that_is_none():
    check_same(beyond_the_root, np.ones(1))
    with pytest.raises(TypeError, match="list indices must be integers or slices, not NoneType"):
        dcpy.program(beyond_the_root)(np.ones(3))
