"""Programs by clang: values, shared variables, vector math, threads, and a process that has programs of g++, too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dcpy
from dcpy.base.vector_math import vector_functions
from dcpy.runtime.compilers.openmp_flags import NONE, SHARES
from dcpy.runtime.compilers.toolchain import candidates, find_toolchain, supports_openmp
from tests.support.compiled import compile_sdfg, source_of

CLANG = next((name for name in candidates() if name.startswith("clang") and shutil.which(name)), "")
pytestmark = [
    pytest.mark.cc,
    pytest.mark.skipif(not CLANG, reason="no clang++ on PATH: apt install clang"),
    pytest.mark.filterwarnings("ignore:.* has no OpenMP library"),
]


def by_clang(function):
    return dcpy.program(function, cpu_compiler=CLANG)


def elementary(x):
    return np.exp(x) + np.sin(x) ** 2 + np.tanh(x) + np.log1p(x) + x**1.7 + np.arctan2(x, 2.0)


def complex_numbers(x):
    z = np.exp(1j * x) / (x + 2j)
    return z.sum(), np.abs(z), np.sqrt(z).real.max(), z.conj() * z


def masks(x, y):
    y[x > 0.5] *= 2.0
    return x[y > 1.0], np.where(x > 0.25, x, -x), np.argmax(x), np.any(x > 0.9999), np.count_nonzero(x > 0.5)


def folded_by_threads(x, n):
    return x.sum(), x.min(), x.max(), np.prod(1 + x * 1e-9), (n ^ 3).sum(), np.bitwise_xor.reduce(n), (x > 2).any()


def single(x):
    return np.exp(x.astype(np.float32)).sum(), np.cumsum(x), np.sort(x), np.histogram(x, bins=8)[0]


def products(a, b):
    return a @ b, np.linalg.solve(a + 4 * np.eye(a.shape[0]), b[:, 0])


NUMBERS = np.random.default_rng(0).random(200_000)
SQUARE = np.random.default_rng(1).random((150, 150))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (elementary, (NUMBERS,)),
        (complex_numbers, (NUMBERS,)),
        (masks, (NUMBERS, NUMBERS[::-1].copy())),
        (folded_by_threads, (NUMBERS, (NUMBERS * 1e6).astype(np.int64))),
        (single, (NUMBERS,)),
        (products, (SQUARE, SQUARE.T.copy())),
    ],
)
def test_programs_of_clang_have_numpys_values(function, arguments):
    expected = function(*(np.array(one) for one in arguments))
    found = by_clang(function)(*(np.array(one) for one in arguments))
    for one, other in zip(np.atleast_1d(found) if isinstance(found, np.ndarray) else found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6 if np.asarray(one).dtype == np.float32 else 1e-10)


TOTAL = """
    sdfg @total(x: f64[N], r: f64[1]) symbols(N: size) {
      state { map i = 0:N { tasklet (a <- x[i]) -> (o -> r[0] (add)) { o = exp(a) + sin(a) } } }
    }"""


def test_a_sum_over_all_threads_is_an_array_element_to_clang_and_a_reference_to_others():
    text = source_of(TOTAL)
    assert "double *const r_sum_element_ = &r_sum;" in text
    assert text.count("#ifdef __clang__") == text.count("#undef") == 1
    result = np.zeros(1)
    compile_sdfg(TOTAL, cpu_compiler=CLANG)(NUMBERS, result)
    np.testing.assert_allclose(result[0], (np.exp(NUMBERS) + np.sin(NUMBERS)).sum(), rtol=1e-12)


@pytest.mark.skipif(not vector_functions(), reason="the C library has no vector functions")
def test_clang_calls_the_vector_functions_of_the_c_library():
    def vectors(x):
        return np.exp(x) + np.sin(x)

    machine_code = Path(by_clang(vectors).compile(NUMBERS).path).read_bytes()
    assert b"_ZGVdN4v_exp" in machine_code
    assert b"_ZGVdN4v_sin" in machine_code


def test_compilers_of_which_only_a_numbered_name_is_there_are_found(tmp_path, monkeypatch):
    (tmp_path / "clang++-19").symlink_to(shutil.which(CLANG))
    (tmp_path / "clang++-16").symlink_to(shutil.which(CLANG))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_toolchain().command == (str(tmp_path / "clang++-19"),)


BOTH = """
import os, signal
import numpy as np
import dcpy

def total(a, b):
    return (a @ b).sum() + np.exp(a).sum()

a = np.random.default_rng(0).random((300, 300))
expected = (a @ a).sum() + np.exp(a).sum()
programs = [dcpy.program(total, cpu_compiler=name) for name in ("g++", CLANG, "g++")]
for _ in range(3):
    for program in programs:
        assert np.isclose(program(a, a), expected)
    assert np.isclose((a @ a).sum(), expected - np.exp(a).sum())
if os.fork() == 0:
    signal.alarm(30)
    os._exit(0 if all(np.isclose(program(a, a), expected) for program in programs) else 1)
raise SystemExit(os.wait()[1])
"""


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++ on PATH")
def test_both_compilers_threads_live_in_one_process_and_in_a_forked_child(tmp_path):
    path = tmp_path / "both.py"
    path.write_text(f"CLANG = {CLANG!r}\n{BOTH}")
    command = [sys.executable, "-W", "ignore", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_each_iteration_of_a_divided_loop_runs_once_in_a_team_of_four(tmp_path):
    toolchain = find_toolchain(CLANG)
    if not toolchain.openmp:
        pytest.skip("no OpenMP library for clang")
    sources = [Path(__file__).with_name("shares.cpp"), SHARES]
    objects = [str(tmp_path / f"{source.name}.o") for source in sources]
    for source, object_ in zip(sources, objects, strict=True):
        compiling = [*toolchain.command, "-w", "-O2", *toolchain.openmp.compile, "-c", str(source), "-o", object_]
        subprocess.run(compiling, check=True)
    program = str(tmp_path / "program")
    subprocess.run([*toolchain.command, *objects, *toolchain.openmp.link, "-o", program], check=True)
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "0\n"


@pytest.fixture
def without_openmp(tmp_path, monkeypatch) -> Path:
    """A clang that knows of no OpenMP library."""
    script = tmp_path / "clang-alone++"
    script.write_text(f'#!/bin/sh\n[ "$1" = -print-search-dirs ] && exit 0\nexec {shutil.which(CLANG)} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("DCPY_CACHE_DIR", str(tmp_path / "cache"))
    return script


def test_without_an_openmp_library_loops_run_on_one_thread_and_a_warning_says_so(without_openmp):
    program = dcpy.program(folded_by_threads, cpu_compiler=str(without_openmp))
    n = NUMBERS.astype(np.int64)
    with pytest.warns(RuntimeWarning, match="has no OpenMP library(.|\n)*apt install libomp-dev"):
        found = program(NUMBERS, n)
    np.testing.assert_allclose(found, folded_by_threads(NUMBERS, n), rtol=1e-10)
    toolchain = find_toolchain(str(without_openmp))
    assert toolchain.openmp == NONE
    assert not supports_openmp(toolchain)
    assert "one thread" in toolchain.id


def test_a_library_that_was_found_is_remembered_while_it_is_there(tmp_path):
    memory = tmp_path / "toolchains.json"
    first = find_toolchain(CLANG, memory)
    if not first.openmp:
        pytest.skip("no OpenMP library for clang")
    assert find_toolchain(CLANG, memory) == first
    memory.write_text(memory.read_text().replace(first.openmp.link[0], str(tmp_path / "gone.so")))
    assert find_toolchain(CLANG, memory) == first
    assert os.path.exists(first.openmp.link[0])
