"""Node shapes: ovals are data, octagons tasklets, folded rectangles library nodes, trapezoids open scopes."""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.viewer.pictures import LINE, Canvas, Details, Picture, lines_of_text, text_width

PADDING = 12.0


def oval(name: str, css: str, details: Details, **attributes: object) -> Picture:
    """An access node."""
    width, height = text_width(name) + 36, 32.0

    def paint(canvas: Canvas, x: float, y: float) -> None:
        with canvas.group(f"access {css}", details, **attributes):
            canvas.element("ellipse", cx=x + width / 2, cy=y + height / 2, rx=width / 2, ry=height / 2)
            canvas.text(x + width / 2, y + height / 2 + 4, name)

    return Picture(width, height, paint)


def octagon(lines: Sequence[str], details: Details) -> Picture:
    """A tasklet with its code."""
    inner = lines_of_text(lines)
    width, height, cut = inner.width + 2 * PADDING + 6, inner.height + 2 * PADDING - 4, 10.0
    corners = (
        (cut, 0), (width - cut, 0), (width, cut), (width, height - cut),
        (width - cut, height), (cut, height), (0, height - cut), (0, cut),
    )  # fmt: skip
    return _polygon(corners, inner, width, height, "tasklet", details)


def folded(lines: Sequence[str], css: str, details: Details) -> Picture:
    """A rectangle with a folded corner: what a library does."""
    inner = lines_of_text(lines)
    width, height, fold = inner.width + 2 * PADDING + 10, inner.height + 2 * PADDING - 2, 12.0
    corners = ((0, 0), (width - fold, 0), (width, fold), (width, height), (0, height))
    box = _polygon(corners, inner, width, height, css, details)

    def paint(canvas: Canvas, x: float, y: float) -> None:
        box.paint(canvas, x, y)
        path = f"M{x + width - fold:.1f} {y:.1f}v{fold:.1f}h{fold:.1f}"
        canvas.element("path", d=path, class_=f"fold {css}")

    return Picture(width, height, paint)


def pill(text: str, css: str, details: Details) -> Picture:
    """A small rounded box: copies, assignments, jumps."""
    width, height = text_width(text) + 22, 24.0

    def paint(canvas: Canvas, x: float, y: float) -> None:
        with canvas.group(css, details):
            canvas.element("rect", x=x, y=y, width=width, height=height, rx=12)
            canvas.text(x + width / 2, y + 16, text)

    return Picture(width, height, paint)


def scope(title: str, body: Picture, css: str, details: Details) -> Picture:
    """A map: a trapezoid that opens, the body, a trapezoid that closes."""
    slope, head, foot = 14.0, LINE + 12, 10.0
    width = max(body.width + 2 * PADDING, text_width(title) + 2 * PADDING + 2 * slope)
    room = body.height + 2 * PADDING if body.height else PADDING
    height = head + room + foot

    def paint(canvas: Canvas, x: float, y: float) -> None:
        with canvas.group(f"scope {css}", details):
            top, bottom = y + head, y + height - foot
            canvas.element("rect", x=x, y=top - 1, width=width, height=bottom - top + 2, class_="inside")
            canvas.element("polygon", points=_points(_trapezoid(x, y, width, head, slope)), class_="bar")
            canvas.element("polygon", points=_points(_trapezoid(x, y + height, width, -foot, slope)), class_="bar")
            canvas.text(x + width / 2, y + LINE + 3, title, "title")
        body.paint(canvas, x + (width - body.width) / 2, y + head + PADDING)

    return Picture(width, height, paint)


def _trapezoid(x: float, y: float, width: float, height: float, slope: float) -> list[tuple[float, float]]:
    """Narrow at `y`, wide at ``y + height``."""
    return [(x + slope, y), (x + width - slope, y), (x + width, y + height), (x, y + height)]


def _polygon(
    corners: Sequence[tuple[float, float]], inner: Picture, width: float, height: float, css: str, details: Details
) -> Picture:
    def paint(canvas: Canvas, x: float, y: float) -> None:
        with canvas.group(css, details):
            canvas.element("polygon", points=_points([(x + dx, y + dy) for dx, dy in corners]))
            inner.paint(canvas, x + (width - inner.width) / 2, y + (height - inner.height) / 2)

    return Picture(width, height, paint)


def _points(corners: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
