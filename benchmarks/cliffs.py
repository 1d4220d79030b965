"""Cliffs of sizes: ``python -m benchmarks.cliffs``.

Slices with bounds known at run time, beside NumPy and Numba (where `make bench-peers` has installed it) in one process
each; and programs that are called with one pattern of sizes after another, beside a fresh program for each.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import dcpy
from benchmarks.figures import Figure
from benchmarks.npbench import hdiff as weather
from benchmarks.timing import interleaved

PEER = Path(__file__).parent.parent / ".venv-peers" / "numba" / "bin" / "python"
Arguments = Sequence[Any]

# -- slices with bounds known at run time ------------------------------------------------------------------------------


def knapsack(weights, values, capacity):
    """The best value for each capacity: each item once."""
    best = np.zeros(capacity + 1)
    for i in range(len(weights)):
        w = weights[i]
        best[w:] = np.maximum(best[w:], best[:-w] + values[i])
    return best


def scan(x):
    """Inclusive prefix sums by doubling (Hillis and Steele)."""
    v = x.copy()
    n, d = len(v), 1
    while d < n:
        old = v.copy()
        v[d:] = old[d:] + old[: n - d]
        d *= 2
    return v


def star(a, b, weights, n, radius):
    """A star-shaped stencil of any radius, as in the Parallel Research Kernels."""
    for r in range(1, radius + 1):
        b[r : n - r, r : n - r] += weights[r] * (
            a[r : n - r, 2 * r : n]
            + a[2 * r : n, r : n - r]
            - a[r : n - r, 0 : n - 2 * r]
            - a[0 : n - 2 * r, r : n - r]
        )


def correlation(x, lags):
    """Autocorrelation at some lags."""
    out = np.zeros(len(lags))
    for i in range(len(lags)):
        d = lags[i]
        out[i] = np.sum(x[d:] * x[: len(x) - d])
    return out


def slices(rng: np.random.Generator) -> dict[Callable[..., Any], Arguments]:
    """The programs with arguments."""
    return {
        knapsack: (rng.integers(1, 2000, 100), rng.random(100), 20_000),
        scan: (rng.random(200_000),),
        star: (rng.random((600, 600)), np.zeros((600, 600)), rng.random(5), 600, 4),
        correlation: (rng.random(100_000), np.arange(1, 60, 3)),
    }


def run_time_bounds() -> Iterator[Figure]:
    """NumPy's time over dcpy's, and Numba's, called in turn."""
    for function, arguments in slices(np.random.default_rng(1)).items():
        program = dcpy.program(function)
        numpy, own = interleaved(lambda f=function, a=arguments: f(*a), lambda f=program, a=arguments: f(*a))
        what = f"S-2 {function.__name__}: slices with run-time bounds, over NumPy"
        yield Figure(what, ">= 1", f"{numpy / own:.2f}", own <= numpy)
        peer = seconds_of_numba(function.__name__)
        if peer is not None:
            yield Figure(f"S-2 {function.__name__}: ... over Numba", ">= 1", f"{peer / own:.2f}", own <= peer)


NUMBA = """
import json, statistics, time
import numba, numpy as np
{source}
arguments = ({arguments})(np.random.default_rng(1))
compiled = numba.njit({name})
compiled(*arguments)
times = []
for _ in range(9):
    start = time.perf_counter()
    compiled(*arguments)
    times.append(time.perf_counter() - start)
print(json.dumps(statistics.median(times)))
"""


def seconds_of_numba(name: str) -> float | None:
    """The median time of a call in Numba; None where that is not installed, or refuses the program."""
    if not PEER.exists():
        return None
    source = "\n".join(map(inspect.getsource, (knapsack, scan, star, correlation, slices)))
    source = source.replace("dict[Callable[..., Any], Arguments]", "dict").replace("np.random.Generator", "object")
    picked = f"lambda rng: next(a for f, a in slices(rng).items() if f.__name__ == {name!r})"
    code = NUMBA.format(source=source, arguments=picked, name=name)
    done = subprocess.run([str(PEER), "-c", code], capture_output=True, text=True, check=False)
    return None if done.returncode else float(json.loads(done.stdout.splitlines()[-1]))


# -- one pattern of sizes after another --------------------------------------------------------------------------------


def broadcast(column, table, row):
    """Columns and rows against tables, sizes of 1 included."""
    return np.sqrt(column * table + row) * table


def wave(ex, ey, hz, steps):
    """Finite differences in the time domain."""
    for _ in range(steps):
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def convolution(x, w, out):
    """A valid convolution, by shifted slices."""
    n = x.shape[0] - w.shape[0] + 1
    out[:] = 0
    for k in range(w.shape[0]):
        out += w[k] * x[k : k + n]


def _weather(i: int, j: int, k: int) -> Arguments:
    return tuple(weather.initialize(i, j, k).values())


def _fields(n: int, m: int) -> Arguments:
    rng = np.random.default_rng(n)
    return (*(rng.random((n, m)) for _ in range(3)), 5)


def _table(n: int, m: int, column: int, row: int) -> Arguments:
    rng = np.random.default_rng(n)
    return rng.random((n, column)), rng.random((n, m)), rng.random((row, m))


def _signal(n: int, k: int) -> Arguments:
    rng = np.random.default_rng(n)
    return rng.random(n), rng.random(k), np.zeros(n - k + 1)


#: Sizes that coincide, sizes of 1, and others, in the order of the calls.
PATTERNS: dict[Callable[..., Any], list[Arguments]] = {
    weather.hdiff: [
        _weather(*sizes)
        for sizes in ((64, 64, 60), (48, 64, 60), (64, 64, 64), (96, 1, 200), (32, 48, 100), (80, 60, 1))
    ],
    wave: [_fields(*sizes) for sizes in ((200, 200), (200, 300), (1, 20_000), (300, 150), (20_000, 1), (256, 256))],
    broadcast: [
        _table(*sizes)
        for sizes in (
            (300, 300, 1, 1), (300, 200, 1, 1), (300, 300, 300, 300), (1, 90_000, 1, 1), (200, 400, 400, 1),
            (400, 90, 1, 400),
        )
    ],
    convolution: [
        _signal(*sizes) for sizes in ((50_000, 9), (50_004, 9), (90_000, 20), (50_000, 1), (9_000, 9_000), (40_000, 3))
    ],
}  # fmt: skip


def size_patterns() -> Iterator[Figure]:
    """A program that met all patterns against a fresh one for each: lines of C++, and time of a call."""
    for function, patterns in PATTERNS.items():
        with tempfile.TemporaryDirectory() as folder:
            used = dcpy.program(function, cache_dir=folder)
            for arguments in patterns:
                used(*arguments)
            lines = _lines_of_programs(folder)
        ratio = max(lines) / lines[0]
        what = f"S-1 {function.__name__}, six size patterns"
        yield Figure(f"{what}: {len(lines)} versions, lines over the first's", "<= 1.3", f"{ratio:.2f}", ratio <= 1.3)
        slowest = max(_used_over_fresh(function, used, arguments) for arguments in patterns)
        yield Figure(f"{what}: slowest over a fresh program", "<= 1.1", f"{slowest:.2f}", slowest <= 1.1)


def _used_over_fresh(function: Callable[..., Any], used: Callable[..., Any], arguments: Arguments) -> float:
    with tempfile.TemporaryDirectory() as folder:
        fresh = dcpy.program(function, cache_dir=folder)
        fresh(*arguments)
    start = time.perf_counter()
    fresh(*arguments)
    inner = max(1, int(0.005 / max(time.perf_counter() - start, 1e-7)))

    def repeated(call: Callable[..., Any]) -> Callable[[], None]:
        def run() -> None:
            for _ in range(inner):
                call(*arguments)

        return run

    first, second = interleaved(repeated(used), repeated(fresh), repeats=15)
    return first / second


def _lines_of_programs(folder: str) -> list[int]:
    """Of the C++ of each program in a cache folder, oldest first."""
    texts = sorted(Path(folder).rglob("*.cpp"), key=lambda path: path.stat().st_mtime_ns)
    return [len(path.read_text().splitlines()) for path in texts]


def figures() -> Iterator[Figure]:
    """All rows."""
    yield from run_time_bounds()
    yield from size_patterns()


if __name__ == "__main__":
    for figure in figures():
        print(f"{figure.what:<72} {figure.bar:>8} {figure.measured:>8}  {'yes' if figure.reached else 'NO'}")
        sys.stdout.flush()
