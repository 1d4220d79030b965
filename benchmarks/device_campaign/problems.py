"""Problems that people write kernels for by hand: STREAM, AXPY, a sine, Kuramoto, a gather, and random updates (GUPS).

In NumPy as anybody writes them: that is what dcpy compiles, and what results are compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arguments = dict[str, Any]
NEIGHBOURS = 16  # of a gather


def copy(a, c):
    c[:] = a


def scale(c, b, s):
    b[:] = s * c


def add(a, b, c):
    c[:] = a + b


def triad(b, c, a, s):
    a[:] = b + s * c


def axpy(x, y, s):
    y[:] = y + s * x


def sine(x, y):
    y[:] = np.sin(x)


def kuramoto(phase, omega, rate, coupling):
    n = len(phase)
    rate[:] = omega + coupling / n * np.sum(np.sin(phase[np.newaxis, :] - phase[:, np.newaxis]), axis=1)


def gather(x, where, y):
    y[:] = np.sum(x[where], axis=1)


def gups(table, where, values):
    for i in range(len(where)):
        table[where[i]] ^= values[i]


@dataclass(frozen=True)
class Problem:
    """One of them: arguments for `n` elements, results last among arrays; bytes that must move; sizes by preset."""

    function: Callable[..., Any]
    arguments: Callable[[int, np.random.Generator], Arguments]
    moved: Callable[[int], int]
    size: int  #: on a device

    @property
    def name(self) -> str:
        return self.function.__name__

    def initialize(self, n: int) -> Arguments:
        """Always the same for a size."""
        return self.arguments(n, np.random.default_rng(n))


def _vectors(*names: str, **numbers: float) -> Callable[[int, np.random.Generator], Arguments]:
    return lambda n, rng: {name: rng.random(n) for name in names} | numbers


def _oscillators(n: int, rng: np.random.Generator) -> Arguments:
    return {"phase": 6 * rng.random(n), "omega": rng.random(n), "rate": np.zeros(n), "coupling": 0.5}


def _gathered(n: int, rng: np.random.Generator) -> Arguments:
    return {"x": rng.random(n), "where": rng.integers(0, n, (n, NEIGHBOURS)), "y": np.zeros(n)}


def _updates(n: int, rng: np.random.Generator) -> Arguments:
    return {"table": np.arange(n), "where": rng.integers(0, n, n), "values": rng.integers(0, 1 << 40, n)}


PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem(copy, _vectors("a", "c"), lambda n: 16 * n, 1 << 26),
        Problem(scale, _vectors("c", "b", s=0.4), lambda n: 16 * n, 1 << 26),
        Problem(add, _vectors("a", "b", "c"), lambda n: 24 * n, 1 << 26),
        Problem(triad, _vectors("b", "c", "a", s=0.4), lambda n: 24 * n, 1 << 26),
        Problem(axpy, _vectors("x", "y", s=0.4), lambda n: 24 * n, 1 << 26),
        Problem(sine, _vectors("x", "y"), lambda n: 16 * n, 1 << 26),
        Problem(kuramoto, _oscillators, lambda n: 24 * n, 1 << 15),
        Problem(gather, _gathered, lambda n: 16 * n + 8 * n * NEIGHBOURS, 1 << 23),
        Problem(gups, _updates, lambda n: 32 * n, 1 << 25),
    )
}
