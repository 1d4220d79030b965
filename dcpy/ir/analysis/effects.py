"""Effect analysis: what nodes, blocks and callees may do besides reading and writing, bodies and all.

The union of what the parts declare (`ir.effects`); the answer is "may". Control flow that stays inside, a break or a
return of a callee, is no effect.
"""

from __future__ import annotations

from dcpy.ir.effects import Effect
from dcpy.ir.expr import WrapIndex, walk
from dcpy.ir.nodes import Call, Node
from dcpy.ir.region import Block, Check, Region, SymbolAssign, While
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import subtree

Part = Node | Block | Region | Sdfg


def effects_of(part: Part) -> Effect:
    """All that a part may do, with what is inside of it and what it calls."""
    found = Effect.NOTHING
    parts = [part]
    for each in parts:  # grows while callees are met
        for element in subtree(each.body if isinstance(each, Sdfg) else each):
            own = own_effects(element)
            if own is not Effect.NOTHING:
                found |= own
            if isinstance(element, Call) and element.sdfg not in parts:
                parts.append(element.sdfg)
    return found


def own_effects(element: Node | Block) -> Effect:
    """What a node or block may do by itself, without what is inside of it or called by it."""
    if isinstance(element, Node):
        return element.effects
    match element:
        case Check():
            return Effect.MAY_RAISE
        case While():
            return Effect.MAY_NOT_END
        case SymbolAssign(value=value) if any(isinstance(part, WrapIndex) for part in walk(value)):
            return Effect.MAY_RAISE
    return Effect.NOTHING
