"""Compiled calls: machine code with its guards, and the keys under which the cache remembers it.

`specializer` makes these for a function; `local_search` makes more of them for calls of certain sizes.
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
from dcpy.frontend.introspection.fingerprint import Fingerprint
from dcpy.frontend.specialize.record_arguments import Parts
from dcpy.programs.signatures import Convention, signature_of_call
from dcpy.programs.specialization.guards import Guards, Source, guards_of, source_of_array
from dcpy.programs.specialization.size_versions import SPECULATIVE, Version
from dcpy.runtime.calls.argument_errors import conditions_hold
from dcpy.runtime.dispatch import encode
from dcpy.runtime.loading.load import Loaded, recall

if TYPE_CHECKING:
    from dcpy.codegen.artifact import Signature
    from dcpy.frontend.lower.lowering_result import Lowered

MAX_TUNED = 64  # versions of one pattern of calls, each for some sizes


@dataclass(frozen=True)
class CallRequest:
    """Request of a call: the names of its values, these taken apart, and the version that is next for such calls.

    `device_arguments` are the paths of arguments that are in the memory of a device.
    """

    names: tuple[str, ...]
    parts: Parts
    device_arguments: tuple[str, ...]
    version: Version


@dataclass(frozen=True)
class ProgramKeys:
    """Keys for the whole way from source to artifact, and the dependences of the function.

    `exact` is for the types of a call, `tuned` for the same types of any sizes. Both are "" where nothing does: then a
    program is compiled in each process. `codes` are the functions that it consists of.
    """

    exact: str = ""
    tuned: str = ""
    fingerprint: Fingerprint = field(default_factory=Fingerprint)
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
    user_signature: Signature | None = None  # with the names that the user knows
    precedence: int = 0  # of versions that fit a call, the one with the highest serves it

    @property
    def described(self) -> Signature:
        """The signature for messages."""
        return self.user_signature or self.loaded.signature

    def encoded(self) -> tuple[object, ...]:
        """Return the program in the form that the dispatcher takes."""
        made = self.loaded
        return encode(
            made.signature, made.entry, made.results, closure=self.closure, guards=self.guards, keepalive=made.library,
            callbacks=self.callbacks, device=made.device, on_stream=made.on_stream, notes=made.notes,
            precedence=self.precedence,
        )  # fmt: skip


@dataclass(frozen=True)
class CallingInformation:
    """Calling information of a lowered function: its signature, the sources of closure values, and the guards."""

    signature: Signature
    described: Signature
    closure: tuple[Source, ...]
    arrays: tuple[Any, ...]
    callbacks: Mapping[str, Any]
    guards: Guards

    def compiled(self, loaded: Loaded) -> Compiled:
        """The call with the machine code."""
        return Compiled(loaded, self.guards, self.closure, self.arrays, self.callbacks, self.described)


def call_of(lowered: Lowered, names: Sequence[str]) -> CallingInformation:
    """Return how to call a lowered function with these parameters."""
    convention = Convention.of(lowered, names)
    signature, sources = signature_of_call(lowered.sdfg, convention)
    signature = replace(signature, better_if=tuple(map(linear, lowered.better_if)))
    extra = lowered.extra_arguments
    closure = (*sources, *map(source_of_array, extra))
    arrays = tuple(one.array for one in extra)
    described = convention.described(signature)
    return CallingInformation(signature, described, closure, arrays, lowered.sdfg.callbacks, guards_of(lowered))


@functools.cache
def compiler_identity() -> str:
    """Return an identity of this dcpy: its version, the state of its files, and the time of the last installation.

    Files change while dcpy is being developed. Libraries that appear or disappear (FFTW, MKL) change what nodes become.
    """
    installed = Path(sysconfig.get_path("purelib")).stat().st_mtime_ns
    text = repr([installed, *sorted(_states(str(Path(__file__).parents[2])))])
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
