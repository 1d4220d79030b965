"""How dcpy compares with its peers on a device: kernel by kernel, with the best of each, and on average."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
OURS = "dcpy"


def ratio(mine: Row, theirs: Row) -> float:
    """How many times faster: by the clock of the host, where one of both is known by that alone."""
    key = "median" if {mine["clock"], theirs["clock"]} == {"events"} else "host_median"
    return float(theirs[key] / mine[key])


@dataclass(frozen=True)
class Kernel:
    """What was found about one, by framework."""

    name: str
    rows: Mapping[str, Row]

    @property
    def good(self) -> dict[str, Row]:
        return {name: row for name, row in self.rows.items() if row["status"] == "ok"}

    def over(self, peer: str) -> float | None:
        """How many times faster dcpy is; None where one of both has no time."""
        good = self.good
        return ratio(good[OURS], good[peer]) if OURS in good and peer in good else None

    def best_peer(self) -> tuple[str, float] | None:
        """The peer that dcpy is fewest times faster than, and how many."""
        ratios = {name: found for name in self.rows if name != OURS and (found := self.over(name)) is not None}
        return min(ratios.items(), key=lambda item: item[1], default=None)


def by_kernel(rows: Iterable[Row], what: str = "kernel") -> list[Kernel]:
    """Rows of the same `what` together, in the order in which they were measured."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row["key"][what], {})[row["key"]["framework"]] = row
    return [Kernel(name, frameworks) for name, frameworks in found.items()]


def means(kernels: Sequence[Kernel]) -> Iterator[str]:
    """Geometric means: over the best peer of each kernel, then over each peer."""
    best = {kernel.name: found[1] for kernel in kernels if (found := kernel.best_peer()) is not None}
    if best:
        fastest = sum(one >= 1 for one in best.values())
        yield f"{_mean(best)} the best peer of each kernel, the fastest of all on {fastest} of {len(best)}"
    for peer in dict.fromkeys(name for kernel in kernels for name in kernel.rows if name != OURS):
        found = {kernel.name: over for kernel in kernels if (over := kernel.over(peer)) is not None}
        if found:
            yield f"{_mean(found)} {peer}"
    good = sum(OURS in kernel.good for kernel in kernels)
    yield f"dcpy runs {good} of {len(kernels)} kernels that were reached"


def _mean(ratios: Mapping[str, float]) -> str:
    worst = min(ratios, key=lambda name: ratios[name])
    kernels = f"{len(ratios)} kernels" if len(ratios) > 1 else "1 kernel"
    mean = statistics.geometric_mean(ratios.values())
    return f"dcpy: {mean:.2f} times (geometric mean of {kernels}; {worst}: {ratios[worst]:.2f})"
