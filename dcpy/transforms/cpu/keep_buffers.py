"""KeepBuffers: the temporaries of a program stay allocated between calls.

Memory that the system hands out anew is paid for at the first touch of each page, which costs as much as several passes
over it. NumPy's temporaries come from an allocator that keeps what was freed; here the buffers themselves are kept.
Of buffers above 32 MiB the system may have the pages between calls, if it is short of memory (`dcpy_kept_buffer`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.data import Allocation, Array, Lifetime
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Node
from dcpy.ir.region import Resize
from dcpy.ir.tree import owners_around
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class KeepBuffers(GraphPass):
    """Gives the heap arrays outside maps the lifetime `PERSISTENT`.

    before   data tmp: f64[N] transient @heap        after   data tmp: f64[N] transient @heap lifetime persistent

    One whose size changes from one iteration of a loop to the next is allocated again only where it grows. Buffers of
    the bodies of maps may be needed by several threads at a time: they stay as they are.
    """

    name: ClassVar[str] = "keep-buffers"
    optional: ClassVar[bool] = True
    requires: ClassVar[str] = "stored"

    def decide(self, rw: Rewriter) -> None:
        """Redeclares them."""
        growing = {block.container for block in rw.sdfg.body.walk_blocks() if isinstance(block, Resize)}
        for region in list(rw.sdfg.body.walk_regions()):
            if any(isinstance(owner, Node) for owner in owners_around(region)):  # a map's body, or further in
                continue
            for name, desc in list(region.containers.items()):
                if not isinstance(desc, Array) or not desc.transient or desc.allocation is not Allocation.HEAP:
                    continue
                if desc.lifetime is Lifetime.SCOPE and name not in growing:
                    rw.redeclare(name, replace(desc, lifetime=Lifetime.PERSISTENT))
