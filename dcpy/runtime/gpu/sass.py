"""SASS, the instructions of NVIDIA's chips: read back from machine code, to see that what was promised is there.

`instructions` disassembles a cubin with nvdisasm (pip's, else CUDA's); gates ask for wide loads, and for what has no
place in a kernel (local memory). Nothing of this runs when programs do.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from dcpy.base.errors import ToolchainError

INSTALL = "pip install nvidia-cuda-nvdisasm (5 MB), or CUDA's own nvdisasm on PATH"
_SECTION = re.compile(r"^\.text\.(\S+):$")
_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")


def find_tool(name: str) -> str | None:
    """An executable of CUDA's, ``nvdisasm`` or ``cuobjdump``: pip's, else the one on PATH."""
    package = importlib.util.find_spec("nvidia")
    folders = package.submodule_search_locations if package is not None else None
    found = [str(path) for folder in folders or () for path in sorted(Path(folder).glob(f"*/bin/{name}"))]
    return found[-1] if found else shutil.which(name)


def run_tool(name: str, *arguments: str) -> str:
    """Run a tool and return its output; `ToolchainError` where there is no such tool, or it fails."""
    path = find_tool(name)
    if path is None:
        raise ToolchainError(f"{name} is not found", help=INSTALL)
    answer = subprocess.run([path, *arguments], capture_output=True, text=True, check=False, timeout=300)
    if answer.returncode != 0:
        raise ToolchainError(f"{name} failed: {(answer.stderr or answer.stdout).strip()}")
    return answer.stdout


def instructions(cubin: bytes) -> Mapping[str, tuple[str, ...]]:
    """The instructions of each kernel in order, with modifiers and without operands: ``LDG.E.128``, ``BAR.SYNC``."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        listing = run_tool("nvdisasm", "-c", file.name)
    found: dict[str, list[str]] = {}
    here: list[str] = []
    for line in listing.splitlines():
        if section := _SECTION.match(line.strip()):
            here = found.setdefault(section[1], [])
        elif instruction := _INSTRUCTION.match(line):
            here.append(instruction[1])
    return {kernel: tuple(words) for kernel, words in sorted(found.items())}


def count(words: tuple[str, ...], instruction: str) -> int:
    """Return how often an instruction occurs; ``LDG`` counts all its forms, ``LDG.128`` those that have this modifier.

    (Between a name and a width stand modifiers that differ from chip to chip: ``LDG.E.128``, ``LDG.E.128.CONSTANT``.)
    """
    name, *modifiers = instruction.split(".")
    return sum(word.split(".")[0] == name and set(modifiers) <= set(word.split(".")[1:]) for word in words)
