"""Zig's compiler from a wheel: found where PATH has none, and compiled by where it is installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

from dcpy.base.errors import ToolchainError
from dcpy.base.options import resolve_options
from dcpy.base.vector_math import LIBRARY
from dcpy.codegen.artifact import Artifact, Signature
from dcpy.runtime.compilers import toolchain
from dcpy.runtime.compilers.build import compile_flags, link_flags
from dcpy.runtime.compilers.toolchain import find_toolchain
from dcpy.runtime.compilers.zig import command_of_zig, is_zig
from tests.runtime.handwritten import artifact_of, cpp


def test_a_wheel_is_found_where_path_has_no_compiler(tmp_path, monkeypatch):
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "zig").write_text('#!/bin/sh\necho "clang version 22.1.8"\n')
    (package / "zig").chmod(0o755)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PATH", "")
    importlib.invalidate_caches()
    found = find_toolchain()
    assert found.command == (str(package / "zig"), "c++", "-fno-sanitize=undefined")
    assert found.family == "zig"


def test_without_any_compiler_the_extra_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(toolchain, "command_of_zig", lambda: ())
    with pytest.raises(ToolchainError, match="this Python no package ziglang") as caught:
        find_toolchain()
    assert "[compiler]" in caught.value.help


def test_the_command_is_known_however_it_is_written():
    assert is_zig(("zig", "c++"))
    assert is_zig((sys.executable, "-m", "ziglang", "c++"))
    assert not is_zig(("clang++-19",))


def test_functions_of_vectors_are_left_to_compilers_whose_c_library_has_them():
    artifact = artifact_of(Signature("none", ()), "", environments=(LIBRARY,))
    options = resolve_options().cpu
    assert "-fveclib=libmvec" in compile_flags(artifact, artifact.units[0], options, "clang")
    assert "-fveclib=libmvec" not in compile_flags(artifact, artifact.units[0], options, "zig")
    assert "-lmvec" in link_flags(artifact, family="clang")
    assert "-lmvec" not in link_flags(artifact, family="zig")


def test_zigs_cpp_library_is_linked_where_headers_are_included():
    plain = Artifact(Signature("none", ()), (cpp("program.cpp", "#include <stdio.h>\nint one;"),))
    assert "-nostdlib++" in link_flags(plain, family="zig")
    assert "-fno-exceptions" in compile_flags(plain, plain.units[0], resolve_options().cpu, "zig")
    including = artifact_of(Signature("none", ()), "")
    assert "-nostdlib++" not in link_flags(including, family="zig")


PROGRAM = """
import numpy as np
import dcpy
from dcpy.driver import toolchain

@dcpy.program
def mixed(a, x):
    y = np.exp(x) @ a
    if x.size > 10**9:
        raise ValueError("too many")
    return y / y.sum(), np.sort(x)

a, x = np.random.default_rng(0).random((300, 300)), np.linspace(0, 1, 300)[::-1].copy()
found = mixed(a, x)
expected = np.exp(x) @ a
assert np.allclose(found[0], expected / expected.sum()) and (found[1] == np.sort(x)).all()
assert toolchain().family == "zig", toolchain()
print("all is well")
"""


@pytest.mark.cc
@pytest.mark.skipif(not command_of_zig(), reason="no package ziglang: the extra `compiler`")
def test_a_program_is_compiled_with_an_empty_path(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    words = [sys.executable, "-W", "ignore", str(tmp_path / "program.py")]
    done = subprocess.run(words, env={**os.environ, "PATH": ""}, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("all is well\n", 0), done.stderr
