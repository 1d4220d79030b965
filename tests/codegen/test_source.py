"""The generated text: readable, deterministic, without anything that the program does not use."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from dcpy.base.errors import CodegenError
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.codegen.c_identifiers import Names, identifier
from dcpy.codegen.generate import c_header, generate
from dcpy.codegen.prelude import CPP_PRELUDE
from dcpy.codegen.signature import default_signature
from dcpy.ir.data import Lifetime
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.compilers.build import compile_flags, link_flags
from dcpy.transforms.cpu.lowering import lower_for_cpu
from tests.support.c_compiler import c_compiler
from tests.support.compiled import compile_sdfg, source_of

STENCIL = """
    sdfg @stencil(A: f64[N, M], B: f64[N, M], alpha: f64, T) symbols(N: size, M: size, T: i64) {
      loop t = 0:T {
        state { map i = 1:N - 1, j = 1:M - 1 {
          tasklet (a <- A[i, j - 1], b <- A[i, j + 1], k <- alpha) -> (o -> B[i, j]) { o = k * (a + b) }
        } }
        state { copy B[1:N - 1, 0:M] -> A[1:N - 1, 0:M] }
      }
    }"""
SUM = """
    sdfg @total(x: f64[N]) symbols(N: size) -> (__return: scalar) {
      data __return: f64[]
      state { tasklet () -> (o -> __return) { o = f64(0) }
              map i = 0:N { tasklet (a <- x[i]) -> (o -> __return (add)) { o = exp(a) } } }
    }"""


def test_a_header_says_what_each_call_must_keep():
    text = "sdfg @f(A: f64[N], k) symbols(N: size{least = 1, multiple_of = 8}, k: i64) assumes(N >= k) { }"
    header = c_header(parse_sdfg(text))
    assert "each call must keep:\n   N >= k\n   N is at least 1 and a multiple of 8\n" in header
    assert "must keep" not in c_header(parse_sdfg("sdfg @f(A: f64[N]) { }"))


def test_a_stencil_reads_like_its_python(golden):
    golden(source_of(STENCIL))


def test_a_sum_is_kept_in_a_variable(golden):
    golden(source_of(SUM))


def test_checks_and_buffers(golden):
    golden(
        source_of("""
        sdfg @pick(x: f64[N], k: i64[M], y: f64[M]) symbols(N: size, M: size) {
          data tmp: f64[N] transient
          state { copy x[0:N] -> tmp[0:N] }
          check N > 0 else ValueError "nothing to pick from {0}" (M)
          state { map i = 0:M @parallel {
            let n = wrap(k[i], N)
            state { tasklet (a <- tmp[n]) -> (o -> y[i]) { o = a } }
          } }
        }""")
    )


def test_the_same_program_gives_the_same_text_in_every_process():
    program = f"from tests.support.compiled import source_of; import hashlib; print(source_of({STENCIL!r}))"
    texts = {
        subprocess.check_output([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, text=True)
        for seed in ("0", "1", "2")
    }
    assert len(texts) == 1


@pytest.mark.parametrize(("limit", "likely"), [(2**31 - 1, True), (2**31 - 2, False), (0, False)])
def test_sizes_are_expected_to_fit_32_bits(limit, likely):
    """S-7: what is done with sizes that a library does not take costs the usual way no registers (trmm)."""
    text = f"""
        sdfg @f(A: f64[N]) symbols(N: size) {{
          if N <= {limit} {{ state {{ tasklet () -> (o -> A[0]) {{ o = f64(1) }} }} }}
        }}"""
    assert ("if (__builtin_expect(N <= 2147483647, 1)) {" in source_of(text)) is likely


def test_names_that_mean_something_in_c_are_spelled_otherwise():
    names = Names(CPP_PRELUDE.names)
    assert [names.of(name) for name in ("double", "exp", "x", "x", "i386", "error")] == [
        "double_1", "exp_1", "x", "x", "i386_1", "error_1",
    ]  # fmt: skip
    assert [identifier(name) for name in ("__return", "__return_1", "α", "_Hidden", "dcpy_x", "a__b", "s.field")] == [
        "returned", "returned_1", "u03b1", "my_Hidden", "mydcpy_x", "a_b", "s_field",
    ]  # fmt: skip


@pytest.mark.cc
def test_python_names_never_collide_with_c():
    text = """
        sdfg @private(double: f64[int], exp: f64[int], o: f64, while_: f64, returned: f64[int]) symbols(int: size) {
          data linux: f64[int] transient
          state { map for_ = 0:int {
            tasklet (exp <- double[for_], double <- o) -> (out -> linux[for_]) { out = exp * double + sin(exp) }
            tasklet (exp <- linux[for_], i <- while_) -> (out -> returned[for_]) { out = exp + i }
          } }
        }"""
    x, y = np.arange(3.0), np.zeros(3)
    compile_sdfg(text)(x, x, 2.0, 1.0, y)
    np.testing.assert_allclose(y, x * 2 + np.sin(x) + 1)


def test_the_prelude_holds_what_is_used_and_what_that_uses():
    text = CPP_PRELUDE.text(["dcpy_remainderf"], frozenset())
    assert 'extern "C" float fmodf(float, float) noexcept;' in text
    assert "static inline float dcpy_remainderf(float a, float b)" in text
    assert "double" not in text.replace('(double)', "")
    assert CPP_PRELUDE.text(["double", "int64_t"], frozenset()) == ""
    assert CPP_PRELUDE.text(["exp"], frozenset({"exp"})).startswith('extern "C" {\n#pragma omp declare simd')


@pytest.mark.cc
def test_every_helper_compiles_alone(tmp_path):
    typedefs = "".join(f"typedef __{u.upper()}INT{b}_TYPE__ {u}int{b}_t;\n" for u in ("", "u") for b in (8, 16, 32, 64))
    for name in CPP_PRELUDE.names:
        text = CPP_PRELUDE.text([name], frozenset())
        table = '#include "dcpy_table.h"\n'  # of devices
        (tmp_path / f"{name}.cpp").write_text(f"{typedefs}typedef __SIZE_TYPE__ size_t;\n{table}{text}")
    include = Path(generate.__code__.co_filename).parent / "include"
    warnings = ["-Wall", "-Wno-unused-function", "-Wno-bool-compare", "-Wno-unknown-pragmas", "-Werror"]
    command = ["c++", "-std=c++17", f"-I{include}", "-fsyntax-only", *warnings]
    done = subprocess.run([*command, *map(str, sorted(tmp_path.glob("*.cpp")))], capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sdfg @p(s: stream f64, x: f64[4]) { state { copy x[0] -> s } }", "'s' is a stream"),
        (
            'sdfg @p(x: f64[4]) { dataflow { process a { callback (x <- x[0]) -> () {function = "m:f", call = "x"} }}}',
            "the process 'a' calls the Python function m:f",
        ),
        (
            'sdfg @p(x: f64[4]) { dataflow { process a { check x[0] > 0.0 else RuntimeWarning "low" } } }',
            "a warning in a process",
        ),
    ],
)
def test_what_cannot_be_compiled_yet_is_refused(text, reason):
    with pytest.raises(CodegenError, match=reason):
        source_of(text)


@pytest.mark.parametrize(
    ("schedule", "pragma"),
    [
        ("@parallel{chunk = 64}", "#pragma omp for simd schedule(static, 64) nowait"),
        ("@vector{width = 4}", "#pragma omp simd simdlen(4)"),
        ("@unrolled{factor = 4}", "#pragma GCC unroll 4"),
    ],
)
def test_schedules_have_parameters(schedule, pragma):
    body = "{ tasklet () -> (o -> A[i]) { o = 1.0 } }"
    assert pragma in source_of(f"sdfg @f(A: f64[N]) symbols(N: size) {{ map i = 0:N {schedule} {body} }}")
    loop = f"sdfg @f(A: f64[N]) symbols(N: size) {{ loop i = 1:N @unrolled{{factor = 4}} {body} }}"
    assert "#pragma GCC unroll 4" in source_of(loop)


def test_what_is_unrolled_whole_has_a_number_of_iterations():
    with pytest.raises(CodegenError, match="needs a constant number of iterations, not N") as caught:
        source_of("sdfg @f(A: f64[N]) symbols(N: size) { loop i = 0:N @unrolled { copy A[i] -> A[0] } }")
    assert "factor" in caught.value.help


def test_undecided_programs_are_refused():
    with pytest.raises(CodegenError, match="a map without a schedule"):
        generate(parse_sdfg(STENCIL))


def test_a_result_whose_shape_is_computed_is_allocated_by_the_program(golden):
    text = """
        sdfg @f(x: i64[4]) -> (y: array) {
          data y: f64[n]
          state { tasklet () -> (o -> x[0]) { o = i64(3) } }
          let n = x[0]
          state { map i = 0:n { tasklet () -> (o -> y[i]) { o = f64(0) } } }
        }"""
    golden(source_of(text))
    assert "Arrays that the program makes are the caller's to free()" in c_header(parse_sdfg(text))


@pytest.mark.cc
def test_a_result_may_have_a_shape_that_an_argument_tells():
    text = """
        sdfg @f(x: i64[4]) -> (y: array) {
          data y: i64[n]
          let n = x[1] + i64(1)
          state { map i = 0:n { tasklet () -> (o -> y[i]) { o = i64(i) } } }
        }"""
    assert compile_sdfg(text)(np.array([7, 2, 7, 7])).tolist() == [0, 1, 2]


# -- ahead of time -------------------------------------------------------------------------------------------------


def library(text: str, folder, lifetime: Lifetime | None = None) -> ctypes.CDLL:
    """A program as a C library."""
    from dataclasses import replace

    sdfg = parse_sdfg(text)
    for name, desc in list(sdfg.containers.items()):
        if lifetime is not None and desc.transient:
            sdfg.redeclare(name, replace(desc, lifetime=lifetime))
    lower_for_cpu(sdfg)
    artifact = generate(sdfg)
    (folder / f"{sdfg.name}.h").write_text(c_header(sdfg, artifact.signature))
    (folder / "program.cpp").write_text(artifact.units[0].text)
    flags = compile_flags(artifact, artifact.units[0], CpuOptions())
    command = ["c++", *flags, "program.cpp", *link_flags(artifact), "-o", f"lib{sdfg.name}.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / f"lib{sdfg.name}.so"))


MAIN = """
#include <stdio.h>
#include "axpy.h"

int main(void)
{
    double x[3] = {1, 2, 3}, y[3] = {1, 1, 1};
    if (axpy_init() != 0 || axpy(2.0, x, y, 3) != 0) return 1;
    printf("%g %g %g\\n", y[0], y[1], y[2]);
    printf("%d\\n", axpy(2.0, x, y, -1));
    axpy_exit();
    return 0;
}
"""
AXPY = """
    sdfg @axpy(a: f64, x: f64[N], y: f64[N]) symbols(N: size) {
      data tmp: f64[N] transient
      check N >= 0 else ValueError "a size of {0}" (N)
      state { map i = 0:N { tasklet (p <- a, q <- x[i]) -> (o -> tmp[i]) { o = p * q } }
              map j = 0:N { tasklet (p <- tmp[j], q <- y[j]) -> (o -> y[j]) { o = p + q } } }
    }"""


@pytest.mark.cc
def test_a_c_program_uses_the_library(tmp_path):
    library(AXPY, tmp_path)
    (tmp_path / "main.c").write_text(MAIN)
    command = [*c_compiler(), "-std=c99", "-Wall", "-Werror", "main.c", "-L.", "-laxpy", "-Wl,-rpath,.", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    said = subprocess.check_output(["./main"], cwd=tmp_path, text=True).split("\n")
    assert said[0] == "3 5 7"
    header = (tmp_path / "axpy.h").read_text()
    assert f"{said[1]}: ValueError: a size of {{0}}" in header
    assert "int32_t axpy(double a, const double *x, double *y, int64_t N);" in header


@pytest.mark.cc
def test_persistent_buffers_serve_many_threads(tmp_path):
    program = library(AXPY, tmp_path, Lifetime.PERSISTENT)
    assert "dcpy_kept_buffer" in (tmp_path / "program.cpp").read_text()
    program.axpy.argtypes = [ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    wrong = []

    def work(size: int) -> None:
        for _ in range(200):
            x, y = np.full(size, 3.0), np.ones(size)
            status = program.axpy(2.0, x.ctypes.data, y.ctypes.data, size)
            if status != 0 or not (y == 7).all():
                wrong.append(size)

    threads = [threading.Thread(target=work, args=(size,)) for size in (1, 10, 1000, 5000) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    program.axpy_exit()
    work(10)
    assert wrong == []


@pytest.mark.cc
def test_persistent_buffers_stay_whatever_their_size(tmp_path):
    program = library(AXPY, tmp_path, Lifetime.PERSISTENT)
    program.axpy.argtypes = [ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    for size in (5_000_000, 4_900_000, 5_000_000):  # 40 MB, whose pages the system may take between calls
        x, y = np.full(size, 3.0), np.ones(size)
        assert program.axpy(2.0, x.ctypes.data, y.ctypes.data, size) == 0
        assert (y == 7).all()
    program.axpy_exit()


@pytest.mark.cc
def test_running_out_of_memory_is_an_error():
    text = """
        sdfg @huge(x: f64[4], n) symbols(n: i64) {
          data tmp: f64[n] transient
          state { map i = 0:4 { tasklet (a <- x[i]) -> (o -> tmp[i]) { o = a } }
                  copy tmp[0:4] -> x[0:4] }
        }"""
    with pytest.raises(MemoryError, match="no memory is left for 'tmp'"):
        compile_sdfg(text)(np.ones(4), 2**58)
    compile_sdfg(text)(np.ones(4), 8)


def test_default_signatures_follow_the_descriptors():
    signature = default_signature(parse_sdfg(STENCIL))
    assert [arg.name for arg in signature.args] == ["A", "B", "alpha", "T"]
    assert [getattr(arg, "written", None) for arg in signature.args] == [True, True, None, None]
    assert signature.symbols == ("N", "M", "T")
