"""sdfgcc --python: a module made with pybind11, which runs in a process without dcpy."""

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from dcpy.base.errors import DcpyError, FrontendError
from dcpy.cli import python_extensions
from dcpy.cli.sdfgcc import main as sdfgcc_main
from dcpy.frontend.annotations import annotations_from_text

SOURCE = '''
import dataclasses

import numpy as np

import dcpy

N, M = dcpy.symbols("N M")


@dcpy.program
def spread(a, f, out, k=1):
    """Scales the rows of a matrix, and "more"."""
    if k < 0:
        raise ValueError('k is negative: 100% of "it"')
    waited = 0.0
    while waited < k - 100:  # for ever, where a signal is to stop it
        waited += 1.0
    out[:-1] = f * np.sum(a, axis=1)
    return a + f, (np.sum(a), a[k]), a[a > 2]


@dcpy.program
def product(A: dcpy.float64[N, M], x: dcpy.float64[M]):
    return A @ x


@dcpy.program
def draw(rng: np.random.Generator):
    return rng.random()


@dataclasses.dataclass
class Point:
    x: float


@dcpy.program
def move(p: Point):
    return p.x
'''

USE = """
import signal, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import numpy as np
from spread import spread

for dtype in (np.float32, np.float64):
    a, out = np.arange(12, dtype=dtype).reshape(4, 3), np.zeros(5, dtype)
    more, (total, row), above = spread(a, 2, out)
    assert more.dtype == dtype and (more == a + 2).all()
    assert type(total) is dtype and total == a.sum()
    assert np.shares_memory(row, a) and (row == a[1]).all()
    assert above.dtype == dtype and (above == a[a > 2]).all()
    assert (out[:4] == 2*a.sum(axis=1)).all() and out[4] == 0
    spread(a, dtype(2), out, k=np.int64(0))

def fails(kind, words, *args):
    try:
        spread(*args)
    except kind as error:
        assert words in str(error), str(error)
    else:
        raise AssertionError(words)

fails(ValueError, 'k is negative: 100% of "it"', a, 2, out, -1)
fails(IndexError, "index 7 is out of bounds for axis 0 with size 4", a, 2, out, 7)
fails(TypeError, "1. (a: float32[2-d], f: float32, out: float32[1-d], k: int64 = 1)", a.astype(">f8"), 2, out)
fails(TypeError, "incompatible", a, 2j, out)
fails(TypeError, "incompatible", a, np.float32(2), out)
fails(TypeError, "incompatible", a, 2, out, 1.0)
fails(TypeError, "incompatible", a, 2, out, 2**70)
fails(TypeError, "incompatible", a[0], 2, out)
fails(ValueError, "a must be contiguous", np.asfortranarray(a), 2, out)
fails(ValueError, "out must be contiguous", a, 2, np.zeros(10)[::2])
fails(ValueError, "a and out share memory", a, 2, a.ravel()[:5])

class Stop(Exception):
    pass

def stop(*_):
    raise Stop("by a signal")

signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.1)
fails(Stop, "by a signal", a, 2, out, 10**15)
out.flags.writeable = False
fails(ValueError, "out is read-only", a, 2, out)
assert spread.__doc__.startswith("spread(a: float32[N, M], f: float32, out: float32[L], k: int64) -> ")
assert not [name for name in sys.modules if name.partition(".")[0] in ("dcpy", "islpy", "sympy")]
print("all is well")
"""


@pytest.fixture(name="source")
def _source(tmp_path):
    (tmp_path / "kernels_of_a_module.py").write_text(SOURCE)
    yield f"{tmp_path / 'kernels_of_a_module.py'}:"
    sys.modules.pop("kernels_of_a_module", None)
    sys.path[:] = [entry for entry in sys.path if entry != str(tmp_path)]


@pytest.fixture(name="uncompiled")
def _uncompiled(monkeypatch):
    monkeypatch.setattr(python_extensions, "_compile", lambda extension, package, includes: package / "_native.so")


@pytest.mark.cc
def test_a_module_with_overloads_runs_without_dcpy(tmp_path, source, capsys):
    folder = tmp_path / "made"
    types = [f"{kind}[N, M], {kind}, {kind}[L], int64" for kind in ("float32", "float64")]
    flags = [word for text in types for word in ("--types", text)]
    assert sdfgcc_main([f"{source}spread", "--python", "-o", str(folder), *flags]) == 0, capsys.readouterr().err
    assert all(Path(line).is_file() for line in capsys.readouterr().out.splitlines())
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [sys.executable, "-I", "-S", "-c", USE, str(folder), str(Path(np.__file__).parents[1])]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("all is well\n", 0), done.stderr
    stub = ast.parse((folder / "spread" / "__init__.pyi").read_text())
    functions = [node for node in stub.body if isinstance(node, ast.FunctionDef)]
    assert [ast.unparse(each.decorator_list[0]) for each in functions] == ["overload", "overload"]
    assert ast.unparse(functions[0].args).endswith("out: NDArray[np.float32], k: int | np.int64=1")
    assert ast.unparse(functions[1].returns) == (
        "tuple[NDArray[np.float64], tuple[np.float64, NDArray[np.float64]], NDArray[np.float64]]"
    )


@pytest.mark.usefixtures("uncompiled")
def test_a_wheel_depends_on_the_package_of_a_library(tmp_path, source):
    python_extensions.write_extension(f"{source}product", tmp_path / "made")
    project = tomllib.loads((tmp_path / "made" / "pyproject.toml").read_text())
    assert project["project"]["dependencies"] == ["numpy>=2.0", "scipy-openblas32"]
    assert "scipy-openblas32" in project["build-system"]["requires"]
    cmake = (tmp_path / "made" / "CMakeLists.txt").read_text()
    assert "find_spec('scipy_openblas32')" in cmake
    assert "$ORIGIN>/../scipy_openblas32/lib" in cmake
    assert str(tmp_path) not in cmake
    assert "install(FILES product/__init__.py product/__init__.pyi product/py.typed" in cmake  # not _native


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize(
    ("function", "words"),
    [("draw", "the argument 'rng' of 'draw'"), ("move", "'move' takes objects"), ("spread", "annot")],
)
def test_what_a_module_cannot_take(tmp_path, source, function, words):
    with pytest.raises(DcpyError, match=words):
        python_extensions.write_extension(f"{source}{function}", tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.usefixtures("uncompiled")
def test_types_are_one_for_each_parameter(tmp_path, source):
    with pytest.raises(DcpyError, match="has 1 types, and spread has 4 parameters") as caught:
        python_extensions.write_extension(f"{source}spread", tmp_path / "made", ["float64[N]"])
    assert "name the type of each of a, f, out, k" in caught.value.help


def test_types_are_read_and_not_evaluated():
    array, number = annotations_from_text("float64[N + 1, 3], int32")
    assert (repr(array), repr(number)) == ("dcpy.float64[N + 1, 3]", "dcpy.int32")
    for text in ("float64[N", "N", "print('x')", "float64[N], 3", "__import__('os').system('x')"):
        with pytest.raises(FrontendError, match="is no list of types"):
            annotations_from_text(text)


def test_without_pybind11(tmp_path, monkeypatch, source, capsys):
    monkeypatch.setitem(sys.modules, "pybind11", None)
    assert sdfgcc_main([f"{source}product", "--python", "-o", str(tmp_path / "made")]) == 1
    assert "[extension]" in capsys.readouterr().err


def test_python_needs_a_folder(source, capsys):
    for words in (["--python"], ["--types", "int64", "-o", "x"], ["--python", "-o", "x", "--bundle"]):
        with pytest.raises(SystemExit, match="2"):
            sdfgcc_main([f"{source}product", *words])
    assert "--python writes a module into the folder -o" in capsys.readouterr().err
