"""sdfgcc --main: programs of their own, without Python, whose arguments are .npy files."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import CodegenError, DcpyError, MissingMpi
from dcpy.cli.sdfgcc import main as sdfgcc
from dcpy.cli.standalone_programs import build_standalone

N, M = dcpy.symbol("N"), dcpy.symbol("M")


@dcpy.program
def blend(k: dcpy.float64, times: dcpy.int64, A: dcpy.float32[N, M], index: dcpy.int64[N + 1], out: dcpy.float32[N, M]):
    for _ in range(times):
        for i in range(N):
            out[i] += k * A[index[i]]


@dcpy.program
def returns(A: dcpy.float64[N]):
    return A + 1


@dcpy.program
def counts(A: dcpy.complex128[N]):
    A[:] = A * 2


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blend")
    blend.to_sdfg().save(str(folder / "blend.sdfg"))
    assert sdfgcc(["--main", str(folder / "blend.sdfg"), "-o", str(folder / "blend")]) == 0
    rng = np.random.default_rng(0)
    np.save(folder / "A.npy", rng.random((5, 3)).astype(np.float32))
    np.save(folder / "index.npy", np.array([4, 0, 0, 1, 3, 2]))
    return folder


def run(folder, *words):
    done = subprocess.run(["./blend", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.cc
def test_files_in_and_out(program):
    """It computes what NumPy does, and tells a difference."""
    given = ["k=0.5", "times=3", "A=A.npy", "index=index.npy", "out=1"]
    code, said = run(program, *given, "--write", "out=out.npy")
    assert code == 0, said
    A, index = np.load(program / "A.npy"), np.load(program / "index.npy")
    expected = np.ones_like(A)
    for _ in range(3):
        expected += np.float32(0.5) * A[index[:-1]]
    np.testing.assert_array_equal(np.load(program / "out.npy"), expected)
    code, said = run(program, *given, "--check", "out=out.npy")
    assert (code, "out: equal, by at most 0" in said) == (0, True)
    np.save(program / "other.npy", expected + np.float32(0.25))
    code, said = run(program, *given, "--check", "out=other.npy", "--tolerance", "0.5")
    assert code == 0, said
    code, said = run(program, *given, "--check", "out=other.npy")
    assert (code, "out: differs" in said) == (1, True)


@pytest.mark.cc
@pytest.mark.parametrize(("words", "message"), [
    (["A=A.npy"], "an argument is missing, NAME=file.npy: index"),
    (["A=A.npy", "index=index.npy", "out=0", "times=1"], "an argument is missing, NAME=number: k"),
    (["A=A.npy", "index=A.npy", "out=0"], "the file has elements of another type: A.npy"),
    (["A=A.npy", "index=short.npy", "out=0"], "the file has another size than other arguments say: short.npy"),
    (["A=index.npy", "index=index.npy", "out=0"], "the file has elements of another type: index.npy"),
    (["A=columns.npy", "index=index.npy", "out=0"], "the file is in Fortran order, and C order is wanted: columns.npy"),
    (["A=none.npy", "index=index.npy", "out=0"], "No such file or directory: none.npy"),
    (["A=blend.sdfg", "index=index.npy", "out=0"], "this is no .npy file: blend.sdfg"),
    (["k=x"], "this is no number, or not of the type that is wanted: k=x"),
    (["times=1.5"], "this is no number, or not of the type that is wanted: times=1.5"),
    (["B=A.npy"], "there is no argument of this name: B=A.npy"),
    (["--verbose", "1"], "there is no such option: --verbose"),
    (["k=1", "times=1", "A=A.npy", "index=wrong.npy", "out=0"], "IndexError: "),
])  # fmt: skip
def test_bad_input(program, words, message):
    np.save(program / "short.npy", np.zeros(4, np.int64))
    np.save(program / "wrong.npy", np.full(6, 9))
    np.save(program / "columns.npy", np.asfortranarray(np.load(program / "A.npy")))
    code, said = run(program, *words)
    assert code == 2, said
    assert message in said


def test_what_no_file_stands_for(tmp_path):
    for function, message in ((returns, "returns a value"), (counts, "no array that a .npy file could hold")):
        function.to_sdfg().save(str(tmp_path / "f.sdfg"))
        with pytest.raises(CodegenError, match=message):
            build_standalone(str(tmp_path / "f.sdfg"), str(tmp_path / "f"), on_ranks=False)


def test_ranks_are_for_distributed_programs(tmp_path, monkeypatch):
    from dcpy.cli import standalone_programs

    def missing():
        raise MissingMpi("no MPI is installed: there is no mpicxx")

    monkeypatch.setattr(standalone_programs, "find_mpi", missing)
    sdfg = counts.to_sdfg()
    sdfg.save(str(tmp_path / "f.sdfg"))
    with pytest.raises(DcpyError, match="is not distributed: every rank would do the same"):
        build_standalone(str(tmp_path / "f.sdfg"), on_ranks=True)
    sdfg.distribute({"A": "g(block 0)"}, {"g": ["P"]})
    sdfg.save(str(tmp_path / "f.sdfg"))
    with pytest.raises(DcpyError, match="is for several ranks"):
        build_standalone(str(tmp_path / "f.sdfg"), on_ranks=False)
    with pytest.raises(MissingMpi):
        build_standalone(str(tmp_path / "f.sdfg"), on_ranks=True)
