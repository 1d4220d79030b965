"""The tree of an SDFG: regions hold blocks, states hold nodes, and loops, branches and maps own regions.

Who is inside of what, what comes before what, and where control may leave. An *element* is a node or a block. All that
climbs costs as much as the nest is deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import overload

from dcpy.base.errors import InvalidSdfg
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block, Branch, Break, Continue, Loop, Region, Return, State, While
from dcpy.ir.sdfg import Sdfg

Element = Node | Block
TreeNode = Sdfg | Region | Block | Node

# -- upwards ---------------------------------------------------------------------------------------------------------


def ancestors(place: TreeNode) -> list[TreeNode]:
    """Return the ancestors of a place, innermost first: of a node its state, of a block its region; last the SDFG."""
    found: list[TreeNode] = []
    around: TreeNode | None = _holder(place)
    while around is not None:
        found.append(around)
        around = _holder(around)
    return found


def _holder(place: TreeNode) -> TreeNode | None:
    if isinstance(place, Node):
        return place.state
    if isinstance(place, Block):
        return place.region
    return place.owner if isinstance(place, Region) else None


def is_inside(place: TreeNode, part: TreeNode) -> bool:
    """Return whether a region, state, map, loop, ... or SDFG holds a place, at any depth."""
    return part in ancestors(place)


@overload
def child_of(holder: Region, element: Element) -> Block | None: ...
@overload
def child_of(holder: State, element: Element) -> Node | None: ...
def child_of(holder: Region | State, element: Element) -> TreeNode | None:
    """The block directly in a region, or the node directly in a state, that is or holds `element`; None elsewhere."""
    current: TreeNode = element
    for around in ancestors(element):
        if around is holder:
            return current
        current = around
    return None


def holder_of(element: Element) -> Element | None:
    """The state of a node; the map, loop or branch that a block is in; None at the outermost level."""
    around = element.state if isinstance(element, Node) else element.region
    owner = around.owner if isinstance(around, Region) else around
    return owner if isinstance(owner, Node | Block) else None


def region_of(place: TreeNode) -> Region:
    """The region that a place belongs to: a region itself, or the one that holds the block or node.

    `InvalidSdfg` for a node or block that is in no SDFG.
    """
    match place:
        case Region():
            return place
        case Sdfg(body=body):
            return body
        case Node(state=State() as state):
            return region_of(state)
        case Block(region=Region() as region):
            return region
    raise InvalidSdfg(f"this {getattr(place, 'kind', 'place')} is in no region", span=getattr(place, "span", None))


def sdfg_of(place: TreeNode) -> Sdfg:
    """The SDFG around a place; `InvalidSdfg` where there is none."""
    for around in (place, *ancestors(place)):
        if isinstance(around, Sdfg):
            return around
    raise InvalidSdfg("this region is in no SDFG")


def regions_around(place: TreeNode) -> Iterator[Region]:
    """The regions that a place is in, innermost first."""
    region: Region | None = region_of(place)
    while region is not None:
        yield region
        region = region.parent


def owners_around(place: TreeNode, within: Region | None = None) -> Iterator[Element]:
    """The maps, loops, branches and so on that a place is inside of, innermost first; the SDFG is not among them.

    With `within`, a region around the place, only those that are inside of it.
    """
    for region in regions_around(place):
        if region is within:
            return
        if region.owner is not None and not isinstance(region.owner, Sdfg):
            yield region.owner


# -- downwards -------------------------------------------------------------------------------------------------------


def bodies_of(element: Element) -> tuple[Region, ...]:
    """The regions that an element itself owns."""
    return () if isinstance(element, State) else element.regions()


def children(element: Element) -> list[Element]:
    """The elements one level down: the nodes of a state, the blocks of bodies. Callees are not entered."""
    if isinstance(element, State):
        return list(element.nodes)
    return [block for region in element.regions() for block in region.blocks]


def nodes_of(block: Element) -> list[Node]:
    """The nodes directly in a state; none of other elements."""
    return list(block.nodes) if isinstance(block, State) else []


def subtree(part: Element | Region) -> Iterator[Element]:
    """An element (or what is in a region) and all inside it, in program order, each before what it holds."""
    pending: list[Element] = part.blocks[::-1] if isinstance(part, Region) else [part]  # type: ignore[assignment]
    while pending:
        element = pending.pop()
        yield element
        if isinstance(element, State):
            pending += reversed(element.nodes)
        else:
            regions = element.regions()
            for region in reversed(regions) if regions else ():
                pending += reversed(region.blocks)


# -- order -----------------------------------------------------------------------------------------------------------


def dominates(first: Element, second: Element) -> bool:
    """Dominance: whether `first` has run whenever `second` runs: it stands before it, or before what holds it."""
    if isinstance(first, Node):
        state = first.state
        node = None if state is None else child_of(state, second)
        if state is None or node is None:
            return state is not None and dominates(state, second)
        return state.index(first) < state.index(node)
    region = first.region
    block = None if region is None else child_of(region, second)
    return region is not None and block is not None and region.index(first) < region.index(block)


# -- jumps -----------------------------------------------------------------------------------------------------------


def jumps(part: Region | Block, *, of_loop: bool = True) -> Iterator[Block]:
    """Yield the jumps out of a part, in program order: returns, and breaks and continues of the loop around it."""
    match part:
        case Region(blocks=blocks):
            for block in blocks:
                yield from jumps(block, of_loop=of_loop)
        case Return():
            yield part
        case Break() | Continue():
            if of_loop:
                yield part
        case Loop(body=body) | While(body=body):  # a break inside ends just this loop
            yield from jumps(body, of_loop=False)
        case Branch():
            for region in part.regions():
                yield from jumps(region, of_loop=of_loop)


def may_complete(part: Region | Block) -> bool:
    """Return whether control may reach what comes after a part ("can complete normally"): not after a jump."""
    match part:
        case Return() | Break() | Continue():
            return False
        case Region(blocks=blocks):
            return all(map(may_complete, blocks))
        case Branch(otherwise=Region()):
            return any(map(may_complete, part.regions()))
    return True
