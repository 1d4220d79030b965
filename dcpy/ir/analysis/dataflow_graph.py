"""The dataflow graph of a state: its nodes, access nodes between them, and edges that carry memlets.

Derived, never stored (decision 0002). An access node is a *version* of a container: what the container holds between
one write and the next. Writes that are proved disjoint, or combine by the same conflict resolution, share a version.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from dcpy.ir.analysis.accesses.access_relations import seen_from_outside
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Stream
from dcpy.ir.field_roles import Role
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Node
from dcpy.ir.region import State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Ranges
from dcpy.ir.tree import sdfg_of

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, slots=True)
class AccessNode:
    """A container by one name, at one version of its memory; version 0 is what it holds when the state begins."""

    container: str
    version: int

    def __str__(self) -> str:
        return f"{self.container}.{self.version}"


GraphNode = Node | AccessNode
Flow = tuple[str, Memlet]


class EdgeKind(Enum):
    """Meaning of an edge: elements move; the same memory under another name; or only "not before"."""

    DATA = "data"
    VIEW = "view"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class Edge:
    """From `source` to `target`. Edges of kind ``DATA`` have a memlet, and the connector if the node has one."""

    source: GraphNode
    target: GraphNode
    memlet: Memlet | None = None
    connector: str = ""
    kind: EdgeKind = EdgeKind.DATA


@dataclass
class _MemoryVersion:
    """The current version of one piece of memory, which goes by the name of a container first."""

    base: str
    number: int = 0
    writer: AccessNode | None = None
    last: Node | None = None  # the last writer
    writes: list[Memlet] = field(default_factory=list)
    readers: list[Node] = field(default_factory=list)


class DataflowGraph:
    """The graph of one state, as it is now; build another one after a change.

    `nodes` are in an order in which every edge goes forward. All answers are in that order too.
    """

    def __init__(self, state: State, uses: Uses | None = None) -> None:
        self.state = state
        self._uses = Uses(sdfg_of(state)) if uses is None else uses
        self._out: dict[GraphNode, list[Edge]] = {}
        self._in: dict[GraphNode, list[Edge]] = {}
        self._versions: dict[str, _MemoryVersion] = {}
        for node in state.nodes:
            self._add(node)

    # -- questions ---------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> tuple[GraphNode, ...]:
        """All nodes, access nodes included."""
        return tuple(self._out)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All edges, by source."""
        return tuple(edge for edges in self._out.values() for edge in edges)

    def in_edges(self, node: GraphNode) -> tuple[Edge, ...]:
        """The edges that end at `node`."""
        return tuple(self._in[node])

    def predecessors(self, node: GraphNode) -> tuple[GraphNode, ...]:
        """Return the sources of edges to `node`, each once."""
        return tuple(dict.fromkeys(edge.source for edge in self._in[node]))

    def successors(self, node: GraphNode) -> tuple[GraphNode, ...]:
        """Return the targets of edges from `node`, each once."""
        return tuple(dict.fromkeys(edge.target for edge in self._out[node]))

    def accesses(self, container: str | None = None) -> tuple[AccessNode, ...]:
        """The access nodes, of one container or of all."""
        found = (node for node in self._out if isinstance(node, AccessNode))
        return tuple(node for node in found if container is None or node.container == container)

    def path(self, source: GraphNode, target: GraphNode) -> tuple[GraphNode, ...]:
        """A shortest way along edges, both ends included; () where there is none."""
        import networkx

        try:
            return tuple(networkx.shortest_path(to_networkx(self), source, target))
        except networkx.NetworkXNoPath:
            return ()

    def has_path(self, source: GraphNode, target: GraphNode) -> bool:
        """Return whether `target` depends on `source` (every node does on itself)."""
        return bool(self.path(source, target))

    # -- construction ------------------------------------------------------------------------------------------

    def _add(self, node: Node) -> None:
        reads, writes = flows_of(node, self._uses)
        sources = [(self._read(memlet.container, node), connector, memlet) for connector, memlet in reads]
        self._insert(node)
        for source, connector, memlet in sources:
            self._connect(Edge(source, node, memlet, connector))
        for connector, memlet in writes:
            self._connect(Edge(node, self._write(memlet, node), memlet, connector))

    def _insert(self, node: GraphNode) -> None:
        self._out.setdefault(node, [])
        self._in.setdefault(node, [])

    def _connect(self, edge: Edge) -> None:
        self._out[edge.source].append(edge)
        self._in[edge.target].append(edge)

    def _version(self, container: str) -> _MemoryVersion:
        memory = memory_of(container, self._uses.desc)
        return self._versions.setdefault(memory, _MemoryVersion(self._uses.root(container)))

    def _read(self, container: str, node: Node) -> AccessNode:
        version = self._version(container)
        access = AccessNode(container, version.number)
        shown = version.writer or AccessNode(version.base, version.number)
        if access not in self._out and access != shown:
            self._insert(shown)
            self._insert(access)
            self._connect(Edge(shown, access, kind=EdgeKind.VIEW))
        self._insert(access)
        if node not in version.readers:
            version.readers.append(node)
        return access

    def _write(self, memlet: Memlet, node: Node) -> AccessNode:
        version = self._version(memlet.container)
        if version.writer is None or (version.last is not node and not _joins(version, memlet)):
            self._order_after(version, node)
            version.number += 1
            version.writer = AccessNode(memlet.container, version.number)
            version.writes, version.readers = [], []
        version.last = node
        version.writes.append(memlet)
        written = AccessNode(memlet.container, version.number)  # under another name, if a node writes both
        self._out[written] = self._out.pop(written, [])  # after its latest writer
        self._in.setdefault(written, [])
        return written

    def _order_after(self, version: _MemoryVersion, node: Node) -> None:
        """`node` overwrites a version: it runs after the readers of that, or if there are none, after its writers."""
        before: list[GraphNode] = [reader for reader in version.readers if reader is not node]
        if not version.readers and version.writer is not None:
            before = [version.writer]
        for earlier in before:
            self._connect(Edge(earlier, node, kind=EdgeKind.ORDER))


def flows_of(node: Node, uses: Uses) -> tuple[list[Flow], list[Flow]]:
    """Return the reads and writes of a node, with connectors where it has them; of a scope, those of its body."""
    reads: list[Flow] = []
    writes: list[Flow] = []
    if not node.regions() and not node.callees():
        for operand in node.operands():
            (writes if operand.role is Role.WRITTEN else reads).append((operand.connector, operand.memlet))
        popped = [memlet for _, memlet in reads if isinstance(uses.desc(memlet.container), Stream)]
        return reads, writes + [("", memlet) for memlet in popped]
    for access in seen_from_outside(node, uses):
        if access.mode in (Mode.READ, Mode.POP):
            reads.append(("", _memlet(access, uses)))
        if access.is_write:  # to pop is to change
            writes.append(("", _memlet(access, uses)))
    return reads, writes


def to_networkx(graph: DataflowGraph) -> networkx.MultiDiGraph:
    """The graph for networkx: nodes as they are, edges with their fields as attributes."""
    import networkx

    result = networkx.MultiDiGraph()
    result.add_nodes_from(graph.nodes)
    for edge in graph.edges:
        result.add_edge(edge.source, edge.target, memlet=edge.memlet, connector=edge.connector, kind=edge.kind.value)
    return result


def _memlet(access: MemoryAccess, uses: Uses) -> Memlet:
    """An access as a memlet: all of the container where it is not known which part."""
    subset = access.subset
    if subset is None:
        subset = Subset.whole(uses.desc(access.root).shape)
    return Memlet(access.root, subset, access.wcr, dynamic=not access.certain)


def _joins(version: _MemoryVersion, memlet: Memlet) -> bool:
    """Return whether a write belongs to the current version: not read yet, the same name, and no conflict with its
    writes.
    """
    if version.writer is None or version.readers or version.writer.container != memlet.container:
        return False
    return all(
        (memlet.wcr and memlet.wcr == other.wcr) or memlet.subset.disjoint(other.subset, Ranges())
        for other in version.writes
    )
