"""KeepBuffers: the temporaries of a program stay allocated between calls.

Fresh memory costs a page fault at the first access to each page, as much as several passes over the memory. NumPy's
allocator keeps freed memory; here the buffers themselves are kept. The system may reclaim the pages of buffers above
32 MiB between calls if memory is short (`dcpy_kept_buffer`).
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
    """Give the heap arrays outside maps the lifetime `PERSISTENT`.

    before   data tmp: f64[N] transient @heap        after   data tmp: f64[N] transient @heap lifetime persistent

    An array whose size changes between iterations of a loop is reallocated only if it grows. Buffers in the bodies of
    maps do not change, since several threads may need them at a time.
    """

    name: ClassVar[str] = "keep-buffers"
    optional: ClassVar[bool] = True
    requires: ClassVar[str] = "stored"

    def decide(self, rw: Rewriter) -> None:
        """Redeclare the arrays."""
        growing = {block.container for block in rw.sdfg.body.walk_blocks() if isinstance(block, Resize)}
        for region in list(rw.sdfg.body.walk_regions()):
            if any(isinstance(owner, Node) for owner in owners_around(region)):  # a map's body, or further in
                continue
            for name, desc in list(region.containers.items()):
                if not isinstance(desc, Array) or not desc.transient or desc.allocation is not Allocation.HEAP:
                    continue
                if desc.lifetime is Lifetime.SCOPE and name not in growing:
                    rw.redeclare(name, replace(desc, lifetime=Lifetime.PERSISTENT))
