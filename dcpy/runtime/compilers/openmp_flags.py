"""OpenMP flags and libraries: what makes threads when a compiler compiles and links, and where LLVM's library lies.

g++ brings its library along. clang calls LLVM's, which is a package of its own, and may be of another version: it is
looked for beside the compiler, in the folders that the linker knows, and in those of Python and Homebrew. Without it,
loops that teams divide run on one thread; loops of vectors need no library. Which share of a loop a thread has is
computed by a unit of our own (include/team_shares.cpp says why).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dcpy.codegen.artifact import Unit
from dcpy.runtime.compilers.zig import WITHOUT_CPP, is_zig

SHARES = Path(__file__).parents[2] / "codegen" / "include" / "team_shares.cpp"
DIVIDED = "-fopenmp"  #: the flag of an artifact that has threads
FILES = ("libomp.so", "libomp.dylib", "libomp.so.5", "libiomp5.so", "libiomp5.dylib")
HOMEBREW = ("/opt/homebrew/opt/libomp/lib", "/usr/local/opt/libomp/lib")
PROGRAM = "int main() { int n = 0;\n#pragma omp parallel reduction(+ : n)\n    n++;\n    return n < 1; }\n"
SECONDS = 60  # for a compiler to answer


@dataclass(frozen=True, slots=True)
class OpenMP:
    """Flags in place of ``-fopenmp`` for compiling and for linking; without any: no threads."""

    compile: tuple[str, ...] = (DIVIDED,)
    link: tuple[str, ...] = (DIVIDED,)

    @property
    def units(self) -> tuple[Unit, ...]:
        """Units that are compiled and linked with a program that has threads."""
        return (_shares(),) if self not in (GNU, NONE) else ()

    @property
    def id(self) -> str:
        """Identity for cache keys."""
        digests = (hashlib.sha256(unit.text.encode()).hexdigest()[:16] for unit in self.units)
        return " ".join((*self.link, *digests)) or "one thread"

    def __bool__(self) -> bool:
        return bool(self.compile)


@cache
def _shares() -> Unit:
    return Unit(SHARES.name, SHARES.read_text(), "C++", ("-std=c++17",))


GNU = OpenMP()
NONE = OpenMP((), ())


def find_llvm_openmp(command: Sequence[str], version: str) -> OpenMP:
    """The OpenMP of a clang: the first library found with which a program compiles and links."""
    words = ("-Xclang", DIVIDED) if version.startswith("Apple") else (DIVIDED,)
    for file in _libraries(command):
        found = OpenMP(words, (str(file), f"-Wl,-rpath,{file.parent}"))
        if has_threads(command, found):
            return found
    return NONE


def is_there(openmp: OpenMP) -> bool:
    """Return whether a remembered OpenMP can still be linked with."""
    return bool(openmp) and all(os.path.exists(word) for word in openmp.link if not word.startswith("-"))


def has_threads(command: Sequence[str], openmp: OpenMP) -> bool:
    """Return whether programs with threads compile and link; runs the compiler."""
    import tempfile  # late, as subprocess: a warm start needs neither

    with contextlib.suppress(OSError), tempfile.TemporaryDirectory() as folder:  # the next build reports a full disk
        source, object_, program = (Path(folder, name) for name in ("program.cpp", "program.o", "program"))
        source.write_text(PROGRAM)
        compiling = [*command, *openmp.compile, "-c", str(source), "-o", str(object_)]
        plain = [WITHOUT_CPP] if is_zig(command) else []
        linking = [*command, str(object_), *openmp.link, *plain, "-o", str(program)]
        return bool(openmp) and all(_runs(words) for words in (compiling, linking)) and program.exists()
    return False


def _runs(words: Sequence[str]) -> bool:
    import subprocess

    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def remark_one_thread(command: Sequence[str]) -> None:
    """Say that loops which could be divided run on one thread, and what to install."""
    warnings.warn(
        f"{command[0]} has no OpenMP library: what is compiled now runs on one thread; "
        "install one (Debian, Ubuntu: apt install libomp-dev, macOS: brew install libomp, x86-64: pip install "
        "intel-openmp), or use g++",
        RuntimeWarning,
        stacklevel=2,
    )


def _libraries(command: Sequence[str]) -> Iterator[Path]:
    folders = (*_searched_by(command), Path(sys.prefix, "lib"), *map(Path, HOMEBREW))
    for folder in dict.fromkeys(Path(os.path.normpath(folder)) for folder in folders):
        yield from filter(Path.is_file, (folder / name for name in FILES))


def _searched_by(command: Sequence[str]) -> Iterator[Path]:
    """The library folder beside the compiler's programs, and those that it searches."""
    import subprocess

    words = [*command, "-print-search-dirs"]
    try:
        said = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SECONDS).stdout
    except (OSError, subprocess.SubprocessError):
        return
    lines = dict(line.split(": =", 1) for line in said.decode(errors="replace").splitlines() if ": =" in line)
    for name, inside in (("programs", "../lib"), ("libraries", ".")):
        yield from (Path(folder, inside) for folder in lines.get(name, "").split(os.pathsep) if folder)
