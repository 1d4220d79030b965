"""``python -m benchmarks.sorting``: sorting and what sorts, beside NumPy in the same process.

Medians of calls in turn. Set ``OMP_NUM_THREADS=1``: NumPy's has one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dcpy
from benchmarks.timing import interleaved

SIZES = (1_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Case:
    """One function, called on vectors of some dtype."""

    function: Callable[[Any], Any]
    dtype: str = "float64"
    is_sorted: bool = False


def sort(a: Any) -> Any:
    return np.sort(a)


def argsort(a: Any) -> Any:
    return np.argsort(a)


def argsort_stably(a: Any) -> Any:
    return np.argsort(a, kind="stable")


def unique(a: Any) -> Any:
    return np.unique(a)


def median(a: Any) -> Any:
    return np.median(a)


def partition(a: Any) -> Any:
    return np.partition(a, len(a) // 2)[len(a) // 2]


def quantile(a: Any) -> Any:
    return np.quantile(a, 0.9)


def searchsorted(a: Any) -> Any:
    return np.searchsorted(a, a)


CASES = (
    Case(sort),
    Case(sort, "float32"),
    Case(sort, "int64"),
    Case(sort, "uint8"),
    Case(argsort),
    Case(argsort_stably),
    Case(argsort_stably, "int64"),
    Case(unique),
    Case(unique, "int64"),
    Case(median),
    Case(partition),
    Case(quantile),
    Case(searchsorted, is_sorted=True),
)


def main() -> None:
    """Prints seconds, and their ratio to NumPy's."""
    print(f"{'microseconds':31}{'numpy':>10}{'dcpy':>10}{'ratio':>7}")
    for case in CASES:
        program = dcpy.program(case.function)
        for size in SIZES:
            sample = _sample(size, case.dtype)
            _measure(case, program, np.sort(sample) if case.is_sorted else sample)


def _sample(size: int, dtype: str) -> Any:
    """Numbers in no order. Integers repeat: there are half as many of them."""
    rng = np.random.default_rng(0)
    if dtype.startswith("f"):
        return rng.standard_normal(size).astype(dtype)
    return rng.integers(0, min(size // 2, np.iinfo(dtype).max), size).astype(dtype)


def _measure(case: Case, program: Callable[[Any], Any], a: Any) -> None:
    np.testing.assert_array_equal(program(a), case.function(a))
    repeats = max(5, min(200, 300_000 // a.size))
    mine, theirs = interleaved(lambda: program(a), lambda: case.function(a), repeats)
    title = f"{case.function.__name__} {case.dtype} {a.size}"
    print(f"{title:31}{theirs * 1e6:10.1f}{mine * 1e6:10.1f}{mine / theirs:7.2f}", flush=True)


if __name__ == "__main__":
    main()
