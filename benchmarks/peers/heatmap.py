"""The heat map of the paper (figure 7): kernels down, frameworks across, NumPy's run time on the right.

A cell shows the speed-up over NumPy (up, green) or slow-down (down, red), and as a superscript the size of its 95 %
confidence interval (bootstrapped) in percent of the median, where that is at least 1. The top row has geometric means.
"""

from __future__ import annotations

import importlib.util
import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
NAME, WIDTH, HEIGHT = 190, 92, 18  # of the names, of a cell; in pixels


@dataclass(frozen=True)
class Cell:
    """A rectangle with a text in it and a superscript."""

    x: int
    y: int
    width: int
    text: str
    color: str = "#ffffff"
    small: str = ""


def draw(rows: list[Row], stem: Path, baseline: str = "numpy") -> list[Path]:
    """Writes `stem`.svg, and `stem`.png where matplotlib is installed; returns what was written.

    `baseline` is what all are compared with; each row has its median, as ``numpy_median``.
    """
    drawn = list(cells(rows, baseline))
    if not drawn:
        return []
    written = [stem.with_suffix(".svg")]
    written[0].write_text(svg(drawn))
    if can_draw_pixels():
        written.append(stem.with_suffix(".png"))
        _png(drawn, written[-1])
    return written


def can_draw_pixels() -> bool:
    """Whether matplotlib is installed, which draws the PNG."""
    return importlib.util.find_spec("matplotlib") is not None


def cells(rows: list[Row], baseline: str = "numpy") -> Iterator[Cell]:
    """The whole picture."""
    kernels = list(dict.fromkeys(row["kernel"] for row in rows))
    columns = [name for name in dict.fromkeys(row["framework"] for row in rows) if name != baseline]
    found = {(row["kernel"], row["framework"]): row for row in rows}
    right = NAME + WIDTH * len(columns)
    for i, column in enumerate([*columns, baseline]):
        yield Cell(NAME + i * WIDTH, 0, WIDTH, column)
    yield Cell(0, HEIGHT, NAME, "geometric mean")
    for i, column in enumerate(columns):
        mine = [row for row in rows if row["framework"] == column and row["status"] == "ok"]
        ratios = [speedup(row, baseline) for row in mine if f"{baseline}_median" in row]
        if ratios:
            yield _ratio(NAME + i * WIDTH, HEIGHT, statistics.geometric_mean(ratios))
    for j, kernel in enumerate(kernels):
        y = (j + 2) * HEIGHT
        yield Cell(0, y, NAME, kernel)
        for i, column in enumerate(columns):
            yield _cell(NAME + i * WIDTH, y, found.get((kernel, column)), baseline)
        key = f"{baseline}_median"
        times = [row[key] for row in rows if row["kernel"] == kernel and key in row]
        yield Cell(right, y, WIDTH, _seconds(statistics.median(times)) if times else "")


def speedup(row: Row, baseline: str = "numpy") -> float:
    return row[f"{baseline}_median"] / row["median"]


def confidence(row: Row, samples: int = 1000) -> float:
    """The size of the 95 % confidence interval of the median time, in percent of it."""
    times = np.asarray(row["times"])
    chosen = np.random.default_rng(0).integers(0, len(times), (samples, len(times)))
    low, high = np.percentile(np.median(times[chosen], axis=1), [2.5, 97.5])
    return float(100 * (high - low) / np.median(times))


def _cell(x: int, y: int, row: Row | None, baseline: str) -> Cell:
    if row is None or row["status"] != "ok":
        return Cell(x, y, WIDTH, row["status"].partition(":")[0] if row else "", "#dddddd")
    if f"{baseline}_median" not in row:  # nothing to compare it with
        return Cell(x, y, WIDTH, _seconds(row["median"]))
    percent = confidence(row)
    return _ratio(x, y, speedup(row, baseline), f"({percent:.0f})" if percent >= 1 else "")


def _ratio(x: int, y: int, ratio: float, small: str = "") -> Cell:
    arrow, shown = ("↑", ratio) if ratio >= 1 else ("↓", 1 / ratio)
    return Cell(x, y, WIDTH, f"{arrow}{shown:.3g}", _tint(ratio), small)


def _tint(ratio: float) -> str:
    """White at 1; full green at 10 times faster, full red at 10 times slower."""
    strength = min(1.0, abs(math.log10(ratio)))
    fade, kept = round(255 - 140 * strength), round(255 - 20 * strength)
    return f"#{fade:02x}{kept:02x}{fade:02x}" if ratio >= 1 else f"#{kept:02x}{fade:02x}{fade:02x}"


def _seconds(seconds: float) -> str:
    unit, scale = next((u, s) for u, s in (("s", 1), ("ms", 1e3), ("µs", 1e6)) if seconds * s >= 1 or u == "µs")
    return f"{seconds * scale:.3g} {unit}"


def _size(drawn: list[Cell]) -> tuple[int, int]:
    return max(cell.x + cell.width for cell in drawn), max(cell.y for cell in drawn) + HEIGHT


def svg(drawn: list[Cell]) -> str:
    """The picture as SVG."""
    width, height = _size(drawn)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11">'
    ]
    for cell in drawn:
        left = cell.x == 0
        x, anchor = (4, "start") if left else (cell.x + cell.width / 2, "middle")
        small = f'<tspan font-size="7" dy="-4">{escape(cell.small)}</tspan>' if cell.small else ""
        lines += [
            f'<rect x="{cell.x}" y="{cell.y}" width="{cell.width}" height="{HEIGHT}" '
            f'fill="{cell.color}" stroke="#fff"/>',
            f'<text x="{x:g}" y="{cell.y + 13}" text-anchor="{anchor}">{escape(cell.text)}{small}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _png(drawn: list[Cell], path: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot
    from matplotlib.patches import Rectangle

    width, height = _size(drawn)
    figure = pyplot.figure(figsize=(width / 100, height / 100), dpi=200)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    for cell in drawn:
        axes.add_patch(Rectangle((cell.x, cell.y), cell.width, HEIGHT, facecolor=cell.color, edgecolor="white"))
        x, align = (4, "left") if cell.x == 0 else (cell.x + cell.width / 2, "center")
        text = f"{cell.text}$^{{{cell.small}}}$" if cell.small else cell.text
        axes.text(x, cell.y + HEIGHT / 2, text, ha=align, va="center", fontsize=7)
    figure.savefig(path)
    pyplot.close(figure)
