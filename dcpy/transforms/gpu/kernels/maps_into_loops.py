"""MapsIntoLoops: maps whose iterations have arrays of different sizes run in order, and launch kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Copy, Map, Tasklet
from dcpy.ir.region import Region
from dcpy.ir.tree import owners_around
from dcpy.transforms.gpu.placement.offloadable import why_unbounded
from dcpy.transforms.maps.map_to_for_loop import as_loops
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class MapsIntoLoops(GraphPass):
    """Sequentialization of maps that no kernel can be made of, so that kernels can be made of what is inside.

    before   map i = 0:N { data t: f64[N - i];  map j = 0:N - i { t[j] = f(A[i, j]) };  reduce t -> s[i] }
    after    loop i = 0:N { data t: f64[N - i];  map j = 0:N - i { t[j] = f(A[i, j]) };  reduce t -> s[i] }

    Threads cannot allocate, so an array of an iteration whose size is known there alone is the host's to allocate; and
    its map would be the work of one core. Where nothing inside is parallel, the map stays.
    """

    name: ClassVar[str] = "maps-into-loops"

    def decide(self, rw: Rewriter) -> None:
        """Decide from outside to inside: what is in a loop is looked at in turn."""
        pending = _maps(rw.sdfg.body)
        while pending:
            node = pending.pop()
            reason = why_unbounded(node, rw.uses)
            if reason is None or all(isinstance(part, Tasklet | Copy) for part in node.body.walk_nodes()):
                continue
            rw.remark(node, True, f"the host launches a kernel in each iteration: {reason}")
            pending += _maps(as_loops(node, rw)[-1].body)


def _maps(region: Region) -> list[Map]:
    """The maps that are in no other one, the last one first."""
    found = [node for node in region.walk_nodes() if isinstance(node, Map)]
    return [node for node in reversed(found) if not any(isinstance(owner, Map) for owner in owners_around(node))]
