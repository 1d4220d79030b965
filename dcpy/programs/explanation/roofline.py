"""The roofline of a program: how many operations each nest does for a byte, and how quickly, below what the processor
could do at most (Williams, Waterman and Patterson, 2009).

A point is a nest, by the model of time; nothing is run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcpy.base.errors import ArgumentError
from dcpy.base.figures import figure_text
from dcpy.base.installation import install_extra
from dcpy.ir.analysis.costs.nest_time import LEVELS, NestTime
from dcpy.ir.machine_model import Processor
from dcpy.ir.sdfg import Sdfg
from dcpy.programs.explanation.charts import Chart, Circle, Line, Text, can_draw_pixels, png, svg
from dcpy.targets.cpu.explanation import WORDS, seconds_in_words, title_of
from dcpy.targets.explanation_text import lines_of, location_text

WIDTH, HEIGHT = 900, 560
LEFT, RIGHT, TOP, BOTTOM = 70, 860, 50, 420  #: of the field with the axes
COLORS = ("#3b7dd0", "#2f8f6b", "#c98a12", "#8a4bb8", "#e0245e", "#00838f", "#6d4c41", "#546e7a")
INK, FAINT = "#1d2433", "#8792a8"
LOWEST = 1e-3  #: operations for a byte, of nests that have hardly any


@dataclass(frozen=True)
class Point:
    """A nest: its place in Python, operations in a second, and for each byte from the `level` that it reads.

    No schedule takes less than `least` seconds, by the model: all cores, full vectors, each line of memory moved once.
    """

    where: str
    title: str
    seconds: float
    rate: float
    intensity: float
    level: str
    bound: str
    least: float


@dataclass(frozen=True)
class Roof:
    """Limit of the processor: bytes in a second from a level, or operations in a second."""

    name: str
    value: float
    is_bandwidth: bool


@dataclass(frozen=True)
class Roofline:
    """Points below roofs. In a notebook it shows its picture; `save` writes it."""

    points: tuple[Point, ...]
    roofs: tuple[Roof, ...]
    whose: str

    @classmethod
    def of(cls, times: Sequence[NestTime], processor: Processor, whose: str, sdfg: Sdfg) -> Roofline:
        """The roofline of the nests of a program."""
        return cls(tuple(_point(time, sdfg) for time in times), tuple(_roofs(processor)), whose)

    def save(self, path: str | Path) -> Path:
        """Write the picture: ``.svg``, or ``.png`` where matplotlib is installed. `ArgumentError` for others."""
        place = Path(path)
        kind = place.suffix.lower()
        if kind not in (".svg", ".png"):
            raise ArgumentError(
                f"a roofline is drawn as SVG or PNG, not as {place.name!r}", help="end it in .svg or .png"
            )
        if kind == ".png" and not can_draw_pixels():
            raise ArgumentError(
                "a PNG is drawn by matplotlib, which is not installed",
                help=f"{install_extra('bench')}, or draw an SVG: path='roofline.svg'",
            )
        if kind == ".svg":
            place.write_text(svg(self.picture()), encoding="utf-8")
        else:
            png(self.picture(), place)
        return place

    def picture(self) -> Chart:
        """Draw the picture."""
        return Chart(WIDTH, HEIGHT + 18 * max(0, len(self.points) - 5), tuple(self._shapes()))

    def _repr_svg_(self) -> str:
        return svg(self.picture())

    def __str__(self) -> str:
        rows = (f"{point.where}  {point.title}: {_told(point)}" for point in self.points)
        return "\n".join([f"roofline, by the model of time, for {self.whose}:", *rows])

    # -- drawing -----------------------------------------------------------------------------------------------

    def _shapes(self) -> Iterator[Line | Text | Circle]:
        scale = _Scale.around(self)
        yield Text(LEFT, 28, f"Roofline, by the model of time, for {self.whose}", INK, 14)
        yield from scale.axes()
        for roof in self.roofs:
            yield from scale.roof(roof, max(each.value for each in self.roofs if not each.is_bandwidth))
        for number, point in enumerate(self.points):
            color = COLORS[number % len(COLORS)]
            x, y = scale.place(max(point.intensity, LOWEST), point.rate)
            yield Circle(x, y, 6, color, f"{point.where} {point.title}")
            row = BOTTOM + 62 + 18 * number
            yield Circle(LEFT + 6, row - 4, 5, color, "")
            yield Text(LEFT + 20, row, f"{point.where}  {point.title}: {_told(point)}", INK, 11)


@dataclass(frozen=True)
class _Scale:
    """Both axes are logarithmic: from 10**low to 10**high."""

    low_x: int
    high_x: int
    low_y: int
    high_y: int

    @classmethod
    def around(cls, drawn: Roofline) -> _Scale:
        """Powers of ten around all points, and where the roofs meet."""
        peak = max(roof.value for roof in drawn.roofs if not roof.is_bandwidth)
        slowest = min(roof.value for roof in drawn.roofs if roof.is_bandwidth)
        xs = [max(point.intensity, LOWEST) for point in drawn.points] + [0.1, 2 * peak / slowest]
        ys = [point.rate for point in drawn.points if point.rate > 0] + [peak / 100, 2 * peak]
        low, high = math.floor, math.ceil
        return cls(*(f(math.log10(v)) for f, v in ((low, min(xs)), (high, max(xs)), (low, min(ys)), (high, max(ys)))))

    def place(self, intensity: float, rate: float) -> tuple[float, float]:
        """Return a position in pixels; nothing is below the axis."""
        x = (math.log10(intensity) - self.low_x) / (self.high_x - self.low_x)
        y = (math.log10(max(rate, 10.0**self.low_y)) - self.low_y) / (self.high_y - self.low_y)
        return LEFT + x * (RIGHT - LEFT), BOTTOM - y * (BOTTOM - TOP)

    def axes(self) -> Iterator[Line | Text]:
        yield Line(LEFT, BOTTOM, RIGHT, BOTTOM, INK)
        yield Line(LEFT, TOP, LEFT, BOTTOM, INK)
        for power in range(self.low_x, self.high_x + 1):
            x, _ = self.place(10.0**power, 1.0)
            yield Line(x, BOTTOM, x, BOTTOM + 5, INK)
            yield Text(x, BOTTOM + 18, f"{10.0**power:g}", INK, 11, "middle")
        for power in range(self.low_y, self.high_y + 1):
            _, y = self.place(1.0, 10.0**power)
            yield Line(LEFT - 5, y, LEFT, y, INK)
            yield Text(LEFT - 8, y + 4, figure_text(10.0**power, ""), INK, 11, "end")
        yield Text((LEFT + RIGHT) / 2, BOTTOM + 36, "operations for each byte", INK, 12, "middle")
        yield Text(LEFT - 60, TOP - 8, "operations in a second", INK, 12)

    def roof(self, roof: Roof, peak: float) -> Iterator[Line | Text]:
        """A slope up to where the highest flat roof is, or a flat one."""
        first, last = 10.0**self.low_x, 10.0**self.high_x
        if roof.is_bandwidth:
            first = max(first, 10.0**self.low_y / roof.value)
            last = min(last, peak / roof.value)
            unit = "B/s"
        else:
            unit = "operations/s"
        height = (lambda x: x * roof.value) if roof.is_bandwidth else (lambda x: roof.value)
        begin, end = self.place(first, height(first)), self.place(last, height(last))
        yield Line(*begin, *end, FAINT, dashed=not roof.is_bandwidth)
        x, y = begin if roof.is_bandwidth else end
        name = f"{roof.name}: {figure_text(roof.value, unit)}"
        yield Text(x + 6, y + 14, name, FAINT, 10) if roof.is_bandwidth else Text(x, y - 6, name, FAINT, 10, "end")


def _told(point: Point) -> str:
    rate = (
        f"{figure_text(point.rate, 'operations/s')}, {point.intensity:.2g} for each byte"
        if point.rate
        else "no operations"
    )
    return f"{seconds_in_words(point.seconds)}, {rate} of {point.level}, bound by {WORDS[point.bound]}"


def _point(time: NestTime, sdfg: Sdfg) -> Point:
    level = next((name for name in reversed(LEVELS) if time.moved[name]), "L1")
    run = time.seconds / time.times if time.times else 0.0
    amount = time.moved[level] if level in LEVELS else time.accessed
    rate, intensity = time.operations / run if run else 0.0, time.operations / amount if amount else math.inf
    where, least = location_text(lines_of(*time.elements)), time.times * time.least_seconds
    return Point(where, title_of(time, sdfg), time.seconds, rate, min(intensity, 1e4), level, time.bound, least)


def _roofs(processor: Processor) -> Iterator[Roof]:
    cores = processor.cores
    speeds = {"L1": processor.l1_speed * cores, "L2": processor.l2_speed * cores, "L3": processor.l3_speed * cores}
    for name, speed in {**speeds, "memory": processor.memory_speed_all}.items():
        yield Roof(name, speed * 1e6, True)
    yield Roof("products of matrices", processor.product_speed_all * 1e6, False)
    yield Roof(f"{cores} cores" if cores > 1 else "one core", cores * 1e12 / processor.operation, False)
    if cores > 1:
        yield Roof("one core", 1e12 / processor.operation, False)
    lanes = processor.vector_bytes // 8
    yield Roof("one core, no vectors", 1e12 / processor.operation / lanes, False)
