"""The systems that dcpy runs on: names of shared libraries, words of linkers, and the flag for the own processor.

Linux is tested. macOS is prepared and not run yet. Windows is refused: its Linux (WSL) is a Linux.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Platform:
    """Settings of compilers and linkers that differ between systems."""

    suffix: str  # of shared libraries
    beside: str  # the run path of a library that stands for its own folder
    native: str  # the flag that compiles for this processor
    needed_only: tuple[str, ...]  # makes the linker drop libraries that nothing needs
    module: tuple[str, ...]  # links a module of Python, whose functions are found when it is loaded
    links_names: bool  # whether -l:FILE links a file by its name


LINUX = Platform(".so", "$ORIGIN", "-march=native", ("-Wl,--as-needed",), (), True)
MACOS = Platform(".dylib", "@loader_path", "-march=native", (), ("-Wl,-undefined,dynamic_lookup",), False)
MACOS_ON_ARM = Platform(".dylib", "@loader_path", "-mcpu=native", (), ("-Wl,-undefined,dynamic_lookup",), False)


def platform_named(system: str, machine: str) -> Platform:
    """The platform by `sys.platform` and the machine's name; what is unknown is taken for a Linux."""
    if system != "darwin":
        return LINUX
    return MACOS_ON_ARM if machine in ("arm64", "aarch64") else MACOS


def refuse_windows(system: str = "") -> None:
    """`ImportError` on Windows: compiled code, memory and signals are those of Linux and macOS."""
    if (system or sys.platform) in ("win32", "cygwin"):
        raise ImportError(
            "dcpy does not run on Windows: install it in WSL (wsl --install -d Ubuntu), which is a Linux, "
            "with g++ (apt install g++ python3-venv)",
            name="dcpy",
        )


HERE = platform_named(sys.platform, os.uname().machine if hasattr(os, "uname") else "")
