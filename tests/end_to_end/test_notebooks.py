"""W1: programs in notebooks, with a real IPython kernel, started once; and the notebook of the examples."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

pytest.importorskip("ipykernel")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import nbformat
    from jupyter_client.manager import start_new_kernel
    from nbclient import NotebookClient

pytestmark = [pytest.mark.cc, pytest.mark.filterwarnings("ignore")]
NOTEBOOK = Path(__file__).parent.parent.parent / "examples" / "notebook.ipynb"


class Notebook:
    """Runs cells; what a cell displays by MIME type, what it prints, and the error that it ends with."""

    def __init__(self) -> None:
        self.manager, self.client = start_new_kernel(kernel_name="python3", startup_timeout=120)

    def run(self, cell: str) -> dict[str, str]:
        found: dict[str, str] = {}

        def output(message: dict) -> None:
            kind, content = message["header"]["msg_type"], message["content"]
            if kind in ("execute_result", "display_data"):
                found.update(content["data"])
            elif kind == "stream":
                found[content["name"]] = found.get(content["name"], "") + content["text"]
            elif kind == "error":
                found.update(error=content["ename"], message=content["evalue"], trace="\n".join(content["traceback"]))

        self.client.execute_interactive(cell, output_hook=output, timeout=120)
        return found

    def value(self, cell: str) -> str:
        found = self.run(cell)
        assert "error" not in found, found["message"]
        return found["text/plain"]

    def mistake(self, cell: str) -> str:
        found = self.run(cell)
        assert "error" in found, found
        return found["trace"]


@pytest.fixture(scope="module", name="notebook")
def running():
    notebook = Notebook()
    yield notebook
    notebook.client.stop_channels()
    notebook.manager.shutdown_kernel(now=True)


FIRST = """import numpy as np, dcpy
@dcpy.program
def f(a):
    return np.sin(a) * 0 + 1
f(np.ones(3))"""


def test_w1_a_cell_with_an_import_and_a_program(notebook):
    assert notebook.value(FIRST) == "array([1., 1., 1.])"
    assert notebook.value(FIRST.replace("+ 1", "+ 2")) == "array([2., 2., 2.])"  # the cell, run again, with a change


def test_w1_helpers_of_other_cells_and_what_is_defined_again(notebook):
    notebook.run("import numpy as np, dcpy, math\ntable = np.arange(3.0)")
    notebook.run("def helper(x):\n    return x * math.sqrt(4.0)")
    notebook.run("@dcpy.program\ndef g(a):\n    return helper(a) + table")
    assert notebook.value("g(np.ones(3))") == "array([2., 3., 4.])"
    notebook.run("table = table + 100")
    assert notebook.value("g(np.ones(3))") == "array([102., 103., 104.])"
    notebook.run("def helper(x):\n    return x * 3")
    assert notebook.value("g(np.ones(3))") == "array([103., 104., 105.])"
    notebook.run("@dcpy.program\ndef g(a):\n    return helper(a) - table")
    assert notebook.value("g(np.ones(3))") == "array([-97., -98., -99.])"


def test_w1_errors_show_the_line_of_the_cell(notebook):
    notebook.run("import numpy as np, dcpy")
    refused = notebook.mistake("@dcpy.program\ndef bad(a):\n    b = a + 1\n    return np.loadtxt(b)\nbad(np.ones(3))")
    assert "--> Cell In[" in refused
    assert "]:4:12\n   |\n 4 |     return np.loadtxt(b)\n   |            ^^^^^^^^^^^^^" in refused
    raised = notebook.mistake("@dcpy.program\ndef item(a, k):\n    b = a + 1\n    return b[k]\nitem(np.ones(3), 7)")
    assert "IndexError" in raised
    assert "\n 4 |     return b[k]\n   |            ^^^^" in raised


def test_w1_errors_inside_helpers_of_other_cells(notebook):
    notebook.run("import numpy as np, dcpy\n\ndef second(x):\n    return x[1]")
    raised = notebook.mistake("@dcpy.program\ndef item(a):\n    return second(a) + 1\nitem(np.ones(1))")
    assert "]:4:12\n   |\n 4 |     return x[1]\n   |            ^^^^" in raised


@pytest.mark.parametrize("magic", ["%%time", "%%timeit -n 2 -r 1", "%%capture kept", "%%prun -q"])
def test_w1_programs_under_magics(notebook, magic):
    notebook.run("import numpy as np, dcpy")
    found = notebook.run(f"{magic}\nm = dcpy.program(lambda a: a.sum() + {len(magic)})\nm(np.ones(3))")
    assert "error" not in found, found["message"]


def test_w1_timeit_of_a_program(notebook):
    notebook.run(FIRST)
    assert "per loop" in notebook.run("%timeit -n 5 -r 1 f(np.ones(3))")["stdout"]


def test_w1_classes_in_cells(notebook):
    notebook.run("import numpy as np, dcpy, dataclasses")
    cell = """@dataclasses.dataclass
class Point:
    x: np.ndarray
    k: float = 2.0

    @dcpy.method
    def move(self):
        self.x += self.k

p = Point(np.ones(2))
p.move()
p.x"""
    assert notebook.value(cell) == "array([3., 3.])"


def test_w1_w15_programs_and_sdfgs_show_themselves(notebook):
    notebook.run(FIRST)
    shown = notebook.run("f")["text/html"]
    assert "return np.sin(a) * 0 + 1" in shown
    assert "f(a: float64[N])" in shown
    assert "Cell In[" in shown
    assert notebook.run("f.to_sdfg(np.ones(3))")["text/html"].startswith("<iframe")
    assert "not compiled yet" in notebook.run("dcpy.program(lambda a: a < 1)")["text/html"]


def test_w1_a_reloaded_helper_is_compiled_anew(notebook, tmp_path):
    """``%autoreload`` gives the functions of a module other code."""
    (tmp_path / "w1_parts.py").write_text("def part(x):\n    return x * 2\n")
    notebook.run("import numpy as np, dcpy, sys\nsys.dont_write_bytecode = True")
    notebook.run(f"sys.path.insert(0, {str(tmp_path)!r})")
    notebook.run("%load_ext autoreload\n%autoreload 2\nfrom w1_parts import part")
    assert notebook.value("h = dcpy.program(lambda a: part(a))\nh(np.ones(2))") == "array([2., 2.])"
    (tmp_path / "w1_parts.py").write_text("def part(x):\n    return x * 2 + 40\n")
    notebook.run("import os, importlib, linecache\nlinecache.checkcache()")
    assert notebook.value("h(np.ones(2))") == "array([42., 42.])"


def test_w1_exec_in_a_cell_is_refused_with_what_to_do(notebook):
    refused = notebook.mistake('exec("import dcpy\\n@dcpy.program\\ndef e(a):\\n    return a\\n")\ne(1.0)')
    assert "Python kept no text of it" in refused
    assert "linecache.cache" in refused


def test_w1_the_notebook_of_the_examples():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in notebook.cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    printed = [output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ())]
    assert "same as NumPy: True\n" in printed
