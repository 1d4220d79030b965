"""What type checkers say about programs: the files that mypy and pyright accept, and the lines that they refuse."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

HEADER = """
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

import dcpy

N = dcpy.symbol("N")
M, K = dcpy.symbols("M K")
Floats = NDArray[np.float64]
"""

SIGNATURES = """
@dcpy.program
def scaled(x: Floats, factor: float = 2.0) -> Floats:
    return x * factor

@dcpy.program(auto_optimize=True, cpu_openmp=False, device="cpu", cpu_flags=["-O2"])
def shifted(x: Floats, *, by: float) -> Floats:
    return x + by

@dcpy.program
def steps(n: int) -> Iterator[int]:
    for k in range(n):
        yield k

total: float = scaled(np.ones(3)).sum() + shifted(np.ones(3), by=1.0).sum()
again: Floats = scaled(np.ones(3), factor=3.0)
numbers: list[int] = list(steps(3))
text: str = scaled.to_sdfg().name
scaled.function, scaled.options.simplify, scaled.explain()

wrong: str = scaled(np.ones(3))             # refused
scaled("text")                              # refused
scaled(np.ones(3), 2.0, 3.0)                # refused
scaled(np.ones(3), times=2.0)               # refused
shifted(np.ones(3), 1.0)                    # refused
scaled(np.ones(3)).no_such_method()         # refused
scaled.no_such_method()                     # refused
for step in steps(2): step.upper()          # refused
"""

OPTIONS = """
@dcpy.program(simplify=False, gpu_errors="deferred", halo_steps=2, int_overflow="wrap", ignore_type_hints=True)
def a(x: Floats) -> Floats:
    return x

@dcpy.program(auto_optimise=True)           # refused
def b(x: Floats) -> Floats:
    return x

@dcpy.program(cpu_openmp=3)                 # refused
def c(x: Floats) -> Floats:
    return x

@dcpy.program(device="gpuu")                # refused
def d(x: Floats) -> Floats:
    return x

fast = dcpy.program(cpu_fastmath=True)      # refused
dcpy.progam                                 # refused
dcpy.MapFusion, dcpy.DcpyError, dcpy.float32, dcpy.comm, dcpy.DeviceType.GPU
"""

ANNOTATIONS = """
@dcpy.program
def gemm(A: dcpy.float64[N, K], B: dcpy.float64[K, M + 1], C: "dcpy.float64[2 * N, 3]", beta: dcpy.float64) -> None:
    C[:] = beta * C + A @ B
    for i in range(C.shape[0]):
        C[i] = np.sin(C[i, :]) + C.T[i].sum()

@dcpy.program
def counts(x: dcpy.int32[N], bins: dcpy.compiletime) -> dcpy.int64[K]:
    found = np.zeros(bins, dtype=dcpy.int64)
    for i in range(x.shape[0]):
        found[x[i]] += 1
    return found

@dcpy.program(dcpy.float64[N], dcpy.float64)
def typed(x: Floats, factor: float) -> Floats:
    return x * factor

@dcpy.program(dcpy.float32, auto_optimize=True)
def half(x: float) -> float:
    return x / 2

gemm(np.ones((3, 3)), np.ones((3, 3)), np.ones((3, 3)), 2.0)
number: int = counts(np.ones(3, np.int32), 4).sum()
array: Floats = typed(np.ones(3), 2.0)
value: float = half(2.0)
zero, zeros = dcpy.float32(0), np.zeros(3, dcpy.float32)

gemm(np.ones((3, 3)))                       # refused
typed(np.ones(3), "2")                      # refused
typed(np.ones(3), 2.0).no_such_method()     # refused
"""

METHODS = """
class Grid:
    def __init__(self) -> None:
        self.scale = 2.0

    @dcpy.method
    def relax(self, x: Floats, n: int = 1) -> Floats:
        return x * n

    @dcpy.program(simplify=False)
    def scaled(self, x: Floats) -> float:
        return float(x.sum()) * self.scale

    @staticmethod
    @dcpy.program
    def doubled(x: Floats) -> Floats:
        return 2 * x

grid = Grid()
one: Floats = grid.relax(np.ones(3), n=2)
other: float = grid.scaled(np.ones(3)) + Grid.doubled(np.ones(3)).sum()
by_class: Floats = Grid.relax(grid, np.ones(3))
bound = grid.relax
bound.to_sdfg(np.ones(3)).explain()

grid.relax(np.ones(3), 2, 3)                # refused
grid.relax("text")                          # refused
grid.scaled(np.ones(3)).no_such_method()    # refused
wrong: str = bound(np.ones(3))              # refused
"""

FILES = {"signatures": SIGNATURES, "options": OPTIONS, "annotations": ANNOTATIONS, "methods": METHODS}


def mypy_errors(path, folder):
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(folder), "--strict",
               "--disable-error-code=untyped-decorator", str(path)]  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(ROOT)}, check=False
    )
    assert not done.stderr, done.stderr
    return {(int(line), said) for line, said in re.findall(rf"^{path.name}:(\d+): error: (.*)", done.stdout, re.M)}


def pyright_errors(path, folder):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed: make test-others")
    if shutil.which("node") is None:
        pytest.skip("pyright would download Node.js: there is no `node`")
    (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(path)]
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    if not done.stdout.startswith("{"):
        pytest.skip(f"pyright does not start: {(done.stderr or done.stdout).strip()[-200:]}")
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {(one["range"]["start"]["line"] + 1, one["message"]) for one in found if one["severity"] == "error"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One for all files, so that mypy reads dcpy once."""
    return tmp_path_factory.mktemp("checked")


@pytest.mark.parametrize("errors", [mypy_errors, pytest.param(pyright_errors, marks=pytest.mark.others)])
@pytest.mark.parametrize("name", FILES)
def test_checkers_refuse_what_is_wrong_and_nothing_else(name, errors, folder):
    text = HEADER + FILES[name]
    path = folder / f"{name}.py"
    path.write_text(text)
    wanted = {number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# refused")}
    found = errors(path, folder)
    assert {number for number, _ in found} == wanted, found


def test_mypy_names_the_option_that_was_meant(folder):
    path = folder / "near.py"
    path.write_text("import dcpy\n\nmade = dcpy.program(auto_optimise=True)\n")
    assert any('did you mean "auto_optimize"?' in said for _, said in mypy_errors(path, folder))
