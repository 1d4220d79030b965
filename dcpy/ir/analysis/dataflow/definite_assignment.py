"""Definite assignment: which readers of a scalar surely find a value in it, written before them on every path.

The rule is the verifier's for symbols: what a loop assigns is not assigned after it, since the loop may run zero times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dcpy.ir.nodes import Node
from dcpy.ir.region import Block, Branch, Region, State
from dcpy.ir.tree import Element, ancestors, may_complete

Step = tuple[Region | State, Element]  # a region and a block in it, or a state and a node in it


def unassigned_reader(readers: Iterable[Element], writers: Iterable[Element]) -> Element | None:
    """The first reader that may run before any writer has run; None where there is none."""
    holders: dict[Region | State, dict[Element, None]] = {}  # by place, what holds a writer
    for writer in writers:
        for where, element in _way_up(writer):
            holders.setdefault(where, {})[element] = None
    for reader in readers:
        if not any(
            where.index(holder) < where.index(element) and _surely_writes(holder, holders)  # type: ignore[arg-type]
            for where, element in _way_up(reader)
            for holder in holders.get(where, ())
        ):
            return reader
    return None


def _surely_writes(element: Element, holders: dict[Region | State, dict[Element, None]]) -> bool:
    match element:
        case Node():
            return not element.regions()
        case State():
            return any(_surely_writes(node, holders) for node in holders[element])
        case Branch(otherwise=Region()):
            return all(
                not may_complete(region) or any(_surely_writes(block, holders) for block in holders.get(region, ()))
                for region in element.regions()
            )
    return isinstance(element, Block) and not element.regions()


def _way_up(element: Element) -> Iterator[Step]:
    """The way from an element to the outermost region, step by step."""
    for current in (element, *ancestors(element)):
        where = current.state if isinstance(current, Node) else current.region if isinstance(current, Block) else None
        if where is not None:
            yield where, current  # type: ignore[misc]
