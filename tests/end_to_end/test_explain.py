"""`explain` answers the questions that users ask: why no threads, why no vectors, why not fused, why this library."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import UnknownName
from dcpy.cli.main import main

N, M = dcpy.symbol("N"), dcpy.symbol("M")
FILE = "test_explain.py"


@dcpy.program
def steps(A: dcpy.float64[N, M], s: dcpy.float64[M], k: dcpy.int64):
    B = A * 2.0
    for i in range(A.shape[0]):
        s += B[i]
    small = np.ones(8) * 3.0
    h = np.empty(16)
    for j in dcpy.map[0:16]:
        h[j] = np.sum(A[j % k])
    g = np.arange(16) * float(k)
    return B @ B.T + small[0] + h[0] + g[k]


def lines_of(text: str, wanted: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if wanted in line]


def test_why_is_this_map_parallel_or_not():
    told = steps.to_sdfg().explain("assign-schedules")
    assert "array operation over axis 0: threads along axis 0, vectors along axis 1" in told
    small = lines_of(told, "no threads: about")[0]
    assert "units of work do not pay for a team, more than 300000 do" in small
    assert small.startswith(f"{FILE}:")
    off = steps.to_sdfg().explain("assign-schedules", **{"cpu.openmp": False})
    assert "no threads: threads are off (cpu.openmp)" in off


def test_why_are_there_no_vectors():
    told = steps.to_sdfg().explain("assign-schedules")
    assert lines_of(told, "array operation over tiles of axis 0: no vectors: there is a loop over i inside")


def test_why_is_this_not_fused():
    told = steps.to_sdfg().explain()
    assert lines_of(told, "map-fusion:")
    assert lines_of(told, "loops whose iterations run one after the other:")


def test_why_this_expansion():
    told = steps.to_sdfg().explain("expand-library-nodes")
    (product,) = lines_of(told, "blas.gemm ->")
    assert "blas.gemm -> openblas, preferred to cpu, maps; not mkl" in product or "blas.gemm -> mkl" in product


def test_lowering_stops_where_it_is_told():
    sdfg = steps.to_sdfg()
    before = str(sdfg)
    assert "blas." in before
    after = sdfg.lower("expand-library-nodes")
    assert "blas.gemm" not in str(after)
    assert "@parallel" not in str(after)
    assert "@parallel" in str(sdfg.lower())
    assert str(sdfg) == before
    with pytest.raises(UnknownName, match="no pass of lower-for-cpu is called 'fuse'"):
        sdfg.lower("fuse")


def test_what_is_lowered_still_runs():
    @dcpy.program
    def scaled(A: dcpy.float64[N]):
        return np.sum(A * 2.0)

    A = np.random.default_rng(1).random(100)
    expected = np.sum(A * 2.0)
    for until in ("expand-library-nodes", "assign-storages", ""):
        lowered = scaled.to_sdfg().lower(until)
        assert lowered.interpret(A) == pytest.approx(expected, rel=1e-12)


@pytest.mark.cc
def test_what_is_lowered_still_compiles():
    @dcpy.program
    def scaled(A: dcpy.float64[N]):
        return np.sum(A * 2.0)

    A = np.arange(100.0)
    assert scaled.to_sdfg().lower()(A) == np.sum(A * 2.0)


def test_the_command_prints_the_program_after_a_pass(capsys):
    assert main(["explain", "examples/jacobi_2d.py:jacobi_2d", "--after", "assign-schedules"]) == 0
    assert "@parallel" in capsys.readouterr().out
    assert main(["explain", "examples/jacobi_2d.py:jacobi_2d", "-t", "assign-schedules"]) == 0
    assert "threads along" in capsys.readouterr().out


def test_the_command_lists_passes_and_pipelines(capsys):
    assert main(["passes"]) == 0
    told = capsys.readouterr().out
    for name in ("map-fusion", "assign-schedules", "[simplify]", "[auto-optimize]", "[lower-for-cpu]"):
        assert name in told


def test_texts_after_each_pass_are_dumped(tmp_path):
    @dcpy.program(dump=str(tmp_path))
    def dumped(A: dcpy.float64[N]):
        A += 1.0

    dumped.to_sdfg().lower(dump=str(tmp_path))
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.txt"))
    before = "dumped/lower-for-cpu/00-before.txt"
    assert before in files
    assert files[-1] == "dumped/simplify/02-repeat.txt"
    last = next(name for name in files if "assign-schedules" in name)
    assert "@parallel" in (tmp_path / last).read_text()
    assert "@parallel" not in (tmp_path / before).read_text()


def test_what_is_generated_is_dumped(tmp_path):
    @dcpy.program
    def dumped(A: dcpy.float64[N]):
        A += 1.0

    text = dumped.to_sdfg().code(dump=str(tmp_path))
    assert [path.name for path in (tmp_path / "dumped" / "generated").iterdir()] == ["dumped.cpp"]
    assert (tmp_path / "dumped" / "generated" / "dumped.cpp").read_text() == text


def test_a_dump_stays_in_its_folder(tmp_path):
    sdfg = dcpy.parse("sdfg @f(A: f64[4]) { state { map i = 0:4 { tasklet () -> (o -> A[i]) { o = 1.0 } } } }")
    sdfg.name = "../../outside"
    sdfg.lower(dump=str(tmp_path / "here"))
    assert [path.name for path in tmp_path.iterdir()] == ["here"]
