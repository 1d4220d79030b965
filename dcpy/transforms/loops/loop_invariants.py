"""Loop invariants: what the body of a loop computes anew in each iteration, and always the same.

A loop may have no iteration, or leave its first one early. So an invariant has no effects, and accesses arrays inside
of their bounds for all that is known before the loop: it may be computed there. Whether that pays is asked elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.dataflow.def_use import Uses, desc_symbols
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dataflow.value_ranges import bind_parameter
from dcpy.ir.data import Array, Lifetime, Scalar, View
from dcpy.ir.effects import Effect
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Loop, Region, State, While
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Ranges
from dcpy.ir.tree import Element, children, is_inside, subtree


def invariant_nodes(loop: Loop | While, uses: Uses) -> list[Node]:
    """Nodes of the body's states that fill containers of the body, in program order."""
    states = [block for block in loop.body.blocks if isinstance(block, State)]
    changing, ranges = _changing_symbols(loop), uses.ranges_at(loop)
    nodes = [
        node
        for state in states
        for node in state.nodes
        if _computes_under(node, changing, uses)
        and all(_is_of(name, loop.body, uses) for name in names_in(node, uses)[1])
        and _accesses_are_inside(node, ranges, uses)
    ]
    return _closed(nodes, loop, uses)


def invariant_tasklets(node: Map, loop: Loop | While, outside: Sequence[Node], uses: Uses) -> list[Node]:
    """Tasklets of a map in the body of a loop that fill scalars of the map's body, in program order.

    `outside` are the `invariant_nodes` of the loop, which may compute their operands.
    """
    match node.body.blocks:
        case [State(nodes=nodes)] if all(isinstance(inner, Tasklet) for inner in nodes):
            pass
        case _:
            return []
    changing, ranges = _changing_symbols(loop), uses.ranges_at(loop)
    if any(not changing.isdisjoint(values.symbols) for values in node.domain):
        return []
    for param, values in node.iteration_space():
        ranges = bind_parameter(ranges, param, values)
    tasklets = [
        inner
        for inner in nodes
        if _computes_under(inner, changing, uses)
        and all(_is_of(name, node.body, uses) for name in names_in(inner, uses)[1])
        and _accesses_are_inside(inner, ranges, uses)
    ]
    return _closed(tasklets, loop, uses, outside)


def _changing_symbols(loop: Loop | While) -> set[str]:
    return {*symbols_assigned_in(loop.body), *loop.body.params}


def _computes_under(node: Node, changing: set[str], uses: Uses) -> bool:
    """Return whether a node computes, and does nothing else, under symbols that no iteration changes."""
    if effects_of(node) != Effect.NOTHING:
        return False
    reads, writes, *_ = names_in(node, uses)
    symbols = {name for part in subtree(node) for name in uses.accesses(part).symbols}
    symbols |= {name for written in writes for name in desc_symbols(uses.desc(written))}
    return changing.isdisjoint(symbols) and not uses.streams_among((*reads, *writes))


def _is_of(name: str, body: Region, uses: Uses) -> bool:
    """Return whether a body declares a container, which holds nothing when an iteration starts."""
    desc = uses.desc(name)
    alone = isinstance(desc, Array | Scalar) and uses.is_private(name) and uses.overlapping(name) == (name,)
    kept = isinstance(desc, Array) and desc.lifetime is not Lifetime.SCOPE
    return alone and not kept and uses.home(name) is body


def _closed(nodes: Sequence[Node], loop: Loop | While, uses: Uses, outside: Sequence[Node] = ()) -> list[Node]:
    """The nodes that have their operands from before the loop, from others of these, or from nodes outside."""
    found = dict.fromkeys(nodes)
    while leaving := [node for node in found if not _has_same_operands(node, (*found, *outside), loop, uses)]:
        for node in leaving:
            del found[node]
    return list(found)


def _has_same_operands(node: Node, found: Sequence[Node], loop: Loop | While, uses: Uses) -> bool:
    """Return whether nothing in the loop but nodes of `found` writes what a node reads and fills.

    A container that several nodes fill has its last value before others read it.
    """
    reads, writes, *_ = names_in(node, uses)
    for name in reads:
        aliases = uses.overlapping(name)
        writers = [writer for alias in aliases for writer in uses.writers(alias) if is_inside(writer, loop.body)]
        if any(_holder(writer, found) is None for writer in writers):
            return False
    for name in _named(node, uses):
        of_loop = uses.home(name) is loop.body or is_inside(uses.home(name), loop.body)
        if of_loop and not any(_holder(writer, found) for writer in uses.writers(name)):
            return False  # a view, a queue, or what has no value yet: it stays, and so do its users
    for name in writes:
        holders = [_holder(writer, found) for writer in uses.writers(name)]
        if None in holders:
            return False
        last = max(uses.position(holder) for holder in holders if holder is not None)
        others = (reader for reader in uses.readers(name) if _holder(reader, found) is None)
        if any(uses.position(reader) < last for reader in others):
            return False
    return True


def _named(node: Node, uses: Uses) -> set[str]:
    """Containers that a node names, views as such, but those that it declares."""
    accesses = [uses.accesses(part) for part in subtree(node)]
    names = {name for each in accesses for name in (*each.reads, *each.writes)}
    return {name for name in names if not is_inside(uses.home(name), node)}


def _holder(element: Element, nodes: Sequence[Node]) -> Node | None:
    """The one of some nodes that an element is, or is in."""
    return next((node for node in nodes if element is node or is_inside(element, node)), None)


def _accesses_are_inside(element: Element, ranges: Ranges, uses: Uses) -> bool:
    """Return whether all elements that are accessed are proved to exist."""
    if isinstance(element, Node) and not element.regions():
        return all(_is_inside(memlet, ranges, uses) for memlet in (*element.reads(), *element.writes()))
    if not isinstance(element, State | Map | Loop):
        return False
    for param, values in element.iteration_space():
        ranges = bind_parameter(ranges, param, values)
    return all(_accesses_are_inside(child, ranges, uses) for child in children(element))


def _is_inside(memlet: Memlet, ranges: Ranges, uses: Uses) -> bool:
    desc = uses.desc(memlet.container)
    if not isinstance(desc, Array | Scalar | View):
        return False
    for dim, size in zip(memlet.subset.dims, desc.shape, strict=True):
        if isinstance(dim, Range) and dim.start.constant == 0 and dim.stop is size:
            continue
        if isinstance(dim, Range) and not dim.direction(ranges):
            return False
        low, high = dim.hull(ranges) if isinstance(dim, Range) else (dim, dim)
        if not (ranges.proves_nonneg(low) and ranges.proves_lt(high, size)):
            return False
    return True
