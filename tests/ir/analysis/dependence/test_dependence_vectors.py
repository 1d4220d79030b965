"""Distance and direction vectors of nests, against all pairs of iterations; unknown is never no."""

from __future__ import annotations

import itertools

import pytest

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.dependence_vectors import NestDependences, dependences_of, lexicographically_positive
from dcpy.ir.analysis.dependence.loop_nests import perfect_nest
from dcpy.ir.refusal import Refusal
from dcpy.ir.text import parse_sdfg

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], s: f64[], p: i64[N]) symbols(N: size, M: size)"


def found(body, outer="i = 1:N", inner="j = 1:M"):
    sdfg = parse_sdfg(f"{HEAD} {{ loop {outer} {{ loop {inner} {{ {body} }} }} }}")
    return dependences_of(perfect_nest(sdfg.body.blocks[0]), Uses(sdfg))


def state(read, write="A[i, j]"):
    return f"state {{ tasklet (a <- {read}) -> (o -> {write}) {{ o = a }} }}"


VECTORS = {
    (state("A[i - 1, j]"), "j = 1:M"): [("1", "0")],
    (state("A[i - 1, j + 1]"), "j = 1:M - 1"): [("1", "-1")],
    (state("A[i, j]"), "j = 1:M"): [],
    (state("B[i, j]"), "j = 1:M"): [],
    (state("A[i - 1, j - 2]"), "j = 2:M"): [("1", "2")],
    (state("A[i, j + 1]"), "j = M - 2:0:-1"): [("0", "1")],  # in the order in which j runs
    (state("s", "s"), "j = 1:M"): [("<=", "*")],
    (state("A[0, j]"), "j = 1:M"): [],
    (state("B[i, j]", "A[i, 0]"), "j = 1:M"): [("0", "<")],
    (state("A[i - 1, M - j]"), "j = 1:M"): [("1", "*")],
}


@pytest.mark.parametrize(("body", "inner"), VECTORS)
def test_vectors(body, inner):
    dependences = found(body, inner=inner)
    assert isinstance(dependences, NestDependences)
    assert list(dependences.vectors()) == VECTORS[body, inner]


def test_a_product_of_matrices_depends_on_k_alone():
    sdfg = parse_sdfg("""sdfg @f(A: f64[N, N], B: f64[N, N], C: f64[N, N]) symbols(N: size) {
        loop i = 0:N { loop j = 0:N { loop k = 0:N { state {
          tasklet (a <- A[i, k], b <- B[k, j], c <- C[i, j]) -> (o -> C[i, j]) { o = c + a*b } } } } } }""")
    dependences = dependences_of(perfect_nest(sdfg.body.blocks[0]), Uses(sdfg))
    assert dependences.vectors() == (("0", "0", "<"),)


@pytest.mark.parametrize("seed", range(30))
def test_agrees_with_all_pairs_of_iterations(seed):
    """`A[a*i + b*j + c, ...]` written and read: the sets have exactly the distances that there are, and no others."""
    import random

    chance = random.Random(seed)
    slopes = [[chance.choice((-1, 0, 1, 1, 2)) for _ in range(2)] + [chance.randrange(-2, 3)] for _ in range(4)]
    bound, steps = chance.choice(("5", "i + 1", "6 - i")), chance.choice((1, 1, 2, -1))
    ranges = {1: f"0:{bound}", 2: f"0:{bound}:2", -1: f"{bound} - 1:-1:-1"}

    def index(line):
        return f"{line[0]}*i + {line[1]}*j + {line[2] + 20}"

    write, read = (f"A[{index(slopes[n])}, {index(slopes[n + 1])}]" for n in (0, 2))
    sdfg = parse_sdfg(f"""sdfg @f(A: f64[60, 60]) {{ loop i = 0:4 {{ loop j = {ranges[steps]} {{
        state {{ tasklet (a <- {read}) -> (o -> {write}) {{ o = a }} }} }} }} }}""")
    dependences = dependences_of(perfect_nest(sdfg.body.blocks[0]), Uses(sdfg))
    assert isinstance(dependences, NestDependences)
    values = [(i, j) for i in range(4) for j in eval_range(bound, steps, i)]
    sign = -1 if steps < 0 else 1
    expected = set()
    for (x, y), (which, other) in itertools.product(
        itertools.product(values, values), itertools.product((0, 2), repeat=2)
    ):
        if which == other == 2:
            continue
        ours, theirs = (element_of(slopes[n : n + 2], point) for point, n in ((x, which), (y, other)))
        if ours == theirs:
            expected.add((y[0] - x[0], sign * (y[1] - x[1])))
    box = list(itertools.product(range(-4, 5), range(-7, 8)))
    for point in box:
        obstacle = dependences.obstacle(f"d0 = {point[0]} and d1 = {point[1]}")
        assert (obstacle is not None) == (point in expected), (point, write, read)


def element_of(slopes, point):
    return tuple(a * point[0] + b * point[1] + c for a, b, c in slopes)


def eval_range(bound, steps, i):
    stop = {"5": 5, "i + 1": i + 1, "6 - i": 6 - i}[bound]
    return range(stop - 1, -1, -1) if steps < 0 else range(0, stop, steps)


def test_what_is_not_affine_is_unknown():
    dependences = found(state("A[i*i % N, j]"))
    assert isinstance(dependences, NestDependences)
    obstacle = dependences.obstacle(lexicographically_positive(2))
    assert obstacle is not None
    assert "it is not known whether there is a dependence" in obstacle.reason


def test_an_index_of_the_run_is_unknown():
    body = f"let k = wrap(p[i], N, 0) {state('A[k, j]')}"
    assert isinstance(found(body), Refusal)  # it may raise
    body = f"let k = p[i] {state('A[k, j]')}"
    dependences = found(body)
    assert isinstance(dependences, NestDependences)
    obstacle = dependences.obstacle("d0 > 0 and d1 = 0")
    assert obstacle is not None
    assert dependences.obstacle("d0 > 0 and d1 < 0") is None  # j is the same for both


def test_equal_combining_writes_order_nothing():
    tasklet = "tasklet (a <- B[i, j]) -> (o -> s (add)) { o = a }"
    assert found(f"state {{ {tasklet} {tasklet} }}").vectors() == ()
