"""The programs for other tools, on the pages for those who come from them, run where the tool is installed.

That is in this environment, or in one that ``make bench-peers`` has made.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.fences import peers
from docs.generate import DOCS

TOOLS = {"Numba": "numba", "JAX": "jax", "CuPy": "cupy", "Pythran": "pythran", "mpi4py": "mpi4py"}
PAGES = sorted(path.name for path in (DOCS / "coming-from").glob("*.md") if path.name != "index.md")
CUPY_FINDS_A_DEVICE = "import cupy, sys; sys.exit(not cupy.is_available())"
COMPILED_BY_PYTHRAN = """
import numpy as np, program
assert program.__pythran__
assert np.allclose(program.arc_distance(*np.array([[0.0], [0.0], [1.5], [0.0]])), 1.5)
"""


def code_of(page: str) -> tuple[str, str]:
    """The tool that a page is about, and the program for it."""
    (found,) = peers((DOCS / "coming-from" / page).read_text()).items()
    return found


@pytest.mark.parametrize("page", PAGES)
def test_each_page_has_a_program_for_one_known_tool(page):
    tool, code = code_of(page)
    assert tool in TOOLS
    compile(code, page, "exec")


def python_with(tool: str) -> str:
    """An interpreter that imports a tool: this one, or that of the benchmarks' environment; skips where none does."""
    if importlib.util.find_spec(tool):
        return sys.executable
    environment = DOCS.parent / ".venv-peers" / tool / "bin" / "python"
    if not environment.exists():
        pytest.skip(f"{tool} is not installed, nor made by make bench-peers")
    return str(environment)


def run(python: str, folder: Path, *commands: list[str]) -> None:
    """Commands of an interpreter, in a folder whose modules it imports, without dcpy's."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for command in commands:
        done = subprocess.run([python, *command], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.cc
@pytest.mark.parametrize("page", PAGES)
def test_the_program_runs_with_its_tool(page, tmp_path):
    tool, code = code_of(page)
    python = python_with(TOOLS[tool])
    if tool == "CuPy" and subprocess.run([python, "-c", CUPY_FINDS_A_DEVICE]).returncode:
        pytest.skip("CuPy finds no device")
    (tmp_path / "program.py").write_text(code)
    if tool == "Pythran":
        run(python, tmp_path, ["-m", "pythran.run", "program.py"], ["-c", COMPILED_BY_PYTHRAN])
    else:
        run(python, tmp_path, ["program.py"])


@pytest.mark.cc
def test_the_page_about_dace_begins_with_a_program_of_dace(tmp_path):
    python = python_with("dace")
    text = (DOCS / "how-to" / "from-dace.md").read_text()
    first = text.partition("```python\n")[2].partition("```")[0].replace("import dcpy as dace", "import dace")
    (tmp_path / "program.py").write_text(first)
    run(python, tmp_path, ["program.py"])
