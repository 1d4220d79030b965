"""Figures of GPUs in words and as Markdown: on which device, beside whom, kernel by kernel."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from benchmarks.devices.device import Device
from benchmarks.peers.report import write_between

__all__ = ["BEGIN", "END", "Row", "comparison", "markdown", "ratio", "write_between"]

Row = dict[str, Any]
BEGIN, END = "<!-- results on a GPU -->", "<!-- end of results on a GPU -->"


def ratio(mine: Row, theirs: Row) -> float:
    """How many times faster: by the clock of the host, where one of both is known by that alone."""
    clocks = {mine.get("clock", "events"), theirs.get("clock", "events")}
    key = "median" if clocks == {"events"} else "host_median"
    return float(theirs[key] / mine[key])


def comparison(rows: list[Row], name: str, other: str) -> str:
    """How one framework compares with another, over all kernels that both run; "" where there are none."""
    good = {(row["framework"], row["kernel"]): row for row in rows if row["status"] == "ok"}
    both = [kernel for framework, kernel in good if framework == name and (other, kernel) in good]
    ratios = {kernel: ratio(good[name, kernel], good[other, kernel]) for kernel in both}
    if not ratios or name == other:
        return ""
    worst = min(ratios, key=lambda kernel: ratios[kernel])
    mean = statistics.geometric_mean(ratios.values())
    kernels = f"{len(ratios)} kernels" if len(ratios) > 1 else "1 kernel"
    return f"{name}: {mean:.2f} times {other} (geometric mean of {kernels}; {worst}: {ratios[worst]:.2f})"


def markdown(device: Device, rows: list[Row]) -> Iterator[str]:
    """The page's part: device, constants, comparisons, and a table of the kernels."""
    names = list(dict.fromkeys(row["framework"] for row in rows))
    versions = {row["framework"]: row.get("version", "") for row in rows}
    yield f"{device.name}; preset {rows[0]['preset']}; " + ", ".join(f"{n} {versions[n]}".strip() for n in names) + "."
    yield ""
    if device.constants:
        yield "| `dcpy doctor --gpu` | |"
        yield "|---|---|"
        yield from (f"| {name} | {figure} |" for name, figure in device.constants.items())
    else:
        yield "Costs of the device were not measured (`dcpy doctor --gpu`): dcpy compiled by the table of chips."
    yield ""
    for other in names[1:]:
        if text := comparison(rows, names[0], other):
            yield f"* {text}"
    yield ""
    yield "| kernel, ms | " + " | ".join(names) + " |"
    yield "|---|" + "---|" * len(names)
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        mine = {row["framework"]: row for row in rows if row["kernel"] == kernel}
        yield f"| {kernel} | " + " | ".join(_cell(mine.get(name)) for name in names) + " |"


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row['median'] * 1e3:.4g}" if row["status"] == "ok" else str(row["status"]).partition(":")[0]
