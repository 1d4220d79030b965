"""Reductions for devices with many threads: a map over the results around one over what each of them combines.

Nothing is tiled, nothing has a schedule: how results and what they combine are divided among blocks and threads is for
the passes of the target to decide. Unlike `maps`, one result of several axes is one sum, not that of a row of sums.
"""

from __future__ import annotations

from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.contraction.maps import contract
from dcpy.libraries.reduce.expand.reduction_contractions import reduction
from dcpy.libraries.reduce.nodes import Reduce


@expands(Reduce, "device", on=("gpu",))
def reduce_device(node: Reduce, f: Fragment) -> None:
    """A private accumulator for each result."""
    contract(f, reduction(node.op, f.input("x"), tuple(sorted(node.axes)), f.output("out")))
