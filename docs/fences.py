"""Run the code of a page: all its Python fences as one program, all its commands after that.

The program is a file of its own in a given folder, because dcpy reads the source of what it compiles. What each fence
prints is caught apart. Pages are made (`docs.generate`) and tested (`tests/docs`) with this. A fence whose title names
another tool (`title="Numba"`) is code for that tool, and a program of its own.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

FENCE = re.compile(r'^```python(?: title="dcpy")?\n(.*?)^```\n', re.MULTILINE | re.DOTALL)
PEER = re.compile(r'^```python title="(?!dcpy")(.*?)"\n(.*?)^```\n', re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
END = "\x1e"  # the record separator: nothing else prints it


def outputs(page: str, program: Path) -> list[str]:
    """Return what each Python fence of the page prints; the program is written to a file and run in its folder."""
    fences = FENCE.findall(page)
    program.write_text("".join(f"{fence}print({END!r}, end='')\n" for fence in fences))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.chdir(program.parent):
        runpy.run_path(str(program), run_name=program.stem)
    return printed.getvalue().split(END)[:-1]


def with_outputs(page: str, program: Path) -> str:
    """Return the page with a box after each Python fence that prints something."""
    printed = iter(outputs(page, program))

    def boxed(match: re.Match[str]) -> str:
        output = next(printed)
        language = "cpp" if output.startswith("//") else "text"
        return match.group() + (f"\n```{language}\n{output.rstrip()}\n```\n" if output else "")

    return FENCE.sub(boxed, page)


def peers(page: str) -> dict[str, str]:
    """The programs for other tools, by the name of the tool."""
    found: dict[str, str] = {}
    for tool, code in PEER.findall(page):
        found[tool] = found.get(tool, "") + code
    return found


def commands(page: str) -> Iterator[str]:
    """The `dcpy` and `sdfgcc` commands of a page, without comments."""
    for fence in SHELL.findall(page):
        for line in fence.splitlines():
            if line.startswith(("dcpy ", "sdfgcc ")):
                yield line.partition("#")[0].strip()
