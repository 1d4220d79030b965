"""Overwritten stores: what later elements surely store again, before anything has read it.

``out = np.zeros_like(u)``, ``out[1:-1, 1:-1] = ...``: only the margin of the zeros is ever read. The walk goes through
what follows in the same region, in the order of the program, and ends at the first element that reads the memory, may
leave the region, or may raise where the caller would see what is stored. Only boxes are compared: a store that several
others cover together stays, as this is asked of each store of a program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.summaries import summary_of
from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.analysis.polyhedral.integer_sets import one_covers
from dcpy.ir.data import Array
from dcpy.ir.effects import VISIBLE
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block, State
from dcpy.ir.tree import Element, jumps, region_of

FURTHEST = 64  #: elements that are looked at behind a store


@dataclass(frozen=True, slots=True)
class OverwrittenStore:
    """A store of the elements `stored`, of which later ones surely store `again`; `whole`: all of them."""

    stored: Footprint
    again: tuple[Footprint, ...]
    whole: bool


def overwritten_store(node: Node, uses: Uses) -> OverwrittenStore | str:
    """Return what is stored again of all that a node stores; or, in words, why that is not known."""
    names = summary_of(node, uses).writes
    if len(names) != 1:
        return "it stores to several containers, or none"
    (name,) = names
    if len(uses.writers(name)) < 2:  # nearly always
        return f"nothing else stores to {name!r}"
    if uses.root(name) != name or len(uses.overlapping(name)) > 1 or not isinstance(uses.desc(name), Array):
        return f"{name!r} has other names, or is no array"
    own = accesses_in(node, uses)
    if any(access.root == name and access.mode is not Mode.WRITE for access in own):
        return f"it reads {name!r}"
    stores = [access.footprint() for access in own if access.is_write]
    if len(stores) != 1 or stores[0] is None or stores[0].is_run_time:
        return f"which elements of {name!r} it stores is known at run time only"
    stored, again, assigned = stores[0], list[Footprint](), set[str]()
    why = "nothing behind it stores all of that again"
    for element in _behind(node):
        found, end = _stored_by(element, name, stored, uses)
        assigned.update(summary_of(element, uses).assigned)
        again = [one for one in (*again, *found) if assigned.isdisjoint(_symbols_of(one))]
        if found and one_covers(again, stored, uses.ranges_at(node)):
            return OverwrittenStore(stored, tuple(again), True)
        if end:
            why = end
            break
    return OverwrittenStore(stored, tuple(again), False) if again else why


def _behind(node: Node) -> Iterator[Element]:
    """Yield what follows a node in its region, in order."""
    state = node.state
    assert state is not None
    region = region_of(state)
    yield from state.nodes[state.index(node) + 1 :][:FURTHEST]
    for block in region.blocks[region.index(state) + 1 :][:FURTHEST]:
        if isinstance(block, State):
            yield from block.nodes
        else:
            yield block


def _stored_by(element: Element, name: str, stored: Footprint, uses: Uses) -> tuple[list[Footprint], str]:
    """The elements of an array that one element surely stores, and, in words, why the walk ends behind it."""
    summary = summary_of(element, uses)
    if isinstance(element, Block) and next(jumps(element), None) is not None:
        return [], "the region may be left before"
    if summary.effects & VISIBLE and not _is_unseen(name, uses):
        return [], f"the caller sees {name!r} where an exception is raised before"
    if not _symbols_of(stored).isdisjoint(summary.assigned):
        return [], "a symbol that says what is stored changes before"
    found: list[Footprint] = []
    for access in accesses_in(element, uses):
        if access.root == name:
            footprint = _surely_stored(access)
            if footprint is not None:
                found.append(footprint)
            elif access.mode is not Mode.WRITE:
                return [], f"{name!r} is read before"
    return found, ""


def _symbols_of(footprint: Footprint) -> set[str]:
    return {*footprint.subset.symbols, *(one for _, dim in footprint.over if dim is not None for one in dim.symbols)}


def _surely_stored(access: MemoryAccess) -> Footprint | None:
    footprint = access.footprint() if access.mode is Mode.WRITE and access.is_sure() else None
    return None if footprint is None or footprint.is_run_time else footprint


def _is_unseen(name: str, uses: Uses) -> bool:
    """Return whether nobody sees the elements of an array if the program ends with an exception."""
    return uses.is_private(name) or name not in uses.sdfg.arguments
