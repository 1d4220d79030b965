"""Sequential scans: a map over the lines, each of which is a loop of one thread."""

from __future__ import annotations

from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO
from dcpy.libraries.api import Element, Fragment
from dcpy.libraries.scan.expand.lines import Lines, Point


def scan_in_loops(f: Fragment, lines: Lines) -> None:
    """Scan with the combined value in a register."""
    with f.maps([Range(ZERO, size) for size in lines.sizes]) as point:
        own = f.scalar("own", lines.dtype)
        lines.first(f, own.at(), point)
        go_on(f, lines, own.at(), point, Range(ZERO, lines.length))


def go_on(f: Fragment, lines: Lines, own: Element, point: Point, values: Range) -> None:
    """Scans some elements of a line behind what has been combined."""
    with f.loop(values) as k:
        value = f.scalar("value", lines.dtype)
        lines.read(f, value.at(), point, k, "")
        lines.combine(f, own, own, value.at())
        lines.write(f, point, k, own)
