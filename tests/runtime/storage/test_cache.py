"""The cache under threads, processes, crashes, damage, and folders that cannot be used."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from dcpy.base.errors import CacheError
from dcpy.codegen.artifact import ScalarResult, Signature
from dcpy.runtime.compilers.toolchain import find_toolchain
from dcpy.runtime.loading.load import load, recall
from dcpy.runtime.storage import cache as cache_module
from dcpy.runtime.storage import folder_ownership
from dcpy.runtime.storage.cache import Cache, read_sealed, write_sealed
from tests.runtime.handwritten import artifact_of, dispatcher_for, options_in

pytestmark = pytest.mark.cc

ROOT = Path(__file__).parents[3]
SEVEN = artifact_of(Signature("seven", (), (), (ScalarResult("int64"),), 0), "*RESULT(int64_t, 0) = 7;")

EIGHT_THREADS = """
import sys, threading
from tests.runtime.handwritten import dispatcher_for, options_in
from tests.runtime.storage.test_cache import SEVEN
from dcpy.runtime.loading.load import load
options = options_in(sys.argv[1], cpu__compiler=sys.argv[2])
barrier = threading.Barrier(8)
def work():
    barrier.wait()
    values.append(dispatcher_for(load(SEVEN, options))())
values = []
threads = [threading.Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
assert values == [7] * 8, values
"""


def slow_compiler(folder: Path) -> Path:
    """Writes a line to ``calls`` per compilation; sleeps in it while the file ``slow`` exists."""
    script = folder / "slow-c++"
    script.write_text(
        f"""#!/bin/sh
case "$*" in *" -c "*) echo compile >> {folder}/calls; [ -e {folder}/slow ] && sleep 30;; esac
exec {find_toolchain().command[0]} "$@"
"""
    )
    script.chmod(0o755)
    return script


def start(program: str, *arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True)


def test_two_processes_with_eight_threads_each_compile_once(tmp_path):
    compiler = slow_compiler(tmp_path)
    processes = [start(EIGHT_THREADS, tmp_path / "cache", compiler) for _ in range(2)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert (tmp_path / "calls").read_text().splitlines() == ["compile"]
    assert list((tmp_path / "cache/v1/building").iterdir()) == []


def test_a_process_killed_while_compiling_leaves_nothing_behind(tmp_path):
    compiler = slow_compiler(tmp_path)
    (tmp_path / "slow").touch()
    victim = start(EIGHT_THREADS, tmp_path / "cache", compiler)
    deadline = time.monotonic() + 60
    while not (tmp_path / "calls").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    victim.kill()
    victim.wait()
    assert len(list((tmp_path / "cache/v1/building").iterdir())) == 1
    (tmp_path / "slow").unlink()
    options = options_in(tmp_path / "cache", cpu__compiler=str(compiler))
    loaded = load(SEVEN, options)  # while the orphaned compiler still runs
    os.killpg(victim.pid, signal.SIGKILL)
    assert dispatcher_for(loaded)() == 7
    assert list((tmp_path / "cache/v1/building").iterdir()) == []


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    replace(path, bytes(content))


def truncate(path: Path) -> None:
    replace(path, path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    replace(path, b"")


def replace(path: Path, content: bytes) -> None:
    """As a new file: this process may have the old one in memory."""
    path.unlink()
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [flip_a_byte, truncate, empty, Path.unlink])
@pytest.mark.parametrize("name", ["program.so", "manifest"])
def test_damaged_entries_are_built_again(tmp_path, damage, name):
    options = options_in(tmp_path)
    first = load(SEVEN, options, program_key="seven")
    damage(Path(first.path).with_name(name))
    assert recall("seven", options) is None
    again = load(SEVEN, options)
    assert not again.was_cached
    assert dispatcher_for(again)() == 7
    assert load(SEVEN, options).was_cached


@pytest.mark.parametrize("damage", [flip_a_byte, truncate, empty, Path.unlink])
def test_damaged_records_are_not_believed(tmp_path, damage):
    options = options_in(tmp_path)
    load(SEVEN, options, program_key="seven")
    (record,) = (tmp_path / "v1/records").iterdir()
    damage(record)
    assert recall("seven", options) is None


def refuse_to_write(monkeypatch, folder: Path, code: int) -> None:
    """As a read-only or full file system does; permissions alone do not stop root."""

    def refusing(original):
        def checked(path, *args, **kwargs):
            if str(folder) in str(kwargs.get("dir", path)):
                raise OSError(code, os.strerror(code))
            return original(path, *args, **kwargs) if path is not None else original(*args, **kwargs)

        return checked

    monkeypatch.setattr(os, "mkdir", refusing(os.mkdir))
    monkeypatch.setattr(cache_module, "write_sealed", refusing(write_sealed))


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_folder_that_cannot_be_written_is_replaced_with_one_warning(tmp_path, monkeypatch, code):
    refuse_to_write(monkeypatch, tmp_path / "cache", code)
    options = options_in(tmp_path / "cache")
    with pytest.warns(RuntimeWarning, match=f"cannot be written \\({os.strerror(code)}\\)"):
        loaded = load(SEVEN, options)
    assert dispatcher_for(loaded)() == 7
    assert not loaded.path.startswith(str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(SEVEN, options).was_cached


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "cache").write_text("")
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        assert dispatcher_for(load(SEVEN, options_in(tmp_path / "cache")))() == 7


def test_a_read_only_cache_serves_what_it_holds(tmp_path, monkeypatch):
    options = options_in(tmp_path)
    load(SEVEN, options)
    refuse_to_write(monkeypatch, tmp_path, errno.EROFS)
    assert load(SEVEN, options).was_cached


def test_a_disk_that_fills_up_while_compiling(tmp_path):
    compiler = tmp_path / "full-c++"
    full = f'echo "cc1plus: fatal error: {os.strerror(errno.ENOSPC)}"; exit 1'
    real = find_toolchain().command[0]
    compiler.write_text(f'#!/bin/sh\ncase "$PWD" in */cache/*) {full};; esac\nexec {real} "$@"\n')
    compiler.chmod(0o755)
    with pytest.warns(RuntimeWarning, match=os.strerror(errno.ENOSPC)):
        assert dispatcher_for(load(SEVEN, options_in(tmp_path / "cache", cpu__compiler=str(compiler))))() == 7
    compiler.write_text(f"#!/bin/sh\n[ $1 = --version ] && exec {real} $1\n{full}\n")
    eight = artifact_of(SEVEN.signature, "*RESULT(int64_t, 0) = 8;")
    with pytest.raises(CacheError, match="no folder for compiled programs can be written"):
        load(eight, options_in(tmp_path / "cache", cpu__compiler=str(compiler)))


def test_folders_of_others_are_refused(tmp_path, monkeypatch):
    load(SEVEN, options_in(tmp_path))
    (tmp_path / "v1").chmod(0o777)
    with pytest.raises(CacheError, match=r"can be written by others(.|\n)*chmod 700"):
        load(SEVEN, options_in(tmp_path))
    (tmp_path / "v1").chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(CacheError, match="belongs to user"):
        load(SEVEN, options_in(tmp_path))


def test_the_folder_is_private(tmp_path):
    load(SEVEN, options_in(tmp_path / "cache"))
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "cache/v1").stat().st_mode & 0o777 == 0o700


def test_listing_and_clearing(tmp_path):
    cache = Cache(tmp_path)
    assert (cache.entries(), cache.size(), cache.clear()) == ([], 0, 0)
    loaded = load(SEVEN, options_in(tmp_path))
    eight = artifact_of(SEVEN.signature, "*RESULT(int64_t, 0) = 8;")
    load(eight, options_in(tmp_path), program_key="eight")
    assert [entry.name for entry in cache.entries()] == ["seven", "seven"]
    assert cache.entries()[0].key == loaded.key
    assert cache.size() == sum(entry.size for entry in cache.entries()) > 1000
    assert cache.clear() == 2
    assert (cache.entries(), recall("eight", options_in(tmp_path))) == ([], None)
    assert dispatcher_for(loaded)() == 7
    assert not load(SEVEN, options_in(tmp_path)).was_cached


def test_sealed_files_are_all_or_nothing(tmp_path):
    path = tmp_path / "file"
    assert read_sealed(path) is None
    write_sealed(path, "first\nsecond")
    assert read_sealed(path) == "first\nsecond"
    path.write_bytes(b"\xff\xfe")
    assert read_sealed(path) is None
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_s6_folders_around_the_cache_are_trusted_or_refused(tmp_path, depth):
    """S6: a parent that everybody may write to, and that is not sticky, lets others put their programs in place."""
    cache = tmp_path / "a" / "b" / "cache"
    parent = (tmp_path / "a", tmp_path / "a" / "b", cache)[depth]
    load(SEVEN, options_in(cache))
    parent.chmod(0o777)
    with pytest.raises(CacheError, match=r"can be written by others(.|\n)*DCPY_CACHE_DIR"):
        load(SEVEN, options_in(cache))
    parent.chmod(0o1777)  # sticky, as /tmp is: nobody else can rename what lies in it
    assert dispatcher_for(load(SEVEN, options_in(cache)))() == 7


def test_s6_a_cache_is_not_made_where_others_may_replace_it(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(CacheError, match="around the cache can be written by others"):
        load(SEVEN, options_in(tmp_path / "open" / "cache"))
    assert not (tmp_path / "open" / "cache" / "v1").exists()


def test_s6_links_to_the_cache_are_followed(tmp_path):
    (tmp_path / "open").mkdir()
    load(SEVEN, options_in(tmp_path / "open" / "cache"))
    (tmp_path / "link").symlink_to(tmp_path / "open")
    assert dispatcher_for(load(SEVEN, options_in(tmp_path / "link" / "cache")))() == 7
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(CacheError, match="can be written by others"):
        load(SEVEN, options_in(tmp_path / "link" / "cache"))


@pytest.mark.parametrize("inside", ["programs", "records"])
def test_s6_folders_in_the_cache_are_private(tmp_path, inside):
    load(SEVEN, options_in(tmp_path))
    (tmp_path / "v1" / inside).chmod(0o770)
    with pytest.raises(CacheError, match=rf"{inside} can be written by others"):
        load(SEVEN, options_in(tmp_path))


def test_s6_parents_of_others_are_refused(tmp_path, monkeypatch):
    load(SEVEN, options_in(tmp_path))
    mine = os.lstat
    foreign = os.stat_result((*mine(tmp_path)[:4], 4321, *mine(tmp_path)[5:]))
    parent = str(tmp_path.parent)
    monkeypatch.setattr(folder_ownership.os, "lstat", lambda path: foreign if str(path) == parent else mine(path))
    with pytest.raises(CacheError, match=r"around the cache belongs to user 4321(.|\n)*DCPY_CACHE_DIR"):
        load(SEVEN, options_in(tmp_path))


def test_s6_new_parents_are_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        load(SEVEN, options_in(tmp_path / "deep" / "cache"))
    finally:
        os.umask(before)
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700
