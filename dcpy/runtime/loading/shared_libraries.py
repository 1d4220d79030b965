"""Shared libraries: found in the cache or built into it, and opened once in a process."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path

from dcpy.base.errors import CacheError, ToolchainError
from dcpy.base.options import Options
from dcpy.codegen.artifact import Artifact
from dcpy.runtime._dispatch import lend_sorts, share_pool
from dcpy.runtime.compilers.toolchain import Toolchains, cpu_id, find_toolchain, toolchains_for
from dcpy.runtime.loading.unloading import address_of, unload_with_last_holder
from dcpy.runtime.storage.cache import LIBRARY, UNUSABLE, Cache, stand_in

Compilers = Callable[[], Toolchains]  #: asked where something is built
Beside = Callable[[Path, Path], object]  #: leaves more files in the folder of a program: that, and where it is kept


def library_of(artifact: Artifact, options: Options, on_build: Callable[[], object] = lambda: None) -> Path:
    """The library of an artifact that is no program: built unless it has been before, after a call of `on_build`.

    Raises as `load`.
    """
    cache = Cache(options.cache_dir)
    toolchain = find_toolchain(options.cpu.compiler, cache.toolchains)
    key = artifact.key((repr(options.cpu), *toolchain.command, toolchain.id, cpu_id()))

    def compilers() -> Toolchains:
        on_build()
        return toolchains_for(artifact.languages, toolchain)

    return find_or_build(cache, artifact, key, compilers, options)[0]


def find_or_build(
    cache: Cache, artifact: Artifact, key: str, compilers: Compilers, options: Options, beside: Beside | None = None
) -> tuple[Path, float]:
    """The library, and the seconds spent compiling it; `beside` runs meanwhile.

    Raises `ToolchainError` and `CacheError`.
    """
    found = cache.find(key)
    if found is not None:
        return found, 0.0
    try:
        return _build(cache, artifact, key, compilers, options, beside)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise _files_are_limited() from error
        if error.errno not in UNUSABLE:
            raise
        cause = error
    try:
        return _build(stand_in(options.cache_dir, cause), artifact, key, compilers, options, beside)
    except OSError as error:
        raise CacheError(
            f"no folder for compiled programs can be written: {error.strerror}",
            notes=(f"the cache folder {options.cache_dir}: {cause.strerror}",),
            help="name a folder with free space in DCPY_CACHE_DIR",
        ) from error


def _files_are_limited() -> CacheError:
    import resource

    most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return CacheError(
        f"a compiled program is larger than files may be: {most} bytes is the limit of this process",
        help="raise the limit: ulimit -f unlimited",
    )


def _build(
    cache: Cache, artifact: Artifact, key: str, compilers: Compilers, options: Options, beside: Beside | None
) -> tuple[Path, float]:
    from dcpy.runtime.compilers.build import build  # late: a warm start compiles nothing

    toolchains = compilers()
    start = time.perf_counter()
    kept_at = cache.failed(key)

    def make(folder: Path) -> None:
        with _meanwhile(beside, folder, kept_at):
            build(artifact, folder, toolchains, options.cpu, kept_at=kept_at)

    path, built = cache.make(key, artifact.signature.name, make)
    return path, time.perf_counter() - start if built else 0.0


def place_library(cache: Cache, key: str, name: str, content: bytes, options: Options) -> Path:
    """Put a library that was built elsewhere into the cache, or where there is place. Raises `CacheError`."""

    def write(folder: Path) -> None:
        (folder / LIBRARY).write_bytes(content)

    try:
        return cache.make(key, name, write)[0]
    except OSError as error:
        if error.errno not in UNUSABLE:
            raise
        return stand_in(options.cache_dir, error).make(key, name, write)[0]


@contextlib.contextmanager
def _meanwhile(work: Beside | None, folder: Path, kept_at: Path) -> Iterator[None]:
    """Run `work` in a thread beside the body; its errors are raised when both have ended."""
    if work is None:
        yield
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work, folder, kept_at)
        yield
        future.result()


_libraries: MutableMapping[tuple[str, int, tuple[object, ...]], ctypes.CDLL] = weakref.WeakValueDictionary()
_staying: list[ctypes.CDLL] = []
_opening = threading.RLock()
# a child of a fork has only the thread that forked: no thread would release what another one holds
os.register_at_fork(before=_opening.acquire, after_in_child=_opening.release, after_in_parent=_opening.release)


def open_library(path: Path, settings: tuple[object, ...] = (), *, program: str = "") -> ctypes.CDLL:
    """One handle per library, settings and process. Symbols stay its own (RTLD_LOCAL): every program has an `entry`.

    What programs with other settings keep in their variables is not shared: they get a copy of the library. That of a
    `program`, given by the name of its functions, is unloaded when the handle is gone; all others stay.
    """
    identity = (str(path), os.stat(path).st_ino, settings)
    with _opening:
        library = _libraries.get(identity)
        if library is None:
            taken = any(known[:2] == identity[:2] for known in _libraries)
            library = _libraries[identity] = _opened(path, taken)
            _survive_forks(library)
            share_pool(library._handle)
            lend_sorts(library._handle)
            if not program or not unload_with_last_holder(library, f"{program}_exit"):
                _staying.append(library)
        return library


def _opened(path: Path, taken: bool) -> ctypes.CDLL:
    """The library, or a copy where it is `taken`. Raises `ToolchainError` and `CacheError`."""
    try:
        with _short_spins(), _copied(path) if taken else contextlib.nullcontext(path) as file:
            library = ctypes.CDLL(str(file), mode=os.RTLD_NOW | os.RTLD_LOCAL)
            _read_environment(library)
            return library
    except OSError as error:
        if os.statvfs(path).f_flag & os.ST_NOEXEC:
            raise CacheError(
                f"the cache folder {path.parent} is on a file system whose files cannot be run (noexec)",
                help="name a folder elsewhere in DCPY_CACHE_DIR",
            ) from error
        raise ToolchainError(
            f"a compiled program cannot be loaded: {error}",
            help="a library it was linked with has moved or is gone; `dcpy doctor` shows what is found",
        ) from error


@contextlib.contextmanager
def _copied(path: Path) -> Iterator[Path]:
    """A copy to load: it may be gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copyfile(path, Path(folder) / path.name))


SPINS = b"5000"  # 50 to 300 microseconds: longer than from one parallel map to the next, much shorter than a time slice
BLOCKTIME = b"50us"  # the same for LLVM's threads; libraries before LLVM 18 know no microseconds, and would say so
POLLS = b"17"  # of workers that OpenBLAS makes, and does not need: a power of two of processor cycles, 50 microseconds


@contextlib.contextmanager
def _short_spins() -> Iterator[None]:
    """Libraries that are loaded inside let idle threads spin briefly, unless the user has said how they shall wait.

    The choice of GNU OpenMP is some milliseconds, that of OpenBLAS a tenth of a second, that of LLVM's two: where
    others want the processors too, threads then wait for each other's time slices (docs/decisions/0013, 0125). All read
    their environment once, when they are loaded (LLVM's when it is first called).
    """
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    chosen = [
        (name, value)
        for name, value, said in (
            (b"GOMP_SPINCOUNT", SPINS, (b"GOMP_SPINCOUNT", b"OMP_WAIT_POLICY")),
            (b"KMP_BLOCKTIME", BLOCKTIME, (b"KMP_BLOCKTIME", b"OMP_WAIT_POLICY")),
            (b"KMP_WARNINGS", b"0", (b"KMP_WARNINGS", b"KMP_BLOCKTIME", b"OMP_WAIT_POLICY")),
            (b"OPENBLAS_THREAD_TIMEOUT", POLLS, (b"OPENBLAS_THREAD_TIMEOUT",)),
        )
        if not any(libc.getenv(word) for word in said)
    ]
    for name, value in chosen:
        libc.setenv(name, value, 1)
    try:
        yield
    finally:
        for name, _ in chosen:
            libc.unsetenv(name)


def _read_environment(library: ctypes.CDLL) -> None:
    if address_of(library, "kmp_set_blocktime"):
        ctypes.CFUNCTYPE(ctypes.c_int)(address_of(library, "omp_get_max_threads"))()


_forks_survived: set[int] = set()


def _survive_forks(library: ctypes.CDLL) -> None:
    """A forked child has no copies of OpenMP's threads, and would wait for them for ever: it uses one thread.

    Only the thread that forked: what the child starts gets threads of its own. Programs of g++ and of clang have an
    OpenMP each, which stays when programs are unloaded. Called with `_opening` held.
    """
    address = address_of(library, "omp_set_num_threads")
    if address and address not in _forks_survived:
        _forks_survived.add(address)
        set_threads = ctypes.CFUNCTYPE(None, ctypes.c_int)(address)
        os.register_at_fork(after_in_child=lambda: set_threads(1))
