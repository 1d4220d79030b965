"""Scans for devices with many threads: by blocks where lines lie in memory, by one thread for a line across it."""

from __future__ import annotations

from dcpy.ir.nodes import Map
from dcpy.ir.tree import owners_around
from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.contraction.contraction import innermost
from dcpy.libraries.scan.expand.block_scans import scan_in_blocks
from dcpy.libraries.scan.expand.column_scans import scan_columns
from dcpy.libraries.scan.expand.maps import lines_of, operands
from dcpy.libraries.scan.nodes import Scan


@expands(Scan, "device", on=("gpu",), fuses=False)
def scan_device(node: Scan, f: Fragment) -> None:
    """Threads that are neighbours read neighbours."""
    decline_inside_maps(f)
    x, out = operands(node, f)
    lines = lines_of(node, f, x, out)
    if innermost(x.shape, x.strides, out.strides) == node.axis:
        scan_in_blocks(f, lines)
    else:
        scan_columns(f, lines)


def decline_inside_maps(f: Fragment) -> None:
    """A thread does not share its work."""
    if any(isinstance(owner, Map) for owner in owners_around(f.node)):
        f.decline("is inside of a map")
