"""LAPACK is found in OpenBLAS; without it the loops compute what they can."""

from __future__ import annotations

import ctypes

import pytest

from dcpy.base.errors import ExpansionError
from dcpy.ir.library.expansions import ENVIRONMENTS, Expansion
from dcpy.ir.text import parse_sdfg
from dcpy.transforms.expand import expand_library_nodes
from tests.libraries.lapack.test_nodes import LIBRARY_ONLY, PROGRAMS, VECTORS, program

ALONE = LIBRARY_ONLY | VECTORS


def test_lapack_is_where_it_says():
    found = ENVIRONMENTS["lapack.openblas"].find()
    library = ctypes.CDLL(f"{found.library_dirs[0]}/lib{found.libraries[0]}.so")
    assert library.scipy_LAPACKE_set_nancheck
    for prototype in found.prototypes:
        assert getattr(library, prototype.name)


@pytest.fixture
def without_libraries(monkeypatch):
    refuse = lambda self, target: "not installed" if self.environment else ""  # noqa: E731
    monkeypatch.setattr(Expansion, "refusal", refuse)


@pytest.mark.usefixtures("without_libraries")
def test_loops_compute_where_lapack_is_missing():
    choices = expand_library_nodes(parse_sdfg(program(PROGRAMS["inverse"], "float64")))
    large = "not registers: takes matrices of up to 4 known rows, not N; "
    assert [str(choice) for choice in choices] == [
        f"lapack.inverse -> maps; {large}not openblas: not installed",
        f"lapack.solve -> maps; {large}not openblas: not installed",
        "lapack.lu -> maps; not openblas: not installed",
        "lapack.lu_solve -> maps; not openblas: not installed",
        "lapack.solve_triangular -> maps; not openblas: not installed",
        "lapack.solve_triangular -> maps; not openblas: not installed",
    ]


@pytest.mark.usefixtures("without_libraries")
@pytest.mark.parametrize("name", ALONE)
def test_what_needs_lapack_says_so(name):
    with pytest.raises(ExpansionError) as refusal:
        expand_library_nodes(parse_sdfg(program(ALONE[name], "float64")))
    assert refusal.value.notes[0] == "openblas: not installed"


def test_real_matrices_have_no_complex_eigenvalues_here():
    statement = "lapack.eig (a <- A[0:N, 0:N]) -> (w -> w[0:N], info -> info[])"
    with pytest.raises(ExpansionError) as refusal:
        expand_library_nodes(parse_sdfg(program(statement, "float64")))
    assert "takes complex matrices only" in refusal.value.notes[0]
