"""A dispatcher that is missing, or older than its sources, is refused by an import, with the command that builds it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dcpy.runtime import _dispatch
from dcpy.runtime.native_sources import digest, dispatcher_sources, require_built, require_current


def test_the_dispatcher_is_of_these_sources():
    assert digest(dispatcher_sources()) == _dispatch.SOURCES
    require_current(Path(_dispatch.__file__), _dispatch.SOURCES, dispatcher_sources())


def test_newer_sources_ask_for_a_build(tmp_path):
    built, source = tmp_path / "built.so", tmp_path / "one.cpp"
    built.write_text(""), source.write_text("int one;")
    text = digest([source])
    os.utime(built, ns=(1, 1))
    require_current(built, text, [source])  # newer, and the same
    source.write_text("int two;")
    with pytest.raises(ImportError, match=r"older sources.*pip install -e \."):
        require_current(built, text, [source])


def test_without_sources_nothing_is_compared(tmp_path):
    built = tmp_path / "built.so"
    built.write_text("")
    require_current(built, "", [])


def test_a_clone_whose_native_part_is_not_built_says_so(tmp_path):
    package = Path(_dispatch.__file__).parents[1]
    (tmp_path / "dcpy" / "runtime").mkdir(parents=True)
    for folder in (package, package / "runtime"):
        for entry in folder.iterdir():
            if entry.name != "runtime" and entry.suffix != ".so":
                (tmp_path / "dcpy" / entry.relative_to(package)).symlink_to(entry)
    words = [sys.executable, "-c", "import dcpy.runtime"]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": ""}, cwd=tmp_path, capture_output=True, text=True)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    message = f"dcpy was imported from {tmp_path}, where its native part is not built for Python {version}; build"
    assert f"ImportError: {message}" in done.stderr
    assert "`pip install -e .`" in done.stderr
    assert "_dispatch" not in done.stderr.splitlines()[-1]


def test_a_native_part_that_is_there_is_not_reported_missing(tmp_path):
    require_built("dcpy.runtime._dispatch", tmp_path)
    with pytest.raises(ImportError, match="native part is not built") as caught:
        require_built("dcpy.runtime._no_such_module", tmp_path)
    assert caught.value.name == "dcpy.runtime._no_such_module"
