"""HoistBuffers: a buffer of the same size in each iteration of a loop is allocated once, before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.scopes import symbols_assigned_in
from dcpy.ir.analysis.uses import desc_symbols
from dcpy.ir.data import Allocation, Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.region import Loop, While
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class HoistBuffers(GraphPass):
    """Moves heap arrays out of sequential loops, as far as their sizes are known.

    before   loop t = 0:T { data tmp: f64[N] ... }        after   data tmp: f64[N]
                                                                  loop t = 0:T { ... }

    Their contents are undefined when an iteration starts, so what the last one left does not matter.
    """

    name: ClassVar[str] = "hoist-buffers"
    optional: ClassVar[bool] = True
    requires: ClassVar[str] = "stored"

    def decide(self, rw: Rewriter) -> None:
        """Moves each as far out as it may go."""
        for region in reversed(list(rw.sdfg.body.walk_regions())):  # inner regions first: they may go out far
            if not isinstance(region.owner, Loop | While) or region.parent is None:
                continue
            changing = {*symbols_assigned_in(region), *region.params}  # from iteration to iteration
            for name, desc in list(region.containers.items()):
                heap = isinstance(desc, Array) and desc.allocation is Allocation.HEAP
                if heap and not changing & set(desc_symbols(desc)):
                    rw.move_container(name, region.parent)
