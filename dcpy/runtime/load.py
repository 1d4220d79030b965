"""From an `Artifact` to addresses of machine code: from memory, from the cache, or by compiling.

Read build.py and cache.py first. `load` takes an artifact; `recall` takes the driver's own key for a whole program, so
that a warm start need not generate code at all.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from dcpy.base.errors import CacheError, ToolchainError
from dcpy.base.options import DeviceType, Options
from dcpy.codegen.artifact import Artifact, Signature
from dcpy.runtime.cache import UNUSABLE, Cache, stand_in
from dcpy.runtime.records import read_record, write_record
from dcpy.runtime.toolchain import Toolchain, cpu_id, find_toolchain, toolchains_for


@dataclass(frozen=True, slots=True)
class Loaded:
    """A program in memory. `entry` and `results` are the addresses of its two functions (codegen/artifact.py)."""

    signature: Signature
    entry: int
    results: int
    path: str  # of the shared library
    key: str
    seconds_compiling: float  # 0 where nothing was compiled
    was_cached: bool
    library: Any = field(repr=False, compare=False)  # keeps the code in memory
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)  # what the driver has remembered with it


def load(
    artifact: Artifact,
    options: Options,
    *,
    program_key: str = "",
    extra: Mapping[str, Any] | None = None,
    codes: Sequence[CodeType] = (),
) -> Loaded:
    """Build `artifact` unless it has been built before, and load it.

    With `program_key`, anything that stands for the whole way to this artifact except options and toolchain, the
    signature and `extra` (JSON) are remembered for `recall`. `codes` are the functions that the program was made of.
    Raises `ToolchainError` and `CacheError`.
    """
    cache = Cache(options.cache_dir)
    toolchain = find_toolchain(options.cpu.compiler, cache.toolchains)
    key = artifact.key(_context(options, toolchain))
    path, seconds = _find_or_build(cache, artifact, key, toolchain, options)
    if program_key:
        record = cache.records / _record_name(program_key, options, toolchain)
        write_record(record, key, artifact.signature, extra or {}, codes)
    files = [code.co_filename for code in codes] or [span.file for unit in artifact.units for _, span in unit.places]
    cache.note_use(key, files[:1])
    return _open(path, artifact.signature, key, seconds, extra or {})


def library_of(artifact: Artifact, options: Options) -> Path:
    """The library of an artifact that is no program: built unless it has been before. Raises as `load`."""
    cache = Cache(options.cache_dir)
    toolchain = find_toolchain(options.cpu.compiler, cache.toolchains)
    return _find_or_build(cache, artifact, artifact.key(_context(options, toolchain)), toolchain, options)[0]


def recall(program_key: str, options: Options, codes: Sequence[CodeType] = ()) -> Loaded | None:
    """What `load` has remembered under `program_key`, these options and this toolchain; None where there is nothing.

    `codes` are the functions that the key stands for, in the order of those that `load` was given.
    """
    cache = Cache(options.cache_dir)
    toolchain = find_toolchain(options.cpu.compiler, cache.toolchains)
    record = read_record(cache.records / _record_name(program_key, options, toolchain), codes)
    path = None if record is None else cache.find(record.key)
    if record is None or path is None:
        return None
    cache.note_use(record.key, [code.co_filename for code in codes[:1]])
    return _open(path, record.signature, record.key, 0.0, record.extra)


def _context(options: Options, toolchain: Toolchain) -> tuple[str, ...]:
    """What else decides the machine code: options, compiler, and the processor where the code is made for it."""
    native = any(flag.endswith("=native") for flag in options.cpu.flags)
    device = () if options.device is DeviceType.CPU else (options.device.value, repr(options.gpu))
    return (repr(options.cpu), *toolchain.command, toolchain.id, cpu_id() if native else "", *device)


def _record_name(program_key: str, options: Options, toolchain: Toolchain) -> str:
    return hashlib.sha256(repr((program_key, _context(options, toolchain))).encode()).hexdigest()[:32]


def _find_or_build(
    cache: Cache, artifact: Artifact, key: str, toolchain: Toolchain, options: Options
) -> tuple[Path, float]:
    """The library, and the seconds spent compiling it."""
    found = cache.find(key)
    if found is not None:
        return found, 0.0
    try:
        return _build(cache, artifact, key, toolchain, options)
    except OSError as error:
        if error.errno not in UNUSABLE:
            raise
        cause = error
    try:
        return _build(stand_in(options.cache_dir, cause), artifact, key, toolchain, options)
    except OSError as error:
        raise CacheError(
            f"no folder for compiled programs can be written: {error.strerror}",
            notes=(f"the cache folder {options.cache_dir}: {cause.strerror}",),
            help="name a folder with free space in DCPY_CACHE_DIR",
        ) from error


def _build(cache: Cache, artifact: Artifact, key: str, toolchain: Toolchain, options: Options) -> tuple[Path, float]:
    from dcpy.runtime.build import build  # late: a warm start compiles nothing

    toolchains = toolchains_for(artifact.languages, toolchain)
    start = time.perf_counter()
    path, built = cache.make(
        key,
        artifact.signature.name,
        lambda folder: build(artifact, folder, toolchains, options.cpu, kept_at=cache.failed(key)),
    )
    return path, time.perf_counter() - start if built else 0.0


_libraries: dict[tuple[str, int], ctypes.CDLL] = {}
_opening = threading.Lock()


def _open(path: Path, signature: Signature, key: str, seconds: float, extra: Mapping[str, Any]) -> Loaded:
    library = _open_library(path)
    try:
        entry, results = (
            ctypes.cast(getattr(library, f"{signature.name}_{part}"), ctypes.c_void_p).value or 0
            for part in ("entry", "results")
        )
    except AttributeError as error:
        raise ToolchainError(f"the compiled program lacks a function: {error}", notes=(f"library: {path}",)) from error
    return Loaded(signature, entry, results, str(path), key, seconds, seconds == 0, library, extra)


def _open_library(path: Path) -> ctypes.CDLL:
    """One handle per library and process. Its symbols stay its own (RTLD_LOCAL): every program has an `entry`."""
    identity = (str(path), os.stat(path).st_ino)
    with _opening:
        if identity not in _libraries:
            try:
                with _short_spins():
                    _libraries[identity] = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
            except OSError as error:
                raise ToolchainError(
                    f"a compiled program cannot be loaded: {error}",
                    help="a library it was linked with has moved or is gone; `dcpy doctor` shows what is found",
                ) from error
            _survive_forks(_libraries[identity])
        return _libraries[identity]


SPINS = b"5000"  # some 50 microseconds: longer than from one parallel map to the next, much shorter than a time slice


@contextlib.contextmanager
def _short_spins() -> Iterator[None]:
    """GNU OpenMP, if it is loaded inside, lets idle threads spin briefly, unless the user has said how they shall wait.

    Its own choice is milliseconds: where other processes want the processors too, threads then wait for each other's
    time slices (docs/decisions/0013). It reads its environment once, when it is loaded.
    """
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    if any(libc.getenv(name) for name in (b"GOMP_SPINCOUNT", b"OMP_WAIT_POLICY")):
        yield
        return
    libc.setenv(b"GOMP_SPINCOUNT", SPINS, 1)
    try:
        yield
    finally:
        libc.unsetenv(b"GOMP_SPINCOUNT")


_forks_survived: list[ctypes.CDLL] = []


def _survive_forks(library: ctypes.CDLL) -> None:
    """A forked child has no copies of OpenMP's threads, and would wait for them for ever: it uses one thread.

    Only the thread that forked: what the child starts gets threads of its own. Called with `_opening` held.
    """
    if not _forks_survived and hasattr(library, "omp_set_num_threads"):
        _forks_survived.append(library)
        os.register_at_fork(after_in_child=lambda: library.omp_set_num_threads(1))
