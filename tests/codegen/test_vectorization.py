"""Loops become vector instructions without -ffast-math: the compiler's own report says so, and the machine code."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.vector_math import vector_functions
from dcpy.codegen.generate import generate
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.compilers.build import compile_flags
from dcpy.transforms.cpu.lowering import lower_for_cpu

pytestmark = [pytest.mark.cc, pytest.mark.skipif(shutil.which("g++") is None, reason="reads g++'s report")]


def compiled(text: str, folder, *, report: str = "") -> tuple[str, str]:
    """What g++ reports, and the assembly, for the AVX2 level of x86-64."""
    sdfg = parse_sdfg(text)
    lower_for_cpu(sdfg)
    artifact = generate(sdfg)
    (folder / "p.cpp").write_text(artifact.units[0].text)
    flags = compile_flags(artifact, artifact.units[0], CpuOptions(flags=("-O3", "-mavx2")))
    assert "-ffast-math" not in flags
    command = ["g++", *flags, "-S", "p.cpp", "-o", "p.s", *([report] if report else [])]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stderr, (folder / "p.s").read_text()


def elementwise(function: str) -> str:
    return f"""
        sdfg @e(x: f64[N], y: f64[N]) symbols(N: size) {{
          state {{ map i = 0:N {{ tasklet (a <- x[i]) -> (o -> y[i]) {{ o = {function} }} }} }}
        }}"""


@pytest.mark.skipif(not vector_functions(), reason="the C library has no vector functions")
@pytest.mark.parametrize(("function", "symbol"), [("exp(a)", "exp"), ("sin(a)", "sin"), ("pow(a, a)", "pow")])
def test_functions_are_called_on_vectors(function, symbol, tmp_path):
    report, assembly = compiled(elementwise(function.replace("pow(a, a)", "a ** a")), tmp_path, report="-fopt-info-vec")
    assert "loop vectorized using 32 byte vectors" in report
    assert f"_ZGVdN4v{'v' if symbol == 'pow' else ''}_{symbol}" in assembly


def test_sums_are_kept_in_vectors(tmp_path):
    text = """
        sdfg @s(x: f64[N], r: f64[1]) symbols(N: size) {
          state { map i = 0:N { tasklet (a <- x[i]) -> (o -> r[0] (add)) { o = a } } }
        }"""
    report, assembly = compiled(text, tmp_path, report="-fopt-info-vec")
    assert "loop vectorized using 32 byte vectors" in report
    assert "vaddpd" in assembly


@pytest.mark.parametrize("op", ["max", "min"])
def test_extrema_that_propagate_nan_are_kept_in_vectors(op, tmp_path):
    text = f"""
        sdfg @m(x: f64[N], r: f64[1]) symbols(N: size) {{
          state {{ map i = 0:N {{ tasklet (a <- x[i]) -> (o -> r[0] ({op})) {{ o = a }} }} }}
        }}"""
    report, _ = compiled(text, tmp_path, report="-fopt-info-vec")
    assert "loop vectorized using 32 byte vectors" in report


@pytest.mark.parametrize("code", ["a if a > 0.0 else -a", "max(a, 1.0)", "sqrt(a) + floor(a)", "sign(a)"])
def test_conditions_become_selections(code, tmp_path):
    code = {"a if a > 0.0 else -a": "select(a > f64(0), a, -a)", "max(a, 1.0)": "max(a, f64(1))"}.get(code, code)
    report, _ = compiled(elementwise(code), tmp_path, report="-fopt-info-vec")
    assert "loop vectorized using 32 byte vectors" in report


@pytest.mark.parametrize("function", ["max(min(a*2.0, 1.0), min(a, 2.0))", "fmax(fmin(a, 1.0), fmin(a*3.0, 2.0))"])
def test_extrema_of_extrema_are_selections(function, tmp_path):
    """As flux limiters have them. With an "or" in each, as NumPy's definition has, g++ 12 left branches."""
    report, _ = compiled(elementwise(function), tmp_path, report="-fopt-info-vec")
    assert "loop vectorized using 32 byte vectors" in report


def test_stencils_vectorize_inside_threads(tmp_path):
    text = """
        sdfg @j(A: f64[N, N], B: f64[N, N]) symbols(N: size) {
          state { map i = 1:N - 1, j = 1:N - 1 {
            tasklet (a <- A[i, j], b <- A[i - 1, j], c <- A[i, j + 1]) -> (o -> B[i, j]) { o = (a + b + c) * f64(0.2) }
          } }
        }"""
    report, _ = compiled(text, tmp_path, report="-fopt-info-vec")
    assert "loop vectorized using 32 byte vectors" in report


def test_short_sums_vectorize_around_themselves(tmp_path):
    """S-6: the loop over a row, not the three weights in it."""
    text = """
        sdfg @c(w: f64[3], A: f64[N], B: f64[N]) symbols(N: size) {
          state { map j = 1:N - 1, k = 0:3 {
            tasklet (x <- w[k], a <- A[j + k - 1]) -> (o -> B[j] (add)) { o = x * a } } }
        }"""
    report, assembly = compiled(text, tmp_path, report="-fopt-info-vec")
    assert "loop vectorized using 32 byte vectors" in report
    assert "vmulpd" in assembly


@pytest.mark.parametrize("op", ["and", "or"])
def test_masks_are_combined_in_vectors(op, tmp_path):
    text = f"""
        sdfg @m(x: bool[N], y: bool[N], z: bool[N]) symbols(N: size) {{
          state {{ map i = 0:N {{ tasklet (a <- x[i], b <- y[i]) -> (o -> z[i]) {{ o = a {op} b }} }} }}
        }}"""
    report, _ = compiled(text, tmp_path, report="-fopt-info-vec")
    assert "loop vectorized using 32 byte vectors" in report
