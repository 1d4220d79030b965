"""Code motion between two maps: nodes that depend on the first one go behind both, the others before both."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.summaries import Summary, known_effects_of, summary_of
from dcpy.ir.analysis.dependence.loop_dependences import nodes_depend
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.effects import VISIBLE, Effect
from dcpy.ir.nodes import Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import State
from dcpy.ir.symbolic import Ranges
from dcpy.ir.tree import child_of


def movable_behind(first: Map, second: Map, uses: Uses, ranges: Ranges) -> tuple[Node, ...] | Refusal:
    """The nodes between two maps that depend on the first one and can follow both; or the reason that they cannot."""
    state = first.state
    if not isinstance(state, State):
        return Refusal("the first map is in no state")
    between = _Between(state, state.index(first), state.index(second), uses)
    moved: list[Node] = [first]
    between.ask_about(first)
    for node, others in between:
        if any(not nodes_depend(other, node, uses, ranges).is_no for other in others):
            moved.append(node)
            between.ask_about(node)
    behind = tuple(moved[1:])
    for node in behind:
        answer = nodes_depend(node, second, uses, ranges)
        if not answer.is_no:
            reason = f"a node between the maps depends on the first, and the second on it: {answer.reason}"
            return Refusal(reason, (node,))
    return behind


def bring_together(first: Map, second: Map, behind: tuple[Node, ...], rw: Rewriter) -> None:
    """Move the first of two maps, and the nodes that go `behind` it, to directly before the second."""
    state = second.state
    assert state is not None  # or it would have been refused
    target = state.index(second) - 1 - len(behind)
    if state.index(first) != target:
        rw.move_nodes((first, *behind), state, target)


class _Between:
    """The nodes between two positions of a state that may depend on certain nodes before them, in order.

    The search starts from the containers of those nodes; `ask_about` adds nodes on the way.
    """

    def __init__(self, state: State, start: int, stop: int, uses: Uses) -> None:
        self._state, self._stop, self._uses = state, stop, uses
        self._place = start  # of the node that is asked about
        self._pending: list[int] = []
        self._askers: dict[int, list[Node]] = {}

    def __iter__(self) -> Iterator[tuple[Node, list[Node]]]:
        """Yield each node with the nodes that it may depend on."""
        while self._pending:
            self._place = heappop(self._pending)
            yield self._state.nodes[self._place], self._askers[self._place]

    def ask_about(self, node: Node) -> None:
        """Add the nodes after `node`, the current one, that may depend on it.

        They access its outputs, write its inputs, or have effects that are ordered with its effects or writes.
        """
        if self._stop - self._place <= 1:
            return
        uses, summary = self._uses, summary_of(node, self._uses)
        if len(summary.reads) + len(summary.writes) < self._stop - self._place:
            self._add_accessors(node, summary)
        else:
            for place, other in self._rest():
                if self._share(summary, summary_of(other, uses)):
                    self._add(place, node)
        ordered = bool(summary.effects & VISIBLE)
        if ordered or not all(map(uses.is_private, summary.writes)):
            kinds = VISIBLE if ordered else Effect.MAY_RAISE
            for place, other in self._rest():
                if known_effects_of(other, uses) & kinds:
                    self._add(place, node)

    def _rest(self) -> Iterator[tuple[int, Node]]:
        return enumerate(self._state.nodes[self._place + 1 : self._stop], self._place + 1)

    def _add_accessors(self, node: Node, summary: Summary) -> None:
        """Add the nodes that share a container with a node of few containers, if one of the two writes it."""
        uses = self._uses
        for names, asked in ((summary.writes, uses.accessors), (summary.reads, uses.writers)):
            for name in dict.fromkeys([other for each in names for other in uses.overlapping(each)]):
                accessors = asked(name)
                if len(accessors) < self._stop - self._place:
                    for accessor in accessors:
                        inside = child_of(self._state, accessor)
                        place = -1 if inside is None else self._state.index(inside)
                        if self._place < place < self._stop:
                            self._add(place, node)
                    continue
                for place, other in self._rest():
                    found = summary_of(other, uses)
                    if name in found.writes or name in found.reads:
                        self._add(place, node)

    def _share(self, ours: Summary, theirs: Summary) -> bool:
        """Return whether one of two nodes writes memory that the other one accesses."""
        for name in theirs.writes:
            names = self._uses.overlapping(name)
            if not (ours.reads.keys().isdisjoint(names) and ours.writes.keys().isdisjoint(names)):
                return True
        return any(not ours.writes.keys().isdisjoint(self._uses.overlapping(name)) for name in theirs.reads)

    def _add(self, place: int, node: Node) -> None:
        if place not in self._askers:
            self._askers[place] = []
            heappush(self._pending, place)
        if node not in self._askers[place][-1:]:
            self._askers[place].append(node)
