"""The programs for other tools, on the pages for those who come from them, run where the tool is installed."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys

import pytest

from docs.fences import peers
from docs.generate import DOCS

TOOLS = {"Numba": "numba", "JAX": "jax", "CuPy": "cupy", "Pythran": "pythran", "mpi4py": "mpi4py"}
PAGES = sorted(path.name for path in (DOCS / "coming-from").glob("*.md") if path.name != "index.md")
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


@pytest.mark.cc
@pytest.mark.parametrize("page", PAGES)
def test_the_program_runs_with_its_tool(page, tmp_path):
    tool, code = code_of(page)
    module = pytest.importorskip(TOOLS[tool])
    if tool == "CuPy" and not module.is_available():
        pytest.skip("CuPy finds no device")
    (tmp_path / "program.py").write_text(code)
    if tool != "Pythran":
        runpy.run_path(str(tmp_path / "program.py"), run_name="program")
        return
    for command in (["-m", "pythran.run", "program.py"], ["-c", COMPILED_BY_PYTHRAN]):
        subprocess.run([sys.executable, *command], cwd=tmp_path, env=os.environ, check=True)


@pytest.mark.cc
def test_the_page_about_dace_begins_with_a_program_of_dace(tmp_path):
    pytest.importorskip("dace")
    text = (DOCS / "how-to" / "from-dace.md").read_text()
    first = text.partition("```python\n")[2].partition("```")[0].replace("import dcpy as dace", "import dace")
    (tmp_path / "program.py").write_text(first)
    runpy.run_path(str(tmp_path / "program.py"), run_name="program")
