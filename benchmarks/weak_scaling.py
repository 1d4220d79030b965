"""The picture of weak scaling: efficiency over the number of ranks, a line for each kernel (paper, figure 12)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from dcpy.programs.explanation.charts import Chart, Circle, Line, Text, can_draw_pixels, png, svg

LEFT, TOP, RIGHT, BOTTOM = 60, 50, 600, 350
INK, FAINT = "#222222", "#cccccc"
COLORS = ("#1b6ca8", "#c0392b", "#2d8a4e", "#8e44ad", "#d68910", "#16a085", "#7f8c8d")
Efficiencies = Mapping[str, Mapping[int, float]]  # of each kernel, of so many ranks: 1 is perfect


def draw(found: Efficiencies, title: str, path: Path) -> list[Path]:
    """Writes `path` as SVG, and PNG beside it where matplotlib is installed; returns what was written."""
    picture = Chart(760, BOTTOM + 60, tuple(shapes(found, title)))
    written = [path.with_suffix(".svg")]
    written[0].write_text(svg(picture))
    if can_draw_pixels():
        written.append(path.with_suffix(".png"))
        png(picture, written[-1])
    return written


def shapes(found: Efficiencies, title: str) -> Iterator[Line | Circle | Text]:
    """Axes, a line of dots for each kernel, and their names on the right."""
    counts = sorted({ranks for table in found.values() for ranks in table})
    highest = max([1.0, *(value for table in found.values() for value in table.values())])
    yield Text(LEFT, 26, title, INK, 14)
    yield from _axes(counts, highest)
    for number, (name, table) in enumerate(found.items()):
        color = COLORS[number % len(COLORS)]
        places = [_place(ranks, value, counts, highest) for ranks, value in sorted(table.items())]
        for (x1, y1), (x2, y2) in pairwise(places):
            yield Line(x1, y1, x2, y2, color)
        for (x, y), (ranks, value) in zip(places, sorted(table.items()), strict=True):
            yield Circle(x, y, 4, color, f"{name}, {ranks} ranks: {value:.0%}")
        yield Circle(RIGHT + 24, TOP + 20 * number, 5, color, "")
        yield Text(RIGHT + 36, TOP + 4 + 20 * number, name, INK, 12)


def _axes(counts: Sequence[int], highest: float) -> Iterator[Line | Text]:
    yield Line(LEFT, BOTTOM, RIGHT, BOTTOM, INK)
    for ranks in counts:
        x, _ = _place(ranks, 0.0, counts, highest)
        yield Line(x, BOTTOM, x, BOTTOM + 5, INK)
        yield Text(x, BOTTOM + 18, str(ranks), INK, 11, "middle")
    for percent in range(0, math.floor(100 * highest) + 1, 20):
        _, y = _place(counts[0], percent / 100, counts, highest)
        yield Line(LEFT, y, RIGHT, y, FAINT, dashed=percent > 0)
        yield Text(LEFT - 8, y + 4, f"{percent} %", INK, 11, "end")
    yield Text((LEFT + RIGHT) / 2, BOTTOM + 38, "ranks", INK, 12, "middle")


def _place(ranks: int, value: float, counts: Sequence[int], highest: float) -> tuple[float, float]:
    """In pixels: ranks by their logarithm, efficiency from 0."""
    span = math.log2(counts[-1] / counts[0]) or 1.0
    x = math.log2(ranks / counts[0]) / span
    return LEFT + x * (RIGHT - LEFT), BOTTOM - value / highest * (BOTTOM - TOP)
