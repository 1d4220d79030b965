"""From generated units to a shared library: compilers are called directly, one process per unit, in parallel.

No CMake, and no precompiled header: generated code includes no C++ library header, so there is nothing to precompile.
A compiler that fails is reported with its message, the generated file, and the Python line it came from.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dcpy.base.errors import DcpyError, ToolchainError
from dcpy.base.library_environment import Environment
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.platforms import HERE, Platform
from dcpy.codegen.artifact import Artifact, Unit
from dcpy.runtime.compilers import constant_hoisting, cpp_library
from dcpy.runtime.compilers.cpp_library import VECTORS
from dcpy.runtime.compilers.openmp_flags import DIVIDED, GNU, OpenMP, remark_one_thread
from dcpy.runtime.compilers.toolchain import Toolchains
from dcpy.runtime.compilers.vector_variants import with_variants
from dcpy.runtime.compilers.zig import FAMILY as ZIG

LIBRARY = "program.so"
MESSAGE_LINES = 12
#: what compilers say where the system refuses to write
TOLD = {
    errno.ENOSPC: (os.strerror(errno.ENOSPC),),
    errno.EFBIG: (os.strerror(errno.EFBIG), signal.strsignal(signal.SIGXFSZ) or "SIGXFSZ"),
}
PLACE = re.compile(r"(?:\./)?([^\s:(]+)[:(](\d+)\)?:(?:\d+:)? *(.*)")

# None of these changes a value that NumPy would have computed; without them g++ would change some, or not vectorize:
SEMANTICS = (
    "-ffp-contract=off",  # a * b + c rounds twice, as two NumPy operations do
    "-fwrapv",  # integers wrap around on overflow
    "-fno-strict-aliasing",  # the same bytes may be seen through two dtypes
    "-fno-math-errno",  # errno is not read after sqrt, which becomes one instruction
    "-fno-trapping-math",  # floating-point exceptions are not trapped: conditions become selections
)
#: g++ copies what is behind a choice into both of its sides, which makes a jump of it that no processor foresees
OF_FAMILY = {"gcc": ("-fno-split-paths",), "clang": (), "zig": ()}
VECTOR_MATH = {"gcc": (), "clang": ("-fveclib=libmvec",), "zig": ()}  # g++ takes them from declarations; clang does not


def compile_flags(
    artifact: Artifact, unit: Unit, options: CpuOptions, family: str = "gcc", openmp: OpenMP = GNU
) -> tuple[str, ...]:
    """Return the flags that compile one unit. The user's flags come late, so that they win.

    `family` and `openmp` are those of the compiler (`Toolchain`).
    """
    includes = (f"-I{folder}" for environment in artifact.environments for folder in environment.include_dirs)
    fast = ("-ffast-math",) if options.fast_math else ()
    return (
        *unit.flags,
        "-pipe",
        "-fPIC",
        *SEMANTICS,
        *OF_FAMILY[family],
        "-fopenmp-simd",
        *(VECTOR_MATH[family] if any(VECTORS in found.libraries for found in artifact.environments) else ()),
        *cpp_library.compile_words(artifact, family),
        *(constant_hoisting.FLAGS if family == "gcc" and constant_hoisting.has_many_constants(unit.text) else ()),
        *options.flags,
        *fast,
        *_with_threads(artifact.flags, openmp.compile),
        "-I.",
        *includes,
    )


def link_flags(
    artifact: Artifact, run_path: str = "", *, executable: bool = False, family: str = "gcc", openmp: OpenMP = GNU
) -> tuple[str, ...]:
    """Return the flags that link a library. Never -ffast-math: when linking, it would change the whole process.

    `run_path`: where it looks for foreign libraries when it is loaded (default: where they are now). `executable`: one
    of the units has a main function, and a program is made instead.
    """
    flags = [] if executable else ["-shared"]
    flags += HERE.needed_only
    for environment in artifact.environments:
        flags += [f"-L{folder}" for folder in environment.library_dirs]
        flags += [f"-Wl,-rpath,{run_path or folder}" for folder in environment.library_dirs]
        flags += [_linked(name, environment) for name in environment.libraries if name != VECTORS or family != ZIG]
    last = cpp_library.link_words(artifact, family, executable=executable)
    return (*flags, *_with_threads(artifact.flags, openmp.link), "-lm", *last)


def _linked(library: str, environment: Environment, platform: Platform = HERE) -> str:
    """The word that links a library: a path where one is named by its file, and linkers know no names of files."""
    if not library.startswith(":") or platform.links_names:
        return f"-l{library}"
    paths = (Path(folder, library[1:]) for folder in environment.library_dirs)
    return str(next(filter(Path.is_file, paths), library[1:]))


def _with_threads(flags: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """The flags of an artifact, with a compiler's own words for threads."""
    return tuple(word for flag in flags for word in (words if flag == DIVIDED else (flag,)))


def build(
    artifact: Artifact,
    folder: Path,
    toolchains: Toolchains,
    options: CpuOptions,
    *,
    kept_at: Path,
    run_path: str = "",
    executable: bool = False,
) -> Path:
    """Write the units of `artifact` into `folder`, compile and link them there; the path of the library.

    `toolchains` has a compiler for each of its languages that is compiled here. `kept_at` is where the caller leaves
    the folder when this raises `ToolchainError`; `run_path` and `executable` as for `link_flags`.
    """
    linker = toolchains[artifact.languages[0]]
    added = linker.openmp.units if DIVIDED in artifact.flags else ()
    for unit in (*artifact.units, *added):
        (folder / unit.name).write_text(unit.text)
    sources = [(unit, toolchains[unit.language]) for unit in artifact.units if unit.language in toolchains]
    sources += [(unit, replace(linker, mode=())) for unit in added]
    objects = [f"{unit.name}.o" for unit, _ in sources]
    compiles = []
    for (unit, tool), object_ in zip(sources, objects, strict=True):
        flags = compile_flags(artifact, unit, options, tool.family, tool.openmp)
        if tool.family == "clang" and any(VECTORS in found.libraries for found in artifact.environments):
            flags += with_variants(unit, tool.command, folder)
        compiles.append([*tool.compile, *flags, "-c", unit.name, "-o", object_])
    if DIVIDED in artifact.flags and not linker.openmp:
        remark_one_thread(linker.command)
    flags = link_flags(artifact, run_path, executable=executable, family=linker.family, openmp=linker.openmp)
    link = [*linker.command, *objects, *flags, "-o", LIBRARY]
    for commands in (compiles, [link]):
        for command, status, output in _run_all(commands, folder):
            if status < 0:
                raise _ended(command, -status, output)
            if status == 0:
                raise _without_result(command, output)
            raise failure(artifact, command, output, kept_at)
    for name in objects:
        (folder / name).unlink()
    return folder / LIBRARY


def _run_all(commands: Sequence[list[str]], folder: Path) -> list[tuple[list[str], int, str]]:
    """Run `commands` at the same time, as many as there are processors; those that left no file (which they name last),
    with their status and what they said.
    """
    failed = []
    width = os.cpu_count() or 1
    for start in range(0, len(commands), width):
        running = [_start(command, folder) for command in commands[start : start + width]]
        try:
            outputs = [process.communicate()[0] for process in running]
        finally:
            for process in running:
                process.kill()
                process.wait()
        failed += [
            (command, process.returncode, output)
            for command, process, output in zip(commands[start:], running, outputs, strict=False)
            if process.returncode != 0 or not _is_written(folder / command[-1])
        ]
    return failed


def _is_written(file: Path) -> bool:
    return file.is_file() and file.stat().st_size > 0


def _ended(command: list[str], number: int, output: str) -> DcpyError:
    """A compiler that a signal has ended: the system's doing, not that of the code."""
    if number == signal.SIGXFSZ:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return ToolchainError(
        f"{command[0]} was ended by {signal.Signals(number).name}",
        notes=(f"command: {' '.join(command)}", *output.strip().splitlines()[:MESSAGE_LINES]),
        help="the machine may be short of memory: see ulimit -v and the system's log",
    )


def _without_result(command: list[str], output: str) -> DcpyError:
    return ToolchainError(
        f"{command[0]} reported success, but wrote no {command[-1]}",
        notes=(f"command: {' '.join(command)}", *output.strip().splitlines()[:MESSAGE_LINES]),
        help="is it a C++ compiler? `dcpy doctor` shows which one is found; DCPY_CPU_COMPILER names another one",
    )


def _start(command: list[str], folder: Path) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="backslashreplace",  # compilers quote what they were given, and speak the user's own encoding
        )
    except OSError as error:
        raise ToolchainError(f"{command[0]} cannot be started: {error.strerror}") from error


def failure(artifact: Artifact, command: list[str], output: str, kept_at: Path) -> ToolchainError:
    """The compiler's message, the generated file, and the Python line of the first message that has one.

    Places are written ``file:line:column:`` (g++, clang) or ``file(line):`` (NVIDIA's). A full disk is no
    error of the code, nor is a limit to the size of files: they raise `OSError`, for the cache to look for another
    place, or to say so.
    """
    for code, words in TOLD.items():
        if any(word in output for word in words):
            raise OSError(code, os.strerror(code))
    lines = output.strip().splitlines()
    places = [m for line in lines if (m := PLACE.match(line))]
    first = next((place for place in places if "error" in place[3]), places[0] if places else None)
    said = first[3] if first else (lines[0] if lines else "no message")
    unit = artifact.unit(first[1]) if first else None
    generated = kept_at / (f"{first[1]}:{first[2]}" if first and unit else "")
    return ToolchainError(
        f"the {unit.language if unit and unit.language else artifact.languages[0]} compiler failed: {said}",
        span=unit.place_of(int(first[2])) if first and unit else None,
        notes=(f"generated code: {generated}", f"command: {' '.join(command)}", *lines[:MESSAGE_LINES]),
        help="generated code that does not compile is a bug of dcpy: please report it with this message",
    )
