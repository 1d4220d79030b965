"""Compiled programs on disk, keyed by content: safe for threads, processes and a crash at any moment.

    v1/                     private to the user (0700); a folder of another user is refused
      programs/<key>/       one compiled program: program.so, its generated files, manifest, and used-by (Python files)
      records/<key>         what a program key stands for (records.py)
      building/<key>.*/     half-made entries; an entry appears in programs/ by one rename, or not at all
      failed/<key>/         generated files that the compiler refused, kept to be looked at
      locks/<key>           locked while an entry is made; the system unlocks it when a process dies
      toolchains.json       compiler versions (toolchain.py)

An entry is used only where the digests in its manifest are those of its library, and of the machine code for devices
beside it; any other entry is made again.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dcpy.base.errors import CacheError
from dcpy.runtime.storage.folder_ownership import problem_around, problem_of

LAYOUT = "v1"
MANIFEST = "manifest"
LIBRARY = "program.so"
FOR_DEVICES = ("*.cubin", "*.ptx", "*.hsaco", "resources.json")  # what lies beside the library of a program for GPUs
USED_BY = "used-by"
MOST_USERS = 100  # files that are noted for one program: temporary ones never end
FULL = {errno.ENOSPC, errno.EDQUOT}
UNUSABLE = FULL | {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST, errno.ENOENT}
NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}


@dataclass(frozen=True, slots=True)
class CachedProgram:
    """One compiled program: its key, the name of the program, its size in bytes, when it was made (Unix time).

    `used_by`: the Python files that hold the program, or have held it. They all share the entry.
    """

    key: str
    name: str
    size: int
    created: float
    used_by: tuple[str, ...] = ()


class Cache:
    """The cache in one folder. Finding needs no writing, so a cache on read-only media serves what it holds."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.root = self.folder / LAYOUT
        self.programs = self.root / "programs"
        self.records = self.root / "records"
        self.toolchains = self.root / "toolchains.json"
        if not self.root.exists():
            with contextlib.suppress(OSError):  # `make` says so, where it matters
                self._prepare()
        self._check_owner()

    def find(self, key: str) -> Path | None:
        """The library of `key`; None where there is none, or a damaged one."""
        folder = self.programs / key
        manifest = read_sealed(folder / MANIFEST)
        if manifest is None:
            return None
        digest, _, *others = manifest.split("\n")
        with contextlib.suppress(OSError):
            if digest == _digest(folder / LIBRARY) and all(line == _line(folder / line[65:]) for line in others):
                return folder / LIBRARY
        return None

    def make(self, key: str, name: str, build: Callable[[Path], object]) -> tuple[Path, bool]:
        """The library of `key`, and whether this call has built it: one of many callers does, the others wait.

        `build` writes `LIBRARY` and anything else into the folder it is given; when it raises, the folder is kept in
        ``failed/``. Raises `OSError` where the cache cannot be written.
        """
        self._prepare()
        with self._lock(key):
            found = self.find(key)
            if found is not None:
                return found, False
            for stale in (self.root / "building").glob(f"{key}.*"):
                shutil.rmtree(stale, ignore_errors=True)
            folder = Path(tempfile.mkdtemp(prefix=f"{key}.", dir=self.root / "building"))
            try:
                build(folder)
                others = sorted(_line(file) for pattern in FOR_DEVICES for file in folder.glob(pattern))
                write_sealed(folder / MANIFEST, "\n".join((_digest(folder / LIBRARY), name, *others)))
            except BaseException as error:
                self._give_up(folder, key, keep=isinstance(error, Exception) and not isinstance(error, OSError))
                raise
            _replace_folder(folder, self.programs / key)
        return self.programs / key / LIBRARY, True

    def failed(self, key: str) -> Path:
        """Return the folder of the generated files of `key` that do not compile."""
        return self.root / "failed" / key

    def note_use(self, key: str, files: Iterable[str]) -> None:
        """Notes that a program of these Python files is the one of `key`, for `entries`. Best effort."""
        with contextlib.suppress(OSError, UnicodeError):
            path = self.programs / key / USED_BY
            known = _users(path)
            new = [file for file in files if file not in known and file.isprintable()]
            if new and len(known) < MOST_USERS:
                with open(path, "a", encoding="utf-8") as notes:
                    notes.write("".join(f"{file}\n" for file in new))

    def entries(self) -> list[CachedProgram]:
        """Return the entries of the cache, oldest first."""
        found = []
        for folder in self.programs.glob("*"):
            manifest = read_sealed(folder / MANIFEST)
            with contextlib.suppress(OSError):
                facts = [file.stat() for file in folder.iterdir()]
                name = manifest.split("\n")[1] if manifest else "(damaged)"
                made = min((fact.st_mtime for fact in facts), default=folder.stat().st_mtime)
                size = sum(fact.st_size for fact in facts)
                found.append(CachedProgram(folder.name, name, size, made, tuple(_users(folder / USED_BY))))
        return sorted(found, key=lambda entry: (entry.created, entry.key))

    def size(self) -> int:
        """Bytes of all entries."""
        return sum(entry.size for entry in self.entries())

    def clear(self) -> int:
        """Delete every entry and record; how many programs there were. Programs in use go on running."""
        entries = self.entries()
        for entry in entries:
            with self._lock(entry.key):
                shutil.rmtree(self.programs / entry.key, ignore_errors=True)
                (self.root / "locks" / entry.key).unlink(missing_ok=True)
        shutil.rmtree(self.records, ignore_errors=True)
        shutil.rmtree(self.root / "failed", ignore_errors=True)
        return len(entries)

    def _prepare(self) -> None:
        for folder in (*reversed(self.folder.parents), self.folder):  # `parents=True` would give those any mode
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        self._check_owner()  # before anything is put there
        for folder in (self.root, self.programs, self.records, self.root / "building", self.root / "locks"):
            folder.mkdir(mode=0o700, exist_ok=True)
        self._check_owner()

    def _check_owner(self) -> None:
        for folder in (self.root, self.programs, self.records):
            if problem := problem_of(folder):
                raise _untrusted(folder, problem, f"delete it, or chmod 700 {folder}")
        around = problem_around(self.root)
        if around is not None:
            folder, problem = around
            place = f"the folder {folder} around the cache"
            raise _untrusted(folder, problem, f"chmod go-w {folder}, if it is yours", place=place)

    @contextlib.contextmanager
    def _lock(self, key: str) -> Iterator[None]:
        """Exclusive among threads and processes; released by the system when the process dies."""
        path = self.root / "locks" / key
        with _thread_lock(str(path)):
            handle = _open_locked(path)
            try:
                yield
            finally:
                os.close(handle)

    def _give_up(self, folder: Path, key: str, *, keep: bool) -> None:
        with contextlib.suppress(OSError):
            if keep:
                self.failed(key).parent.mkdir(mode=0o700, exist_ok=True)
                shutil.rmtree(self.failed(key), ignore_errors=True)
                folder.rename(self.failed(key))
        shutil.rmtree(folder, ignore_errors=True)


def _untrusted(folder: Path, problem: str, repair: str, *, place: str = "") -> CacheError:
    return CacheError(
        f"{place or f'the cache folder {folder}'} {problem}",
        notes=("write access to that folder is the right to run programs as you",),
        help=f"{repair}, or name another cache folder in DCPY_CACHE_DIR",
    )


_thread_locks: dict[str, threading.Lock] = {}


def _thread_lock(path: str) -> threading.Lock:
    return _thread_locks.setdefault(path, threading.Lock())


def _open_locked(path: Path) -> int:
    """The locked file; opened again where it was deleted in between (`Cache.clear`)."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno in NO_LOCKS:
                return handle  # a file system without locks: two processes may both build; the rename stays atomic
            os.close(handle)
            raise
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _replace_folder(new: Path, place: Path) -> None:
    """Put `new` at `place`, where there is nothing or a damaged entry."""
    if place.exists():
        place.rename(new.with_name(f"{new.name}.old"))
    new.rename(place)
    shutil.rmtree(new.with_name(f"{new.name}.old"), ignore_errors=True)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _line(file: Path) -> str:
    """A line of a manifest: ``digest name``."""
    return f"{_digest(file)} {file.name}"


def _users(path: Path) -> list[str]:
    """The files noted, each once: several processes may have noted the same."""
    try:
        return list(dict.fromkeys(path.read_text("utf-8").splitlines()))
    except (FileNotFoundError, UnicodeError):
        return []


def write_sealed(path: Path, text: str) -> None:
    """Write `text` with its digest by atomic rename: a reader sees all of it, or none."""
    handle, partial = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "w") as file:
            file.write(f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        raise


def read_sealed(path: Path) -> str | None:
    """The text, or None where there is none or it is not what was written."""
    try:
        digest, _, text = path.read_text().partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return text if digest == hashlib.sha256(text.encode()).hexdigest() else None


_stand_ins: dict[str, str] = {}


def stand_in(folder: str, why: OSError) -> Cache:
    """A private folder for the rest of this process, where `folder` cannot be written; warns once."""
    if folder not in _stand_ins:
        _stand_ins[folder] = tempfile.mkdtemp(prefix="dcpy-")
        atexit.register(shutil.rmtree, _stand_ins[folder], ignore_errors=True)
        warnings.warn(
            f"the cache folder {folder} cannot be written ({why.strerror}): what is compiled now is lost when this"
            " process ends; name another folder in DCPY_CACHE_DIR",
            RuntimeWarning,
            stacklevel=2,
        )
    return Cache(_stand_ins[folder])
