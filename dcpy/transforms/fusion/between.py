"""Code motion between two maps: which nodes between them can stand before both, and the others behind both."""

from __future__ import annotations

from dcpy.ir.analysis.access_relations import memories_of
from dcpy.ir.analysis.dependences import nodes_depend
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.nodes import Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import State
from dcpy.ir.symbolic import Ranges


def movable_between(first: Map, second: Map, uses: Uses, ranges: Ranges) -> tuple[Node, ...] | Refusal:
    """The nodes between two maps that can go before both, where the others can go after both; else why not."""
    state = first.state
    if not isinstance(state, State):
        return Refusal("the first map is in no state")
    before: list[Node] = []
    after: list[Node] = []
    group = _Touching(first, uses)
    for node in state.nodes[state.index(first) + 1 : state.index(second)]:
        if any(not nodes_depend(other, node, uses, ranges).is_no for other in group.sharing(node)):
            after.append(node)
            group.add(node)
        else:
            before.append(node)
    for node in after:
        answer = nodes_depend(node, second, uses, ranges)
        if not answer.is_no:
            reason = f"a node between the maps depends on the first, and the second on it: {answer.reason}"
            return Refusal(reason, (node,))
    return tuple(before)


class _Touching:
    """Nodes by the memories that they touch: who could depend on another one is found without asking each."""

    def __init__(self, first: Node, uses: Uses) -> None:
        self.uses = uses
        self.readers: dict[str, list[Node]] = {}
        self.writers: dict[str, list[Node]] = {}
        self.add(first)

    def add(self, node: Node) -> None:
        for table, memories in zip((self.readers, self.writers), memories_of(node, self.uses), strict=True):
            for memory in memories:
                table.setdefault(memory, []).append(node)

    def sharing(self, node: Node) -> tuple[Node, ...]:
        """The nodes that write what `node` touches, or touch what it writes."""
        reads, writes = memories_of(node, self.uses)
        readers, writers = self.readers, self.writers
        groups = [writers[memory] for memory in reads if memory in writers]
        for memory in writes:
            groups += [table[memory] for table in (writers, readers) if memory in table]
        return tuple(dict.fromkeys(other for group in groups for other in group)) if groups else ()
