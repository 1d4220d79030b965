"""Summaries: what an element touches, may do, assigns and holds, with all inside of it.

Found by one walk, and kept until something inside changes. Where one map takes up the body of another one, its summary
is that of both (`joined`): a chain of maps that become one then costs as much as it is long, not its square.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Node
from dcpy.ir.region import SymbolAssign
from dcpy.ir.tree import Element, subtree

_SUMMARY = "summary"  # what `Uses.facts` keeps of an element


@dataclass(frozen=True, slots=True)
class Summary:
    """Containers that are read and changed (none that is declared inside) and assigned symbols, each once, in program
    order; effects; the number of nodes inside."""

    reads: dict[str, None]
    writes: dict[str, None]
    assigned: dict[str, None]
    effects: Effect
    nodes: int

    def __eq__(self, other: object) -> bool:
        """Equal in the order of names, too."""
        return isinstance(other, Summary) and self._key() == other._key()

    def _key(self) -> tuple[object, ...]:
        return [*self.reads], [*self.writes], [*self.assigned], self.effects, self.nodes


def summary_of(element: Element, uses: Uses) -> Summary:
    """The summary of an element that is in the SDFG."""
    facts = uses.facts(element)
    found: Summary | None = facts.get(_SUMMARY)
    if found is None:
        found = facts[_SUMMARY] = _summary(element, uses)
    return found


def known_effects_of(node: Node, uses: Uses) -> Effect:
    """`effects_of`, found once until something inside the node changes."""
    return summary_of(node, uses).effects


def joined(first: Summary, second: Summary, private: Iterable[str] = ()) -> Summary:
    """The summary of a body that runs two bodies in turn, in which some containers have become private."""
    reads, writes = first.reads | second.reads, first.writes | second.writes
    for name in private:
        reads.pop(name, None)
        writes.pop(name, None)
    assigned = first.assigned | second.assigned
    return Summary(reads, writes, assigned, first.effects | second.effects, first.nodes + second.nodes)


def remember(element: Element, summary: Summary, uses: Uses) -> None:
    """Enter the summary of an element whose parts were moved there; with checks on, it is compared with a new one."""
    uses.facts(element)[_SUMMARY] = summary


def stale_summary(uses: Uses) -> str:
    """The kind of the first element whose summary is not what a new walk finds; nothing where all are right."""
    for element, summary in uses.all_facts(_SUMMARY):
        if uses.holds(element) and summary != _summary(element, uses):
            return f"the summary of a {element.kind}"
    return ""


def _summary(element: Element, uses: Uses) -> Summary:
    inside = [*subtree(element)]
    private = {name for part in inside for region in part.regions() for name in region.containers}
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    assigned: dict[str, None] = {}
    effects = Effect.NOTHING
    nodes = 0
    for part in inside:
        own = part.effects
        if own is not Effect.NOTHING:
            effects |= own
        accessed = uses.accesses(part)
        reads |= dict.fromkeys(accessed.reads)
        writes |= dict.fromkeys(accessed.writes)
        if isinstance(part, Node):
            nodes += 1
            for callee in () if part.has_only_memlets else part.callees():
                effects |= effects_of(callee)
        elif isinstance(part, SymbolAssign) and part is not element:
            assigned[part.symbol] = None
    if uses.streams_among(reads):
        writes = dict.fromkeys(_changed(inside, uses))
    for name in private:
        reads.pop(name, None)
        writes.pop(name, None)
    return Summary(reads, writes, assigned, effects, nodes - isinstance(element, Node))


def _changed(parts: list[Element], uses: Uses) -> Iterator[str]:
    """Yield the containers that elements write, and the queues that they pop, which changes them."""
    for part in parts:
        accessed = uses.accesses(part)
        yield from accessed.writes
        yield from uses.streams_among(accessed.reads)
