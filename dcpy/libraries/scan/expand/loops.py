"""Scans by one thread for a line: a map over the lines, each of which is a loop.

Where few lines lie side by side (columns), pieces of them are added up first, so that there are more threads.
"""

from __future__ import annotations

from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO
from dcpy.libraries.api import Fragment
from dcpy.libraries.scan.expand.lines import Lines


def scan_in_loops(f: Fragment, lines: Lines) -> None:
    """What has been combined is in a register."""
    with f.maps([Range(ZERO, size) for size in lines.sizes]) as point:
        own = f.scalar("own", lines.dtype)
        lines.first(f, own.at(), point)
        with f.loop(Range(ZERO, lines.length)) as k:
            value = f.scalar("value", lines.dtype)
            lines.read(f, value.at(), point, k, "")
            lines.combine(f, own.at(), own.at(), value.at())
            lines.write(f, point, k, own.at())
