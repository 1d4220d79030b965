"""Networks of processes as Vitis HLS C++, compiled by g++ alone with the simulation's headers: NumPy's values."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import CodegenError, InvalidSdfg
from dcpy.base.options import resolve_options
from dcpy.codegen.fpga.program import generate_fpga
from dcpy.ir.text import parse_sdfg
from tests.codegen.fpga.compiling import compiled, output

N = dcpy.symbol("N")
FPGA = {"device": "fpga"}
AXPY = """
    sdfg @axpy(a: f32, x: f32[N] @global, y: f32[N] @global, out: f32[N] @global) symbols(N: size) {
      stream xs: f32 capacity 2 transient
      stream ys: f32 capacity 2 transient
      stream zs: f32 capacity 2 transient
      dataflow {
        process read_x { loop i = 0:N @pipelined{ii = 1, style = stp} { copy x[i] -> xs } }
        process read_y { loop j = 0:N @pipelined{ii = 1, style = stp} { copy y[j] -> ys } }
        process compute {
          loop k = 0:N @pipelined{ii = 1, style = frp} {
            data xi: f32 transient @register
            data yi: f32 transient @register
            copy xs -> xi
            copy ys -> yi
            tasklet (u <- xi, v <- yi, s <- a) -> (o -> zs) { o = s * u + v }
          }
        }
        process write_out { loop l = 0:N @pipelined{ii = 1, style = stp} { copy zs -> out[l] } }
      }
    }"""
#: each copy adds its number, keeps every second token in a memory of its own, and hands on the others
CHAIN = """
    sdfg @chain(x: i64[16], y: i64[4, 8]) {
      stream s: i64[5] capacity 2 transient
      stream t: i64[4] capacity 2 transient
      dataflow {
        process feed { loop i = 0:16 @pipelined { copy x[i] -> s[0] } }
        process pe p = 0:4 {
          data kept: i64[8] transient @local @bram
          loop j = 0:8 @pipelined{ii = 2} {
            data one: i64 transient @register
            data two: i64 transient @register
            copy s[p] -> one
            copy s[p] -> two
            tasklet (v <- one) -> (o -> kept[j]) { o = v + p }
            tasklet (v <- one) -> (o -> s[p + 1]) { o = v * 2 }
            tasklet (v <- two) -> (o -> s[p + 1]) { o = v + 1 }
          }
          loop k = 0:8 @pipelined { copy kept[k] -> t[p] }
        }
        process drain p_1 = 0:4 { loop l = 0:8 @pipelined { copy t[p_1] -> y[p_1, l] } }
        process rest { data last: i64 transient @register loop m = 0:16 @pipelined { copy s[4] -> last } }
      }
    }"""
#: each waits for what the other does next
CROSSED = """
    sdfg @crossed(x: f64[8], y: f64[8]) {
      stream p: f64 capacity 2 transient
      stream q: f64 capacity 2 transient
      dataflow {
        process give { loop i = 0:8 @pipelined { copy x[i] -> p } copy x[0] -> q }
        process take { copy q -> y[0] loop j = 0:8 @pipelined { copy p -> y[j] } }
      }
    }"""


def test_text(golden):
    """What an engineer would have written: names of the source, pragmas where the IR says so."""
    golden(generate_fpga(parse_sdfg(AXPY)).units[1].text)


@pytest.mark.cc
@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_axpy_is_numpys(n):
    x, y, a = np.linspace(-1, 1, n, dtype=np.float32), np.linspace(3, 5, n, dtype=np.float32), np.float32(0.3)
    out, interpreted = np.zeros(n, np.float32), np.zeros(n, np.float32)
    sdfg = dcpy.parse(AXPY)
    sdfg.compile(**FPGA)(a, x, y, out)
    assert np.array_equal(out, a * x + y)
    sdfg.interpret(a=a, x=x, y=y, out=interpreted)
    assert np.array_equal(interpreted, out)


def test_readers_have_ports_of_their_own():
    """On one port the bursts of two readers break each other; what the host gives is the same array."""
    host, kernels = generate_fpga(parse_sdfg(AXPY.replace("copy y[j]", "copy x[j]"))).units[:2]
    assert "DCPY_PROCESS(axpy_read_x, (N, xs, x))" in kernels.text
    assert "DCPY_PROCESS(axpy_read_y, (N, ys, x_1))" in kernels.text
    assert "m_axi port=x_1 offset=slave bundle=gmem2" in kernels.text
    assert "axpy_kernel(N, x, x, a, out);" in host.text


MAIN = """
int main()
{
    for (int64_t n = 1; n <= 1000; n *= n == 1 ? 100 : 10) {
        float *x = new float[n](), *y = new float[n](), *out = new float[n]();
        axpy_kernel(n, x, y, 1.0f, out);
        printf("%lld ", (long long)dcpy_fpga::last.cycles);
    }
}
"""


@pytest.mark.cc
@pytest.mark.parametrize("depth", [1, 2, 64])
def test_cycles_of_axpy(tmp_path, depth):
    """Reading takes 20 stages, a product and a sum 12, writing 1, and each queue one cycle: n + 35, as in RTL."""
    text = generate_fpga(parse_sdfg(AXPY.replace("capacity 2", f"capacity {depth}"))).units[1].text
    cycles = [int(word) for word in output(compiled(text + MAIN, tmp_path)).split()]
    assert cycles == [n + 35 if depth > 1 else 2 * n + 34 for n in (1, 100, 1000)]  # one place: every second cycle


@pytest.mark.cc
def test_copies_of_a_process():
    x = np.arange(16)
    compiled, interpreted, threads = (np.zeros((4, 8), np.int64) for _ in range(3))
    sdfg = dcpy.parse(CHAIN)
    sdfg.compile(**FPGA)(x, compiled)
    sdfg.interpret(x=x, y=interpreted)
    assert np.array_equal(compiled, interpreted)
    text = sdfg.code(**FPGA)
    assert "hls::stream<int64_t, 2> s[5];" in text
    assert "DCPY_COPY(chain_pe, 3, (s[3], 3, s[4], t[3]))" in text
    host = CHAIN.replace("@pipelined{ii = 2}", "").replace("@pipelined", "").replace("@local @bram", "@stack")
    dcpy.parse(host).compile()(x, threads)
    assert np.array_equal(threads, interpreted)


def of_any_size(text):
    """CROSSED, for N elements."""
    return text.replace("8]", "N]").replace("0:8", "0:N").replace(") {", ") symbols(N: size) {", 1)


@pytest.mark.cc
def test_a_deadlock_is_an_error_that_says_who_waits():
    """Sizes of a call decide it: where they are numbers, nothing is compiled (`tests/codegen/cycles`)."""
    x, y = np.arange(8.0), np.zeros(8)
    sdfg = dcpy.parse(of_any_size(CROSSED))
    message = "deadlock: the process 'give' waits for room in 'p', which is full: 2 of 2, in cycle"
    with pytest.raises(RuntimeError, match=message) as caught:
        sdfg.compile(**FPGA)(x, y)
    assert [note for note in caught.value.__notes__ if "--[" in note] == [
        "  = note: crossed_give --[ p is full, 2 of 2, in cycle 8, and keeps results in its pipeline ]--> crossed_take",
        "  = note: crossed_take --[ q is empty, 0 of 2, in cycle 0 ]--> crossed_give",
    ]
    with pytest.raises(RuntimeError, match="deadlock: the process 'give' waits for room in 'p'"):
        sdfg.interpret(x=x, y=y)
    dcpy.parse(CROSSED.replace("p: f64 capacity 2", "p: f64 capacity 8")).compile(**FPGA)(x, y)
    assert np.array_equal(y, x)  # deep enough


@pytest.mark.cc
def test_queues_of_an_array_have_numbers_in_a_deadlock():
    text = of_any_size(CROSSED).replace("stream p: f64 capacity 2", "stream p: f64[4] capacity 2")
    text = text.replace("-> p }", "-> p[3] }").replace("copy p ->", "copy p[3] ->")
    with pytest.raises(RuntimeError, match="deadlock: the process 'give' waits for room in 'p'") as caught:
        dcpy.parse(text).compile(**FPGA)(np.arange(8.0), np.zeros(8))
    assert "crossed_give --[ p[3] is full, 2 of 2" in str(caught.value.__notes__)


@pytest.mark.cc
def test_a_deadlock_names_the_line():
    def exchange(x: dcpy.float64[N], y: dcpy.float64[N]):
        p = dcpy.define_stream(dcpy.float64, 2)
        q = dcpy.define_stream(dcpy.float64, 2)
        with dcpy.dataflow():

            @dcpy.process
            def give():
                for i in range(N):
                    p.push(x[i])
                q.push(x[0])

            @dcpy.process
            def take():
                y[0] = q.pop()
                for i in range(N):
                    y[i] = p.pop()

    program = dcpy.program(exchange, device=dcpy.DeviceType.FPGA)
    with pytest.raises(RuntimeError, match="the process 'give' waits for room in 'p'") as caught:
        program(np.arange(8.0), np.zeros(8))
    assert any("p.push(x[i])" in note for note in caught.value.__notes__)


CUT = """
    sdfg @f(x: f64[8], y: f64[8]) {{
      dataflow {{
        process a {{
          data b: f64[2, 4] transient @local {how}
          loop i = 0:8 @pipelined {{ tasklet (v <- x[i]) -> (o -> b[i // 4, i % 4]) {{ o = 2.0 * v }} }}
          loop j = 0:8 @pipelined {{ copy b[j // 4, j % 4] -> y[j] }}
        }}
      }}
    }}"""


@pytest.mark.parametrize(
    ("how", "pragma", "words"),
    [
        ("@bram", "", ""),
        ("@bram partition cyclic 1 by 2", "type=cyclic factor=2", "__attribute__((numbanks(2), bankwidth(8))) "),
        ("@bram partition complete 1", "type=cyclic factor=4", "__attribute__((numbanks(4), bankwidth(8))) "),
        ("@bram partition block 0 by 2", "type=block factor=2", ""),
        ("@bram partition complete 0 partition complete 1", "type=complete", "__attribute__((register)) "),
        ("@registers", "type=complete", "__attribute__((register)) "),
        ("@shift_register", "type=complete", "__attribute__((register)) "),
    ],
)
def test_local_memory_is_cut(how, pragma, words):
    """The cut of an array of two dimensions as that of the one that is printed."""
    sdfg = parse_sdfg(CUT.format(how=how))
    lines = [line.strip() for line in generate_fpga(sdfg).units[1].text.splitlines()]
    after = lines[lines.index("double b[8];") + 1]
    assert after == f"#pragma HLS ARRAY_PARTITION variable=b {pragma} dim=1" or not pragma
    options = resolve_options({"device": "fpga", "fpga.vendor": "intel"})
    assert f"double {words}b[8];" in generate_fpga(sdfg, options=options).units[-1].text


@pytest.mark.cc
def test_cut_memory_has_the_values():
    x, y = np.arange(8.0), np.zeros(8)
    dcpy.parse(CUT.format(how="@registers")).compile(**FPGA)(x, y)
    assert np.array_equal(y, 2 * x)


REFUSED = [
    ("data b: i64[8, 3] transient @local @bram partition cyclic 0 by 2", "'b' is cut cyclic 0 by 2: the array of one"),
    ("data b: i64[3, 8] transient @local @bram partition cyclic 1 by 3", "'b' is cut cyclic 1 by 3: the array of one"),
]


@pytest.mark.parametrize(("inside", "message"), REFUSED)
def test_what_is_not_there_yet_is_refused(inside, message):
    body = "tasklet () -> (o -> b[0, 0]) { o = 1 }" if "data b" in inside else ""
    text = f"sdfg @f(x: f64[8]) {{ dataflow {{ process a {{ {inside} {body} }} }} }}"
    with pytest.raises(CodegenError) as caught:
        generate_fpga(parse_sdfg(text))
    assert message in str(caught.value)


#: rows of 4 are packed, handed on as they are, scaled side by side, and stored in tokens of two dimensions
LANES = """
    sdfg @lanes(x: f32[N, 4] @global, y: f32[N, 4] @global) symbols(N: size) {
      stream xs: f32 token (4) capacity 2 transient
      stream more: f32 token (4) capacity 2 transient
      stream ys: f32 token (2, 2) capacity 2 transient
      dataflow {
        process read_x { copy x[0:N, 0:4] -> xs }
        process again { loop i = 0:N @pipelined{ii = 1, style = frp} { copy xs -> more } }
        process scale {
          loop k = 0:N @pipelined{ii = 1, style = frp} {
            data a: f32[4] transient @local @registers
            data b: f32[2, 2] transient @local @registers
            copy more -> a[0:4]
            loop l = 0:4 @unrolled { tasklet (u <- a[l]) -> (o -> b[l // 2, l % 2]) { o = u * f32(2.0) } }
            copy b[0:2, 0:2] -> ys
          }
        }
        process write_y {
          loop j = 0:N @pipelined{ii = 1, style = stp} {
            data c: f32[2, 2] transient @local @registers
            copy ys -> c[0:2, 0:2]
            loop m = 0:4 @unrolled { copy c[m // 2, m % 2] -> y[j, m] }
          }
        }
      }
    }"""


def test_text_of_tokens(golden):
    """`hls::vector` for AMD, a structure for Intel; lanes are written out."""
    options = resolve_options({**FPGA, "fpga.vendor": "intel"})
    texts = {unit.name: unit.text for unit in generate_fpga(parse_sdfg(LANES), options=options).units}
    golden("\n".join(texts[name].partition("#endif\n")[2] for name in ("lanes.hls.cpp", "lanes.cl")))


@pytest.mark.cc
def test_tokens_are_moved_whole():
    x, y = np.arange(24, dtype=np.float32).reshape(6, 4), np.zeros((6, 4), np.float32)
    dcpy.parse(LANES).compile(**FPGA)(x, y)
    assert np.array_equal(y, 2 * x)


def test_which_queue_is_known():
    text = """sdfg @f(x: f64[4], y: f64[4]) {
      stream s: f64[4] capacity 2 transient
      dataflow { process a { loop i = 0:4 { copy x[i] -> s[i] } } process b p = 0:4 { copy s[p] -> y[p] } } }"""
    with pytest.raises(CodegenError, match="which queue of 's' 'a' uses depends on 'i'"):
        generate_fpga(parse_sdfg(text))


def test_what_is_no_hardware_is_refused():
    with pytest.raises(InvalidSdfg, match="no process pops from the queue 'zs'"):
        generate_fpga(parse_sdfg(AXPY.replace("copy zs -> out[l]", "")))


@pytest.mark.parametrize(
    ("bank", "platform", "message"),
    [
        ("ddr 4", "u250", "'x' is in the bank ddr 4, and u250 has 4 of that kind, from 0 on"),
        ("hbm 0", "u250", "'x' is in the bank hbm 0, and u250 has none of that kind"),
        ("hbm 24:40", "u280", "'x' is in the banks hbm 24:40 axis 0, and u280 has 32 of that kind"),
    ],
)
def test_more_banks_than_the_board_has(bank, platform, message):
    text = AXPY.replace("x: f32[N] @global", f"x: f32[64] @global bank {bank}")
    with pytest.raises(CodegenError, match=message) as caught:
        generate_fpga(parse_sdfg(text), options=resolve_options(FPGA | {"fpga.platform": platform}))
    assert "fpga.platform" in caught.value.help
