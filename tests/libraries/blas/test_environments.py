"""Foreign libraries are found where they are installed, and say what is missing where they are not."""

from __future__ import annotations

import ctypes
import importlib.util

import pytest

from dcpy.base.errors import ExpansionError
from dcpy.base.library_environment import Environment
from dcpy.ir.library.expansions import ENVIRONMENTS, EXPANSIONS, ForeignLibrary
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.text import parse_sdfg
from dcpy.libraries.blas import environments


def test_openblas_is_where_it_says():
    found = ENVIRONMENTS["openblas"].find()
    library = ctypes.CDLL(f"{found.library_dirs[0]}/lib{found.libraries[0]}.so")
    for prototype in found.prototypes:
        assert getattr(library, prototype.name)


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ExpansionError, match="pip install scipy-openblas32"):
        environments.find_openblas.__wrapped__()
    assert "MKL is not installed" in ForeignLibrary("mkl", lambda: environments.mkl_within(())).missing()


def test_mkl_is_linked_by_the_name_of_its_file(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmkl_rt.so.2").touch()
    with pytest.raises(ExpansionError, match="MKL is not installed"):  # it came along with ScaLAPACK
        environments.mkl_within((str(tmp_path),))
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "mkl.h").touch()
    found = environments.mkl_within((str(tmp_path / "nothing"), str(tmp_path)))
    assert (found.libraries, found.library_dirs) == ((":libmkl_rt.so.2",), (str(tmp_path / "lib"),))
    gemm = next(prototype for prototype in found.prototypes if prototype.name == "cblas_dgemm")
    assert str(gemm).startswith("void cblas_dgemm(int, int, int, int, int, int, double, const double *, int")
    assert "MKL_Set_Threading_Layer(3)" in found.declarations


def test_mkl_is_called_without_a_prefix():
    text = """sdfg @f(A: c64[3, 4], B: c64[4, 5], C: c64[3, 5]) { state {
                blas.gemm (a <- A[0:3, 0:4], b <- B[0:4, 0:5]) -> (c -> C[0:3, 0:5]) } }"""
    sdfg = parse_sdfg(text)
    (node,) = sdfg.body.walk_nodes()
    (state,) = EXPANSIONS["blas.gemm/mkl"].build(node).blocks
    call = state.nodes[-1]
    assert isinstance(call, ForeignCall)
    assert (call.function, call.environment) == ("cblas_cgemm", "mkl")
    assert call.args[6] == "alpha"  # complex factors go by address
    assert str(call.inputs["alpha"]) == "alpha"


def test_an_environment_is_a_value():
    assert hash(Environment("x")) == hash(Environment("x"))
