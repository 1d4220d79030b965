"""The results as Markdown: written into a page between two marks, so that no figure in it was typed by hand."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.limits import in_words
from benchmarks.peers import best
from benchmarks.peers.heatmap import speedup

Row = dict[str, Any]
BEGIN, END = "<!-- results -->", "<!-- end of results -->"


def write(rows: list[Row], page: Path) -> None:
    """Replaces what stands between the marks; `ValueError` where the page has none."""
    write_between(BEGIN, END, markdown(rows), page)


def write_between(begin: str, end: str, lines: Iterable[str], page: Path) -> None:
    """Replaces what stands between two marks; `ValueError` where the page has none."""
    text = page.read_text()
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{page} lacks the marks {begin} and {end}")
    page.write_text("\n".join([before + begin, "", *lines, "", end + after]))


def markdown(rows: list[Row]) -> Iterator[str]:
    """What was measured where, a table of the frameworks, and one of the kernels."""
    names = [name for name in dict.fromkeys(row["framework"] for row in rows) if name != "numpy"]
    yield f"Preset {rows[0]['preset']}, threads: {rows[0]['threads']}, {platform.machine()}, {_processor()}."
    yield from limits(rows)
    for line in best.summary(rows):
        yield f"dcpy: {line}."
    yield ""
    yield "| | run | times NumPy (geometric mean) | first call (median, longest) | coverage | lines added (median) |"
    yield "|---|---|---|---|---|---|"
    for name in names:
        yield _framework(name, [row for row in rows if row["framework"] == name])
    yield ""
    over = {one.kernel: one for one in best.comparisons(rows)}
    more = ["dcpy over the best peer"] if over else []
    yield "| " + " | ".join(["kernel", "NumPy, ms", *names, *more]) + " |"
    yield "|---|---|" + "---|" * len([*names, *more])
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        mine = {row["framework"]: row for row in rows if row["kernel"] == kernel}
        times = [row["numpy_median"] for row in mine.values() if "numpy_median" in row]
        shown = f"{statistics.median(times) * 1e3:.3g}" if times else ""
        cells = [kernel, shown, *(_cell(mine.get(name)) for name in names)]
        if over:
            cells.append(f"{over[kernel].ratio:.2f} ({over[kernel].peer})" if kernel in over else "")
        yield "| " + " | ".join(cells) + " |"


def limits(rows: list[Row]) -> list[str]:
    """What the machine could do at best in this run, where that was measured."""
    found = rows[0].get("limits")
    return [f"The machine at its best, in this run: {in_words(found)}."] if found else []


def _framework(name: str, mine: list[Row]) -> str:
    good = [row for row in mine if row["status"] == "ok"]
    if not good:
        return f"| {name} | 0 of {len(mine)} | | | | |"
    first = [row["first_call"] for row in good]
    cells = (
        f"{len(good)} of {len(mine)}",
        f"{statistics.geometric_mean(map(speedup, good)):.2f}",
        f"{statistics.median(first):.2f} s, {max(first):.2f} s",
        f"{sum(row['coverage'] for row in good) / len(mine):.0%}",
        f"{statistics.median(row['lines'] - row['numpy_lines'] for row in good):+g}",
    )
    return f"| {name} | " + " | ".join(cells) + " |"


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{speedup(row):.2f}" if row["status"] == "ok" else row["status"].partition(":")[0]


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
