"""Effect analysis: what nodes, blocks and callees may do besides reading and writing, bodies and all.

The union of what the parts declare (`ir.effects`); the answer is "may". Control flow that stays inside, a break or a
return of a callee, is no effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

from dcpy.ir.effects import Effect
from dcpy.ir.expr import WrapIndex, walk
from dcpy.ir.nodes import Call, Node
from dcpy.ir.region import Block, Check, Region, State, SymbolAssign, While
from dcpy.ir.sdfg import Sdfg

Part = Node | Block | Region | Sdfg


def effects_of(part: Part) -> Effect:
    """All that a part may do, with what is inside of it and what it calls."""
    return reduce(or_, (own_effects(inner) for inner in _inside(part, [])), Effect.NOTHING)


def own_effects(element: Node | Block) -> Effect:
    """What a node or block may do by itself, without what is inside of it or called by it."""
    match element:
        case Node():
            return element.effects
        case Check():
            return Effect.MAY_RAISE
        case While():
            return Effect.MAY_NOT_END
        case SymbolAssign(value=value) if any(isinstance(part, WrapIndex) for part in walk(value)):
            return Effect.MAY_RAISE
    return Effect.NOTHING


def _inside(part: Part, called: list[Sdfg]) -> Iterator[Node | Block]:
    """A part, all nodes and blocks in it, and those of what it calls, each callee once."""
    match part:
        case Sdfg(body=body):
            yield from _inside(body, called)
        case Region():
            for block in part.blocks:
                yield from _inside(block, called)
        case State(nodes=nodes):
            for node in nodes:
                yield from _inside(node, called)
        case Call(sdfg=callee):
            yield part
            if callee not in called:
                called.append(callee)
                yield from _inside(callee, called)
        case Node() | Block():
            yield part
            for region in part.regions():
                yield from _inside(region, called)
