"""Element paths: ``/2/0/1`` is the way from the outermost region to a block or node, by positions.

A number after a region picks a block; after a state, a node; after a block with several regions, a region. The way
through a map goes straight into its body. The history of transformations stores such paths, so it can be replayed.
"""

from __future__ import annotations

from typing import Any

from dcpy.base.errors import TransformationRefused
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block, Region, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import Element, ancestors


def path_of(element: Element) -> str:
    """The path of an element of an SDFG."""
    return "".join(f"/{step}" for step in position_of(element))


def position_of(element: Element) -> tuple[int, ...]:
    """The steps of its path. As keys they sort elements in program order, which an index of uses does not keep."""
    steps: list[int] = []
    current: Any = element
    for around in ancestors(element):
        match around:
            case State() | Region():
                steps.append(around.index(current))
            case Block():
                steps.append(around.regions().index(current))
            case Sdfg():
                return tuple(reversed(steps))
        current = around
    raise TransformationRefused(f"this {element.kind} is in no SDFG", span=element.span)


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
        case Node():
            return where.regions()[0].blocks[step]
        case Block():
            return where.regions()[step]
    raise IndexError(step)
