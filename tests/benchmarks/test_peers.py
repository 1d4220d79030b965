"""The comparison's own parts: adapted sources, their metrics, the heat map, and one whole run."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import adapt, heatmap

SOURCE = '''"""A kernel."""

import numpy as np


def half(x):
    """Half of it."""
    return x / 2  # of x


def kernel(x, n):
    # Twice.
    x[:] = half(x)
    return half(x)


def initialize(N):
    """Not measured."""
    return {"x": np.ones(N), "n": N}
'''
ARGUMENTS = {"x": np.ones((2, 3), np.float32), "n": 2}


def computing() -> str:
    return adapt.computing_source(SOURCE)


def test_blank_lines_comments_and_docstrings_are_no_code():
    assert adapt.lines(computing()) == [
        "import numpy as np",
        "def half(x):",
        "return x / 2  # of x",
        "def kernel(x, n):",
        "x[:] = half(x)",
        "return half(x)",
    ]


def test_dcpy_needs_an_import_and_a_decorator():
    adapted = adapt.for_dcpy(computing(), "kernel", ARGUMENTS)
    added = [line for line in adapt.lines(adapted) if line not in adapt.lines(computing())]
    assert added == ["import dcpy", "@dcpy.program(auto_optimize=True)"]
    assert adapt.coverage(computing(), adapted) == 1


def test_numba_decorates_helpers_too():
    assert adapt.for_numba(computing(), "kernel", ARGUMENTS).count("@nb.njit") == 2


def test_pythran_needs_types():
    first = adapt.lines(adapt.for_pythran(computing(), "kernel", ARGUMENTS))[0]
    assert first == "# pythran export kernel(float32[:,:], int)"


def test_jax_replaces_numpy_so_a_line_is_lost():
    adapted = adapt.for_jax(computing(), "kernel", ARGUMENTS)
    assert "static_argnames=('n',)" in adapted
    assert adapt.coverage(computing(), adapted) == pytest.approx(5 / 6)


def row(framework, seconds, status="ok"):
    times = {"times": [seconds] * 3, "median": seconds, "numpy_median": 1.0} if status == "ok" else {}
    return {"kernel": "gemm", "framework": framework, "status": status, **times}


def test_the_heat_map_shows_speed_ups_means_and_failures():
    drawn = heatmap.svg(list(heatmap.cells([row("fast", 0.1), row("slow", 2.0), row("none", 0, "refused: why")])))
    for text in (">gemm<", "↑10<", "↓2<", ">refused<", ">1 s<", ">geometric mean<"):
        assert text in drawn


def test_the_confidence_interval_is_in_percent_of_the_median():
    assert heatmap.confidence(row("dcpy", 1.0)) == 0
    assert heatmap.confidence({"times": [1.0, 2.0, 3.0]}) == pytest.approx(100)


@pytest.mark.cc
@pytest.mark.slow
def test_a_run(tmp_path):
    command = [sys.executable, "benchmarks/run.py", "--preset", "XS", "--only", "gemm", "--repeat", "2"]
    command += ["--frameworks", "numpy,dcpy", "--json", str(tmp_path / "out.json")]
    root = Path(__file__).parent.parent.parent
    printed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    numpy_row, dcpy_row = json.loads((tmp_path / "out.json").read_text())
    assert numpy_row["status"] == dcpy_row["status"] == "ok"
    assert len(dcpy_row["times"]) == 2
    assert dcpy_row["coverage"] == 1
    assert "dcpy: 1 of 1 kernels run" in printed
    assert (tmp_path / "out.svg").read_text().startswith("<svg")


def test_unknown_names_are_refused():
    command = [sys.executable, "benchmarks/run.py", "--only", "gemm,nonsense"]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown: nonsense" in done.stderr
