"""Kernels for FPGAs are text that somebody would have written: names, bounds, tokens, and ports that are only read."""

from __future__ import annotations

import re

import pytest

from dcpy import plugins
from dcpy.base.options import resolve_options
from dcpy.codegen.fpga.program import generate_fpga
from dcpy.ir.text import parse_sdfg

plugins.load()

S = "stream s: f32 capacity 2 transient"
ARGS = "x: f32[N, M], y: f32[N, M]"


def text_of(body, vendor="xilinx"):
    sdfg = parse_sdfg(f"sdfg @f({ARGS}) symbols(N: size, M: size) {{ {body} }}")
    units = generate_fpga(sdfg, options=resolve_options({"device": "fpga", "fpga.vendor": vendor})).units
    return next(unit.text for unit in units if unit.name.endswith({"xilinx": ".hls.cpp", "intel": ".cl"}[vendor]))


COPIED = (
    "dataflow { process read { loop i = 0:N { loop j = 0:M @pipelined { copy x[i, j] -> s } } } "
    "process write { loop i_1 = 0:N { loop j_1 = 0:M @pipelined { copy s -> y[i_1, j_1] } } } }"
)


def test_processes_have_names_of_their_own():
    """Two loops over i are called i, each in its function."""
    (written,) = re.findall(r"static void f_write\(.*?\n}", text_of(f"{S} {COPIED}"), re.DOTALL)
    assert "y[i*M + j] = s.read();" in written
    assert "i_1" not in written


def test_bounds_of_coalesced_loops_are_computed_once():
    text = text_of(f"{S} {COPIED}")
    assert text.count("const int64_t iterations = N*M;") == 2, "sizes are not negative"
    assert "iteration < iterations; iteration++" in text


def test_what_is_only_read_is_constant():
    """So each reader has a port of its own, and arrays do not come back from the board; also what the host has made."""
    copied = f"data t: f32[N, M] transient @heap {S} state {{ copy x[0:N, 0:M] -> t[0:N, 0:M] }} "
    text = text_of(copied + COPIED.replace("x[i, j]", "t[i, j]"))
    assert "const float *t)" in text
    assert "port=t offset=slave bundle=gmem2 max_read_burst_length=64" in text
    assert re.search(r"port=y offset=slave bundle=gmem\d max_write_burst_length=64", text)


def test_tokens_that_are_wanted_later_have_a_name():
    body = f"{S} dataflow {{ process give {{ loop i = 0:N {{ copy x[i, 0] -> s }} }} process take {{ " \
        "data v: f32 transient @register loop j = 0:N { copy s -> v "\
        "tasklet (a <- v) -> (o -> y[j, 0]) { o = a * a } } } }"  # fmt: skip
    assert "v = s.read();" in text_of(body)


def test_user_names_stay():
    """Who writes x_1 finds x_1, unless x is another variable of the program."""
    body = f"{S} {COPIED}".replace("i_1", "row_1").replace("j_1", "kernel_1")
    (written,) = re.findall(r"static void f_write\(.*?\n}", text_of(body), re.DOTALL)
    assert "y[row_1*M + kernel_1] = s.read();" in written


@pytest.mark.parametrize(("vendor", "pragma"), [("xilinx", "#pragma HLS UNROLL\n"), ("intel", "#pragma unroll\n")])
def test_loops_that_are_written_out_have_no_factor(vendor, pragma):
    body = f"{S} dataflow {{ process give {{ loop i = 0:8 @unrolled {{ copy x[i, 0] -> s }} }} " \
        "process take { loop j = 0:8 { copy s -> y[j, 0] } } }"  # fmt: skip
    assert pragma in text_of(body, vendor)
