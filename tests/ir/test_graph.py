"""The graph of a state: which versions there are, what flows where, what must wait."""

from __future__ import annotations

from dcpy.ir.analysis.dataflow_graph import AccessNode, DataflowGraph, EdgeKind, to_networkx
from dcpy.ir.text import parse_sdfg


def graph_of(body: str) -> DataflowGraph:
    sdfg = parse_sdfg(f"sdfg @f(A: f64[N], B: f64[N], C: f64[N], s: stream f64) {{ {body} }}")
    return DataflowGraph(sdfg.body.blocks[0])


def edges(graph: DataflowGraph) -> list[str]:
    """``A.0 -> copy (A[0:N])``; other kinds of edges are named."""
    numbers = {node: f"{node.kind}{i}" for i, node in enumerate(graph.state.nodes)}

    def name(node):
        return str(node) if isinstance(node, AccessNode) else numbers[node]

    return [
        f"{name(e.source)} -> {name(e.target)}: {e.memlet if e.kind is EdgeKind.DATA else e.kind.value}"
        for e in graph.edges
    ]


def test_a_chain_of_copies():
    graph = graph_of("data t: f64[N] transient state { copy A[0:N] -> t[0:N] copy t[0:N] -> B[0:N] }")
    assert edges(graph) == [
        "A.0 -> copy0: A[0:N]",
        "copy0 -> t.1: t[0:N]",
        "t.1 -> copy1: t[0:N]",
        "copy1 -> B.1: B[0:N]",
    ]


def test_a_scope_touches_what_its_body_does():
    graph = graph_of("""
        data acc: f64 transient
        state { map i = 1:N { data t: f64 transient
            tasklet (a <- A[i], b <- A[i - 1]) -> (o -> t) { o = a - b }
            tasklet (a <- t) -> (o -> acc (add)) { o = a } } }""")
    assert edges(graph) == ["A.0 -> map0: A[1:N]", "A.0 -> map0: A[0:N - 1]", "map0 -> acc.1: acc (add, dynamic)"]


def test_who_overwrites_waits_for_readers():
    graph = graph_of("state { copy A[0:3] -> B[0:3] copy B[5:8] -> A[0:3] }")
    assert "copy0 -> copy1: order" in edges(graph)
    assert graph.accesses("A") == (AccessNode("A", 0), AccessNode("A", 1))


def test_who_overwrites_unread_values_waits_for_their_writer():
    graph = graph_of("state { copy A[0:3] -> B[0:3] copy A[4:7] -> B[1:4] }")
    assert "B.1 -> copy1: order" in edges(graph)


def test_disjoint_writes_share_a_version_and_so_do_commuting_ones():
    graph = graph_of("state { copy A[0:3] -> B[0:3] copy A[4:7] -> B[3:6] copy B[0:6] -> A[0:6] }")
    assert graph.accesses("B") == (AccessNode("B", 1),)
    assert len(graph.in_edges(AccessNode("B", 1))) == 2
    graph = graph_of("state { copy A[0:3] -> B[0:3] (add) copy A[4:7] -> B[1:4] (add) copy A[0] -> B[0] (max) }")
    assert graph.accesses("B") == (AccessNode("B", 1), AccessNode("B", 2))


def test_connectors_stay_with_their_edges():
    graph = graph_of("state { tasklet (x <- A[0], y <- A[1]) -> (o -> B[0]) { o = x + y } }")
    assert [edge.connector for edge in graph.edges] == ["x", "y", "o"]


def test_views_are_other_names_of_one_memory():
    graph = graph_of("""
        view v: f64[3] of A[0:3]
        state { copy v[0:3] -> B[0:3] copy B[3:6] -> v[0:3] copy A[0:N] -> C[0:N] }""")
    found = edges(graph)
    assert "A.0 -> v.0: view" in found
    assert "v.1 -> A.1: view" in found
    first, second, third = graph.state.nodes
    assert graph.path(second, third) == (second, AccessNode("v", 1), AccessNode("A", 1), third)
    assert not graph.has_path(third, first)


def test_reading_a_stream_changes_it():
    graph = graph_of("state { copy s -> A[0] copy s -> A[1] }")
    first, second = graph.state.nodes
    assert graph.has_path(first, second)


def test_every_edge_goes_forward():
    graph = graph_of("""
        view v: f64[3] of A[0:3]
        state { copy v[0:3] -> B[0:3] copy A[0:N] -> B[0:N] copy B[0:3] -> v[0:3] copy v[0:2] -> A[1:3] }""")
    order = list(graph.nodes)
    assert len(order) == len(set(order)) == 4 + len(graph.accesses())
    assert all(order.index(edge.source) < order.index(edge.target) for edge in graph.edges)
    assert graph.predecessors(order[0]) == ()
    assert graph.successors(order[-1]) == ()


def test_a_version_stands_after_all_its_writers():
    graph = graph_of("state { copy A[0:3] -> B[0:3] copy A[4:7] -> B[3:6] }")
    assert graph.nodes[-1] == AccessNode("B", 1)


def test_all_writes_of_one_node_are_one_version():
    graph = graph_of("""
        view v: f64[3] of A[0:3]
        state { map i = 0:3 {
            tasklet (a <- B[i]) -> (o -> A[i], p -> v[i], q -> A[0]) { o = a; p = a; q = a } } }""")
    assert [str(node) for node in graph.accesses()] == ["B.0", "A.1"]
    assert len(graph.in_edges(AccessNode("A", 1))) == 2


def test_networkx_sees_the_same_graph():
    graph = graph_of("state { copy A[0:3] -> B[0:3] copy B[0:3] -> A[1:4] }")
    converted = to_networkx(graph)
    assert list(converted.nodes) == list(graph.nodes)
    assert converted.number_of_edges() == len(graph.edges)
    assert next(str(memlet) for _, _, memlet in converted.edges(data="memlet")) == "A[0:3]"
