"""One kernel in one variant of a framework, in this process: compile, validate, measure; prints one JSON object last.

Run as ``python -m benchmarks.peers.worker KERNEL FRAMEWORK VARIANT PRESET REPEAT SECONDS`` by the interpreter that has
the framework. Results count as NumPy's within the tolerances of NPBench: ``allclose(rtol=1e-5, atol=1e-8)``, or a
relative error below 1e-5 in the Euclidean norm (for float32). dcpy must agree in dtypes and shapes as well.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.npbench import Kernel, kernels
from benchmarks.peers import FRAMEWORKS, Framework, adapt
from benchmarks.peers.calls import PlainCall, Seen
from benchmarks.peers.subject import Subject, subject_of

RTOL, ATOL, NORM = 1e-5, 1e-8, 1e-5
PYTHRAN_FLAGS = ["-DUSE_XSIMD", "-fopenmp", "-march=native", "-ffast-math"]  # those of NPBench


def measure(
    kernel: Kernel, framework: Framework, variant: int, preset: str, repeat: int, seconds: float
) -> dict[str, Any]:
    """A row of the table; `status` is "ok", "refused: ..." or "wrong: ..."."""
    arguments = kernel.initialize(preset)
    subject = subject_of(kernel, preset, arguments)
    reference, call = framework.reference(subject), framework.call(subject)
    expected = reference.prepare(arguments)
    value = reference.run(kernel.function, expected)
    numpy_lines = adapt.lines(subject.source)
    row: dict[str, Any] = {"kernel": kernel.name, "framework": framework.name, "preset": preset}
    moved = sum(np.asarray(array).nbytes for _, array in reference.seen(value, expected))
    row |= {"numpy_lines": len(numpy_lines), "bytes": moved}
    runs = {"numpy_times": Timed(reference, kernel.function)}
    if framework.name != "numpy":
        mine = call.prepare(arguments)
        start = time.perf_counter()
        try:
            text = framework.variants[variant](subject)
            function = compiled(text, framework.entry(kernel.name), framework)
            got = call.run(function, mine)
        except Exception as error:
            return row | {"status": f"refused: {type(error).__name__}: {first_line(error)}"}
        row |= {"first_call": time.perf_counter() - start, "stages": getattr(function, "profile", None)}
        want = reference.seen(value, expected)
        seen = call.seen(got, mine)
        if framework.is_by_hand:
            seen = seen[: len(want)]
        else:
            row |= {"lines": len(adapt.lines(text)), "coverage": adapt.coverage(subject.source, text)}
        difference = difference_from(seen, want, strict=framework.name.startswith("dcpy"))
        if difference:
            return row | {"status": f"wrong: {difference}"}
        runs["times"] = Timed(call, function)
    row |= _repeat(runs, kernel.initialize(preset), repeat, seconds)
    if framework.name == "dcpy":
        row |= {"over_plain": _over_plain(function, subject, kernel, preset, seconds)}
    return row | {"status": "ok"}


def _over_plain(auto: Any, subject: Subject, kernel: Kernel, preset: str, seconds: float) -> float:
    """The time of the kernel without `auto_optimize` over that with it, in turn."""
    from benchmarks.auto_and_plain import ratio_of

    plain = compiled(adapt.for_dcpy_plain(subject), kernel.name, FRAMEWORKS["dcpy-plain"])
    return ratio_of(plain, auto, list(kernel.initialize(preset).values()), seconds)


def compiled(text: str, name: str, framework: Framework, folder: Path | None = None) -> Callable[..., Any]:
    """The entry of an adapted source, which is written to `folder`, or to one of its own."""
    path = (folder or Path(tempfile.mkdtemp(prefix="bench-"))) / f"{name}.py"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return getattr(_pythran(path) if framework.name == "pythran" else _imported(path), name)


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem.partition(".")[0], path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _pythran(path: Path) -> ModuleType:
    import pythran

    built = pythran.compile_pythranfile(str(path), extra_compile_args=PYTHRAN_FLAGS, extra_link_args=["-fopenmp"])
    return _imported(Path(built))


@dataclass(frozen=True)
class Timed:
    """A function with its way to be called."""

    call: PlainCall
    function: Callable[..., Any]

    def seconds(self, arguments: dict[str, Any]) -> float:
        """Of one call, on fresh arguments."""
        mine = self.call.prepare(arguments)
        start = time.perf_counter()
        self.call.run(self.function, mine)
        return time.perf_counter() - start


def first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")[:200]


def difference_from(got: Seen, want: Seen, strict: bool) -> str:
    """What differs from NumPy first; "" where nothing does."""
    if [name for name, _ in got] != [name for name, _ in want]:
        return f"{len(got) - len(want):+d} results"
    for (name, mine), (_, theirs) in zip(got, want, strict=True):
        x, y = np.asarray(mine), np.asarray(theirs)
        x = x.reshape(y.shape) if not strict and x.size == y.size == 1 else x
        if x.shape != y.shape or (strict and x.dtype != y.dtype):
            return f"{name} is {x.dtype}{list(x.shape)}, not {y.dtype}{list(y.shape)}"
        if not np.allclose(x, y, rtol=RTOL, atol=ATOL, equal_nan=True):
            error = np.linalg.norm((x - y).ravel()) / np.linalg.norm(y.ravel())
            if not error <= NORM:
                return f"{name} is off by {error:.1e}"
    return ""


def _repeat(runs: dict[str, Timed], arguments: dict[str, Any], repeat: int, seconds: float) -> dict[str, list[float]]:
    """Times of `repeat` calls of each, in turn; fewer where `seconds` are over."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    end = time.perf_counter() + seconds
    for _ in range(repeat):
        for name, run in runs.items():
            times[name].append(run.seconds(arguments))
        if time.perf_counter() > end:
            break
    return times


def main(kernel: str, framework: str, variant: str, preset: str, repeat: str, seconds: str) -> None:
    warnings.simplefilter("ignore")
    FRAMEWORKS[framework].setup(Path.cwd())
    importlib.import_module(FRAMEWORKS[framework].package)  # so that the first call is only a call
    with np.errstate(all="ignore"):
        row = measure(kernels()[kernel], FRAMEWORKS[framework], int(variant), preset, int(repeat), float(seconds))
    for key in ("times", "numpy_times"):
        if key in row:
            row[key.removesuffix("times") + "median"] = statistics.median(row[key])
    print("\n" + json.dumps(row))


if __name__ == "__main__":
    main(*sys.argv[1:])
