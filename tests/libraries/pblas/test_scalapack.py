"""ScaLAPACK: what the call says, what it declines, and where the library is looked for. Under MPI: tests/mpi."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcpy.base.errors import ExpansionError
from dcpy.base.library_environment import Environment
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.library.expansions import EXPANSIONS, preference
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.text import parse_sdfg
from dcpy.libraries.pblas import environments
from tests.support.ranks import distributed, localized

MPI = Environment("mpi", "// MPI", libraries=("mpi",), library_dirs=("/mpi",), include_dirs=("/mpi/include",))


def made(dtype="f64", fields="", more=""):
    """The local form of a product on a grid, and its node."""
    text = (
        f"sdfg @f(A: {dtype}[N, K], B: {dtype}[K, M], C: {dtype}[N, M], x: {dtype}) symbols(N: size, M: size) {{ "
        f"blas.gemm (a <- A[0:N, 0:K], b <- B[0:K, 0:M]{more}) -> (c -> C[0:N, 0:M]) {{{fields}}} }}"
    )
    plan = dict.fromkeys("ABC", "g(block 0, block 1)")
    found = copy_sdfg(localized(distributed(parse_sdfg(text), plan, {"g": ("Px", "Py")})))
    return found, next(node for node in found.body.walk_nodes() if node.kind == "pblas.gemm")


def call_of(node):
    """The call, and what runs before it."""
    states = EXPANSIONS["pblas.gemm/scalapack"].build(node).blocks
    nodes = [inner for state in states for inner in state.nodes]
    (call,) = [inner for inner in nodes if isinstance(inner, ForeignCall)]
    return call, [inner.kind for inner in nodes if inner is not call]


def test_what_the_call_says():
    _, node = made(fields="alpha = 0.5")
    call, before = call_of(node)
    assert (call.function, call.environment, before) == ("dcpy::product_on_grid", "scalapack", [])
    words = [str(getattr(arg, "value", arg)) for arg in call.args]
    assert words[:8] == ["a", "b", "c", "0.5", "1", "0", "0", "0"]  # precision, transposed, and c is no summand
    assert words[8:13] == ["N", "M", "K", "0", "1"]  # sizes, and the axes of rows and columns
    assert words[16:22] == ["2", "Px", "Py", "2", "0", "1"]  # behind the line, the grid
    assert words[22:24] + words[27:29] + words[32:34] == ["N", "K", "K", "M", "N", "M"]


def test_the_summand_is_scaled_before():
    _, node = made(fields="beta = 0.25", more=", c <- C[0:N, 0:M], alpha <- x")
    call, before = call_of(node)
    assert before[0] == "map"
    assert "alpha" in str(call.args[3])
    assert list(call.inputs) == ["a", "b", "alpha", "c"]


def test_integers_are_declined():
    _, node = made("i64")
    with pytest.raises(ExpansionError, match="takes f32, f64, c64, c128, not i64"):
        EXPANSIONS["pblas.gemm/scalapack-mkl"].build(node)


def test_matrices_by_columns_are_declined():
    found, node = made()
    desc = found.desc("A")
    Rewriter(found, "test").redeclare("A", replace(desc, strides=desc.strides[::-1]))
    with pytest.raises(ExpansionError, match="stored by rows, not A"):
        EXPANSIONS["pblas.gemm/scalapack"].build(node)


def test_it_comes_before_our_own():
    order = preference("cpu")
    assert order.index("scalapack-mkl") < order.index("scalapack")
    assert "summa" not in order  # it is what is left


def test_mkl_is_linked_behind_mpi(monkeypatch, tmp_path):
    monkeypatch.setattr(environments, "find_mpi", lambda: MPI)
    monkeypatch.setattr(environments.sys, "prefix", str(tmp_path.parent))
    monkeypatch.setattr(environments, "_ONEAPI", str(tmp_path.parent))
    tmp_path = tmp_path.parent / "lib"
    tmp_path.mkdir()
    assert environments.mkl_within(tmp_path) == []
    names = [f"libmkl_{part}.so.2" for part in
             ("scalapack_lp64", "blacs_openmpi_lp64", "intel_lp64", "sequential", "core")]  # fmt: skip
    for name in names:
        (tmp_path / name).touch()
    found = environments.find_in_mkl()
    assert found.libraries == ("mpi", *(f":{name}" for name in names))
    assert found.library_dirs == ("/mpi", str(tmp_path))
    assert found.declarations.startswith("// MPI")
    assert "pdgemm_" in found.declarations
    assert environments.mkl_within(tmp_path, is_open_mpi=False) == []  # the BLACS of another MPI
    assert str(tmp_path / names[0]) in found.declarations  # which it is, is part of what a program is
    assert environments.scalapack_state(is_open_mpi=True).startswith(str(tmp_path / names[0]))


def test_an_option_names_the_files(monkeypatch, tmp_path):
    monkeypatch.setattr(environments, "find_mpi", lambda: MPI)
    mine = tmp_path / "libscalapack.so"
    monkeypatch.setenv("DCPY_SCALAPACK", str(mine))
    with pytest.raises(ExpansionError, match=r"libscalapack\.so, which is no file"):
        environments.find_in_system()
    mine.touch()
    assert environments.find_in_system().libraries == ("mpi", ":libscalapack.so")
    assert environments.scalapack_state(is_open_mpi=True) == f"{mine} 0"
    mine.write_text("another version")
    assert environments.scalapack_state(is_open_mpi=True) == f"{mine} 15"
    with pytest.raises(ExpansionError, match="the option `scalapack` says"):
        environments.find_in_mkl()
    monkeypatch.setenv("DCPY_SCALAPACK", "off")
    for find in (environments.find_in_mkl, environments.find_in_system):
        with pytest.raises(ExpansionError, match="says 'off'"):
            find()
    assert environments.scalapack_state(is_open_mpi=True) == ""


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.setattr(environments, "find_mpi", lambda: MPI)
    monkeypatch.setattr(environments, "_SYSTEM", ())
    monkeypatch.setattr(environments.sys, "prefix", "/nowhere")
    monkeypatch.setattr(environments.sys, "base_prefix", "/nowhere")
    monkeypatch.setattr(environments, "_ONEAPI", "/nowhere")
    monkeypatch.delenv("DCPY_SCALAPACK", raising=False)
    assert "[scalapack]" in environments.SCALAPACK_OF_MKL.missing()
    assert "apt install libscalapack-openmpi2.2" in environments.SCALAPACK.missing()
