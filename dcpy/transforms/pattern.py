"""Patterns: where in an SDFG a transformation looks.

A pattern names its parts by `capture`s. There are five forms: one node or block (`one`), blocks in a row
(`consecutive`), nodes of one state (`siblings`), dataflow from node to node through containers (`path`), and the SDFG
as a whole (`whole`). Matches come in program order, always the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, overload

from dcpy.base.source import SrcSpan
from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.editing.container_descriptions import description, readable
from dcpy.ir.editing.remarks import described
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Block, Region, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import Element, child_of, subtree

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Access:
    """A container between its writer and its reader; captured by `path`."""

    container: str

    def __str__(self) -> str:
        return self.container


class Capture(Generic[T]):
    """A named, typed part of a pattern: ``first = capture(Map)``, later ``m[self.first]``, which is a `Map`."""

    def __init__(self, *kinds: type[T]) -> None:
        self.kinds = kinds
        self.name = ""

    @property
    def words(self) -> str:
        """Its kinds for people: ``Map or Loop``."""
        return " or ".join(kind.__name__ for kind in self.kinds)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


def capture(*kinds: type[T]) -> Capture[T]:
    """A part of a pattern that matches nodes, blocks or accesses of a class, or of one of several."""
    return Capture(*kinds)


class Match:
    """Match of a pattern. `uses` is the index of the SDFG at that moment."""

    def __init__(self, sdfg: Sdfg, uses: Uses, found: Mapping[str, Any]) -> None:
        self.sdfg = sdfg
        self.uses = uses
        self.captures = dict(found)

    def __getitem__(self, part: Capture[T]) -> T:
        found: T = self.captures[part.name]
        return found

    @property
    def anchor(self) -> Element | Sdfg:
        """The first element of the match."""
        return next((part for part in self.captures.values() if isinstance(part, Node | Block)), self.sdfg)

    @property
    def state(self) -> State:
        """The state of the first node, or the first block where that is a state."""
        found = self.anchor
        state = found.state if isinstance(found, Node) else found
        if not isinstance(state, State):
            raise TypeError(f"a match of {list(self.captures)} has no state")
        return state

    @property
    def region(self) -> Region:
        """The region that holds the first element; the outermost one where the match is the whole SDFG."""
        found = self.anchor
        if isinstance(found, Node):
            found = self.state
        region = found.region if isinstance(found, Block) else None
        return self.sdfg.body if region is None else region

    def in_words(self) -> str:
        """The match in words of the program, if that is Python; parts on other lines than the first one have these."""
        if self.sdfg.span is None:
            return str(self)
        first = self.anchor.span
        return " -> ".join(self._told(part, first) for part in self.captures.values()) or self.sdfg.name

    def _told(self, part: object, first: SrcSpan | None) -> str:
        if isinstance(part, Access):
            return description(self.sdfg, part.container)
        text = readable(described(part, self.sdfg), self.sdfg)
        span = getattr(part, "span", None)
        return text if span is None or first is None or span.line == first.line else f"{text} (line {span.line})"

    def __str__(self) -> str:
        found = self.anchor
        parts = " -> ".join(described(part) for part in self.captures.values()) or self.sdfg.name
        if isinstance(found, Node):
            return f"{_place_of(self.state)}: {parts}" if found.state else parts
        around = self.region.owner
        return f"{described(around)}: {parts}" if isinstance(around, Node | Block) else parts


class Pattern(Protocol):
    """Something that can be looked for."""

    @property
    def captures(self) -> tuple[Capture[Any], ...]: ...

    def anchors(self, sdfg: Sdfg) -> Iterator[Element | Sdfg]:
        """Yield the places where a match may begin, in program order."""

    def matches_at(self, anchor: Element | Sdfg, uses: Uses) -> Iterator[Match]:
        """The matches that begin there."""


@dataclass(frozen=True)
class One:
    """A single node or block of a kind, anywhere."""

    part: Capture[Any]

    @property
    def captures(self) -> tuple[Capture[Any], ...]:
        return (self.part,)

    def anchors(self, sdfg: Sdfg) -> Iterator[Element]:
        return (element for element in elements(sdfg) if isinstance(element, self.part.kinds))

    def matches_at(self, anchor: Element | Sdfg, uses: Uses) -> Iterator[Match]:
        if isinstance(anchor, self.part.kinds):
            yield Match(uses.sdfg, uses, {self.part.name: anchor})

    def __str__(self) -> str:
        return self.part.words


@dataclass(frozen=True)
class Consecutive:
    """Blocks that stand one after the other in a region."""

    parts: tuple[Capture[Any], ...]

    @property
    def captures(self) -> tuple[Capture[Any], ...]:
        return self.parts

    def anchors(self, sdfg: Sdfg) -> Iterator[Element]:
        return (block for block in sdfg.body.walk_blocks() if isinstance(block, self.parts[0].kinds))

    def matches_at(self, anchor: Element | Sdfg, uses: Uses) -> Iterator[Match]:
        if not isinstance(anchor, Block) or anchor.region is None:
            return
        position = anchor.region.index(anchor)
        row = anchor.region.blocks[position : position + len(self.parts)]
        if len(row) == len(self.parts) and all(map(_fits, self.parts, row)):
            yield Match(uses.sdfg, uses, {part.name: block for part, block in zip(self.parts, row, strict=True)})

    def __str__(self) -> str:
        return " followed by a ".join(part.words for part in self.parts)


@dataclass(frozen=True)
class Path:
    """Nodes of one state, each reading a container that the one before it wrote last: node, access, node, ..."""

    parts: tuple[Capture[Any], ...]

    @property
    def captures(self) -> tuple[Capture[Any], ...]:
        return self.parts

    def anchors(self, sdfg: Sdfg) -> Iterator[Element]:
        return (node for node in sdfg.body.walk_nodes() if isinstance(node, self.parts[0].kinds))

    def matches_at(self, anchor: Element | Sdfg, uses: Uses) -> Iterator[Match]:
        if isinstance(anchor, Node) and anchor.state is not None and isinstance(anchor, self.parts[0].kinds):
            for found in self._extend({self.parts[0].name: anchor}, anchor, self.parts[1:], uses):
                yield Match(uses.sdfg, uses, found)

    def _extend(
        self, found: dict[str, Any], last: Node, rest: tuple[Capture[Any], ...], uses: Uses
    ) -> Iterator[dict[str, Any]]:
        if not rest:
            yield found
            return
        access, second = rest[:2]
        for container, reader in _consumers(last, uses):
            if isinstance(reader, second.kinds):
                longer = {**found, access.name: Access(container), second.name: reader}
                yield from self._extend(longer, reader, rest[2:], uses)

    def __str__(self) -> str:
        return " -> ".join(part.words for part in self.parts)


@dataclass(frozen=True)
class Siblings:
    """Two nodes of one state, the first before the second, with anything between them."""

    first: Capture[Any]
    second: Capture[Any]

    @property
    def captures(self) -> tuple[Capture[Any], ...]:
        return (self.first, self.second)

    def anchors(self, sdfg: Sdfg) -> Iterator[Element]:
        return (node for node in sdfg.body.walk_nodes() if isinstance(node, self.first.kinds))

    def matches_at(self, anchor: Element | Sdfg, uses: Uses) -> Iterator[Match]:
        if not isinstance(anchor, Node) or anchor.state is None or not isinstance(anchor, self.first.kinds):
            return
        for other in anchor.state.nodes[anchor.state.index(anchor) + 1 :]:
            if isinstance(other, self.second.kinds):
                yield Match(uses.sdfg, uses, {self.first.name: anchor, self.second.name: other})

    def __str__(self) -> str:
        return f"{self.first.words} beside a {self.second.words}"


@dataclass(frozen=True)
class Whole:
    """The SDFG itself: for transformations that weigh all of it at once."""

    captures = ()

    def anchors(self, sdfg: Sdfg) -> Iterator[Sdfg]:
        return iter((sdfg,))

    def matches_at(self, anchor: Element | Sdfg, uses: Uses) -> Iterator[Match]:
        if anchor is uses.sdfg:
            yield Match(uses.sdfg, uses, {})

    def __str__(self) -> str:
        return "Sdfg"


def one(part: Capture[Any]) -> One:
    """A single node or block."""
    return One(part)


def consecutive(*parts: Capture[Any]) -> Consecutive:
    """Blocks in a row."""
    return Consecutive(parts)


@overload
def path(first: Capture[Any], access: Capture[Access], second: Capture[Any], /) -> Path: ...
@overload
def path(*parts: Capture[Any]) -> Path: ...
def path(*parts: Capture[Any]) -> Path:
    """Dataflow inside one state: node, access, node (, access, node)..."""
    return Path(parts)


def siblings(first: Capture[Any], second: Capture[Any]) -> Siblings:
    """Two nodes of one state."""
    return Siblings(first, second)


def whole() -> Whole:
    """The whole SDFG."""
    return Whole()


def elements(sdfg: Sdfg) -> Iterator[Element]:
    """All blocks and nodes of an SDFG, in program order, each before those it owns."""
    return subtree(sdfg.body)


def _fits(part: Capture[Any], block: Block) -> bool:
    return isinstance(block, part.kinds)


def _consumers(writer: Node, uses: Uses) -> Iterator[tuple[str, Node]]:
    """Containers that a node writes with the later nodes of its state that read them, up to the next writer."""
    if writer.state is None:
        return
    later = writer.state.nodes[writer.state.index(writer) + 1 :]
    for container in names_in(writer, uses)[1]:
        for node in _users_among(later, container, uses):
            reads, writes = names_in(node, uses)
            if container in reads:
                yield container, node
            if container in writes:
                break


def _users_among(nodes: Sequence[Node], container: str, uses: Uses) -> Iterator[Node]:
    """The nodes of a state, in order, that touch a container; as quick as it is used little, or the nodes few."""
    users = (*uses.readers(container), *uses.writers(container))
    if not nodes or len(users) > len(nodes):
        yield from nodes
        return
    state = nodes[0].state
    assert state is not None
    first = state.index(nodes[0])
    tops = {state.index(node): node for user in users if (node := child_of(state, user)) is not None}
    yield from (tops[place] for place in sorted(tops) if place >= first)


def _place_of(state: State) -> str:
    """A state for people; the body of a map, by the map."""
    owner = None if state.region is None else state.region.owner
    return described(owner) if isinstance(owner, Map) and not state.name else described(state)
