"""From an `Artifact` to addresses of machine code: from memory, from the cache, or by compiling.

Read build.py, cache.py and libraries.py first. `load` takes an artifact; `recall` takes the driver's own key for a
whole program, so that a warm start need not generate code at all.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from dcpy.base.errors import ToolchainError
from dcpy.base.options import DeviceType, FpgaMode, Options
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import DEVICE, Artifact, Signature
from dcpy.runtime.cache import Cache
from dcpy.runtime.libraries import Beside, Compilers, find_or_build, open_library
from dcpy.runtime.processors import mark
from dcpy.runtime.records import read_record, write_record
from dcpy.runtime.relative_places import placed, relative_to
from dcpy.runtime.toolchain import Toolchain, Toolchains, cpu_id, find_toolchain, toolchains_for

KERNELS = "kernels"  # under which the names of a program's kernels are remembered
LIBRARIES = "libraries"  # and those of the device's vendor that it calls
PLACES = "kernel_places"  # and the lines of their text that come from others of Python


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
    device: Any = field(default=None, repr=False, compare=False)  # that kernels run on (runtime.devices), if there are
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
    compilers, beside = _compilers(artifact, options, toolchain), _beside(artifact, options)
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
    places = [(line, placed(codes, place)) for line, *place in record.extra.get(PLACES, ())]
    try:
        return _open(path, record.signature, record.key, 0.0, record.extra, options, places)
    except MissingFunction:
        return None  # the record stands for another program: `load` writes it again


def open_built(path: Path, key: str, signature: Signature, extra: Mapping[str, Any], options: Options) -> Loaded:
    """What is known of a library that another process has built. Raises `ToolchainError`."""
    return _open(path, signature, key, 0.0, extra, options, ())


def _context(options: Options, toolchain: Toolchain) -> tuple[str, ...]:
    """What else decides the machine code: options, compiler, and the processor where the code is made for it."""
    native = any(flag.endswith("=native") for flag in options.cpu.flags)
    plain = (repr(options.cpu), *toolchain.command, toolchain.id, cpu_id() if native else "")
    if options.device is DeviceType.FPGA:
        return (*plain, repr(options.fpga))
    if options.device is not DeviceType.GPU:
        return plain
    from dcpy.runtime.devices import opening  # late: programs for CPUs load nothing of it

    return (*plain, *opening.context(options))


def _compilers(artifact: Artifact, options: Options, toolchain: Toolchain) -> Compilers:
    """What compiles each language of an artifact, asked when it is needed."""

    return lambda: toolchains_of(artifact, options, toolchain)


def toolchains_of(artifact: Artifact, options: Options, toolchain: Toolchain) -> Toolchains:
    """A compiler for each language of an artifact that the host's compiler takes."""
    known = toolchains_for([name for name in artifact.languages if name != DEVICE], toolchain)
    if options.device is not DeviceType.GPU:
        return known
    from dcpy.runtime.devices import opening

    return {**known, **opening.compilers(options, toolchain)}


def _beside(artifact: Artifact, options: Options) -> Beside | None:
    """What compiles kernels where that is not the host's compiler."""
    if options.device is not DeviceType.GPU:
        return None
    from dcpy.runtime.devices import opening

    return opening.device_build(artifact, options)


def _reach_board(library: ctypes.CDLL, name: str, options: Options) -> None:
    """Opens the board that the kernels of a program for FPGAs run on, unless they are simulated."""
    if options.device is not DeviceType.FPGA or options.fpga.mode is FpgaMode.SIMULATE:
        return
    from dcpy.runtime import boards  # late: programs for CPUs load nothing of it

    boards.attach(library, name, options.fpga)


def _notes(library: ctypes.CDLL, name: str, options: Options) -> Callable[[str], Sequence[str]] | None:
    """What is there to say about a failed check, by its message: simulated hardware draws who waits for whom."""
    if options.device is not DeviceType.FPGA or options.fpga.mode is not FpgaMode.SIMULATE:
        return None
    from dcpy.runtime import simulation  # late: programs for CPUs load nothing of it

    return functools.partial(simulation.circle, library, name)


def _record_name(program_key: str, options: Options, toolchain: Toolchain) -> str:
    """Of a record. What was measured of the processor may decide what a program of this key becomes."""
    measured = mark(Cache(options.cache_dir)) if options.device is DeviceType.CPU else ""
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
    if options.device is DeviceType.GPU:
        from dcpy.runtime.devices import opening

        library = open_library(path, opening.settings_of(options))
        names, libraries = extra.get(KERNELS, ()), extra.get(LIBRARIES, ())
        device = opening.attach(library, path.parent, signature.name, names, options, places, libraries)
        opening.note_deferred(library, signature, device)
    else:
        library, device = open_library(path), None
        _reach_board(library, signature.name, options)
    try:
        names = ("entry", "results", "on_stream") if signature.on_device else ("entry", "results")
        addresses = [ctypes.cast(getattr(library, f"{signature.name}_{part}"), ctypes.c_void_p).value for part in names]
        entry, results, on_stream = (address or 0 for address in (*addresses, 0)[:3])
    except AttributeError as error:
        raise MissingFunction(f"the compiled program lacks a function: {error}", notes=(f"library: {path}",)) from error
    notes = _notes(library, signature.name, options)
    return Loaded(
        signature, entry, results, str(path), key, seconds, seconds == 0, library, device, extra, on_stream, notes
    )
