"""Reductions for devices with many threads: a map over the results around one over what each of them combines.

Nothing is tiled, nothing has a schedule: how results and what they combine are divided among blocks and threads is for
the passes of the target to decide.
"""

from __future__ import annotations

from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.reduce.expand.maps import combined
from dcpy.libraries.reduce.nodes import Reduce


@expands(Reduce, "device", on=("gpu",))
def reduce_device(node: Reduce, f: Fragment) -> None:
    """A private accumulator for each result."""
    x, out = f.input("x"), f.output("out")
    combined(node, f, x, [axis for axis in range(len(x.shape)) if axis not in node.axes], out)
