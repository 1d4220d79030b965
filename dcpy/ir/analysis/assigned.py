"""Which readers of a scalar surely find a value in it: some writer runs before them on every path.

The rule is the verifier's for symbols: what a loop assigns is not assigned after it, since the loop may run zero times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dcpy.ir.nodes import Consume, Map, Node
from dcpy.ir.region import Block, Branch, Break, Continue, Region, Return, State
from dcpy.ir.uses import Element

Step = tuple[Region | State, Element]  # a region and a block in it, or a state and a node in it


def reader_of_nothing(readers: Iterable[Element], writers: Iterable[Element]) -> Element | None:
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
            return not isinstance(element, Map | Consume)
        case State():
            return any(_surely_writes(node, holders) for node in holders[element])
        case Branch(otherwise=Region()):
            return all(
                _leaves(region) or any(_surely_writes(block, holders) for block in holders.get(region, ()))
                for region in element.regions()
            )
    return isinstance(element, Block) and not element.regions()


def _leaves(region: Region) -> bool:
    return any(isinstance(block, Break | Continue | Return) for block in region.blocks)


def _way_up(element: Element) -> Iterator[Step]:
    """From an element to the outermost region, step by step."""
    current: Element | None = element
    while current is not None:
        where = current.state if isinstance(current, Node) else current.region
        if where is None:
            return
        yield where, current
        if isinstance(where, State):
            current = where
        else:
            owner = where.owner
            current = owner if isinstance(owner, Node | Block) else None
