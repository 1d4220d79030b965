"""The best peer of each kernel: what users could have instead, NumPy among it, and how far dcpy is from it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.peers import polybench
from benchmarks.peers.by_hand import SUFFIX
from benchmarks.peers.heatmap import speedup

Row = dict[str, Any]
OURS = ("dcpy", "dcpy-plain")  # the first one that was measured counts
NOT_PEERS = (*OURS, "numpy", polybench.NAME)  # C has a bar of its own: nobody writes NumPy in it


@dataclass(frozen=True)
class Comparison:
    """dcpy's speed on a kernel over that of the best peer: above 1, dcpy is the fastest of all.

    `speedup` is that of the peer over NumPy.
    """

    kernel: str
    peer: str
    ratio: float
    speedup: float


def comparisons(rows: Sequence[Row], by_hand: bool = False) -> Iterator[Comparison]:
    """Of each kernel that dcpy and a peer besides NumPy were measured on, in order; none where dcpy does not run.

    Peers have the same NumPy source; `by_hand`: each has its best form, that one or what was written for it by hand.
    """
    measured = {row["framework"] for row in rows if by_hand or not _is_by_hand(row)}
    if by_hand and not any(map(_is_by_hand, rows)):
        return
    ours = next((name for name in OURS if name in measured), None)
    if ours is None or not measured - {*NOT_PEERS}:
        return
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        good = {row["framework"]: row for row in rows if row["kernel"] == kernel and row["status"] == "ok"}
        good = {name: row for name, row in good.items() if name in measured}
        if ours in good:
            peers = {name: speedup(row) for name, row in good.items() if name not in NOT_PEERS}
            best = max(peers, key=lambda name: peers[name], default="numpy")
            if peers.get(best, 0) < 1:
                best = "numpy"
            theirs = peers.get(best, 1.0)
            yield Comparison(kernel, best, speedup(good[ours]) / theirs, theirs)


def _is_by_hand(row: Row) -> bool:
    return str(row["framework"]).endswith(SUFFIX)


def summary(rows: Sequence[Row]) -> list[str]:
    """Mean over the best peer of each kernel, how often dcpy is the fastest, and where it is slowest; in a line."""
    found = list(comparisons(rows))
    if not found:
        return []
    mean = statistics.geometric_mean(one.ratio for one in found)
    fastest = sum(one.ratio > 1 for one in found)
    worst = min(found, key=lambda one: one.ratio)
    return [
        f"{mean:.2f} times the best peer of each kernel (geometric mean), the fastest of all on {fastest} of "
        f"{len(found)}; the slowest: {worst.kernel}, {worst.ratio:.2f} of {worst.peer}"
    ]
