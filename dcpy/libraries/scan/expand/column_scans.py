"""Column scans: scans across memory, by one thread for each of the lines that lie side by side.

Where these are few, they are cut into short pieces, for as many threads: as blocks do it, in three kernels.
"""

from __future__ import annotations

from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, as_expr, product_of
from dcpy.libraries.api import Fragment
from dcpy.libraries.scan.expand.block_scans import behind_others, choose, in_front_of_pieces, piece_at
from dcpy.libraries.scan.expand.lines import Lines
from dcpy.libraries.scan.expand.sequential_scans import go_on, scan_in_loops

PIECE = 64  #: elements of a piece of a column
LONG = 1024  #: elements above which columns are cut
MANY = 8192  #: columns that keep a device busy without being cut


def scan_columns(f: Fragment, lines: Lines) -> None:
    """Scan in a form that fits the sizes; where these are not known, the host chooses."""
    rooms = [LONG - lines.length, product_of(*lines.sizes) - MANY]
    choose(f, rooms, lambda: scan_in_loops(f, lines), lambda: _in_pieces(f, lines))


def _in_pieces(f: Fragment, lines: Lines) -> None:
    sums = in_front_of_pieces(f, lines, PIECE)
    starts = Range(ZERO, lines.length, as_expr(PIECE))
    with f.maps([starts, *(Range(ZERO, size) for size in lines.sizes)], param="piece") as (start, *point):
        own = f.scalar("own", lines.dtype)
        lines.first(f, own.at(), point)
        behind_others(f, own.at(), sums, point, start // PIECE)
        go_on(f, lines, own.at(), point, piece_at(lines, start, PIECE))
