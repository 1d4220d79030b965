"""Paths that part in a network and meet again: there queues must hold what is on its way on the longer one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcpy.ir.analysis.uses import Uses
from dcpy.ir.data import Stream
from dcpy.ir.region import Dataflow, Process
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import subtree


def queues_on_circles(sdfg: Sdfg, uses: Uses) -> Iterator[str]:
    """The queues without which their ends would still be connected, in all networks."""
    for block in sdfg.body.walk_blocks():
        if isinstance(block, Dataflow):
            yield from queues_on_circles_of(block, uses)


def queues_on_circles_of(block: Dataflow, uses: Uses) -> Iterator[str]:
    """Those of one network."""
    ends = _ends([inner for inner in block.body.blocks if isinstance(inner, Process)], uses)
    for name, (first, *others) in ((name, list(found)) for name, found in ends.items()):
        edges = [list(found) for other, found in ends.items() if other != name]
        if others and others[0] in _reached(first, edges):
            yield name


def are_connected(processes: Sequence[Process], one: Process, other: Process, uses: Uses) -> bool:
    """Whether a way along queues goes from one process to another, in any direction."""
    return other in _reached(one, [list(found) for found in _ends(processes, uses).values()])


def where_paths_meet(
    blocks: Sequence[Dataflow], more: Sequence[tuple[Process, Process]], uses: Uses
) -> Process | None:
    """The first process at the end of one more connection between these networks that were connected without it."""
    processes = [inner for block in blocks for inner in block.body.blocks if isinstance(inner, Process)]
    edges = [list(found) for found in _ends(processes, uses).values()]
    for one, other in more:
        if other in _reached(one, edges):
            return other
        edges.append([one, other])
    return None


def _ends(processes: Sequence[Process], uses: Uses) -> dict[str, dict[Process, None]]:
    """The processes at each queue."""
    ends: dict[str, dict[Process, None]] = {}
    for process in processes:
        for element in subtree(process):
            for memlet in (*element.reads(), *element.writes()):
                if isinstance(uses.desc(memlet.container), Stream):
                    ends.setdefault(memlet.container, {})[process] = None
    return ends


def _reached(start: Process, edges: list[list[Process]]) -> set[Process]:
    found, pending = {start}, [start]
    while pending:
        process = pending.pop()
        for edge in edges:
            if process in edge:
                pending += [other for other in edge if other not in found]
                found.update(edge)
    return found
