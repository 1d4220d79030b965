"""Solvers of distributed matrices: to blocks on a grid, or gathered; which of them, why, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import PerformanceWarning, TransformationRefused
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.interp.virtual_ranks import run_ranks
from dcpy.ir.machine_model import Network
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.programs.ranks import sdfg_distribution
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.distributed.grids import specialize_solvers
from dcpy.transforms.distributed.grids.distribute_solver import DistributeSolver
from dcpy.transforms.distributed.grids.specialize_solvers import SpecializeSolvers
from dcpy.transforms.distributed.pipeline import distribute
from dcpy.transforms.distributed.planning.choose_distributions import ChooseDistributions
from dcpy.transforms.distributed.planning.user_plans import expect_sizes
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.support.expect import expect
from tests.support.ranks import check, localized

CHOLESKY = "lapack.cholesky (a <- A[0:N, 0:N]) -> (l -> L[0:N, 0:N], info -> info[])"
SYMBOLS = "symbols(N: size, P: size{least = 1}, Q: size{least = 1})"


def cholesky(where="g(block 0, block 1)", grids="g[P, Q]", node=CHOLESKY):
    on = f" on {where}" if where else ""
    return parse_sdfg(
        f"sdfg @f(A: f64[N, N]{on}, L: f64[N, N]{on}, info: i32[]) {SYMBOLS} grids({grids}) {{ {node} }}"
    )


def test_its_matrices_go_to_blocks_that_go_round():
    expect(DistributeSolver(block=16), on=cholesky()).becomes(
        f"""sdfg @f(A: f64[N, N] on g(block 0, block 1), L: f64[N, N] on g(block 0, block 1), info: i32[])
              {SYMBOLS} grids(g[P, Q]) {{
            data A_part: f64[N, N] transient on g(cyclic 0 by 16, cyclic 1 by 16)
            data L_part: f64[N, N] transient on g(cyclic 0 by 16, cyclic 1 by 16)
            state {{
              copy A[0:N, 0:N] -> A_part[0:N, 0:N]
              lapack.cholesky (a <- A_part[0:N, 0:N]) -> (l -> L_part[0:N, 0:N], info -> info[])
              copy L_part[0:N, 0:N] -> L[0:N, 0:N]
            }}
          }}"""
    )


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ("lapack.qr (a <- A[0:N, 0:N]) -> (r -> L[0:N, 0:N])", "it is no Cholesky decomposition, no system"),
        ("map t = 0:2 { " + CHOLESKY + " }", "it is inside of a map"),
        (CHOLESKY.replace("A[0:N, 0:N]", "A[0:N:1, N - 1:-1:-1]"), "is no block of an array"),
    ],
)
def test_what_is_not_put_on_a_grid(node, reason):
    expect(DistributeSolver(), on=cholesky(node=node)).is_refused(reason)


@pytest.mark.parametrize("where", [
    "", "g(block 0, whole)", "g(whole, block 0)", "g(cyclic 0 by 3, whole)", "g(whole, whole) root 0",
    "h(block 1, block 0)", "h(cyclic 0, cyclic 1 by 2)", "h(block 0, whole) root 1",
])  # fmt: skip
def test_from_where_they_are(where):
    """Any distribution to blocks of a grid and back, remainders and ranks without elements too: each copy is exact."""
    grids = f"{where[:1] or 'g'}[{'P, Q' if where[:1] == 'h' else 'P'}]"
    whole = cholesky(where, grids)
    sdfg = cholesky("", grids)
    apply_repeated(whole, DistributeSolver(block=2))
    local = localized(whole)
    for (p, q), n in (((2, 2), 7), ((3, 1), 4), ((1, 2), 1), ((2, 1), 0)):
        own = {"P": p, "Q": q} if where[:1] == "h" else {"P": p * q, "Q": 1}
        square = np.random.default_rng(n).uniform(size=(n, n))
        given = {"A": square @ square.T + np.eye(n), "L": np.zeros((n, n)), "info": np.array(0, np.int32)}
        symbols = {"N": n, **own, "pblas_p0": p, "pblas_p1": q}
        check(sdfg, whole, given, symbols, p * q + 1, local=local, exact=False)


def specialized(sdfg, step):
    made = copy_sdfg(sdfg)
    report = run_pipeline(made, Pipeline("test", step), check=True, explain=True)
    return made, [str(remark) for remark in report.remarks]


def test_it_is_put_there_where_that_takes_less():
    made, (remark,) = specialized(cholesky(), SpecializeSolvers())
    assert "the ranks of g solve it together" in remark
    assert "s on a grid" in remark
    assert "A_part" in print_sdfg(made)
    slow = Network(latency=10**12)
    made, (remark,) = specialized(cholesky(), SpecializeSolvers(slow))
    assert "each rank solves it alone: " in remark
    assert print_sdfg(made) == print_sdfg(cholesky())


def test_without_a_library_it_is_gathered():
    made, (remark,) = specialized(cholesky(), SpecializeSolvers(missing="scalapack: the system has no ScaLAPACK"))
    assert "each rank solves it alone: scalapack: the system has no ScaLAPACK" in remark
    assert "A_part" not in print_sdfg(made)
    assert list(SpecializeSolvers().gathered(Uses(cholesky()))) == []


@pytest.mark.parametrize(("kind", "reason"), [("cholesky", "nothing is there"), ("qr", "it is no Cholesky")])
def test_users_are_warned(monkeypatch, kind, reason):
    monkeypatch.setattr(specialize_solvers, "missing_for_solvers", lambda sdfg: "nothing is there")
    node = CHOLESKY if kind == "cholesky" else "lapack.qr (a <- A[0:N, 0:N]) -> (r -> L[0:N, 0:N])"
    with pytest.warns(PerformanceWarning, match=f"lapack.{kind}: its matrices are gathered, .*: {reason}"):
        sdfg_distribution.distribute(cholesky("", "h[P, Q]", node=node), {"A": "g(block 0, whole)"}, {"g": ["R"]})


def test_one_rank_is_not_warned(monkeypatch):
    monkeypatch.setattr(specialize_solvers, "missing_for_solvers", lambda sdfg: "nothing is there")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sdfg_distribution.distribute(cholesky("", "h[P, Q]"), {"A": "g(block 0, whole)"}, {"g": ["R"]}, alone=True)


def planned(n, solves=True):
    """The plan for 16 ranks, of matrices that each rank has as wholes."""
    sdfg = parse_sdfg(f"sdfg @f(A: f64[N, N], L: f64[N, N], info: i32[]) symbols(N: size) {{ {CHOLESKY} }}")
    expect_sizes(sdfg, {"N": n})
    run_pipeline(sdfg, Pipeline("plan", ChooseDistributions(ranks=16, solves=solves)), check=True)
    solvers = SpecializeSolvers(ranks=16, missing="" if solves else "no library")
    run_pipeline(sdfg, distribute(solvers=solvers), check=True)
    return print_sdfg(sdfg)


def test_a_plan_that_misses_a_library_says_so():
    sdfg = parse_sdfg(f"sdfg @f(A: f64[N, N], L: f64[N, N], info: i32[]) symbols(N: size) {{ {CHOLESKY} }}")
    expect_sizes(sdfg, {"N": 8191})
    ((_, reason),) = SpecializeSolvers(ranks=16, missing="nothing is there").gathered(Uses(sdfg))
    assert reason.startswith("each rank computes all of it: nothing is there; expected are ")
    expect_sizes(sdfg, {"N": 63})
    assert list(SpecializeSolvers(ranks=16, missing="nothing is there").gathered(Uses(sdfg))) == []


def test_plans_know_what_solvers_take():
    assert "cyclic 0 by 64, cyclic 1 by 64" in planned(8191)
    assert "grids" not in planned(127)
    assert "grids" not in planned(8191, solves=False)


# -- programs of NumPy -------------------------------------------------------------------------------------------------

N = dcpy.symbol("N")


@dcpy.program
def both(A: dcpy.float64[N, N], b: dcpy.float64[N], x: dcpy.float64[N], d: dcpy.float64[1]):
    """A product, a solution, and a determinant."""
    d[0] = np.linalg.det(A)
    x[:] = np.linalg.solve(A @ A, b)


def test_the_papers_name_stands_for_products_and_solvers():
    sdfg = both.to_sdfg()
    made = dcpy.SDFG.of(copy_sdfg(sdfg)).expand_library_nodes("PBLAS")
    text = print_sdfg(made)
    assert text.count("grids(pblas[pblas_p0, pblas_p1])") == 1
    local = localized(made)
    kinds = {node.kind for node in local.body.walk_nodes()}
    assert {"pblas.gemm", "pblas.solve", "pblas.slogdet"} <= kinds
    a = np.random.default_rng(1).uniform(size=(5, 5))
    given = {"A": a, "b": np.arange(5.0), "x": np.zeros(5), "d": np.zeros(1)}
    check(sdfg, made, given, {"N": 5, "pblas_p0": 2, "pblas_p1": 2}, 4, local=local, exact=False)


def test_all_ranks_raise():
    local = localized(dcpy.SDFG.of(both.to_sdfg()).expand_library_nodes("PBLAS"))
    ones = {"A": np.ones((5, 5)), "b": np.arange(5.0), "x": np.zeros(5), "d": np.zeros(1)}
    parts = [{name: value.copy() for name, value in ones.items()} for _ in range(4)]
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        run_ranks(local, parts, {"N": 5, "pblas_p0": 2, "pblas_p1": 2})
    np.testing.assert_array_equal([part["d"][0] for part in parts], np.zeros(4))  # all of them got so far


def test_where_there_is_nothing_to_put_on_a_grid():
    sdfg = parse_sdfg("sdfg @f(A: f64[N, N], R: f64[N, N]) symbols(N: size) "
                      "{ lapack.qr (a <- A[0:N, 0:N]) -> (r -> R[0:N, 0:N]) }")  # fmt: skip
    with pytest.raises(TransformationRefused, match="distribute-product applies nowhere") as caught:
        dcpy.SDFG.of(sdfg).expand_library_nodes("PBLAS")
    assert "distribute-solver applies nowhere" in str(caught.value)
