"""``python -m benchmarks.selections``: masks and index arrays, plain and auto-optimized, beside NumPy in one process.

Medians of calls in turn. Set ``OMP_NUM_THREADS=1``: NumPy has one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dcpy
from benchmarks.timing import interleaved

SIZES = (100, 30_000, 1_000_000)


@dataclass(frozen=True)
class Case:
    """One function, and how many of a hundred elements its mask selects."""

    function: Callable[..., Any]
    percent: int = 30


def clear(a: Any, b: Any, m: Any, i: Any) -> None:
    a[a < 0.5] = 0


def scale(a: Any, b: Any, m: Any, i: Any) -> None:
    a[m] *= 0.5


def update(a: Any, b: Any, m: Any, i: Any) -> None:
    a[m] = np.sqrt(a[m]) * b[m] + 0.1


def costly(a: Any, b: Any, m: Any, i: Any) -> None:
    a[m] = np.tanh(a[m]) ** b[m]


def total(a: Any, b: Any, m: Any, i: Any) -> Any:
    return a[m].sum()


def mean(a: Any, b: Any, m: Any, i: Any) -> Any:
    return a[b > 0.3].mean()


def deviation(a: Any, b: Any, m: Any, i: Any) -> Any:
    return a[m].std()


def count(a: Any, b: Any, m: Any, i: Any) -> Any:
    return np.count_nonzero(a > b)


def pack(a: Any, b: Any, m: Any, i: Any) -> Any:
    return a[m], b[m], i[m]


def positions(a: Any, b: Any, m: Any, i: Any) -> Any:
    return np.nonzero(m)


def gather(a: Any, b: Any, m: Any, i: Any) -> Any:
    return a[i] * b


def scatter(a: Any, b: Any, m: Any, i: Any) -> None:
    a[i] = b


def histogram(a: Any, b: Any, m: Any, i: Any) -> None:
    np.add.at(a, i, b)


CASES = (
    Case(clear), Case(scale), Case(scale, 1), Case(update, 1), Case(update), Case(update, 99), Case(costly, 1),
    Case(costly), Case(total), Case(mean), Case(deviation), Case(count), Case(pack, 1), Case(pack), Case(positions),
    Case(gather), Case(scatter), Case(histogram),
)  # fmt: skip


def main() -> None:
    """Prints times, and their ratios to NumPy's."""
    print(f"{'microseconds':26}{'numpy':>10}{'plain':>10}{'ratio':>7}{'auto':>10}{'ratio':>7}")
    for case in CASES:
        programs = [dcpy.program(case.function, auto_optimize=auto) for auto in (False, True)]
        for size in SIZES:
            _measure(case, programs, size)


def _measure(case: Case, programs: list[Callable[..., Any]], size: int) -> None:
    rng = np.random.default_rng(0)
    arrays = rng.random(size), rng.random(size), rng.random(size) < case.percent / 100, rng.integers(0, size, size)
    repeats = max(5, min(200, 3_000_000 // size))
    line = f"{f'{case.function.__name__} {case.percent} % of {size}':26}"
    for program in programs:
        _require_same(program, case.function, arrays)
        mine = [array.copy() for array in arrays]
        theirs = [array.copy() for array in arrays]
        dcpys, numpys = interleaved(
            lambda program=program, mine=mine: program(*mine),
            lambda theirs=theirs: case.function(*theirs),
            repeats,
        )
        line += f"{numpys * 1e6:10.1f}" if program is programs[0] else ""
        line += f"{dcpys * 1e6:10.1f}{dcpys / numpys:7.2f}"
    print(line, flush=True)


def _require_same(program: Callable[..., Any], function: Callable[..., Any], arrays: tuple[Any, ...]) -> None:
    mine, theirs = [array.copy() for array in arrays], [array.copy() for array in arrays]
    found, wanted = program(*mine), function(*theirs)
    for one, other in zip((*mine, *_parts(found)), (*theirs, *_parts(wanted)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


if __name__ == "__main__":
    main()
