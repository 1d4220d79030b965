"""Effect analysis: what nodes, blocks and callees may do besides reading and writing, bodies and all.

The union of what the parts declare (`ir.effects`); the answer is "may". Control flow that stays inside, a break or a
return of a callee, is no effect.
"""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.ir.effects import Effect, ends_early
from dcpy.ir.nodes import Node
from dcpy.ir.region import Region
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import Element, TreeNode, jumps, subtree


def effects_of(part: TreeNode) -> Effect:
    """All that a part may do, with what is inside of it and what it calls."""
    found = Effect.NOTHING
    parts = [part]
    for each in parts:  # grows while callees are met
        for element in subtree(each.body if isinstance(each, Sdfg) else each):
            own = element.effects
            if own is not Effect.NOTHING:
                found |= own
            parts += [callee for callee in element.callees() if callee not in parts]
    return found


def leavers(region: Region) -> Iterator[Element]:
    """Parts that end an iteration of the region early, or may: jumps, then loops without end and what raises."""
    yield from jumps(region)
    for element in subtree(region):
        leaf = isinstance(element, Node) and not element.regions()
        if ends_early(effects_of(element) if leaf else element.effects):
            yield element
