"""Solvers on a grid: what they are on virtual ranks, what the call of ScaLAPACK says, and what is declined."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from dcpy.base.errors import ExpansionError, InvalidSdfg
from dcpy.ir.data import packed_strides
from dcpy.ir.distribution import Blocked, Cyclic, Distribution
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.interp.virtual_ranks import run_ranks
from dcpy.ir.library.expansions import EXPANSIONS
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.symbolic import const
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify
from dcpy.transforms.api import Match, apply_repeated
from dcpy.transforms.distributed.grids.distribute_solver import DistributeSolver
from dcpy.transforms.expand import ExpandLibraryNode, perform
from tests.support.ranks import check, localized

GRIDS = (((2, 2), 5, 3), ((3, 1), 7, 2), ((7, 1), 11, 1), ((1, 3), 1, 1), ((2, 3), 0, 2), ((2, 2), 4, 0))
SOLVERS = {
    "cholesky": "lapack.cholesky (a <- A[0:N, 0:N]) -> (l -> X[0:N, 0:N], info -> info[])",
    "upper": "lapack.cholesky (a <- A[0:N, 0:N]) -> (l -> X[0:N, 0:N], info -> info[]) {upper = true}",
    "solve": "lapack.solve (a <- A[0:N, 0:N], b <- B[0:N, 0:K]) -> (x -> Y[0:N, 0:K], info -> info[])",
    "vector": "lapack.solve (a <- A[0:N, 0:N], b <- v[0:N]) -> (x -> w[0:N], info -> info[])",
    "inverse": "lapack.inverse (a <- A[0:N, 0:N]) -> (inverse -> X[0:N, 0:N], info -> info[])",
    "slogdet": "lapack.slogdet (a <- A[0:N, 0:N]) -> (sign -> s[], logdet -> t[])",
}
HEAD = (
    "sdfg @f(A: f64[N, N], X: f64[N, N], B: f64[N, K], Y: f64[N, K], v: f64[N], w: f64[N], info: i32[], s: f64[], "
    "t: f64[]) symbols(N: size, K: size, Px: size{least = 1}, Py: size{least = 1}) grids(g[Px, Py])"
)


@functools.cache
def made(name):
    """The solver, its distributed form in blocks of 2 x 2, and its local form."""
    sdfg = parse_sdfg(f"{HEAD} {{ {SOLVERS[name]} }}")
    whole = copy_sdfg(sdfg)
    apply_repeated(whole, DistributeSolver(block=2))
    return sdfg, whole, localized(whole)


def node_of(sdfg):
    (node,) = [node for node in sdfg.body.walk_nodes() if node.kind.startswith("pblas.")]
    return node


def arguments(size, columns, matrix=None):
    draw = np.random.default_rng(size)
    square = draw.uniform(-1, 1, (size, size))
    a = square @ square.T + np.eye(size) if matrix is None else matrix
    return {
        "A": a, "X": np.zeros((size, size)), "B": draw.uniform(size=(size, columns)), "Y": np.zeros((size, columns)),
        "v": draw.uniform(size=size), "w": np.zeros(size), "info": np.array(0, np.int32), "s": np.array(0.0),
        "t": np.array(0.0),
    }  # fmt: skip


@pytest.mark.parametrize("name", SOLVERS)
def test_it_is_the_solution_on_any_grid(name):
    sdfg, whole, local = made(name)
    for (px, py), size, columns in GRIDS:
        symbols = {"N": size, "K": columns, "Px": px, "Py": py}
        check(sdfg, whole, arguments(size, columns), symbols, px * py + 1, local=local, exact=False)


@pytest.mark.parametrize(("name", "matrix"), [("cholesky", -np.eye(5)), ("vector", np.ones((5, 5)))])
def test_all_ranks_know_that_there_is_no_solution(name, matrix):
    parts = [arguments(5, 1, matrix) for _ in range(5)]
    run_ranks(made(name)[2], parts, {"N": 5, "K": 1, "Px": 2, "Py": 2})
    assert [int(part["info"]) for part in parts] == [1] * 5  # on the rank outside of the grid, too


@pytest.mark.parametrize("name", SOLVERS)
def test_without_a_library_each_rank_solves_alone(name):
    sdfg, whole, local = made(name)
    alone = copy_sdfg(local)
    step, rw = ExpandLibraryNode(("gathered",), "cpu"), Rewriter(alone, "test")
    node = node_of(alone)
    perform(step, Match(alone, rw.uses, {"node": node}), step.choose(node), rw)
    verify(alone)
    assert "pblas." not in print_sdfg(alone)
    symbols = {"N": 7, "K": 3, "Px": 2, "Py": 2}
    check(sdfg, whole, arguments(7, 3), symbols, 5, local=alone, exact=False)


def call_of(node):
    (state,) = EXPANSIONS[f"{node.kind}/scalapack"].build(node).blocks
    (call,) = state.nodes
    assert isinstance(call, ForeignCall)
    return call, [str(getattr(arg, "value", arg)) for arg in call.args]


def test_what_the_calls_say():
    call, words = call_of(node_of(made("upper")[2]))
    assert (call.function, call.environment) == ("dcpy::cholesky_on_grid", "scalapack")
    assert words[:7] == ["a", "l", "info", "0", "1", "N", "2"]  # lower, the precision, the size, and that of blocks
    assert words[10:12] + words[13:16] == ["1", "0", "2", "Px", "Py"]  # axes of rows and columns, and the grid
    call, words = call_of(node_of(made("vector")[2]))
    assert words[:5] == ["a", "b", "x", "info", "1"]  # one column
    assert list(call.inputs) == ["a", "b"]
    assert call_of(node_of(made("slogdet")[2]))[1][:3] == ["a", "sign", "logdet"]


def test_a_hermitian_matrix_may_be_by_columns_as_well():
    found = copy_sdfg(made("upper")[2])
    for name in ("A_part", "L_part", "X_part"):
        if name in found.containers:
            desc = found.desc(name)
            Rewriter(found, "test").redeclare(name, replace(desc, strides=packed_strides(desc.shape, "F")))
    words = call_of(node_of(found))[1]
    assert words[3] == "1"  # upper
    assert words[10:12] == ["0", "1"]


@pytest.mark.parametrize("name", ["inverse", "cholesky"])
def test_matrices_that_are_stored_otherwise_are_declined(name):
    found = copy_sdfg(made(name)[2])
    desc = found.desc("A_part")
    order, lines = ("C", "columns") if name == "inverse" else ("F", "columns, not X_part")
    Rewriter(found, "test").redeclare("A_part", replace(desc, strides=packed_strides(desc.shape, order)))
    with pytest.raises(ExpansionError, match=f"stored by {lines}"):
        EXPANSIONS[f"pblas.{name}/scalapack"].build(node_of(found))


def test_integers_are_declined():
    found = copy_sdfg(made("slogdet")[2])
    rw = Rewriter(found, "test")
    rw.redeclare("A_part", replace(found.desc("A_part"), dtype=parse_sdfg("sdfg @g(x: i64) {}").desc("x").dtype))
    with pytest.raises(ExpansionError, match="takes f32, f64, c64, c128, not i64"):
        EXPANSIONS["pblas.slogdet/scalapack-mkl"].build(node_of(found))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"columns": 0}, "has rows and columns along the same axis of the grid, 0"),
        ({"grid": "g"}, "is for all ranks"),
        ({"parts": ()}, "says where"),
    ],
)
def test_what_is_no_solver_on_a_grid(changes, reason):
    found = copy_sdfg(made("cholesky")[2])
    node = node_of(found)
    for name, value in changes.items():
        setattr(node, name, value)
    with pytest.raises(InvalidSdfg, match=reason):
        verify(found)


@pytest.mark.parametrize(
    ("axes", "reason"),
    [
        ((Blocked(0), Blocked(1)), "wants a in blocks that go round"),
        ((Cyclic(0, const(2)), Cyclic(1, const(3))), "wants blocks of one size, as long as wide"),
    ],
)
def test_blocks_that_scalapack_does_not_take(axes, reason):
    found = copy_sdfg(made("cholesky")[2])
    node = node_of(found)
    node.parts = (replace(node.parts[0], distribution=Distribution("g", axes)), node.parts[1])
    assert any(reason in problem for problem in node.problems())
