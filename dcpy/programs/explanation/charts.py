"""Charts of lines, circles and words: as SVG by hand, as PNG by matplotlib where it is installed."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from html import escape
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Line:
    """From one place to another; places are in pixels from the upper left corner."""

    x1: float
    y1: float
    x2: float
    y2: float
    color: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Circle:
    """A filled one; `title` is what a pointer on it shows."""

    x: float
    y: float
    radius: float
    color: str
    title: str


@dataclass(frozen=True, slots=True)
class Text:
    """One line of words, its `anchor` (start, middle, end) at a place."""

    x: float
    y: float
    text: str
    color: str
    size: int
    anchor: str = "start"


@dataclass(frozen=True, slots=True)
class Chart:
    """Shapes on white, later ones above."""

    width: int
    height: int
    shapes: tuple[Line | Circle | Text, ...]


def svg(picture: Chart) -> str:
    """The text of an SVG file."""
    size = f'width="{picture.width}" height="{picture.height}" viewBox="0 0 {picture.width} {picture.height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return "\n".join([head, ground, *map(_element, picture.shapes), "</svg>"]) + "\n"


def _element(shape: Line | Circle | Text) -> str:
    match shape:
        case Line():
            dash = ' stroke-dasharray="6 4"' if shape.dashed else ""
            ends = f'x1="{shape.x1:.1f}" y1="{shape.y1:.1f}" x2="{shape.x2:.1f}" y2="{shape.y2:.1f}"'
            return f'<line {ends} stroke="{shape.color}"{dash}/>'
        case Circle():
            title = f"<title>{escape(shape.title)}</title>" if shape.title else ""
            place = f'cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{shape.radius:g}"'
            return f'<circle {place} fill="{shape.color}">{title}</circle>'
    place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size}" text-anchor="{shape.anchor}"'
    return f'<text {place} fill="{shape.color}">{escape(shape.text)}</text>'


def can_draw_pixels() -> bool:
    """Return whether matplotlib is installed, which draws the PNG."""
    return importlib.util.find_spec("matplotlib") is not None


def png(picture: Chart, path: Path) -> None:
    """Write a PNG file."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(picture.width / 100, picture.height / 100), dpi=150)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, picture.width), ylim=(picture.height, 0))
    axes.axis("off")
    for shape in picture.shapes:
        _draw(shape, axes)
    figure.savefig(path)
    pyplot.close(figure)


def _draw(shape: Line | Circle | Text, axes: object) -> None:
    """Points of type are 1/72 of an inch, pixels here 1/100."""
    match shape:
        case Line():
            style = "--" if shape.dashed else "-"
            axes.plot((shape.x1, shape.x2), (shape.y1, shape.y2), style, color=shape.color, linewidth=0.8)  # type: ignore[attr-defined]
        case Circle():
            axes.plot(shape.x, shape.y, "o", color=shape.color, markersize=1.44 * shape.radius)  # type: ignore[attr-defined]
        case Text():
            align = {"start": "left", "middle": "center", "end": "right"}[shape.anchor]
            size = 0.72 * shape.size
            axes.text(shape.x, shape.y, shape.text, color=shape.color, fontsize=size, ha=align)  # type: ignore[attr-defined]
