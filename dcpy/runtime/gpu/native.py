"""Native code of the devices: built with the package, or compiled when it is first asked for.

A library that is built with the package (setup.py) names its text. Any other is keyed, built and kept as any
program is: by its text, the compiler and the machine. No SDK is needed for it.
"""

from __future__ import annotations

import ctypes
import os
import sys
import sysconfig
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dcpy.base.errors import ToolchainError
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.options import DeviceType, Options
from dcpy.codegen.artifact import Artifact, Signature, Unit
from dcpy.runtime.loading.shared_libraries import library_of
from dcpy.runtime.native_sources import digest

INCLUDE = Path(__file__).parents[2] / "codegen" / "include"
STANDARD = ("-std=c++17",)
FLAGS = ("-fvisibility=hidden", "-U_FORTIFY_SOURCE")  # longjmp leaves the stacks of fibers, which fortification refuses
NAMES = {
    "drivers": "interface to GPU drivers",
    "simulator": "GPU simulator",
    "portable_simulator": "portable GPU simulator",
    "simulated_libraries": "simulated GPU libraries",
    "calls": "interface to GPU libraries",
}
_libraries: dict[tuple[str, str], ctypes.CDLL] = {}
_loading = threading.Lock()


def native_library(name: str, sources: Sequence[Path], options: Options, flags: Sequence[str] = ()) -> ctypes.CDLL:
    """The shared library of these files of C++ and headers, whose names differ; compiled unless it has been.

    One handle per process and compiler: what is there once is not looked at again. `flags` are for compiling and
    linking. Raises `ToolchainError` and `CacheError`.
    """
    identity = (name, options.cpu.compiler)
    with _loading:
        if identity not in _libraries:
            _libraries[identity] = built_in(name, sources) or _load(name, sources, options, flags)
        return _libraries[identity]


def built_in(name: str, sources: Sequence[Path]) -> ctypes.CDLL | None:
    """The library of these files that was built with the package, and lies beside the first; None where there is none,
    or one of another text."""
    path = sources[0].parent / f"_{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not path.is_file():
        return None
    try:
        library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        text = ctypes.c_char_p.in_dll(library, f"dcpy_{name}_text").value
    except (OSError, ValueError):
        return None
    return library if text == digest(sources).encode() else None


def _load(name: str, sources: Sequence[Path], options: Options, flags: Sequence[str]) -> ctypes.CDLL:
    plain = CpuOptions(compiler=options.cpu.compiler, flags=("-O2",))
    artifact = Artifact(Signature(name, ()), tuple(map(unit_of, sources)), flags=(*FLAGS, *flags))
    path = library_of(artifact, replace(options, cpu=plain, device=DeviceType.CPU), lambda: announce(name))
    try:
        return ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise ToolchainError(f"dcpy's {NAMES.get(name, name)} cannot be loaded: {error}") from error


def announce(name: str) -> None:
    """Say on a terminal why this call takes seconds. Logs and pipes get nothing."""
    if sys.stderr.isatty():
        words = NAMES.get(name, name)
        sys.stderr.write(f"dcpy compiles its {words} for this machine, once: this takes about 10 seconds\n")


def header(name: str) -> Path:
    """A header that generated code shares with native code."""
    return INCLUDE / name


def unit_of(path: Path) -> Unit:
    """A file of native code, as a unit."""
    is_source = path.suffix == ".cpp"
    return Unit(path.name, path.read_text(), "C++" if is_source else "", STANDARD if is_source else ())
