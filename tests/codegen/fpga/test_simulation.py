"""The simulation of streaming hardware: cycles, stalls and deadlocks are those of RTL, tick for tick."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.codegen.fpga.compiling import compiled, output
from tests.codegen.fpga.graphs import Graph, cpp, fork_join, random_graph, verilog

pytestmark = pytest.mark.cc

#: measured in RTL: 1000 tokens through a path of latency L beside a queue of depth D; None: a deadlock
CYCLES = {
    ("frp", 10): {1: 13006, 2: 6507, 4: 3259, 8: 1638, 12: 1101, 13: 1018},
    ("stp", 10): {1: None, 2: None, 4: None, 8: None, 12: 1512, 13: 1018},
    ("frp", 37): {12: 3369, 32: 1293, 37: 1126, 38: 1097, 40: 1045},
    ("stp", 37): {12: None, 32: None, 37: None, 38: 2969, 40: 1045},
}


def fork_joins() -> list[Graph]:
    depths = {10: list(range(1, 14)), 37: [12, 32, 37, 38, 39, 40]}
    return [fork_join(style, latency, depth) for style, latency in CYCLES for depth in depths[latency]]


def ends(text: str) -> dict[str, int | None]:
    """By graph: the cycles, or None for a deadlock."""
    lines = [line.split() for line in text.splitlines() if line]
    return {line[0]: None if line[1] == "dead" else int(line[1]) for line in lines}


def test_a_fork_that_joins(tmp_path):
    found = ends(output(compiled(cpp(fork_joins()), tmp_path, "-O0")))
    for (style, latency), cycles in CYCLES.items():
        for depth, expected in cycles.items():
            assert found[f"{style}{latency}_{depth}"] == expected, (style, latency, depth)
    for latency in (10, 37):  # the closed form: D tokens each L + 3 cycles, until there are as many as that
        for depth in range(1, latency + 3):
            if (cycles := found.get(f"frp{latency}_{depth}")) is not None:
                assert cycles == (latency + 3) * (999 // depth) + 999 % depth + latency + 9
        for depth in range(1, latency + 1):
            assert found.get(f"stp{latency}_{depth}") is None, "an stp pipeline keeps what nobody pushes out"
        assert found[f"stp{latency}_{latency + 1}"] is not None
        for style in ("stp", "frp"):  # full speed needs L + 3, and no more
            shallow, enough = (found[f"{style}{latency}_{depth}"] for depth in (latency + 2, latency + 3))
            assert (shallow or 0) > 1008 + latency == enough


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="iverilog is not installed: apt install iverilog")
def test_random_graphs_are_as_in_rtl(tmp_path):
    graphs = [*map(random_graph, range(24)), fork_join("stp", 10, 11, 50), fork_join("frp", 37, 9, 50)]
    simulated = output(compiled(cpp(graphs), tmp_path, "-O0")).splitlines()
    (tmp_path / "bench.v").write_text(verilog(graphs))
    made = ["iverilog", "-g2012", "-s", "bench", "-o", str(tmp_path / "bench"), str(tmp_path / "bench.v")]
    subprocess.run(made, check=True, timeout=60)
    rtl = subprocess.run(["vvp", "-n", str(tmp_path / "bench")], capture_output=True, text=True, check=True, timeout=60)
    assert simulated == [line for line in rtl.stdout.splitlines() if line.split()[0] in {g.name for g in graphs}]
    assert any("dead" in line for line in simulated)


HEAD = """
#include <hls_math.h>
#include <hls_stream.h>
#include <time.h>
using dcpy_fpga::circle;
using dcpy_fpga::last;
"""

#: each function prints one line
PIECES = {
    "a deadlock says who waits, where, and what is inside": (
        """
static void give(hls::stream<int, 2> &p, hls::stream<int, 4> &q)
{
    DCPY_PIPELINE(1, stp, 3)
    for (int i = 0; i < 8; ++i) { p.write(i); DCPY_ITERATION }
    DCPY_DRAIN
    q.write(1);
}
static void take(hls::stream<int, 2> &p, hls::stream<int, 4> &q, int *y) { *y = q.read() + p.read(); }
static void look(hls::stream<int, 1> &r) { r.write(1); }
static void run()
{
    int y = 0;
    hls::stream<int, 2> p("p"); hls::stream<int, 4> q("q"); hls::stream<int, 1> r("r");
    {
        DCPY_NETWORK(crossed)
        DCPY_PROCESS(give, (p, q))
        DCPY_PROCESS(take, (p, q, &y))
        DCPY_PROCESS(look, (r))
    }
    for (char *c = last.report; *c; ++c) if (*c == 10) *c = ';';
    for (char *c = circle->items; *c; ++c) if (*c == 10) *c = ';';
    printf("%s|%s|%s|%s|%d|%lld|%lld|%lld\\n", last.report, circle->items, last.process, last.stream,
           last.pushing, (long long)last.fill, (long long)last.depth, (long long)r.left());
}""",
        "give waits in cycle 5 for room in 'p', which is full: 2 of 2, with results in its pipeline;"
        "take waits in cycle 0 for an element of 'q', which is empty: 0 of 4;look has ended in cycle 1;"
        "|give --[ p is full, 2 of 2, in cycle 5, and keeps results in its pipeline ]--> take;"
        "take --[ q is empty, 0 of 4, in cycle 0 ]--> give;|give|p|1|2|2|1",
    ),
    "several tokens in one iteration take a cycle each": (
        """
static void give(hls::stream<int, 2> &p)
{
    DCPY_PIPELINE(2, frp, 1)
    for (int i = 0; i < 100; ++i) { p.write(2 * i); p.write(2 * i + 1); DCPY_ITERATION }
    DCPY_DRAIN
}
static void take(hls::stream<int, 2> &p, int &sum)
{
    DCPY_PIPELINE(2, frp, 1)
    for (int i = 0; i < 100; ++i) { const int one = p.read(), two = p.read(); sum += one * two; DCPY_ITERATION }
    DCPY_DRAIN
}
static void run()
{
    int sum = 0;
    hls::stream<int, 2> p("p");
    { DCPY_NETWORK(pairs) DCPY_PROCESS(give, (p)) DCPY_PROCESS(take, (p, sum)) }
    printf("%d %lld %d\\n", sum, (long long)last.cycles, last.deadlock);
}""",
        "1323300 203 0",
    ),
    "a queue of one place, two tokens at once": (
        """
static void give(hls::stream<int, 1> &p) { for (int i = 0; i < 10; ++i) p.write(i); }
static void take(hls::stream<int, 1> &p, int &sum)
{
    DCPY_PIPELINE(2, stp, 1)
    for (int i = 0; i < 5; ++i) { sum += p.read(); sum += 10 * p.read(); DCPY_ITERATION }
    DCPY_DRAIN
}
static void run()
{
    int sum = 0;
    hls::stream<int, 1> p("p");
    { DCPY_NETWORK(pairs) DCPY_PROCESS(give, (p)) DCPY_PROCESS(take, (p, sum)) }
    printf("%d %d %lld\\n", sum, last.deadlock, (long long)p.left());
}""",
        "270 0 0",
    ),
    "loops in loops, local memory, and a loop that does not run": (
        """
static void give(hls::stream<double, 4> &p, int n)
{
    static_assert(sizeof(double[1 << 20]) == 8 << 20, "");
    double local[1 << 20];
    for (int i = 0; i < 1 << 20; ++i) local[i] = i;
    for (int j = 0; j < n; ++j) {
        DCPY_PIPELINE(1, stp, 4)
        for (int i = 0; i < 10 * (j % 2); ++i) { p.write(local[i << j]); DCPY_ITERATION }
        DCPY_DRAIN
    }
}
static void take(hls::stream<double, 4> &p, int n, double &sum)
{
    for (int i = 0; i < 10 * (n / 2); ++i) sum += p.read();
}
static void run()
{
    double sum = 0;
    hls::stream<double, 4> p("p");
    { DCPY_NETWORK(loops) DCPY_PROCESS(give, (p, 4)) DCPY_PROCESS(take, (p, 4, sum)) }
    printf("%g %d %lld\\n", sum, last.deadlock, (long long)last.cycles);
}""",
        "450 0 29",
    ),
    "copies of a process have numbers, and 64 of them run": (
        """
static void pe(hls::stream<int, 2> &in, hls::stream<int, 2> &out, int p)
{
    DCPY_PIPELINE(1, stp, 1)
    for (int i = 0; i < 50; ++i) { out.write(in.read() + p); DCPY_ITERATION }
    DCPY_DRAIN
}
static void give(hls::stream<int, 2> &p) { for (int i = 0; i < 50; ++i) p.write(i); }
static void take(hls::stream<int, 2> &p, int &sum) { for (int i = 0; i < 51; ++i) sum += p.read(); }
static void run()
{
    int sum = 0;
    hls::stream<int, 2> s[65];
    {
        DCPY_NETWORK(chain)
        DCPY_PROCESS(give, (s[0]))
        for (int p = 0; p < 64; ++p) {
            hls::stream<int, 2> *const at = s + p;
            dcpy_processes.add("pe", p, [=] { pe(at[0], at[1], p); });
        }
        DCPY_PROCESS(take, (s[64], sum))
    }
    *strchr(circle->items, 10) = 0;
    printf("%d %d %s\\n", sum, last.deadlock, strstr(last.report, "pe[63] has ended in cycle") ? circle->items : "no");
}""",
        f"{sum(range(50)) + 50 * sum(range(64))} 1 take --[ a stream is empty, 0 of 2, in cycle 179 ]--> no process",
    ),
    "functions of two precisions": (
        """
static void run()
{
    const float x = 2.0f;
    printf("%d %.9g %.9g\\n", int(sizeof(hls::sqrt(x))), hls::sqrt(x), hls::pow(2.0, 0.5));
}""",
        "4 1.41421354 1.41421356",
    ),
}


@pytest.mark.parametrize("flags", [(), ("-DDCPY_PORTABLE",)], ids=["by hand", "ucontext"])
def test_pieces(tmp_path, flags):
    spaces = [f"namespace piece{number} {{{text}\n}}" for number, (text, _) in enumerate(PIECES.values())]
    calls = "\n".join(f"    piece{number}::run();" for number in range(len(PIECES)))
    text = "\n".join([HEAD, *spaces, f"int main()\n{{\n{calls}\n}}\n"])
    found = output(compiled(text, tmp_path, "-Wno-multichar", *flags)).splitlines()
    assert dict(zip(PIECES, found, strict=True)) == {name: expected for name, (_, expected) in PIECES.items()}


def test_a_token_takes_less_than_a_microsecond_per_hop(tmp_path):
    graph = fork_join("frp", 10, 8, 100_000)
    text = cpp([graph]).replace("#include", "#include <time.h>\n#include", 1)
    timed = '    printf("time %g\\n", 1e9 * clock() / CLOCKS_PER_SEC / 5 / 100000);\n}\n'
    program = compiled(text.removesuffix("}\n") + timed, tmp_path, "-O2")
    assert float(output(program).splitlines()[-1].split()[1]) < 1000


def test_reading_beside_no_process_stops(tmp_path):
    text = f'{HEAD}int main() {{ hls::stream<int> s("s"); return s.read(); }}\n'
    program = compiled(text, tmp_path)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0
    assert "s: no process runs beside this one" in done.stderr
