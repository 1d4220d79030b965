"""Compiles text with the simulation's own headers, and runs it."""

from __future__ import annotations

import subprocess
from pathlib import Path

INCLUDE = Path(__file__).parents[3] / "dcpy" / "codegen" / "include"
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas")
FLAGS = ("-std=c++17", *WARNINGS, "-ffp-contract=off", f"-I{INCLUDE / 'fpga'}", f"-I{INCLUDE}")


def compiled(text: str, folder: Path, *flags: str) -> Path:
    """A program made of a text."""
    source, program = folder / "kernel.cpp", folder / "kernel"
    source.write_text(text)
    command = ["g++", "-O1", *FLAGS, *flags, str(source), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def output(program: Path) -> str:
    """What it prints; it ends, and within a minute."""
    return subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=60).stdout
