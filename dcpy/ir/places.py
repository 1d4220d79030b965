"""Stable names for places: ``/2/0/1`` is the way from the outermost region to a block or node, by positions.

A number after a region picks a block; after a state, a node; after a block with several regions, a region. The way
through a map goes straight into its body. The history of transformations stores such paths, so it can be replayed.
"""

from __future__ import annotations

from dcpy.base.errors import TransformationRefused
from dcpy.ir.nodes import Consume, Map, Node
from dcpy.ir.region import Block, Region, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.uses import Element


def path_of(element: Element) -> str:
    """The path of an element of an SDFG."""
    steps: list[int] = []
    current: Element = element
    while True:
        match current:
            case Node(state=State() as state):
                steps.append(state.index(current))
                current = state
                continue
            case Block(region=Region() as region):
                steps.append(region.index(current))
            case _:
                raise TransformationRefused(f"this {current.kind} is in no SDFG", span=current.span)
        match region.owner:
            case Sdfg():
                return "".join(f"/{step}" for step in reversed(steps))
            case Map() | Consume() as owner:
                current = owner
            case Block() as owner:
                steps.append(owner.regions().index(region))
                current = owner


def element_at(sdfg: Sdfg, path: str) -> Element:
    """The element at a path; `TransformationRefused` where the SDFG has nothing there."""
    where: Region | Element = sdfg.body
    for step in path.strip("/").split("/"):
        try:
            where = _down(where, int(step))
        except (IndexError, ValueError):
            raise TransformationRefused(f"{sdfg.name!r} has nothing at {path}") from None
    if isinstance(where, Region):
        raise TransformationRefused(f"{path} in {sdfg.name!r} is a region, not a block or node")
    return where


def _down(where: Region | Element, step: int) -> Region | Element:
    match where:
        case Region(blocks=blocks):
            return blocks[step]
        case State(nodes=nodes):
            return nodes[step]
        case Map(body=body) | Consume(body=body):
            return body.blocks[step]
        case Block():
            return where.regions()[step]
    raise IndexError(step)


def is_attached(element: Element, sdfg: Sdfg) -> bool:
    """Whether an element is still part of an SDFG."""
    current: object = element
    while True:
        match current:
            case Node(state=State() as state):
                current = state
            case Block(region=Region(owner=owner)):
                current = owner
            case Sdfg():
                return current is sdfg
            case _:
                return False


def node_in(state: State, element: Element) -> Node:
    """The node directly in `state` that is, or holds, `element`, which is in it."""
    current: object = element
    while True:
        match current:
            case Node(state=State() as around):
                if around is state:
                    return current
                current = around
            case Block(region=Region(owner=owner)):
                current = owner
            case _:
                raise TransformationRefused("the element is in another state", span=element.span)


def block_in(region: Region, element: Element) -> Block | None:
    """The block directly in `region` that is, or holds, `element`; None where the region does not hold it."""
    current: object = element
    while True:
        match current:
            case Node(state=State() as state):
                current = state
            case Block(region=Region() as around):
                if around is region:
                    return current
                current = around.owner
            case _:
                return None
