"""``python -m benchmarks.fft``: Fourier transforms by both expansions, beside numpy.fft in the same process.

Medians of calls in turn; the figures of docs/decisions/0024. Set ``OMP_NUM_THREADS=1``: NumPy's has one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

import dcpy
from benchmarks.timing import interleaved
from dcpy.transforms import expand


@dataclass(frozen=True)
class Case:
    """One function, called on arrays of some shapes."""

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    dtype: str = "complex128"


def fft(a: Any) -> Any:
    return np.fft.fft(a)


def rfft(a: Any) -> Any:
    return np.fft.rfft(a)


def fft2(a: Any) -> Any:
    return np.fft.fft2(a)


LENGTHS = ((1 << 10,), (1 << 16,), (1 << 20,), (1000,), (10007,), (360 * 7,))
CASES = (
    Case(fft, (*LENGTHS, (1000, 100))),
    Case(fft, ((1 << 10,), (1 << 16,)), "complex64"),
    Case(rfft, ((1 << 10,), (1 << 16,), (1 << 20,), (10007,)), "float64"),
    Case(fft2, ((512, 512),)),
)


def main() -> None:
    """Prints seconds, their ratio to NumPy's, and the largest error against NumPy's results."""
    print(f"{'':34}{'numpy':>10}", *(f"{name:>10}{'ratio':>7}" for name in ("pure", "fftw")), f"{'error':>10}")
    for case in CASES:
        for shape in case.shapes:
            _measure(case, shape, [_compiled(case, shape, name) for name in ("pure", "fftw")])


def _compiled(case: Case, shape: tuple[int, ...], name: str) -> Callable[[], Any]:
    """A compiled program whose transforms were expanded like this, on one sample."""
    a = _sample(shape, case.dtype)
    sdfg = dcpy.program(case.function).to_sdfg(a)
    with patch.object(expand, "preference", lambda target: (name,)):
        compiled = sdfg.compile()
    return lambda: compiled(a)


def _sample(shape: tuple[int, ...], dtype: str) -> Any:
    parts = np.random.default_rng(0).standard_normal((2, *shape))
    return (parts[0] + 1j * parts[1] if dtype.startswith("c") else parts[0]).astype(dtype)


def _measure(case: Case, shape: tuple[int, ...], programs: list[Callable[[], Any]]) -> None:
    a = _sample(shape, case.dtype)
    expected = case.function(a)
    repeats = max(9, min(300, 3_000_000 // a.size))
    texts, errors, reference = [], [], []
    for program in programs:
        mine, theirs = interleaved(program, lambda: case.function(a), repeats)
        reference.append(theirs)
        texts.append(f"{mine * 1e6:10.1f}{mine / theirs:7.2f}")
        errors.append(np.max(np.abs(program() - expected)) / np.max(np.abs(expected)))
    title = f"{case.function.__name__} {case.dtype} {'x'.join(map(str, shape))}"
    print(f"{title:34}{min(reference) * 1e6:10.1f}", *texts, f"{max(errors):10.1e}", flush=True)


if __name__ == "__main__":
    main()
