"""One kernel in one framework, in this process: compile, validate against NumPy, measure; prints one JSON object last.

Run as ``python -m benchmarks.peers.worker KERNEL FRAMEWORK PRESET REPEAT SECONDS`` by the interpreter that has the
framework. Results count as NumPy's within the tolerances of NPBench: ``allclose(rtol=1e-5, atol=1e-8)``, or a relative
error below 1e-5 in the Euclidean norm (for float32). dcpy must agree in dtypes and shapes as well.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import json
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.npbench import Kernel, kernels
from benchmarks.peers import FRAMEWORKS, Framework, adapt

RTOL, ATOL, NORM = 1e-5, 1e-8, 1e-5


def measure(kernel: Kernel, framework: Framework, preset: str, repeat: int, seconds: float) -> dict[str, Any]:
    """A row of the table; `status` is "ok", "refused: ..." or "wrong: ..."."""
    arguments = kernel.initialize(preset)
    expected = copy.deepcopy(arguments)
    numpy_first = _timed(lambda: _result(kernel.function, expected))
    row: dict[str, Any] = {"kernel": kernel.name, "framework": framework.name, "preset": preset}
    original = adapt.computing_source(Path(str(kernel.module.__file__)).read_text())
    if framework.name != "numpy":
        compiled, first, refusal = _first_that_runs(kernel, framework, original, arguments)
        if refusal:
            return row | {"status": f"refused: {refusal}"}
        row |= {"first_call": first.seconds, "lines": len(adapt.lines(compiled.text))}
        row |= {"numpy_lines": len(adapt.lines(original)), "coverage": adapt.coverage(original, compiled.text)}
        row |= {"stages": getattr(compiled.function, "profile", None)}
        strict = framework.name.startswith("dcpy")
        difference = _difference(first.value, numpy_first.value, strict)
        if difference:
            return row | {"status": f"wrong: {difference}"}
        runs: dict[str, Callable[..., Any]] = {"times": compiled.function, "numpy_times": kernel.function}
    else:
        row |= {"numpy_lines": len(adapt.lines(original))}
        runs = {"numpy_times": kernel.function}
    row |= _repeat(runs, kernel.initialize(preset), repeat, seconds)
    return row | {"status": "ok"}


class _Compiled:
    """An adapted source, imported, and its entry."""

    def __init__(self, text: str, name: str, framework: Framework, folder: Path) -> None:
        self.text = text
        path = folder / f"{name}.py"
        path.write_text(text)
        self.function = getattr(_pythran(path) if framework.name == "pythran" else _imported(path), name)


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem.partition(".")[0], path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _pythran(path: Path) -> ModuleType:
    import pythran

    return _imported(Path(pythran.compile_pythranfile(str(path))))


class _Timed:
    """A value and how long it took."""

    def __init__(self, seconds: float, value: Any) -> None:
        self.seconds, self.value = seconds, value


def _timed(run: Callable[[], Any]) -> _Timed:
    start = time.perf_counter()
    value = run()
    return _Timed(time.perf_counter() - start, value)


def _first_that_runs(
    kernel: Kernel, framework: Framework, original: str, arguments: dict[str, Any]
) -> tuple[Any, Any, str]:
    """Compiles and calls the variants in order; the reason of the last one where none runs."""
    reason = ""
    for variant in framework.variants:
        mine = copy.deepcopy(arguments)
        folder = Path(tempfile.mkdtemp(prefix="bench-"))
        start = time.perf_counter()
        try:
            compiled = _Compiled(variant(original, kernel.name, arguments), kernel.name, framework, folder)
            value = _result(compiled.function, mine)
        except Exception as error:
            reason = f"{type(error).__name__}: {_first_line(error)}"
            continue
        return compiled, _Timed(time.perf_counter() - start, value), ""
    return None, None, reason


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")[:200]


def _result(function: Callable[..., Any], arguments: dict[str, Any]) -> list[tuple[str, Any]]:
    """Everything a caller can see of a call: results, and array arguments afterwards. Lazy results are waited for."""
    value = function(*arguments.values())
    values = value if isinstance(value, tuple | list) else [] if value is None else [value]
    seen = [
        (f"result {i}", v.block_until_ready() if hasattr(v, "block_until_ready") else v) for i, v in enumerate(values)
    ]
    return seen + [(name, v) for name, v in arguments.items() if isinstance(v, np.ndarray)]


def _difference(got: list[tuple[str, Any]], want: list[tuple[str, Any]], strict: bool) -> str:
    """What differs from NumPy first; "" where nothing does."""
    if [name for name, _ in got] != [name for name, _ in want]:
        return f"{len(got) - len(want):+d} results"
    for (name, mine), (_, theirs) in zip(got, want, strict=True):
        x, y = np.asarray(mine), np.asarray(theirs)
        if x.shape != y.shape or (strict and x.dtype != y.dtype):
            return f"{name} is {x.dtype}{list(x.shape)}, not {y.dtype}{list(y.shape)}"
        if not np.allclose(x, y, rtol=RTOL, atol=ATOL, equal_nan=True):
            error = np.linalg.norm((x - y).ravel()) / np.linalg.norm(y.ravel())
            if not error <= NORM:
                return f"{name} is off by {error:.1e}"
    return ""


def _repeat(
    runs: dict[str, Callable[..., Any]], arguments: dict[str, Any], repeat: int, seconds: float
) -> dict[str, list[float]]:
    """Times of `repeat` calls of each, in turn, on fresh arguments; fewer where `seconds` are over."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    end = time.perf_counter() + seconds
    for _ in range(repeat):
        for name, function in runs.items():
            mine = copy.deepcopy(arguments)
            times[name].append(_timed(lambda function=function, mine=mine: _result(function, mine)).seconds)
        if time.perf_counter() > end:
            break
    return times


def main(kernel: str, framework: str, preset: str, repeat: str, seconds: str) -> None:
    warnings.simplefilter("ignore")
    importlib.import_module(FRAMEWORKS[framework].package)  # so that the first call is only a call
    with np.errstate(all="ignore"):
        row = measure(kernels()[kernel], FRAMEWORKS[framework], preset, int(repeat), float(seconds))
    for key in ("times", "numpy_times"):
        if key in row:
            row[key.removesuffix("times") + "median"] = statistics.median(row[key])
    print(json.dumps(row))


if __name__ == "__main__":
    main(*sys.argv[1:])
