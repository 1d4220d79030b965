"""Compilers, limits, records and folders that go wrong otherwise than by an error of the code: each says what it is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dcpy.base.errors import ToolchainError
from dcpy.codegen.artifact import ScalarResult, Signature
from dcpy.runtime.compilers.toolchain import find_toolchain
from dcpy.runtime.loading.load import load, recall
from dcpy.runtime.storage.cache import read_sealed, write_sealed
from tests.runtime.handwritten import artifact_of, dispatcher_for, options_in

pytestmark = pytest.mark.cc

ROOT = Path(__file__).parents[2]
SEVEN = artifact_of(Signature("seven", (), (), (ScalarResult("int64"),), 0), "*RESULT(int64_t, 0) = 7;")
EIGHT = artifact_of(Signature("eight", (), (), (ScalarResult("int64"),), 0), "*RESULT(int64_t, 0) = 8;")


def compiler(folder: Path, compiles: str) -> str:
    """A script that says which version it is, and does something else where it is to compile."""
    script = folder / "strange-c++"
    script.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "strange \\377 1" && exit 0\n{compiles}\n')
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize(
    ("compiles", "message"),
    [
        (r'printf "seven.cpp:1:1: error: no \377\n"; exit 1', r"compiler failed: error: no \\xff"),
        ("exit 0", r"reported success, but wrote no program.cpp.o(.|\n)*DCPY_CPU_COMPILER"),
        ('for last; do :; done; : > "$last"', "reported success, but wrote no program.cpp.o"),
        ("kill -9 $$", "was ended by SIGKILL(.|\n)*memory"),
    ],
)
def test_compilers_that_speak_no_utf8_write_nothing_or_are_ended(tmp_path, compiles, message):
    with pytest.raises(ToolchainError, match=message):
        load(SEVEN, options_in(tmp_path, cpu__compiler=compiler(tmp_path, compiles)))


LIMITED = """
import resource, sys
from tests.runtime.handwritten import options_in
from tests.runtime.test_hostile_compilers import SEVEN
from dcpy.runtime.loading.load import load
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    load(SEVEN, options_in(sys.argv[1]))
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("most", ["10", "4000"])
def test_a_limit_to_the_size_of_files_is_named(tmp_path, most):
    command = [sys.executable, "-c", LIMITED, str(tmp_path), most]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said.startswith("CacheError")
    assert f"{most} bytes is the limit" in said
    assert "ulimit -f" in said


@pytest.mark.parametrize("key", ["../../other", "f" * 31, 5, None, ["f"]])
def test_a_record_with_a_key_that_is_none_is_no_record(tmp_path, key):
    options = options_in(tmp_path)
    load(SEVEN, options, program_key="seven")
    (record,) = (tmp_path / "v1/records").iterdir()
    write_sealed(record, json.dumps({**json.loads(read_sealed(record) or ""), "key": key}))
    assert recall("seven", options) is None


def test_a_record_with_the_key_of_another_program_is_no_record(tmp_path):
    options = options_in(tmp_path)
    load(SEVEN, options, program_key="seven")
    (record,) = (tmp_path / "v1/records").iterdir()
    other = load(EIGHT, options)
    write_sealed(record, json.dumps({**json.loads(read_sealed(record) or ""), "key": other.key}))
    assert recall("seven", options) is None
    assert dispatcher_for(load(SEVEN, options, program_key="seven"))() == 7
    assert recall("seven", options) is not None


NOEXEC = """
mount -t tmpfs -o noexec,mode=700 tmpfs "$1" && exec "$2" -c '
import sys
from tests.runtime.handwritten import options_in
from tests.runtime.test_hostile_compilers import SEVEN
from dcpy.base.errors import CacheError
from dcpy.runtime.loading.load import load
try:
    load(SEVEN, options_in(sys.argv[1]))
except CacheError as error:
    print(error)
' "$1"
"""


def test_a_cache_folder_whose_files_cannot_be_run_is_named(tmp_path):
    words = ["unshare", "--map-root-user", "--mount", "sh", "-c", NOEXEC, "sh", str(tmp_path), sys.executable]
    if shutil.which("unshare") is None or subprocess.run([*words[:3], "true"], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "file system whose files cannot be run (noexec)" in done.stdout, done.stderr
    assert "DCPY_CACHE_DIR" in done.stdout


def test_a_version_that_is_no_utf8_is_a_version(tmp_path):
    assert find_toolchain(compiler(tmp_path, "exit 1")).version == r"strange \xff 1"
