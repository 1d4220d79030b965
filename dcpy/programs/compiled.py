"""What a call is compiled to: machine code with its guards, and the keys under which the cache remembers it.

`specializations` makes these for a function; `tuning` makes more of them for calls of certain sizes.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy import __version__
from dcpy.base.options import Options
from dcpy.codegen.signature import linear
from dcpy.frontend.fingerprint import Fingerprint
from dcpy.frontend.specialize.records import Parts
from dcpy.programs.guards import Guards, Source, guards_of, source_of_array
from dcpy.programs.signatures import Convention, signature_of_call
from dcpy.programs.versions import SPECULATIVE, Version
from dcpy.runtime.arguments import conditions_hold
from dcpy.runtime.dispatch import encode
from dcpy.runtime.load import Loaded, recall

if TYPE_CHECKING:
    from dcpy.codegen.artifact import Signature
    from dcpy.frontend.lower.lowered import Lowered

MAX_TUNED = 64  # versions of one pattern of calls, each for some sizes


@dataclass(frozen=True)
class Request:
    """What a call asks for: the names of its values, these taken apart, and the version that is next for such calls.

    `there` are the paths of arguments that are in the memory of a device.
    """

    names: tuple[str, ...]
    parts: Parts
    there: tuple[str, ...]
    version: Version


@dataclass(frozen=True)
class ProgramKeys:
    """What stands for the whole way from source to artifact, and what the function depends on.

    `exact` is for the types of a call, `tuned` for the same types of any sizes. Both are "" where nothing does: then a
    program is compiled in each process. `codes` are the functions that it consists of.
    """

    exact: str = ""
    tuned: str = ""
    known: Fingerprint = field(default_factory=Fingerprint)
    codes: Sequence[CodeType] = ()


@dataclass(frozen=True)
class Compiled:
    """One specialization: machine code, and the objects that must still be what they were when it was made.

    `arrays` are the global arrays that it was made for; each call passes those that it finds at `closure`.
    `callbacks` are the Python functions that it calls, by name.
    """

    loaded: Loaded
    guards: Guards
    closure: tuple[Source, ...] = ()
    arrays: tuple[Any, ...] = ()
    callbacks: Mapping[str, Any] = field(default_factory=dict)
    shown: Signature | None = None  # with the names that the user knows
    precedence: int = 0  # of versions that fit a call, the one with the highest serves it

    @property
    def described(self) -> Signature:
        """The signature for messages."""
        return self.shown or self.loaded.signature

    def encoded(self) -> tuple[object, ...]:
        """What the dispatcher takes."""
        made = self.loaded
        return encode(
            made.signature, made.entry, made.results, closure=self.closure, guards=self.guards, keepalive=made.library,
            callbacks=self.callbacks, device=made.device, on_stream=made.on_stream, notes=made.notes,
            precedence=self.precedence,
        )  # fmt: skip


@dataclass(frozen=True)
class Call:
    """How a lowered function is called: its signature, where closure values come from, and the guards."""

    signature: Signature
    described: Signature
    closure: tuple[Source, ...]
    arrays: tuple[Any, ...]
    callbacks: Mapping[str, Any]
    guards: Guards

    def compiled(self, loaded: Loaded) -> Compiled:
        """With the machine code."""
        return Compiled(loaded, self.guards, self.closure, self.arrays, self.callbacks, self.described)


def call_of(lowered: Lowered, names: Sequence[str]) -> Call:
    """How a function of these parameters is called, of which this was made."""
    convention = Convention.of(lowered, names)
    signature, sources = signature_of_call(lowered.sdfg, convention)
    signature = replace(signature, unless=tuple(map(linear, lowered.unless)))
    extra = lowered.extra_arguments
    closure = (*sources, *map(source_of_array, extra))
    arrays = tuple(one.array for one in extra)
    described = convention.described(signature)
    return Call(signature, described, closure, arrays, lowered.sdfg.callbacks, guards_of(lowered))


@functools.cache
def compiler_identity() -> str:
    """What this dcpy is: its version, the state of its files, which changes while it is being worked on, and when a
    package was installed last beside it: libraries that appear or disappear (FFTW, MKL) change what nodes become."""
    installed = Path(sysconfig.get_path("purelib")).stat().st_mtime_ns
    text = repr([installed, *sorted(_states(str(Path(__file__).parents[1])))])
    return f"{__version__}-{np.__version__}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _states(folder: str, prefix: str = "") -> Iterator[tuple[str, int, int]]:
    """Name, size and time of what dcpy consists of. Without `pathlib`: a warm start waits for hundreds of them."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".h", ".j2", ".so")):
                found = entry.stat()
                yield prefix + entry.name, found.st_size, found.st_mtime_ns
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _states(entry.path, f"{prefix}{entry.name}/")


def recalled(
    key: str, version: Version, values: tuple[Any, ...], options: Options, codes: Sequence[CodeType]
) -> tuple[Loaded | None, str]:
    """The version in the cache that fits this call; else None, and the key under which to remember a new one.

    Programs of one key differ in what they assume of sizes.
    """
    for number in range(SPECULATIVE) if version.speculates else (SPECULATIVE,):
        one = numbered(key, number)
        loaded = recall(one, options, codes)
        if loaded is None:
            return None, one
        if conditions_hold(loaded.signature, values):
            return loaded, one
    return None, ""


def tuned_versions(key: str, options: Options, codes: Sequence[CodeType]) -> list[Loaded]:
    """The versions that the cache has under a key of tuned ones, in the order in which they were remembered."""
    found: list[Loaded] = []
    while len(found) < MAX_TUNED:
        loaded = recall(numbered(key, len(found)), options, codes)
        if loaded is None:
            break
        found.append(loaded)
    return found


def numbered(key: str, number: int) -> str:
    """The key of one of several versions."""
    return f"{key} #{number}"
