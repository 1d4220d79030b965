"""Vector variants: what clang is told of libmvec's functions, and the calls that it makes of them."""

import shutil
import subprocess

import numpy as np
import pytest

import dcpy
from dcpy.base.vector_math import vector_functions
from dcpy.codegen.artifact import Unit
from dcpy.runtime.compilers.toolchain import candidates
from dcpy.runtime.compilers.vector_variants import with_variants

CLANG = next(filter(shutil.which, (name for name in candidates() if name.startswith("clang"))), "")
needs_clang = pytest.mark.skipif(not CLANG or "atan2" not in vector_functions(), reason="no clang++, or no libmvec")
pytestmark = pytest.mark.filterwarnings("ignore:.* has no OpenMP library")
SIMD = "#pragma omp declare simd notinbranch"
TEXT = f"""extern "C" {{
{SIMD}
double atan2(double, double) noexcept;
}}
extern "C" {{
{SIMD}
float tanhf(float) noexcept;
}}
extern "C" {{
{SIMD}
double sin(double) noexcept;
}}
void angles(const double *a, const double *b, double *c, long n)
{{
    #pragma omp simd
    for (long i = 0; i < n; i++) c[i] = atan2(a[i], b[i]);
}}
"""


def unit(text):
    return Unit("program.cpp", text, "C++", ("-std=c++17",))


def told(folder, program):
    """A command that does what `program` says, as a clang of version 99."""
    (folder / "clang").write_text(f"#!/bin/sh\n{program}\n")
    (folder / "clang").chmod(0o755)
    return (str(folder / "clang"),)


def test_functions_that_clang_does_not_know_have_variants(tmp_path):
    flags = with_variants(unit(TEXT), told(tmp_path, "touch probe.o"), tmp_path)
    assert flags == (
        "-include", "program.cpp.variants.h", "-mllvm", "-forceattrs-csv-path=program.cpp.variants.csv"
    )  # fmt: skip
    two = "_ZGV_LLVM_N2vv_dcpy_scalar_atan2(_ZGVbN2vv_atan2),_ZGV_LLVM_N4vv_dcpy_scalar_atan2(_ZGVdN4vv_atan2)"
    one = "_ZGV_LLVM_N4v_dcpy_scalar_tanhf(_ZGVbN4v_tanhf),_ZGV_LLVM_N8v_dcpy_scalar_tanhf(_ZGVdN8v_tanhf)"
    assert (tmp_path / "program.cpp.variants.csv").read_text() == (
        f"dcpy_scalar_atan2,vector-function-abi-variant={two}\ndcpy_scalar_tanhf,vector-function-abi-variant={one}\n"
    )
    header = (tmp_path / "program.cpp.variants.h").read_text()
    assert 'extern "C" dcpy_double_x4 _ZGVdN4vv_atan2(dcpy_double_x4, dcpy_double_x4);' in header
    assert "#define tanhf dcpy_scalar_tanhf" in header
    assert "_sin" not in header


def test_what_clang_knows_has_none(tmp_path):
    text = TEXT.replace("atan2(double, double)", "pow(double, double)").replace("tanhf", "expf")
    assert with_variants(unit(text), told(tmp_path, "touch probe.o"), tmp_path) == ()


def test_a_clang_that_reads_no_attributes_is_told_nothing(tmp_path):
    assert with_variants(unit(TEXT), told(tmp_path, "exit 1"), tmp_path) == ()


@pytest.mark.cc
@needs_clang
@pytest.mark.parametrize(("machine", "called"), [("-mavx2", "_ZGVdN4vv_atan2"), ("-msse2", "_ZGVbN2vv_atan2")])
def test_loops_call_the_variants_of_the_machine(tmp_path, machine, called):
    flags = with_variants(unit(TEXT), (CLANG,), tmp_path)
    if not flags:
        pytest.skip(f"{CLANG} reads no attributes")
    (tmp_path / "program.cpp").write_text(TEXT)
    words = [CLANG, "-O3", "-fopenmp-simd", "-fno-math-errno", machine, *flags, "-S", "program.cpp", "-o", "-"]
    assembly = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    calls = [line.split()[1].removesuffix("@PLT") for line in assembly.splitlines() if "call" in line]
    assert called in calls
    assert all(call.startswith(called[:8]) for call in calls if call.startswith("_ZGV"))


def many(x, y):
    return np.arctan2(x, y), np.tanh(x), np.arcsinh(y), np.hypot(x, y), np.cbrt(x)


@pytest.mark.cc
@needs_clang
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_are_those_of_the_functions(dtype):
    x, y = np.random.default_rng(0).uniform(-3, 3, (2, 1003)).astype(dtype)
    found = dcpy.program(many, auto_optimize=True, cpu_compiler=CLANG)(x, y)
    for mine, theirs in zip(found, many(x, y), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=8 * np.finfo(dtype).eps)
