"""Loading: from an `Artifact` to addresses of machine code, from memory, from the cache, or by compiling.

Read build.py, cache.py and shared_libraries.py first. `load` takes an artifact; `recall` takes the driver's own key
for a whole program, so that a warm start need not generate code at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from dcpy.base.errors import ToolchainError
from dcpy.base.options import Options
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import DEVICE, Artifact, Signature
from dcpy.runtime.compilers.toolchain import Toolchain, Toolchains, cpu_id, find_toolchain, toolchains_for
from dcpy.runtime.loading.devices import KERNELS, LIBRARIES, BuiltProgram, runtime_of
from dcpy.runtime.loading.shared_libraries import Compilers, find_or_build
from dcpy.runtime.loading.unloading import address_of
from dcpy.runtime.storage.cache import Cache
from dcpy.runtime.storage.records import read_record, write_record
from dcpy.runtime.storage.relative_spans import placed, relative_to

PLACES = "kernel_places"  # under which are remembered the lines of kernels that come from others of Python


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
    device: Any = field(default=None, repr=False, compare=False)  # that kernels run on (runtime.gpu), if there are
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)  # what the driver has remembered with it
    on_stream: int = 0  # the address of NAME_on_stream, where arguments are in the memory of a device
    notes: Callable[[str], Sequence[str]] | None = field(default=None, repr=False, compare=False)  # on a failed check


class MissingFunction(ToolchainError):
    """A library is not that of the program that was looked for."""


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
    compilers = _compilers(artifact, options, toolchain)
    beside = runtime_of(options).build_beside(artifact, options)
    path, seconds = find_or_build(cache, artifact, key, compilers, options, beside)
    remembered = dict(extra or {})
    if artifact.kernels:
        remembered[KERNELS] = [kernel.name for kernel in artifact.kernels]
        found = ((line, relative_to(codes, span)) for line, span in artifact.kernel_places)
        remembered[PLACES] = [(line, *place) for line, place in found if place is not None]
    if vendors := [found.name for found in artifact.environments if found.runtime]:
        remembered[LIBRARIES] = vendors
    if program_key:
        record = cache.records / _record_name(program_key, options, toolchain)
        write_record(record, key, artifact.signature, remembered, codes)
    files = [code.co_filename for code in codes] or [span.file for unit in artifact.units for _, span in unit.places]
    cache.note_use(key, files[:1])
    return _open(path, artifact.signature, key, seconds, remembered, options, artifact.kernel_places)


def recall(program_key: str, options: Options, codes: Sequence[CodeType] = ()) -> Loaded | None:
    """Return what `load` stored under `program_key`, these options and this toolchain; None without an entry.

    `codes` are the functions that the key stands for, in the order of those that `load` was given.
    """
    cache = Cache(options.cache_dir)
    toolchain = find_toolchain(options.cpu.compiler, cache.toolchains)
    record = read_record(cache.records / _record_name(program_key, options, toolchain), codes)
    path = None if record is None else cache.find(record.key)
    if record is None or path is None:
        return None
    cache.note_use(record.key, [code.co_filename for code in codes[:1]])
    places = [(line, placed(codes, place)) for line, *place in record.extra.get(PLACES, ())]
    try:
        return _open(path, record.signature, record.key, 0.0, record.extra, options, places)
    except MissingFunction:
        return None  # the record stands for another program: `load` writes it again


def open_built(path: Path, key: str, signature: Signature, extra: Mapping[str, Any], options: Options) -> Loaded:
    """Open a library that another process has built. Raises `ToolchainError`."""
    return _open(path, signature, key, 0.0, extra, options, ())


def _context(options: Options, toolchain: Toolchain) -> tuple[str, ...]:
    """Return the other inputs of the machine code: options, compiler, and the processor if the code is for it."""
    native = any(flag.endswith("=native") for flag in options.cpu.flags)
    plain = (repr(options.cpu), *toolchain.command, toolchain.id, cpu_id() if native else "")
    return (*plain, *map(repr, options.added), *runtime_of(options).context(options))


def _compilers(artifact: Artifact, options: Options, toolchain: Toolchain) -> Compilers:
    """Return a function that finds the compilers of an artifact's languages when they are needed."""

    return lambda: toolchains_of(artifact, options, toolchain)


def toolchains_of(artifact: Artifact, options: Options, toolchain: Toolchain) -> Toolchains:
    """A compiler for each language of an artifact that the host's compiler takes."""
    known = toolchains_for([name for name in artifact.languages if name != DEVICE], toolchain)
    return {**known, **runtime_of(options).compilers(options, toolchain)}


def _record_name(program_key: str, options: Options, toolchain: Toolchain) -> str:
    """The name of a record. What was measured of the processor may decide what a program of this key becomes."""
    measured = runtime_of(options).measured(options)
    told = (program_key, _context(options, toolchain), *filter(None, (measured,)))
    return hashlib.sha256(repr(told).encode()).hexdigest()[:32]


def _open(
    path: Path,
    signature: Signature,
    key: str,
    seconds: float,
    extra: Mapping[str, Any],
    options: Options,
    places: Sequence[tuple[int, SrcSpan]],
) -> Loaded:
    opened = runtime_of(options).open(BuiltProgram(path, signature, extra, options, places))
    library, device, notes = opened.library, opened.device, opened.notes
    names = ("entry", "results", "on_stream") if signature.on_device else ("entry", "results")
    addresses = [address_of(library, f"{signature.name}_{name}") for name in names]
    if 0 in addresses:
        lacking = f"{signature.name}_{names[addresses.index(0)]}"
        raise MissingFunction(f"the compiled program lacks a function: {lacking}", notes=(f"library: {path}",))
    entry, results, on_stream = (*addresses, 0)[:3]
    return Loaded(
        signature, entry, results, str(path), key, seconds, seconds == 0, library, device, extra, on_stream, notes
    )
