"""HoistBuffers: allocation hoisting. A buffer of loop-invariant size is allocated once, before the loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import desc_symbols
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.data import Allocation, Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.region import Loop, While
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class HoistBuffers(GraphPass):
    """Move heap arrays out of sequential loops, as far as their sizes are known.

    before   loop t = 0:T { data tmp: f64[N] ... }        after   data tmp: f64[N]
                                                                  loop t = 0:T { ... }

    Their contents are undefined at the start of an iteration, so old values do not matter.
    """

    name: ClassVar[str] = "hoist-buffers"
    optional: ClassVar[bool] = True
    requires: ClassVar[str] = "stored"

    def decide(self, rw: Rewriter) -> None:
        """Move each array as far out as possible."""
        for region in reversed(list(rw.sdfg.body.walk_regions())):  # inner regions first: they may go out far
            if not isinstance(region.owner, Loop | While) or region.parent is None:
                continue
            changing = {*symbols_assigned_in(region), *region.params}  # from iteration to iteration
            for name, desc in list(region.containers.items()):
                heap = isinstance(desc, Array) and desc.allocation is Allocation.HEAP
                if heap and not changing & set(desc_symbols(desc)):
                    rw.move_container(name, region.parent)
