"""Concatenation of the bodies of two maps."""

from __future__ import annotations

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map
from dcpy.ir.region import State


def append_body(first: Map, second: Map, rw: Rewriter) -> None:
    """Append the second map's body to the first map's; adjacent states are merged."""
    rw.hoist_containers(second.body, first.body)
    blocks = list(second.body.blocks)
    last = first.body.blocks[-1] if first.body.blocks else None
    if isinstance(last, State) and blocks and isinstance(blocks[0], State):
        rw.move_nodes(list(blocks[0].nodes), last)
        blocks.pop(0)
    rw.move_blocks(blocks, first.body)


def prepend_body(first: Map, second: Map, rw: Rewriter) -> None:
    """Prepend the first map's body to the second map's, as `append_body`; takes time by the size of the first."""
    rw.hoist_containers(first.body, second.body)
    blocks = list(first.body.blocks)
    beginning = second.body.blocks[0] if second.body.blocks else None
    if isinstance(beginning, State) and blocks and isinstance(blocks[-1], State):
        rw.move_nodes(list(blocks[-1].nodes), beginning, 0)
        blocks.pop()
    rw.move_blocks(blocks, second.body, 0)
