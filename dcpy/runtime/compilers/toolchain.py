"""The C++ compiler: finding it, naming its version, and the machine it compiles for.

The version of a compiler is read once, and remembered in a small file beside the cache, under the path,
size and modification time of its executable, so that a warm start runs no process. Compiling is build.py's business.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import shlex
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from dcpy.base.errors import ToolchainError
from dcpy.base.installation import install_extra
from dcpy.runtime.compilers.openmp_flags import GNU, OpenMP, find_llvm_openmp, has_threads, is_there
from dcpy.runtime.compilers.zig import FAMILY, PACKAGE, command_of_zig, is_zig

CANDIDATES = ("g++", "clang++")
VERSIONS = range(40, 11, -1)  # names as clang++-19, which is all that some systems have; the newest is taken
INSTALL = (
    "install one: apt install g++ (Debian, Ubuntu), dnf install gcc-c++ (Fedora), xcode-select --install (macOS), "
    f"or without root {install_extra('compiler')}; or name one in DCPY_CPU_COMPILER"
)


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A compiler of one language: the words of its command, and what it says about itself."""

    command: tuple[str, ...]
    family: str  # "gcc", "clang", or "zig": a clang with a C library of its own
    version: str  # the first line of --version
    openmp: OpenMP = GNU
    mode: tuple[str, ...] = ()  # the words that make the command compile another language than its own

    @property
    def compile(self) -> tuple[str, ...]:
        """The words that compile a file of its language."""
        return (*self.command, *self.mode)

    @property
    def id(self) -> str:
        """Identity of the compiler for cache keys."""
        threads = "" if self.openmp == GNU else f", {self.openmp.id}"
        return f"{self.family}: {self.version}{threads}"


def find_toolchain(compiler: str = "auto", memory: Path | None = None) -> Toolchain:
    """The compiler that `compiler` names (an executable with options, as in ``CXX``).

    ``auto``: the first on PATH; where there is none, Zig's, if this Python has it. `memory` is the file in which
    versions are remembered. Raises `ToolchainError`.
    """
    command = _locate(compiler)
    stamp = _stamp(command)
    remembered = _read(memory).get(stamp)
    if remembered is not None and is_there(remembered[2]):
        return Toolchain(command, *remembered)
    toolchain = _ask(command)
    if memory is not None:
        _write(memory, {**_read(memory), stamp: (toolchain.family, toolchain.version, toolchain.openmp)})
    return toolchain


#: for each language that units are written in: what makes the C++ compiler take it
MODES: dict[str, tuple[str, ...]] = {"C++": (), "C": ("-x", "c")}
Toolchains = Mapping[str, Toolchain]  #: by language


def toolchains_for(languages: Iterable[str], host: Toolchain) -> Toolchains:
    """A compiler for each of these languages, of the family of the host's; `ToolchainError` where there is none."""
    found = {}
    for language in languages:
        if language not in MODES:
            known = f"there are those of {', '.join(MODES)}"
            raise ToolchainError(f"no compiler of {language} is known", notes=(known,))
        found[language] = replace(host, mode=MODES[language])
    return found


def supports_openmp(toolchain: Toolchain) -> bool:
    """Return whether programs with threads can be compiled and linked; runs the compiler, for `dcpy doctor`."""
    return has_threads(toolchain.command, toolchain.openmp)


def candidates() -> tuple[str, ...]:
    """The names that compilers are looked for under, the preferred ones first."""
    return (*CANDIDATES, *(f"{name}-{version}" for name in CANDIDATES for version in VERSIONS))


def _locate(compiler: str) -> tuple[str, ...]:
    if compiler == "auto":
        found = next(filter(None, map(shutil.which, candidates())), None)
        if found is not None:
            return (found,)
        if packaged := command_of_zig():
            return packaged
        missing = (f"PATH has no {' and no '.join(CANDIDATES)}, and this Python no package {PACKAGE}",)
        raise ToolchainError("no C++ compiler found", notes=missing, help=INSTALL)
    words = shlex.split(compiler)
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise ToolchainError(f"the C++ compiler {compiler!r} is not found, or is not executable", help=INSTALL)
    return (found, *words[1:])


def _stamp(command: tuple[str, ...]) -> str:
    """A text that changes whenever an executable among the words does (``ccache g++`` has two)."""
    parts = []
    for word in command:
        path = shutil.which(word)
        facts = os.stat(path) if path else None
        parts.append(f"{word} {facts.st_mtime_ns} {facts.st_size}" if facts else word)
    return " ".join(parts)


def _ask(command: tuple[str, ...]) -> Toolchain:
    import subprocess  # late: a warm start needs no processes

    try:
        words = [*command, "--version"]
        answer = subprocess.run(
            words, capture_output=True, encoding="utf-8", errors="backslashreplace", check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolchainError(f"{shlex.join(command)} --version failed: {error}", help=INSTALL) from error
    version = answer.stdout.partition("\n")[0].strip()
    if "clang" not in answer.stdout.lower():
        return Toolchain(command, "gcc", version)
    family = FAMILY if is_zig(command) else "clang"
    return Toolchain(command, family, version, find_llvm_openmp(command, version))


Known = tuple[str, str, OpenMP]  #: of a compiler: its family, version and OpenMP


def _read(memory: Path | None) -> dict[str, Known]:
    try:
        known = json.loads(memory.read_text()) if memory is not None else {}
        return {
            str(stamp): (str(family), str(version), OpenMP(tuple(map(str, compiling)), tuple(map(str, linking))))
            for stamp, (family, version, (compiling, linking)) in known.items()
        }
    except (OSError, ValueError, AttributeError, TypeError):
        return {}  # unreadable: the version is read again


def _write(memory: Path, known: dict[str, Known]) -> None:
    told = {stamp: (family, version, astuple(openmp)) for stamp, (family, version, openmp) in known.items()}
    partial = memory.with_name(f"{memory.name}.{os.getpid()}")
    try:
        partial.write_text(json.dumps(told, indent=1))
        os.replace(partial, memory)
    except OSError:
        return  # a read-only cache: asked again next time


@functools.cache
def cpu_id() -> str:
    """The processor as ``-march=native`` sees it: machine code for one must not be run on another."""
    try:
        with open("/proc/cpuinfo") as file:
            first = file.read(65536).partition("\n\n")[0].splitlines()
    except OSError:
        first = [platform.processor()]
    telling = [
        line for line in first if line.startswith(("model name", "flags", "Features", "CPU part")) or ":" not in line
    ]
    return hashlib.sha256("\n".join([platform.machine(), *telling]).encode()).hexdigest()[:16]
