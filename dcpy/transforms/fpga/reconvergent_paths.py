"""Reconvergent paths: paths that part in a network and meet again; their queues must hold what is in flight on the
longer one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Stream
from dcpy.ir.region import Dataflow, Process
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import subtree

if TYPE_CHECKING:
    import networkx


def queues_on_cycles(sdfg: Sdfg, uses: Uses) -> Iterator[str]:
    """The queues without which their ends would still be connected, in all networks."""
    for block in sdfg.body.walk_blocks():
        if isinstance(block, Dataflow):
            yield from queues_on_cycles_of(block, uses)


def queues_on_cycles_of(block: Dataflow, uses: Uses) -> Iterator[str]:
    """The queues of one network."""
    import networkx

    graph = _graph([inner for inner in block.body.blocks if isinstance(inner, Process)], uses)
    for name in [node for node in graph if isinstance(node, str)]:
        first, *others = graph.adj[name]
        rest = networkx.restricted_view(graph, [name], [])
        if others and networkx.has_path(rest, first, others[0]):
            yield name


def are_connected(processes: Sequence[Process], one: Process, other: Process, uses: Uses) -> bool:
    """Return whether a way along queues goes from one process to another, in any direction."""
    import networkx

    return bool(networkx.has_path(_graph(processes, uses), one, other))


def reconvergences(
    blocks: Sequence[Dataflow], more: Sequence[tuple[Process, Process]], uses: Uses
) -> Process | None:
    """The first process at the end of one more connection between these networks that were connected without it."""
    from networkx.utils import UnionFind

    graph = _graph([inner for block in blocks for inner in block.body.blocks if isinstance(inner, Process)], uses)
    parts = UnionFind(graph)
    for one, other in graph.edges:
        parts.union(one, other)
    for one, other in more:
        if parts[one] == parts[other]:
            return other
        parts.union(one, other)
    return None


def _graph(processes: Sequence[Process], uses: Uses) -> networkx.Graph:
    """A node for each process and each queue, an edge where a process uses a queue."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(processes)
    for process in processes:
        for element in subtree(process):
            for memlet in (*element.reads(), *element.writes()):
                if isinstance(uses.desc(memlet.container), Stream):
                    graph.add_edge(process, memlet.container)
    return graph
