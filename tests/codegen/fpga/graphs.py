"""Random graphs of processes, once as C++ for the simulation and once as Verilog, cycle for cycle the same machine."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Edge:
    source: int
    target: int
    depth: int


@dataclass(frozen=True)
class Graph:
    """Processes that each take a token from every input and give one to every output, `tokens` times."""

    name: str
    style: str  # stp or frp
    tokens: int
    latencies: tuple[int, ...]
    intervals: tuple[int, ...]
    edges: tuple[Edge, ...] = field(default=())

    def inputs(self, node: int) -> list[int]:
        return [number for number, edge in enumerate(self.edges) if edge.target == node]

    def outputs(self, node: int) -> list[int]:
        return [number for number, edge in enumerate(self.edges) if edge.source == node]


def random_graph(seed: int) -> Graph:
    """A connected graph without cycles; paths that part meet again, deep queues and shallow ones."""
    rng = random.Random(seed)
    count = rng.randint(3, 7)
    pairs = {(rng.randrange(node), node) for node in range(1, count)}
    pairs |= {(low, high) for low in range(count) for high in range(low + 1, count) if rng.random() < 0.25}
    edges = tuple(Edge(low, high, rng.choice([1, 2, 2, 3, 4, 8, 16])) for low, high in sorted(pairs))
    latencies = tuple(rng.choice([1, 1, 2, 5, 12]) for _ in range(count))
    intervals = tuple(rng.choice([1, 1, 1, 2, 3]) for _ in range(count))
    return Graph(f"g{seed}", rng.choice(["stp", "frp"]), rng.randint(1, 60), latencies, intervals, edges)


def fork_join(style: str, latency: int, depth: int, tokens: int = 1000) -> Graph:
    """A path of some latency beside a short queue: source, fork, the path, join, sink."""
    edges = (Edge(0, 1, 2), Edge(1, 2, 2), Edge(1, 3, depth), Edge(2, 3, 2), Edge(3, 4, 2))
    return Graph(f"{style}{latency}_{depth}", style, tokens, (1, 1, latency, 1, 1), (1,) * 5, edges)


# -- C++ ---------------------------------------------------------------------------------------------------------------


def cpp(graphs: list[Graph]) -> str:
    """A program that prints a line for each graph: its name, ``dead`` or its cycles, and what its sinks made."""
    calls = "\n".join(f"    {graph.name}();" for graph in graphs)
    return "\n".join(["#include <hls_stream.h>", *map(_cpp_graph, graphs), f"int main()\n{{\n{calls}\n}}\n"])


def _cpp_graph(graph: Graph) -> str:
    lines = [_cpp_process(graph, node) for node in range(len(graph.latencies))]
    lines += [f"static void {graph.name}()\n{{", f"    int sums[{len(graph.latencies)}] = {{}};", "    {"]
    lines += [f'        hls::stream<int, {edge.depth}> q{k}("q{k}");' for k, edge in enumerate(graph.edges)]
    lines += [f"        DCPY_NETWORK({graph.name})"]
    for node in range(len(graph.latencies)):
        queues = "".join(f"q{k}, " for k in (*graph.inputs(node), *graph.outputs(node)))
        lines.append(f"        DCPY_PROCESS({graph.name}_p{node}, ({queues}sums[{node}]))")
    sinks = [node for node in range(len(graph.latencies)) if not graph.outputs(node)]
    total = " + ".join(f"sums[{node}]" for node in sinks)
    lines += ["    }", f'    if (dcpy_fpga::last.deadlock) printf("{graph.name} dead\\n");']
    lines += [f'    else printf("{graph.name} %lld %d\\n", (long long)dcpy_fpga::last.cycles, {total});', "}"]
    return "\n".join(lines)


def _cpp_process(graph: Graph, node: int) -> str:
    inputs, outputs = graph.inputs(node), graph.outputs(node)
    params = "".join(f"hls::stream<int, {graph.edges[k].depth}> &q{k}, " for k in (*inputs, *outputs))
    reads = " ".join(f"value += q{k}.read();" for k in inputs)
    writes = " ".join(f"q{k}.write(value);" for k in outputs)
    return f"""static void {graph.name}_p{node}({params}int &sum)
{{
    DCPY_PIPELINE({graph.intervals[node]}, {graph.style}, {graph.latencies[node]})
    for (int i = 0; i < {graph.tokens}; ++i) {{
        int value = i + {node};
        {reads}
        sum = (sum * 3 + value) & 0xffffff;
        {writes}
        DCPY_ITERATION
    }}
    DCPY_DRAIN
}}"""


# -- Verilog -----------------------------------------------------------------------------------------------------------

FIFO = """
module fifo #(parameter DEPTH = 2) (input clk, input push, input [31:0] in, output full,
                                    input pop, output [31:0] out, output empty);
    reg [31:0] places [0:DEPTH - 1];
    integer first = 0, count = 0;
    assign full = count == DEPTH;
    assign empty = count == 0;
    assign out = places[first];
    always @(posedge clk) begin
        if (push) places[(first + count) % DEPTH] <= in;
        if (pop) first <= (first + 1) % DEPTH;
        count <= count + (push ? 1 : 0) - (pop ? 1 : 0);
    end
endmodule

module pipe #(parameter FRP = 0, LATENCY = 1, II = 1, TOKENS = 1, SEED = 0)
             (input clk, input ready, input [31:0] in, output take, input room, output give, output [31:0] out,
              output leaves, output done);
    reg [31:0] values [0:LATENCY - 1];
    reg [LATENCY - 1:0] valid = 0;
    integer started = 0, pause = 0, finished = 0, k;
    reg [31:0] sum = 0;
    wire last = valid[LATENCY - 1];
    wire want = started < TOKENS && pause == 0;
    wire moves = (!last || room) && (FRP || !want || ready);
    assign take = moves && want && ready;
    assign give = moves && last;
    assign out = values[LATENCY - 1];
    assign leaves = give;
    assign done = finished == TOKENS;
    wire [31:0] value = in + started + SEED;
    always @(posedge clk) if (moves) begin
        for (k = LATENCY - 1; k > 0; k = k - 1) values[k] <= values[k - 1];
        values[0] <= value;
        valid <= (valid << 1) | take;
        if (take) begin
            started <= started + 1;
            pause <= II - 1;
            sum <= (sum * 3 + value) & 32'hffffff;
        end else if (pause != 0) pause <= pause - 1;
        if (last) finished <= finished + 1;
    end
endmodule
"""


def verilog(graphs: list[Graph]) -> str:
    """A testbench that prints what the C++ program does."""
    return "\n".join([FIFO, *map(_verilog_graph, graphs), _bench(graphs)])


def _verilog_graph(graph: Graph) -> str:
    count = len(graph.latencies)
    lines = [f"module {graph.name} (input clk, output done, output leaves, output [31:0] sum);"]
    for k, edge in enumerate(graph.edges):
        lines += [f"    wire push{k}, full{k}, pop{k}, empty{k}; wire [31:0] in{k}, out{k};"]
        lines += [f"    fifo #({edge.depth}) q{k} (clk, push{k}, in{k}, full{k}, pop{k}, out{k}, empty{k});"]
    for node in range(count):
        inputs, outputs = graph.inputs(node), graph.outputs(node)
        ready = " && ".join(f"!empty{k}" for k in inputs) or "1'b1"
        room = " && ".join(f"!full{k}" for k in outputs) or "1'b1"
        value = " + ".join(f"out{k}" for k in inputs) or "0"
        frp = int(graph.style == "frp")
        given = f"{frp}, {graph.latencies[node]}, {graph.intervals[node]}, {graph.tokens}, {node}"
        lines += [f"    wire take{node}, give{node}, leaves{node}, done{node}; wire [31:0] value{node};"]
        lines += [
            f"    pipe #({given}) p{node} (clk, {ready}, {value}, take{node}, {room}, give{node}, value{node}, "
            f"leaves{node}, done{node});"
        ]
        lines += [f"    assign pop{k} = take{node};" for k in inputs]
        lines += [f"    assign push{k} = give{node}; assign in{k} = value{node};" for k in outputs]
    sinks = " + ".join(f"p{node}.sum" for node in range(count) if not graph.outputs(node))
    lines += [f"    assign done = {' && '.join(f'done{node}' for node in range(count))};"]
    lines += [f"    assign leaves = {' || '.join(f'leaves{node}' for node in range(count))};"]
    lines += [f"    assign sum = {sinks};", "endmodule"]
    return "\n".join(lines)


def _bench(graphs: list[Graph]) -> str:
    lines = ["module bench;", "    reg clk = 0; integer cycle = 0;"]
    for graph in graphs:
        name = graph.name
        lines += [f"    wire done_{name}, leaves_{name}; wire [31:0] sum_{name}; integer last_{name} = 0;"]
        lines += [f"    {name} the_{name} (clk, done_{name}, leaves_{name}, sum_{name});"]
        lines += [f"    always @(posedge clk) if (leaves_{name}) last_{name} <= cycle + 1;"]
    most = max(20 * graph.tokens * max(graph.latencies) // 10 + 2000 for graph in graphs)
    lines += ["    initial begin", f"        repeat ({most}) begin #1 clk = 1; #1 clk = 0; cycle = cycle + 1; end"]
    for graph in graphs:
        name = graph.name
        lines += [f'        if (!done_{name}) $display("{name} dead");']
        lines += [f'        else $display("{name} %0d %0d", last_{name}, sum_{name});']
    return "\n".join([*lines, "        $finish;", "    end", "endmodule", ""])
