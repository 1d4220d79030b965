"""`SDFG.to_networkx`: nodes, edges, their attributes, and that the same SDFG gives the same graph."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import dcpy
from dcpy.base.errors import UnknownName
from dcpy.ir.nodes import Tasklet

TEXT = """
sdfg @f(A: f64[N], B: f64[N], v: f64) {
  data t: f64[N] transient
  view w: f64[2] of A[0:2]
  state { copy A[0:N] -> t[0:N] copy t[0:N] -> B[0:N] copy B[0:2] -> w[0:2] copy A[0:2] -> t[0:2] }
  loop k = 0:4 {
    state { map i = 0:N { tasklet twice (a <- B[i]) -> (o -> A[i]) { o = 2 * a } } }
  }
  if v > 0 { state last { copy A[0:N] -> B[0:N] } } else { state { copy B[0:N] -> A[0:N] } }
}
"""


@pytest.fixture(name="sdfg")
def parsed():
    return dcpy.parse(TEXT)


def of_kind(graph, kind):
    return [node for node, found in graph.nodes(data="kind") if found == kind]


def edges(graph, kind):
    return [(source, target) for source, target, found in graph.edges(data="kind") if found == kind]


def test_blocks_and_nodes_are_named_by_kind_and_number(sdfg):
    graph = sdfg.to_networkx()
    assert isinstance(graph, nx.MultiDiGraph)
    assert graph.name == "f"
    assert of_kind(graph, "state")[0] == "state_0"
    assert len(of_kind(graph, "copy")) == 6
    assert [graph.nodes[node]["label"] for node in of_kind(graph, "loop")] == ["loop k"]
    (tasklet,) = of_kind(graph, "tasklet")
    assert isinstance(graph.nodes[tasklet]["element"], Tasklet)
    assert graph.nodes[tasklet]["label"] == "twice"


def test_an_access_knows_its_container(sdfg):
    graph = sdfg.to_networkx()
    known = dict(graph.nodes["t.1@state_0"])
    element = known.pop("element")
    assert str(element) == "t.1"
    assert known == {
        "kind": "access", "inside": "state_0", "label": "t.1", "container": "t", "version": 1, "dtype": "f64",
        "shape": ("N",), "transient": True,
    }  # fmt: skip


def test_control_goes_from_block_to_block(sdfg):
    graph = sdfg.to_networkx("control")
    outermost = [node for node, holder in graph.nodes(data="inside") if not holder]
    assert edges(graph, "control") == list(pairwise(outermost))
    assert graph.number_of_edges() == len(outermost) - 1


def test_what_is_inside_is_a_forest_with_regions(sdfg):
    graph = sdfg.to_networkx("inside")
    assert nx.is_branching(graph)
    assert all(graph.nodes[target]["inside"] == source for source, target in graph.edges())
    (branch,) = of_kind(graph, "branch")
    assert [region for _, _, region in graph.out_edges(branch, data="region")] == [0, 1]


def test_dataflow_says_what_moves(sdfg):
    graph = sdfg.to_networkx("data", "view", "order")
    assert nx.is_directed_acyclic_graph(graph)
    (tasklet,) = of_kind(graph, "tasklet")
    ((_, _, known),) = graph.in_edges(tasklet, data=True)
    assert known == {"kind": "data", "connector": "a", "container": "B", "memlet": "B[i]"}
    assert ("w.1@state_0", "A.1@state_0") in edges(graph, "view")
    assert any(graph.nodes[target]["kind"] == "copy" for _, target in edges(graph, "order"))
    assert "A.0@state_0" in nx.ancestors(graph, "B.1@state_0")


def test_the_same_sdfg_gives_the_same_graph(sdfg):
    def shown(graph):
        nodes = [(node, {**known, "element": None}) for node, known in graph.nodes(data=True)]
        return nodes, list(graph.edges(data=True))

    assert shown(sdfg.to_networkx()) == shown(dcpy.parse(TEXT).to_networkx())


def test_a_program_keeps_its_lines():
    def program(x):
        return np.sqrt(x) + 1

    graph = dcpy.program(program).to_sdfg(np.ones(3)).to_networkx()
    first = program.__code__.co_firstlineno
    assert {graph.nodes[node]["line"] for node in of_kind(graph, "map")} == {first + 1}


def test_an_unknown_kind_of_edge_is_refused(sdfg):
    with pytest.raises(UnknownName, match="no kind of edge is called 'dataa'") as error:
        sdfg.to_networkx("dataa")
    assert error.value.help == "did you mean data?"
