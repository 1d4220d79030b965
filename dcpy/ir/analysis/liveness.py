"""Who reads and who writes a container, in program order, and whether anything reads it later.

A table over the places of an SDFG, built in one pass. A *place* is a node that is no scope, or a block that reads
containers by itself (a condition, a check, a symbol assignment). Containers count by their roots (`scopes.Roots`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from dcpy.ir.analysis.scopes import Place, Roots, home_at, regions_around
from dcpy.ir.expr import ScalarExpr, loads_of
from dcpy.ir.nodes import Call, Consume, Map, Node
from dcpy.ir.region import Block, Branch, Check, Loop, Region, State, SymbolAssign, While
from dcpy.ir.sdfg import Sdfg

Toucher = Node | Block


def readers(sdfg: Sdfg) -> dict[str, list[Toucher]]:
    """For each root container, the places that read it, in program order."""
    return Liveness(sdfg).readers


def writers(sdfg: Sdfg) -> dict[str, list[Toucher]]:
    """For each root container, the places that write it, in program order."""
    return Liveness(sdfg).writers


class Liveness:
    """The table; valid until the SDFG changes. Writes with conflict resolution are reads too."""

    def __init__(self, sdfg: Sdfg) -> None:
        self.sdfg = sdfg
        self.roots = Roots(sdfg)
        self.readers: dict[str, list[Toucher]] = {}
        self.writers: dict[str, list[Toucher]] = {}
        self._read_at: dict[str, list[int]] = {}  # times of reads, ascending; a time is a number in program order
        self._written_at: dict[str, list[int]] = {}
        self._span: dict[Place, tuple[int, int]] = {}  # the times that a place takes: first, and one past the last
        self._time = 0
        self._visit_region(sdfg.body)

    # -- questions ---------------------------------------------------------------------------------------------

    def is_read_after(self, place: Node | Block, container: str) -> bool:
        """Whether what `place` leaves in a container may be read: later, in a later iteration, or by the caller.

        Writes in between are not looked at: True means "cannot be excluded".
        """
        root = self.roots[container]
        if self._outlives(root):
            return True
        _, end = self._span[place]
        if self._within(self._read_at, root, end, self._time):
            return True
        return any(self._within(self._read_at, root, *self._span[loop]) for loop in self._repeats(place, root))

    def only_accessed_in(self, container: str, *places: Place) -> bool:
        """Whether every read and write of a container is inside one of `places`, and the caller sees none."""
        root = self.roots[container]
        inside = [self._span[place] for place in places]
        times = (*self._read_at.get(root, ()), *self._written_at.get(root, ()))
        return not self._outlives(root) and all(any(a <= time < b for a, b in inside) for time in times)

    def is_read_in(self, place: Place, container: str) -> bool:
        """Whether something inside `place` reads a container."""
        return self._within(self._read_at, self.roots[container], *self._span[place])

    def is_written_in(self, place: Place, container: str) -> bool:
        """Whether something inside `place` writes a container."""
        return self._within(self._written_at, self.roots[container], *self._span[place])

    def is_ever_read(self, container: str) -> bool:
        """Whether anything, the caller included, reads a container."""
        root = self.roots[container]
        return self._outlives(root) or bool(self._read_at.get(root))

    def _outlives(self, root: str) -> bool:
        """Whether the caller sees the container after the call, or a reference might show it to anybody."""
        if self.roots.is_referenced(root):
            return True
        top = root.partition(".")[0]
        desc = self.sdfg.containers.get(top)
        return desc is not None and not desc.transient

    def _repeats(self, place: Place, root: str) -> Iterator[Region]:
        """Bodies of loops and scopes around `place` that run again while the container keeps its contents."""
        home = home_at(place, root)
        for region in regions_around(place):
            if region is home:
                return
            if isinstance(region.owner, Loop | While | Map | Consume):
                yield region

    @staticmethod
    def _within(times: dict[str, list[int]], root: str, start: int, end: int) -> bool:
        found = times.get(root, [])
        return bisect_left(found, start) < bisect_right(found, end - 1)

    # -- building ----------------------------------------------------------------------------------------------

    def _visit_region(self, region: Region) -> None:
        start = self._time
        for block in region.blocks:
            self._visit_block(block)
        self._span[region] = start, self._time

    def _visit_block(self, block: Block) -> None:
        start = self._time
        match block:
            case State(nodes=nodes):
                for node in nodes:
                    self._visit_node(node)
            case While(condition=condition, body=body):
                self._test(block, condition)
                self._visit_region(body)
                self._test(block, condition)  # and again after each run
            case Branch(cases=cases):
                self._test(block, *(condition for condition, _ in cases))
                for region in block.regions():
                    self._visit_region(region)
            case SymbolAssign(value=value):
                self._test(block, value)
            case Check(condition=condition, values=values):
                self._test(block, condition, *values)
            case _:
                for region in block.regions():
                    self._visit_region(region)
        self._time += 1
        self._span[block] = start, self._time

    def _visit_node(self, node: Node) -> None:
        start = self._time
        match node:
            case Map(body=body):
                self._visit_region(body)
            case Consume(stream=stream, body=body):
                self._note(self.readers, self._read_at, stream, node)
                self._note(self.writers, self._written_at, stream, node)
                self._visit_region(body)
            case Call():
                self._visit_call(node)
            case _:
                self._visit_leaf(node)
        self._time += 1
        self._span[node] = start, self._time

    def _visit_leaf(self, node: Node) -> None:
        for memlet in node.reads():
            self._note(self.readers, self._read_at, memlet.container, node)
            if self.roots.is_stream(memlet.container):  # to pop is to change
                self._note(self.writers, self._written_at, memlet.container, node)
        for memlet in node.writes():
            if memlet.wcr:
                self._note(self.readers, self._read_at, memlet.container, node)
            self._note(self.writers, self._written_at, memlet.container, node)

    def _visit_call(self, node: Call) -> None:
        callee = Liveness(node.sdfg)
        for name, memlet in node.arguments.items():
            root = callee.roots[name]
            if callee.readers.get(root):
                self._note(self.readers, self._read_at, memlet.container, node)
            if callee.writers.get(root):
                self._note(self.writers, self._written_at, memlet.container, node)

    def _test(self, block: Block, *exprs: ScalarExpr) -> None:
        for expr in exprs:
            for load in loads_of(expr):
                self._note(self.readers, self._read_at, load.container, block)
        self._time += 1

    def _note(
        self, table: dict[str, list[Toucher]], times: dict[str, list[int]], container: str, place: Toucher
    ) -> None:
        root = self.roots[container]
        found = table.setdefault(root, [])
        if not found or found[-1] is not place:
            found.append(place)
        when = times.setdefault(root, [])
        if not when or when[-1] != self._time:
            when.append(self._time)
