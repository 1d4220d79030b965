"""Unrolling of short maps inside maps, so that the outer map is vectorized.

A point has 3 coordinates, a stencil 5 weights: a loop over them fills no vector, and has start-up costs each time.
"""

from __future__ import annotations

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import State
from dcpy.ir.schedules import UNROLLED, Undecided


def unroll_short_maps(node: Map, most: int, rw: Rewriter) -> None:
    """Unroll flat maps inside a map; the iterations of nested ones count together against the limit.

    before   map i = 0:N { s = 0; map k = 0:3 { s (add) <- A[i, k] } }
    after    map i = 0:N { s = 0; map k = 0:3 @unrolled { s (add) <- A[i, k] } }
    """
    for inner in list(node.body.walk_nodes()):
        if isinstance(inner, Map) and isinstance(inner.schedule, Undecided) and is_flat(inner):
            counts = [values.size.constant for values in inner.domain]
            if len(counts) == 1 and counts[0] is not None and counts[0] <= most:
                rw.update(inner, schedule=UNROLLED)


def is_flat(node: Map) -> bool:
    """Return whether the body is a state of tasklets: then the unrolled code is short."""
    return all(isinstance(block, State) for block in node.body.blocks) and all(
        isinstance(inner, Tasklet) for inner in node.body.walk_nodes()
    )
