"""Compiling, caching and loading, as a user meets it: warm and cold, several files, foreign libraries, failures."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dcpy.base.errors import ToolchainError
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import (
    ArrayArg,
    Artifact,
    Check,
    ConstantArg,
    Dim,
    Environment,
    ScalarArg,
    ScalarResult,
    Signature,
    Unit,
)
from dcpy.runtime.compilers.toolchain import find_toolchain, supports_openmp
from dcpy.runtime.loading.load import load, recall
from tests.runtime.handwritten import artifact_of, cpp, dispatcher_for, options_in

pytestmark = pytest.mark.cc

SEVEN = artifact_of(Signature("seven", (), (), (ScalarResult("int64"),), 0), "*RESULT(int64_t, 0) = 7;")


@pytest.fixture(name="spied")
def spying_compiler(tmp_path) -> Path:
    """A compiler that writes its command lines to ``calls`` beside it."""
    script = tmp_path / "spied-c++"
    script.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nexec {find_toolchain().command[0]} "$@"\n')
    script.chmod(0o755)
    return script


def calls_of(spied: Path) -> list[str]:
    calls = spied.with_name("calls")
    return calls.read_text().splitlines() if calls.exists() else []


def test_a_program_is_compiled_once(tmp_path, spied):
    options = options_in(tmp_path / "cache", cpu__compiler=str(spied))
    first = load(SEVEN, options)
    assert dispatcher_for(first)() == 7
    assert (first.was_cached, first.seconds_compiling > 0) == (False, True)
    assert [sum(flag in call for call in calls_of(spied)) for flag in ("--version", " -c ", "-shared")] == [1, 1, 1]
    again = load(SEVEN, options)
    assert (again.was_cached, again.seconds_compiling, again.entry) == (True, 0.0, first.entry)
    assert len(calls_of(spied)) == 3


def test_a_new_process_starts_no_compiler(tmp_path, spied):
    options = options_in(tmp_path / "cache", cpu__compiler=str(spied))
    load(SEVEN, options, program_key="seven")
    before = calls_of(spied)
    program = f"""
import sys, time, numpy
from dcpy.base.options import resolve_options
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.loading.load import recall
had = set(sys.modules)
start = time.perf_counter()
loaded = recall("seven", resolve_options({{"cache_dir": {options.cache_dir!r}, "cpu.compiler": {str(spied)!r}}}))
print(compiled_function(loaded)(), time.perf_counter() - start, "subprocess" in set(sys.modules) - had)
"""
    value, seconds, started = subprocess.check_output([sys.executable, "-c", program], text=True).split()
    assert (value, started) == ("7", "False")
    assert float(seconds) < 0.1
    assert calls_of(spied) == before


def test_options_compiler_and_code_decide_the_key(tmp_path, spied):
    cache = tmp_path / "cache"
    other = artifact_of(SEVEN.signature, "*RESULT(int64_t, 0) = 8;")
    keys = [
        load(SEVEN, options_in(cache)).key,
        load(SEVEN, options_in(cache, cpu__flags=("-O0",))).key,
        load(SEVEN, options_in(cache, cpu__compiler=str(spied))).key,
        load(other, options_in(cache)).key,
    ]
    assert len(set(keys)) == 4
    assert load(SEVEN, options_in(tmp_path / "elsewhere")).key == keys[0]


def test_several_files_are_compiled_together(tmp_path):
    entry, results = "double_entry", "double_results"
    parameters = "void *const *args, const int64_t *symbols, void *const *results, int64_t *error"
    files = (
        Unit("twice.h", "#include <cstdint>\ndouble twice(double);\n"),
        cpp("twice.cpp", '#include "twice.h"\ndouble twice(double x) { return 2 * x; }\n'),
        cpp(
            "main.cpp",
            f"""#include "twice.h"
extern "C" int32_t {entry}({parameters}) {{ *(double *)results[0] = twice(*(double *)args[0]); return 0; }}
extern "C" void {results}(void *const *, const int64_t *, int64_t *) {{}}
""",
        ),
    )
    signature = Signature("double", (ScalarArg("x", "float64", weak=True),), (), (ScalarResult("float64"),), 0)
    loaded = load(Artifact(signature, files), options_in(tmp_path))
    assert dispatcher_for(loaded)(21.0) == 42
    assert sorted(p.name for p in Path(loaded.path).parent.iterdir()) == [
        "main.cpp", "manifest", "program.so", "twice.cpp", "twice.h",
    ]  # fmt: skip


def library_in(folder: Path) -> Environment:
    folder.mkdir()
    (folder / "triple.h").write_text('extern "C" double triple(double x);\n')
    (folder / "triple.c").write_text("double triple(double x) { return 3 * x; }\n")
    compiler = find_toolchain().command[0]
    subprocess.run([compiler, "-xc", "-shared", "-fPIC", "triple.c", "-o", "libtriple.so"], cwd=folder, check=True)
    return Environment("triple", libraries=("triple",), library_dirs=(str(folder),), include_dirs=(str(folder),))


def test_environments_are_linked_and_found_at_run_time(tmp_path):
    environment = library_in(tmp_path / "triple")
    signature = Signature("use", (ScalarArg("x", "float64", weak=True),), (), (ScalarResult("float64"),), 0)
    plain = artifact_of(signature, "*RESULT(double, 0) = triple(*ARRAY(double, 0));")
    with_header = (cpp("program.cpp", '#include "triple.h"\n' + plain.units[0].text),)
    artifact = Artifact(signature, with_header, environments=(environment,))
    assert dispatcher_for(load(artifact, options_in(tmp_path)))(5.0) == 15
    missing = Artifact(signature, with_header, environments=(Environment("gone", libraries=("no-such-library",)),))
    with pytest.raises(ToolchainError):
        load(missing, options_in(tmp_path))


def test_a_library_that_has_moved_is_reported(tmp_path):
    environment = library_in(tmp_path / "triple")
    signature = Signature("use", (), (), (ScalarResult("float64"),), 0)
    plain = artifact_of(signature, "*RESULT(double, 0) = triple(1.0);")
    files = (cpp("program.cpp", '#include "triple.h"\n' + plain.units[0].text),)
    artifact = Artifact(signature, files, environments=(environment,))
    options = options_in(tmp_path / "cache")
    load(artifact, options, program_key="use")
    shutil.rmtree(environment.library_dirs[0])
    program = f"""
from dcpy.base.errors import ToolchainError
from dcpy.base.options import resolve_options
from dcpy.runtime.loading.load import recall
try:
    recall("use", resolve_options({{"cache_dir": {options.cache_dir!r}}}))
except ToolchainError as error:
    print(error)
"""
    assert "libtriple.so" in subprocess.check_output([sys.executable, "-c", program], text=True)


def test_values_are_those_of_numpy_under_optimization(tmp_path):
    """No contraction to a fused multiply-add, wrapping integers, NaN and signed zeros kept."""
    x, y, z = 1 + 2.0**-30, 1 - 2.0**-30, -1.0
    signature = Signature(
        "strict",
        (*(ScalarArg(n, "float64", weak=True) for n in "xyz"), ScalarArg("i", "int64", weak=True)),
        (),
        (ScalarResult("float64"), ScalarResult("bool"), ScalarResult("int64")),
        (0, 1, 2),
    )
    body = """double x = *ARRAY(double, 0), y = *ARRAY(double, 1), z = *ARRAY(double, 2);
    int64_t i = *ARRAY(int64_t, 3);
    *RESULT(double, 0) = x * y + z; *RESULT(bool, 1) = (x / z != x / z) || i + 1 < i;
    *RESULT(int64_t, 2) = i + 1;"""
    f = dispatcher_for(load(artifact_of(signature, body), options_in(tmp_path)))
    assert f(x, y, z, 0) == (np.float64(x) * np.float64(y) + np.float64(z), False, 1)
    assert f(0.0, y, 0.0, 0)[1]
    assert f(x, y, z, 2**63 - 1)[1:] == (True, -(2**63))


def test_a_failing_compiler_shows_message_file_and_python_line(tmp_path):
    source = tmp_path / "gemm.py"
    source.write_text("import dcpy\n\nC[:] = A @ B\n")
    artifact = artifact_of(SEVEN.signature, "int64_t fine = 1;\nthis is not C++;\n")
    number = artifact.units[0].text.splitlines().index("this is not C++;") + 1
    places = ((number - 1, SrcSpan(str(source), 2)), (number, SrcSpan(str(source), 3)))
    artifact = replace(artifact, units=(replace(artifact.units[0], places=places),))
    with pytest.raises(ToolchainError, match="the C\\+\\+ compiler failed: error: ") as caught:
        load(artifact, options_in(tmp_path / "cache"))
    assert caught.value.span == SrcSpan(str(source), 3)
    assert "3 | C[:] = A @ B" in str(caught.value)
    note = next(n for n in caught.value.notes if n.startswith("generated code: "))
    path, _, line = note.removeprefix("generated code: ").rpartition(":")
    assert "this is not C++" in Path(path).read_text().splitlines()[int(line) - 1]
    assert any("this is not C++" in n for n in caught.value.notes)


def test_a_missing_compiler_names_the_package(tmp_path, monkeypatch):
    with pytest.raises(ToolchainError, match=r"'no-such-c\+\+' is not found(.|\n)*apt install g\+\+"):
        load(SEVEN, options_in(tmp_path, cpu__compiler="no-such-c++"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match=r"no C\+\+ compiler found(.|\n)*PATH has no g\+\+ and no clang\+\+"):
        load(SEVEN, options_in(tmp_path, cpu__compiler="auto"))


def test_a_compiler_that_is_none_is_reported(tmp_path):
    with pytest.raises(ToolchainError, match="--version failed"):
        load(SEVEN, options_in(tmp_path, cpu__compiler=shutil.which("false")))


def test_a_replaced_compiler_is_asked_again(tmp_path, spied):
    memory = tmp_path / "toolchains.json"
    first = find_toolchain(str(spied), memory)
    assert find_toolchain(f"{spied} -pipe", memory).command == (str(spied), "-pipe")
    spied.write_text('#!/bin/sh\necho "clang version 99"\n')
    os.utime(spied, ns=(time.time_ns(), time.time_ns() + 1))
    second = find_toolchain(str(spied), memory)
    assert (second.family, second.version) == ("clang", "clang version 99")
    assert first.id != second.id
    memory.write_text("{ truncated")
    assert find_toolchain(str(spied), memory) == second


def test_signatures_are_remembered_with_what_the_driver_adds(tmp_path):
    arrays = (ArrayArg("a", "float64", (Dim("N"), Dim(constant=3)), order="", strides=("s", "t"), alias="x"),)
    constants = (ConstantArg("c", (None, True, 2, 0.1, float("inf"), 2j, "text")),)
    checks = (Check("IndexError", "{0}"),)
    signature = Signature("kept", arrays + constants, ("N", "s", "t"), (ScalarResult("int64"),), ((0,),), checks)
    options = options_in(tmp_path)
    loaded = load(artifact_of(signature, ""), options, program_key="p", extra={"notes": ["fused"]})
    again = recall("p", options)
    assert again == loaded.__class__(**{**{f: getattr(again, f) for f in again.__slots__}, "signature": signature})
    assert (again.entry, again.extra, again.was_cached) == (loaded.entry, {"notes": ["fused"]}, True)
    assert recall("q", options) is None
    assert recall("p", options_in(tmp_path, cpu__fast_math=True)) is None


def test_constants_that_json_would_change_are_not_remembered(tmp_path):
    signature = Signature("opaque", (ConstantArg("f", len),))
    assert load(artifact_of(signature, ""), options_in(tmp_path), program_key="p").signature == signature
    assert recall("p", options_in(tmp_path)) is None


def test_openmp_is_probed_by_compiling(tmp_path):
    script = tmp_path / "no-openmp-c++"
    script.write_text("#!/bin/sh\n[ $1 = --version ] && echo clang version 1 || exit 1\n")
    script.chmod(0o755)
    assert supports_openmp(find_toolchain())
    assert not supports_openmp(find_toolchain(str(script)))
