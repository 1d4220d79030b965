"""Spellings of graphs (FINDINGS, section 3: SDFG objects): what is built, looked at, and refused."""

import numpy as np
import pytest

import dcpy
from dcpy.ir.verify import verify


def doubled():
    graph = dcpy.SDFG("doubled")
    graph.add_symbol("N", dcpy.int64)
    graph.add_array("A", ["N"], dcpy.float64)
    graph.add_array("B", [dcpy.symbol("N")], np.float64)
    graph.add_array("s", [1], dcpy.float64)
    graph.add_transient("t", ["N", 2], np.float32)
    graph.add_scalar("k", dcpy.float64)
    state = graph.add_state("first")
    inputs = {"a": dcpy.Memlet("A[i]"), "f": dcpy.Memlet("k")}
    outputs = {"b": dcpy.Memlet("B[i]"), "c": dcpy.Memlet("s[0]", wcr="lambda a, b: a + b")}
    state.add_mapped_tasklet("double", {"i": "0:N"}, inputs, "b = a * 2; c = a * f", outputs)
    state.add_tasklet("one", {"a": dcpy.Memlet("s")}, {"b": dcpy.Memlet.simple("B", "0")}, "b = a + 1")
    return graph


def test_graphs_are_built():
    graph = doubled()
    verify(graph)
    assert str(graph) == (
        "sdfg @doubled(A: f64[N], B: f64[N], s: f64[1], k: f64) symbols(N: size) {\n"
        "  data t: f32[N, 2] transient\n"
        "  state first {\n"
        "    map i = 0:N {\n"
        "      tasklet double (a <- A[i], f <- k) -> (b -> B[i], c -> s[0] (add)) { b = a * 2.0; c = a * f }\n"
        "    }\n"
        "    tasklet one (a <- s[0]) -> (b -> B[0]) { b = a + 1.0 }\n"
        "  }\n"
        "}"
    )
    out, s = np.empty(3), np.zeros(1)
    graph.interpret(A=np.ones(3), B=out, s=s, k=2.0, N=3)
    assert np.array_equal(out, [7, 2, 2])


@pytest.mark.cc
def test_they_are_called():
    out, s = np.empty(3), np.zeros(1)
    doubled()(A=np.ones(3), B=out, s=s, k=2.0, N=3)
    assert np.array_equal(out, [7, 2, 2])


def test_graphs_are_looked_at():
    graph = doubled()
    assert list(graph.arrays) == ["A", "B", "s", "t", "k"]
    assert graph.start_state is graph.states()[0]
    assert graph.nodes() == graph.states()[:1]
    found = [(node.kind, holder.__class__.__name__) for node, holder in graph.all_nodes_recursive()]
    assert found == [
        ("state", "Region"), ("map", "State"), ("tasklet", "State"), ("state", "Region"), ("tasklet", "State"),
    ]  # fmt: skip
    assert list(graph.all_sdfgs_recursive()) == [graph]


def test_callees_are_found():
    def inner(a):
        return a * 2

    def outer(a):
        return inner(a) + inner(a[1:])[0]

    graph = dcpy.program(outer).to_sdfg(np.ones(3), simplify=False)
    assert next(sdfg.name for sdfg in graph.all_sdfgs_recursive()) == "outer"
    assert len(list(graph.all_sdfgs_recursive())) > 1


def test_what_has_no_meaning_is_refused():
    graph = doubled()
    state = graph.add_state()
    with pytest.raises(dcpy.InvalidSdfg, match="a tasklet is given with its memlets"):
        state.add_tasklet("t", {"a"}, {"b"}, "b = a")
    with pytest.raises(dcpy.InvalidSdfg, match="is no conflict resolution"):
        state.add_tasklet("t", {}, {"b": dcpy.Memlet("B[0]", wcr="lambda a, b: a - b")}, "b = 1")
    with pytest.raises(dcpy.InvalidSdfg, match="'i' has no range"):
        state.add_mapped_tasklet("t", {"i": "3"}, {}, "b = 1", {"b": dcpy.Memlet("B[i]")})
    with pytest.raises(dcpy.InvalidSdfg, match="no container 'X'"):
        state.add_tasklet("t", {}, {"b": dcpy.Memlet("X[0]")}, "b = 1")
    with pytest.raises(dcpy.InvalidSdfg, match="has no state"):
        _ = dcpy.SDFG("empty").start_state
