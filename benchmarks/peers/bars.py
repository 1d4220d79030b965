"""What a campaign amounts to: one figure for each bar that the project has set itself, with the bar beside."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.peers import best, polybench, streaming
from benchmarks.peers.heatmap import speedup

Row = dict[str, Any]
OURS = "dcpy"


@dataclass(frozen=True)
class Bar:
    """`value` is to reach `bar`, from above where `at_most`."""

    what: str
    value: float
    bar: float
    at_most: bool = False
    said: str = ""  # what else there is to say: which kernel it is, of how many

    def __str__(self) -> str:
        return f"{self.what}: {self.shown}, bar {self.bar:g}{' at most' if self.at_most else ''}"

    @property
    def shown(self) -> str:
        return f"{self.value:.3g}" + (f" ({self.said})" if self.said else "")

    @property
    def reached(self) -> bool:
        return self.value <= self.bar if self.at_most else self.value >= self.bar


def bars(rows: Sequence[Row], limits: Mapping[str, float]) -> list[Bar]:
    """Those that rows of one part say something about."""
    if any(row["preset"] == streaming.PRESET for row in rows):
        return list(_of_the_triad(rows, limits))
    ours = [row for row in rows if row["framework"] == OURS and row["status"] == "ok"]
    return [*_over_peers(rows), *_over_numpy(ours), *_over_c(rows), *_over_plain(ours), *_first_calls(ours)]


def _over_peers(rows: Sequence[Row]) -> Iterator[Bar]:
    compared = list(best.comparisons(rows))
    if compared:
        worst = min(compared, key=lambda one: one.ratio)
        won = sum(one.ratio > 1 for one in compared)
        mean = statistics.geometric_mean(one.ratio for one in compared)
        yield Bar("over the best peer of each kernel, geometric mean", mean, 2.0)
        yield Bar("kernels where dcpy is the fastest of all", won, 48, said=f"of {len(compared)}")
        yield Bar("the worst kernel over its best peer", worst.ratio, 0.9, said=f"{worst.kernel}, {worst.peer}")
    compared = list(best.comparisons(rows, by_hand=True))
    if compared:
        mean = statistics.geometric_mean(one.ratio for one in compared)
        won = sum(one.ratio > 1 for one in compared)
        yield Bar("over the best peer in its best form, also by hand, geometric mean", mean, 2.7)
        yield Bar("kernels where dcpy is faster than all forms", won, 52, said=f"of {len(compared)}")


def _over_numpy(ours: Sequence[Row]) -> Iterator[Bar]:
    if ours:
        yield Bar("over NumPy, geometric mean", statistics.geometric_mean(map(speedup, ours)), 14.0)


def _over_c(rows: Sequence[Row]) -> Iterator[Bar]:
    """dcpy over the best C variant of each kernel that PolyBench has."""
    good = {(row["kernel"], row["framework"]): row["median"] for row in rows if "median" in row}
    ratios = {
        kernel: good[kernel, polybench.NAME] / seconds
        for (kernel, framework), seconds in good.items()
        if framework == OURS and (kernel, polybench.NAME) in good
    }
    if ratios:
        worst = min(ratios, key=lambda kernel: ratios[kernel])
        mean = statistics.geometric_mean(ratios.values())
        yield Bar("over the best C variant of PolyBench, geometric mean", mean, 2.3, said=f"{len(ratios)} kernels")
        yield Bar("the worst kernel over its best C variant", ratios[worst], 0.9, said=worst)


def _of_the_triad(rows: Sequence[Row], limits: Mapping[str, float]) -> Iterator[Bar]:
    shares = dict(streaming.shares(rows, OURS, limits["triad"])) if limits else {}
    if shares:
        worst = min(shares, key=lambda kernel: shares[kernel])
        said = ", ".join(f"{kernel} {share:.2f}" for kernel, share in shares.items())
        yield Bar("share of the triad's bandwidth, the worst kernel that streams", shares[worst], 0.85, said=said)


def _over_plain(ours: Sequence[Row]) -> Iterator[Bar]:
    measured = [row for row in ours if "over_plain" in row]
    if measured:
        worst = min(measured, key=lambda row: float(row["over_plain"]))
        yield Bar("auto_optimize over plain, the worst kernel", worst["over_plain"], 0.97, said=worst["kernel"])


def _first_calls(ours: Sequence[Row]) -> Iterator[Bar]:
    if ours:
        longest = max(ours, key=lambda row: float(row["first_call"]))
        median = statistics.median(row["first_call"] for row in ours)
        yield Bar("first call, cold, median of seconds", median, 0.8, at_most=True)
        yield Bar("the longest first call, seconds", longest["first_call"], 2.5, at_most=True, said=longest["kernel"])
