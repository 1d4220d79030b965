"""What `pip install .` compiles with: what this Python was built with, else clang++ of the system, else a wheel's."""

import runpy
import shlex
import sys
from pathlib import Path

import pytest
import setuptools

ROOT = Path(__file__).parents[2]
ZIG = [sys.executable, "-m", "ziglang", "c++"]


@pytest.mark.parametrize(
    ("tools", "variable", "command", "required"),
    [
        ((), None, ZIG, ["ziglang"]),
        (("clang++",), None, ["clang++"], []),
        (("clang++", "g++"), "missing-c++ -m64", ["g++"], []),
        (("mine",), "mine -m64", [], []),
    ],
)
def test_the_compiler_of_the_build(monkeypatch, tmp_path, tools, variable, command, required):
    for tool in tools:
        (tmp_path / tool).write_text("#!/bin/sh\n")
        (tmp_path / tool).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: "no-such-compiler -pthread")
    if variable is None:
        monkeypatch.delenv("CXX", raising=False)
    else:
        monkeypatch.setenv("CXX", variable)
    described = {}
    monkeypatch.setattr(setuptools, "setup", lambda **keywords: described.update(keywords))
    monkeypatch.chdir(ROOT)
    module = runpy.run_path("setup.py")
    assert module["other_compiler"]() == command
    assert described["setup_requires"] == required


def test_the_options_of_the_configured_compiler_are_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(setuptools, "setup", lambda **keywords: None)
    monkeypatch.chdir(ROOT)
    build = runpy.run_path("setup.py")["BuildNative"](setuptools.Distribution())
    build.extensions = []
    build.compiler = type("Compiler", (), {"compiler_so": ["gcc", "-fPIC"], "linker_so": ["gcc", "-shared"]})()
    build.build_temp = str(tmp_path / "made")
    build.build_extensions()
    script = tmp_path / "made" / "c++"
    assert build.compiler.compiler_so == [str(script), "-fPIC"]
    assert build.compiler.linker_so == [str(script), "-shared"]
    assert script.read_text() == f'#!/bin/sh\nexec {shlex.join(ZIG)} "$@"\n'
