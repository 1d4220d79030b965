"""Kernels that stream: each element is needed once in a sweep, so the memory says how fast they can be at best.

Their sizes in the preset ``beyond`` are those of arrays that no cache holds. The bytes that they must move are those of
their arrays, once in each sweep: what is read and what is written, as the triad's are counted (`benchmarks.limits`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.npbench import kernels

Row = dict[str, Any]
PRESET = "beyond"


def names() -> list[str]:
    """The kernels that have sizes beyond caches."""
    return [name for name, kernel in kernels().items() if PRESET in kernel.sizes]


def sweeps(sizes: Mapping[str, float]) -> float:
    """How often a kernel goes over its arrays: twice in each time step but the first, if it has such, else once."""
    return 2 * (sizes["TSTEPS"] - 1) if "TSTEPS" in sizes else 1


def shares(rows: Sequence[Row], framework: str, triad: float) -> Iterator[tuple[str, float]]:
    """Each kernel with its share of the triad's bandwidth, of rows whose arrays no cache holds."""
    for row in rows:
        if row["preset"] == PRESET and row["framework"] == framework and row["status"] == "ok":
            moved = row["bytes"] * sweeps(kernels()[row["kernel"]].sizes[PRESET])
            yield row["kernel"], moved / row["median"] / triad
