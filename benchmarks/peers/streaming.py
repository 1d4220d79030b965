"""Kernels that stream: each element is needed once in a sweep, so the memory says how fast they can be at best.

Their sizes in the preset ``beyond`` are those of arrays that no cache holds. The bytes that they must move are those of
their arrays, once in each sweep: what is read and what is written, as the triad's are counted (`benchmarks.limits`).

Neighbours share a machine's memory, if not its cores: within minutes the same triad has 25 and 75 GB/s. So triads are
measured right before and after each of these kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks import limits
from benchmarks.npbench import kernels
from benchmarks.peers import openmp

Row = dict[str, Any]
PRESET = "beyond"


def names() -> list[str]:
    """The kernels that have sizes beyond caches."""
    return [name for name, kernel in kernels().items() if PRESET in kernel.sizes]


def sweeps(sizes: Mapping[str, float]) -> float:
    """How often a kernel goes over its arrays: twice in each time step but the first, if it has such, else once."""
    return 2 * (sizes["TSTEPS"] - 1) if "TSTEPS" in sizes else 1


def beside_triads(measured: Callable[[], Row], threads: int) -> Row:
    """The row of a kernel, and ``triad``: the mean of bandwidths before and after, where there is a C compiler."""
    before = limits.measured(openmp(threads))
    row = measured()
    after = limits.measured(openmp(threads))
    return {**row, "triad": (before["triad"] + after["triad"]) / 2} if before and after else row


def shares(rows: Sequence[Row], framework: str, triad: float) -> Iterator[tuple[str, float]]:
    """Each kernel with its share of the triad's bandwidth, of rows whose arrays no cache holds.

    Of the triads beside it; of `triad`, in bytes per second, where a row has none.
    """
    for row in rows:
        if row["preset"] == PRESET and row["framework"] == framework and row["status"] == "ok":
            moved = row["bytes"] * sweeps(kernels()[row["kernel"]].sizes[PRESET])
            yield row["kernel"], moved / row["median"] / row.get("triad", triad)
