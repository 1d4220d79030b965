"""Zig's C++ compiler: clang and a C library in a wheel (the extra ``compiler``), for machines that have no compiler."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

PACKAGE = "ziglang"
FAMILY = "zig"
WITHOUT_CPP = "-nostdlib++"  #: links without Zig's C++ library, which takes half a minute to compile once


def command_of_zig() -> tuple[str, ...]:
    """The words that compile C++, where the wheel is installed for this Python; nothing where it is not.

    Zig adds checks for undefined behaviour to code that is not optimized: other compilers do not.
    """
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        program = Path(folder, "zig.exe" if os.name == "nt" else "zig")
        if os.access(program, os.X_OK):
            return (str(program), "c++", "-fno-sanitize=undefined")
    return ()


def is_zig(command: Sequence[str]) -> bool:
    """Return whether a command is Zig's: ``zig c++``, or ``python -m ziglang c++``."""
    return Path(command[0]).stem == "zig" or list(command[1:3]) == ["-m", PACKAGE]
