"""Native code that was built with the package is taken where it is of the same text."""

from __future__ import annotations

import ast
import hashlib
import io
import subprocess
import sys
import sysconfig
from dataclasses import replace
from glob import glob
from pathlib import Path

import pytest

from dcpy.base.options import resolve_options
from dcpy.runtime.compilers.toolchain import find_toolchain
from dcpy.runtime.gpu import drivers, native
from dcpy.runtime.gpu.simulator import library as simulator
from dcpy.runtime.native_sources import digest

SETUP = Path(__file__).parents[3] / "setup.py"


def test_digests_are_those_of_setup(tmp_path):
    tree = ast.parse(SETUP.read_text())
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "digest")
    names = {"hashlib": hashlib, "Path": Path}
    exec(compile(ast.Module([function], []), str(SETUP), "exec"), names)
    sources = drivers.sources()
    assert names["digest"]([str(path) for path in sources]) == digest(sources)
    one, other = tmp_path / "a.cpp", tmp_path / "b.h"
    one.write_text("1"), other.write_text("2")
    assert digest([other, one]) == digest([one, other]) != digest([one])


@pytest.mark.parametrize(("name", "module"), [("DRIVERS", drivers), ("SIMULATOR", simulator)])
def test_setup_builds_the_files_that_are_opened(name, module, monkeypatch):
    monkeypatch.chdir(SETUP.parent)
    built = {}
    for node in ast.parse(SETUP.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith(name):
            exec(compile(ast.Module([node], []), str(SETUP), "exec"), {"glob": glob}, built)
    paths = [Path(path).resolve() for path in (*built[name], *built[f"{name}_HEADERS"])]
    assert sorted(paths) == sorted(path.resolve() for path in module.sources())


@pytest.mark.parametrize("on_terminal", [True, False])
def test_terminals_hear_of_a_compilation(on_terminal, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: on_terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    native.announce("simulator")
    said = "dcpy compiles its GPU simulator for this machine, once: this takes about 10 seconds\n"
    assert stream.getvalue() == said * on_terminal


def test_what_is_no_library_is_not_taken(tmp_path):
    assert native.built_in("none", [tmp_path / "none.cpp"]) is None
    (tmp_path / f"_none{sysconfig.get_config_var('EXT_SUFFIX')}").write_text("text")
    assert native.built_in("none", [tmp_path / "none.cpp"]) is None


@pytest.mark.cc
def test_a_compilation_is_announced_once(tmp_path, monkeypatch):
    heard = []
    monkeypatch.setattr(native, "announce", heard.append)
    source = tmp_path / "some.cpp"
    source.write_text('extern "C" int some_number() { return 3; }\n')
    options = replace(resolve_options(), cache_dir=tmp_path / "cache")
    for _ in range(2):
        monkeypatch.setattr(native, "_libraries", {})
        native.native_library("some", [source], options)
    assert heard == ["some"]


@pytest.mark.cc
def test_the_text_decides(tmp_path):
    source = tmp_path / "some.cpp"
    library = tmp_path / f"_some{sysconfig.get_config_var('EXT_SUFFIX')}"
    source.write_text('extern "C" const char *const dcpy_some_text = DCPY_TEXT;\n')
    compiler = find_toolchain(resolve_options().cpu.compiler).command
    text = f'-DDCPY_TEXT="{digest([source])}"'
    subprocess.run([*compiler, "-shared", "-fPIC", text, str(source), "-o", str(library)], check=True)
    assert native.built_in("some", [source]) is not None
    source.write_text("// changed\n")
    assert native.built_in("some", [source]) is None
