"""Networks that are replayed without values: as their simulation, which is as RTL; and deadlocks with a picture."""

from __future__ import annotations

import pytest

import dcpy
from dcpy.base.errors import InvalidSdfg
from dcpy.codegen.fpga.cycle_model.network_simulation import Replay, replayed
from dcpy.codegen.fpga.cycle_model.token_trace import Pipe
from tests.codegen.fpga.compiling import compiled, output
from tests.codegen.fpga.graphs import Graph, cpp, random_graph
from tests.codegen.fpga.test_kernels import CROSSED
from tests.codegen.fpga.test_simulation import CYCLES, ends, fork_joins
from tests.targets.fpga.test_infer_depths import fork_that_joins


def replay_of(graph: Graph, depths=None):
    """The graph's processes; their queues have the names of its edges."""
    processes = []
    for node, depth in enumerate(graph.latencies):
        moves = [(f"q{edge}", False) for edge in graph.inputs(node)]
        moves += [(f"q{edge}", True) for edge in graph.outputs(node)]
        pipe = Pipe(graph.intervals[node], graph.style == "frp", depth, [tuple(moves)] * graph.tokens)
        processes.append(Replay(f"p{node}", [pipe], {name: name for name, _ in moves}))
    return replayed(processes, depths or {f"q{number}": edge.depth for number, edge in enumerate(graph.edges)})


def cycles_of(graph):
    found = replay_of(graph)
    return None if found.blocked else found.cycles


def test_a_fork_that_joins_is_as_in_rtl():
    graphs = {graph.name: graph for graph in fork_joins()}
    for (style, latency), cycles in CYCLES.items():
        for depth, expected in cycles.items():
            if expected is None or expected < 2000:
                assert cycles_of(graphs[f"{style}{latency}_{depth}"]) == expected, (style, latency, depth)


@pytest.mark.cc
def test_random_graphs_are_as_in_the_simulation(tmp_path):
    """With the same cycles, and dead where they are dead."""
    graphs = [random_graph(seed) for seed in range(60)]
    simulated = ends(output(compiled(cpp(graphs), tmp_path, "-O0")))
    assert {graph.name: cycles_of(graph) for graph in graphs} == simulated
    assert None in simulated.values()


def test_how_many_places_were_in_use():
    """A source that starts at once, and a sink that waits for the last token of another queue."""
    give = Replay("give", [Pipe(1, False, 1, [(("p", True),)] * 5), ("q", True)], {"p": "p", "q": "q"})
    take = Replay("take", [("q", False), Pipe(1, False, 1, [(("p", False),)] * 5)], {"p": "p", "q": "q"})
    assert replayed([give, take], {"p": 8, "q": 2}).peaks == {"p": 5, "q": 1}


@pytest.mark.parametrize("seed", range(40))
def test_with_as_many_places_as_were_in_use_nobody_waits(seed):
    """What depths are inferred from: the most that are in use where there is room for all."""
    graph = random_graph(seed)
    unbounded = replay_of(graph, {f"q{number}": 1 << 20 for number in range(len(graph.edges))})
    enough = replay_of(graph, unbounded.peaks)
    assert (enough.ends, enough.blocked, enough.peaks) == (unbounded.ends, (), unbounded.peaks)


def test_several_tokens_of_a_queue_in_one_iteration():
    give = Replay("give", [Pipe(2, True, 1, [(("p", True), ("p", True))] * 100)], {"p": "p"})
    take = Replay("take", [Pipe(2, True, 1, [(("p", False), ("p", False))] * 100)], {"p": "p"})
    assert replayed([give, take], {"p": 2}).cycles == 203


def refused(text):
    with pytest.raises(InvalidSdfg, match=r"\[fpga.depths\]") as caught:
        dcpy.parse(text).code(device="fpga")
    return str(caught.value)


def test_a_network_that_stops_is_refused_with_a_picture():
    told = refused(CROSSED)
    assert "the network stops for ever: crossed_give waits for crossed_take, which waits for crossed_give" in told
    assert "crossed_give --[ p is full, 2 of 2, in cycle 8, and keeps results in its pipeline ]--> crossed_take" in told
    assert "crossed_take --[ q is empty, 0 of 2, in cycle 0 ]--> crossed_give" in told
    assert "the deadlock disappears with a capacity of 'p': 8" in told
    dcpy.parse(CROSSED.replace("p: f64 capacity 2", "p: f64 capacity 8")).code(device="fpga")


def test_a_pipeline_that_keeps_what_its_neighbour_waits_for():
    """Values would never show it: a path of 56 cycles needs 57 places beside it where pipelines stand still."""
    text = fork_that_joins("capacity 57").replace("frp", "stp")
    dcpy.parse(text).code(device="fpga")
    told = refused(text.replace("stream b: f64 capacity 57", "stream b: f64 capacity 56"))
    assert "b is full, 56 of 56" in told
    assert "with a capacity of 'b': " in told


def test_no_depth_helps_a_process_that_waits_for_its_own_results():
    give = "process give { loop i = 0:8 { copy q -> p } }"
    take = "process take { loop j = 0:8 { copy p -> q } }"
    streams = "stream p: f64 capacity 2 transient stream q: f64 capacity 2 transient"
    assert "no depth helps" in refused(f"sdfg @f() {{ {streams} dataflow {{ {give} {take} }} }}")
