"""An SDFG as one graph of NetworkX: blocks and nodes, nesting, control flow and dataflow."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from dcpy.base.registry import unknown_name
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow_graph import AccessNode, DataflowGraph, EdgeKind, GraphNode
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block, Region, State
from dcpy.ir.sdfg import Sdfg

if TYPE_CHECKING:
    import networkx

CONTROL, INSIDE = "control", "inside"
KINDS = (CONTROL, INSIDE, *(kind.value for kind in EdgeKind))


def networkx_graph(sdfg: Sdfg, kinds: Collection[str] = ()) -> networkx.MultiDiGraph:
    """The graph of `SDFG.to_networkx`, with edges of these kinds only; without any, of all."""
    import networkx

    for kind in kinds:
        if kind not in KINDS:
            raise unknown_name("kind of edge", kind, KINDS)
    graph = networkx.MultiDiGraph(name=sdfg.name)
    _Converter(sdfg, graph, kinds or KINDS).region(sdfg.body, "", 0)
    return graph


class _Converter:
    def __init__(self, sdfg: Sdfg, graph: networkx.MultiDiGraph, kinds: Collection[str]) -> None:
        self.graph = graph
        self.kinds = kinds
        self.uses = Uses(sdfg)

    def region(self, region: Region, holder: str, number: int) -> None:
        """The blocks of a region, which is the one of this number of its holder."""
        before = ""
        for block in region.blocks:
            name = self.element(block, holder, number)
            if before:
                self.edge(before, name, CONTROL)
            before = name
            if isinstance(block, State):
                self.state(block, name)
            else:
                self.inside(block, name)

    def inside(self, element: Block | Node, name: str) -> None:
        for number, region in enumerate(element.regions()):
            self.region(region, name, number)

    def state(self, state: State, name: str) -> None:
        """The nodes of a state, its access nodes, and the edges between them; then what is in its maps."""
        dataflow = DataflowGraph(state, self.uses)
        names: dict[GraphNode, str] = {}
        for node in dataflow.nodes:
            names[node] = self.access(node, name) if isinstance(node, AccessNode) else self.element(node, name, 0)
        for edge in dataflow.edges:
            known = {} if edge.memlet is None else {"container": edge.memlet.container, "memlet": str(edge.memlet)}
            self.edge(names[edge.source], names[edge.target], edge.kind.value, connector=edge.connector, **known)
        for node in state.nodes:
            self.inside(node, names[node])

    def element(self, element: Block | Node, holder: str, number: int) -> str:
        kind = element.kind if isinstance(element, Node) else type(element).__name__.lower()
        line = element.span.line if element.span is not None else 0
        label = element.name if isinstance(element, State) else getattr(element, "title", "")
        name = f"{kind}_{len(self.graph)}"
        return self.add(name, kind, holder, number, label=label or kind, line=line, element=element)

    def access(self, node: AccessNode, state: str) -> str:
        desc = self.uses.desc(node.container)
        of_container = {
            "container": node.container,
            "version": node.version,
            "dtype": str(desc.dtype),
            "shape": tuple(map(str, desc.shape)),
            "transient": desc.transient,
        }
        return self.add(f"{node}@{state}", "access", state, 0, label=str(node), element=node, **of_container)

    def add(self, name: str, kind: str, holder: str, number: int, **attributes: object) -> str:
        self.graph.add_node(name, kind=kind, inside=holder, **attributes)
        if holder:
            self.edge(holder, name, INSIDE, region=number)
        return name

    def edge(self, source: str, target: str, kind: str, **attributes: object) -> None:
        if kind in self.kinds:
            self.graph.add_edge(source, target, kind=kind, **attributes)
