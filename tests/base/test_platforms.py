"""The systems that dcpy runs on: what is linked on macOS, and that Windows is refused when dcpy is imported."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dcpy.base.library_environment import Environment
from dcpy.base.platforms import HERE, LINUX, MACOS, MACOS_ON_ARM, platform_named, refuse_windows
from dcpy.codegen.artifact import Signature
from dcpy.libraries.fft import environments as fft
from dcpy.runtime.compilers import build
from dcpy.runtime.loading import bundling
from tests.runtime.handwritten import artifact_of


def test_platforms_by_name():
    assert platform_named("linux", "x86_64") is LINUX
    assert platform_named("darwin", "arm64") is MACOS_ON_ARM
    assert platform_named("darwin", "x86_64") is MACOS
    assert platform_named(sys.platform, "x86_64").suffix == HERE.suffix


def test_windows_is_refused_at_import():
    program = "import sys; sys.platform = 'win32'; import dcpy"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "ImportError: dcpy does not run on Windows: install it in WSL" in done.stderr
    with pytest.raises(ImportError, match="WSL"):
        refuse_windows("cygwin")


def test_files_are_linked_by_their_paths_on_macos(tmp_path, monkeypatch):
    (tmp_path / "libfftw3.3.dylib").write_text("")
    monkeypatch.setattr(fft, "HERE", MACOS_ON_ARM)
    assert fft._library(tmp_path, "libfftw3") == "libfftw3.3.dylib"
    found = Environment("fftw", libraries=(":libfftw3.3.dylib", "m"), library_dirs=("/nowhere", str(tmp_path)))
    assert build._linked(":libfftw3.3.dylib", found, MACOS_ON_ARM) == str(tmp_path / "libfftw3.3.dylib")
    assert build._linked(":libfftw3.so.3", found, LINUX) == "-l:libfftw3.so.3"
    assert build._linked("m", found, MACOS_ON_ARM) == "-lm"
    monkeypatch.setattr(build, "HERE", MACOS_ON_ARM)
    assert "-Wl,--as-needed" not in build.link_flags(artifact_of(Signature("none", ()), ""))


OTOOL = """#!/bin/sh
echo "$2:"
case "$2" in
*program.dylib) printf '\\t@rpath/libprogram.dylib (c)\\n\\t@rpath/libblas.dylib (c)\\n\\t/usr/lib/libS.dylib (c)\\n' ;;
*) printf '\\t@loader_path/libgfortran.5.dylib (c)\\n\\t/usr/lib/libSystem.B.dylib (c)\\n' ;;
esac
"""


def test_what_a_library_needs_on_macos(tmp_path, monkeypatch):
    """By a stand-in for ``otool``, which prints what macOS's does."""
    (tmp_path / "otool").write_text(OTOOL)
    (tmp_path / "otool").chmod(0o755)
    folder = tmp_path / "lib"
    folder.mkdir()
    for name in ("libblas.dylib", "libgfortran.5.dylib", "libother.dylib"):
        (folder / name).write_text("")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(bundling, "HERE", replace(MACOS, suffix=".dylib"))
    found = bundling.needed_libraries(Path("program.dylib"), [Environment("blas", library_dirs=(str(folder),))])
    assert found == {name: folder / name for name in ("libblas.dylib", "libgfortran.5.dylib")}
