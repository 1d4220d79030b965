"""Effect analysis: what nodes, blocks and callees may do besides reading and writing, bodies and all.

The union of what the parts declare (`ir.effects`); the answer is "may". Control flow that stays inside, a break or a
return of a callee, is no effect.
"""

from __future__ import annotations

from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Call, Node
from dcpy.ir.region import Block, Region
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import subtree

Part = Node | Block | Region | Sdfg


def effects_of(part: Part) -> Effect:
    """All that a part may do, with what is inside of it and what it calls."""
    found = Effect.NOTHING
    parts = [part]
    for each in parts:  # grows while callees are met
        for element in subtree(each.body if isinstance(each, Sdfg) else each):
            own = element.effects
            if own is not Effect.NOTHING:
                found |= own
            if isinstance(element, Call) and element.sdfg not in parts:
                parts.append(element.sdfg)
    return found
