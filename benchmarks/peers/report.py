"""The results as Markdown: written into a page between two marks, so that no figure in it was typed by hand."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.limits import in_words
from benchmarks.peers import bars, best
from benchmarks.peers.campaign import Campaign, Table
from benchmarks.peers.heatmap import speedup

Row = dict[str, Any]
BEGIN, END = "<!-- results -->", "<!-- end of results -->"


def write(campaign: Campaign, page: Path) -> None:
    """Replaces what stands between the marks; `ValueError` where the page has none."""
    write_between(BEGIN, END, markdown(campaign), page)


def write_between(begin: str, end: str, lines: Iterable[str], page: Path) -> None:
    """Replaces what stands between two marks; `ValueError` where the page has none."""
    text = page.read_text()
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{page} lacks the marks {begin} and {end}")
    page.write_text("\n".join([before + begin, "", *lines, "", end + after]))


def markdown(campaign: Campaign) -> Iterator[str]:
    """Where it was measured, how far all bars are, and of each part a table of frameworks and one of kernels."""
    yield f"{platform.machine()}, {_processor()}."
    yield ""
    yield from _bars(campaign)
    for part in campaign.parts():
        yield ""
        yield f"### {part}"
        yield ""
        yield from limits(campaign, part)
        yield from _tables(campaign.of(part), campaign.large if part.preset == "large" else {})


def limits(campaign: Campaign, part: Table) -> list[str]:
    """What the machine could do at best in this run, where that was measured."""
    found = campaign.limits.get(str(part.threads))
    return [f"The machine at its best, in this run: {in_words(found)}.", ""] if found else []


def _bars(campaign: Campaign) -> Iterator[str]:
    """A row for each bar, a column for each part."""
    parts = campaign.parts()
    found = [{bar.what: bar for bar in bars.bars(campaign.of(part), _limits(campaign, part))} for part in parts]
    yield "| | bar | " + " | ".join(map(str, parts)) + " |"
    yield "|---|---|" + "---|" * len(parts)
    for what in dict.fromkeys(what for column in found for what in column):
        bar = next(column[what] for column in found if what in column)
        cells = [column[what].shown if what in column else "" for column in found]
        yield "| " + " | ".join([what, f"{'≤' if bar.at_most else '≥'} {bar.bar:g}", *cells]) + " |"


def _limits(campaign: Campaign, part: Table) -> dict[str, float]:
    return campaign.limits.get(str(part.threads), {})


def _tables(rows: list[Row], large: dict[str, str]) -> Iterator[str]:
    names = [name for name in dict.fromkeys(row["framework"] for row in rows) if name != "numpy"]
    yield "| | run | times NumPy (geometric mean) | first call (median, longest) | coverage | lines added (median) |"
    yield "|---|---|---|---|---|---|"
    for name in names:
        yield _framework(name, [row for row in rows if row["framework"] == name])
    yield ""
    over = {one.kernel: one for one in best.comparisons(rows)}
    forms = {one.kernel: one for one in best.comparisons(rows, by_hand=True)}
    more = ["best peer", "dcpy over it"] if over else []
    more += ["best form", "dcpy over it"] if forms else []
    yield "| " + " | ".join(["kernel", "NumPy, ms", *names, *more]) + " |"
    yield "|---|---|" + "---|" * len([*names, *more])
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        mine = {row["framework"]: row for row in rows if row["kernel"] == kernel}
        times = [row["numpy_median"] for row in mine.values() if "numpy_median" in row]
        shown = f"{statistics.median(times) * 1e3:.3g}" if times else ""
        name = f"{kernel} ({large[kernel]})" if kernel in large else kernel
        cells = [name, shown, *(_cell(mine.get(name)) for name in names)]
        if over:
            cells += _best(over[kernel]) if kernel in over else ["", ""]
        if forms:
            cells += _best(forms[kernel]) if kernel in forms else ["", ""]
        yield "| " + " | ".join(cells) + " |"


def _best(one: best.Comparison) -> list[str]:
    return [f"{one.peer}, {one.speedup:.2f}", f"{one.ratio:.2f}"]


def _framework(name: str, mine: list[Row]) -> str:
    good = [row for row in mine if row["status"] == "ok"]
    if not good:
        return f"| {name} | 0 of {len(mine)} | | | | |"
    first = [row["first_call"] for row in good]
    adapted = [row for row in good if "coverage" in row]
    cells = (
        f"{len(good)} of {len(mine)}",
        f"{statistics.geometric_mean(map(speedup, good)):.2f}",
        f"{statistics.median(first):.2f} s, {max(first):.2f} s",
        f"{sum(row['coverage'] for row in adapted) / len(mine):.0%}" if adapted else "",
        f"{statistics.median(row['lines'] - row['numpy_lines'] for row in adapted):+g}" if adapted else "",
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
