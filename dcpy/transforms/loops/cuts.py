"""Partition of a body into two parts, for loop distribution and map fission."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Region, State
from dcpy.ir.tree import Element, is_inside


@dataclass(frozen=True, slots=True)
class BodyPartition:
    """The two parts: blocks of a body, or nodes of the one state that it is."""

    first: tuple[Element, ...]
    second: tuple[Element, ...]

    def is_first(self, element: Element) -> bool:
        """Return whether an element of the body belongs to the first part."""
        return any(element is part or is_inside(element, part) for part in self.first)


def cut_of(body: Region, at: int) -> BodyPartition | Refusal:
    """The cut after `at` blocks, or nodes; a refusal where a part would be empty."""
    parts: list[Element] = list(body.blocks)
    match body.blocks:
        case [State(nodes=nodes)]:
            parts = list(nodes)
    if not 0 < at < len(parts):
        return Refusal(f"the body has {len(parts)} parts: none can be cut off after {at}")
    return BodyPartition(tuple(parts[:at]), tuple(parts[at:]))


def shared_by(cut: BodyPartition, body: Region, uses: Uses) -> Refusal | None:
    """A container or symbol of one iteration that the first part writes and the second part reads."""
    for name in body.containers:
        if len({cut.is_first(accessor) for accessor in _users(name, uses)}) > 1:
            advice = f"scalar-expansion{{container={name}}} makes it an array of all iterations"
            return Refusal(f"each iteration has its own {name!r}, which both parts use: {advice}")
    for symbol in symbols_assigned_in(body):
        places = (*uses.definers(symbol), *uses.users(symbol))
        if len({cut.is_first(place) for place in places if is_inside(place, body)}) > 1:
            return Refusal(f"both parts use the symbol {symbol!r}, which each iteration assigns")
        if uses.described_by(symbol):
            return Refusal(f"symbol {symbol!r} describes a container of the body")
    return None


def cut_blocks(cut: BodyPartition, body: Region, into: Region, rw: Rewriter) -> None:
    """Move the second part, and the containers that only it uses, to another body, which is empty."""
    for name in [n for n in body.containers if not any(map(cut.is_first, _users(n, rw.uses)))]:
        rw.move_container(name, into)
    if isinstance(cut.second[0], Block):
        rw.move_blocks([part for part in cut.second if isinstance(part, Block)], into)
        return
    state = State(span=cut.second[0].span)
    rw.insert(state, into)
    rw.move_nodes([part for part in cut.second if isinstance(part, Node)], state)


def _users(name: str, uses: Uses) -> Iterator[Element]:
    """The elements that read or write a container, or a view of it."""
    yield from uses.accessors(name)
    for view in uses.views_of(name):
        yield from _users(view, uses)
