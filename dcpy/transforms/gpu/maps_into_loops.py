"""MapsIntoLoops: maps whose iterations have arrays of different sizes run in order, and launch kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Copy, Map, Tasklet
from dcpy.ir.region import State
from dcpy.transforms.gpu.offloadable import why_unbounded
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
        """From outside to inside: what is in a loop is looked at in turn."""
        for state in [block for block in rw.sdfg.body.walk_blocks() if isinstance(block, State)]:
            for node in [node for node in state.nodes if isinstance(node, Map)]:
                self._sequential(node, rw)

    def _sequential(self, node: Map, rw: Rewriter) -> None:
        reason = why_unbounded(node, rw.uses)
        inner = [part for part in node.body.walk_nodes() if not isinstance(part, Tasklet | Copy)]
        if reason is None or not inner:
            return
        rw.remark(node, True, f"a loop of launches: {reason}")
        for loop in as_loops(node, rw)[-1:]:
            for state in [block for block in loop.body.walk_blocks() if isinstance(block, State)]:
                for part in [part for part in state.nodes if isinstance(part, Map)]:
                    self._sequential(part, rw)
