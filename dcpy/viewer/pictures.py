"""Pictures that know their size and can be put beside, above and into each other; and the canvas they are painted on.

A canvas collects SVG elements as text. It is the only place where text enters markup, and it escapes all of it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Any

CHARACTER, LINE = 7.25, 16.0  # of the monospaced font, 12 px
Details = dict[str, Any]


@dataclass
class Canvas:
    """SVG elements, and what there is to say about those that can be pointed at."""

    parts: list[str] = field(default_factory=list)
    details: list[Details] = field(default_factory=list)

    def element(self, name: str, text: str | None = None, **attributes: object) -> None:
        """One element; ``class_`` is the attribute ``class``, numbers are rounded to tenths of a pixel."""
        head = f"<{name}{_attributes(attributes)}"
        self.parts.append(f"{head}/>" if text is None else f"{head}>{escape(text)}</{name}>")

    @contextmanager
    def group(self, css: str, details: Details | None = None, **attributes: object) -> Iterator[None]:
        """Elements inside belong together; `details` are shown when one of them is pointed at."""
        if details is not None:
            attributes = {**attributes, "data-info": len(self.details), "tabindex": 0}
            self.details.append(details)
        self.parts.append(f"<g{_attributes({'class_': css, **attributes})}>")
        yield
        self.parts.append("</g>")

    def text(self, x: float, y: float, text: str, css: str = "", anchor: str = "middle") -> None:
        """A line of text whose baseline is at `y`."""
        self.element("text", text, x=x, y=y, class_=css, text_anchor=anchor)


def _attributes(attributes: dict[str, object]) -> str:
    texts = []
    for name, value in attributes.items():
        if value == "":
            continue
        text = f"{round(value, 1):g}" if isinstance(value, float) else str(value)
        texts.append(f' {name.rstrip("_").replace("_", "-")}="{escape(text)}"')
    return "".join(texts)


@dataclass(frozen=True)
class Picture:
    """A size in pixels, and how to paint it with its top left corner at a place."""

    width: float
    height: float
    paint: Callable[[Canvas, float, float], None]


def text_width(text: str) -> float:
    """Pixels that a line needs; East Asian characters are twice as wide."""
    return CHARACTER * sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shortened(text: str, limit: int = 44) -> str:
    """The text in at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def lines_of_text(lines: Sequence[str], css: str = "", anchor: str = "middle") -> Picture:
    """Lines below each other."""
    width = max(map(text_width, lines), default=0.0)
    shift = {"middle": width / 2, "start": 0.0}[anchor]

    def paint(canvas: Canvas, x: float, y: float) -> None:
        for number, line in enumerate(lines):
            canvas.text(x + shift, y + LINE * number + LINE * 0.75, line, css, anchor)

    return Picture(width, LINE * len(lines), paint)


def stacked(pictures: Sequence[Picture], gap: float = 8.0, *, arrows: bool = False) -> Picture:
    """Pictures below each other, centred; with arrows where one runs after the other."""
    shown = [picture for picture in pictures if picture.height]
    width = max((picture.width for picture in shown), default=0.0)
    height = sum(picture.height for picture in shown) + gap * max(len(shown) - 1, 0)

    def paint(canvas: Canvas, x: float, y: float) -> None:
        for number, picture in enumerate(shown):
            if number and arrows:
                canvas.element("path", d=f"M{x + width / 2:.1f} {y - gap + 2:.1f}V{y - 2:.1f}", class_="then")
            picture.paint(canvas, x + (width - picture.width) / 2, y)
            y += picture.height + gap

    return Picture(width, height, paint)


def beside(pictures: Sequence[Picture], gap: float = 16.0) -> Picture:
    """Pictures in a row, tops aligned."""
    width = sum(picture.width for picture in pictures) + gap * max(len(pictures) - 1, 0)

    def paint(canvas: Canvas, x: float, y: float) -> None:
        for picture in pictures:
            picture.paint(canvas, x, y)
            x += picture.width + gap

    return Picture(width, max((picture.height for picture in pictures), default=0.0), paint)


def framed(inner: Picture, title: str, css: str, details: Details | None = None, padding: float = 12.0) -> Picture:
    """A picture in a box with a title at its top left."""
    head = LINE + 6 if title else 0.0
    width = max(inner.width + 2 * padding, text_width(title) + 2 * padding)
    height = inner.height + head + (2 * padding if inner.height else padding)

    def paint(canvas: Canvas, x: float, y: float) -> None:
        with canvas.group(css, details):
            canvas.element("rect", x=x, y=y, width=width, height=height, rx=8)
            canvas.text(x + padding, y + LINE + 2, title, "title", "start")
        inner.paint(canvas, x + (width - inner.width) / 2, y + head + padding)

    return Picture(width, height, paint)
