"""What is promised to tools of iterations that share a memory: what integer sets prove, and nothing else."""

from __future__ import annotations

import pytest

from dcpy.base.options import resolve_options
from dcpy.codegen.fpga.program import generate_fpga
from dcpy.ir.text import parse_sdfg

ARGS = "x: f32[64], y: f32[64], A: f32[8, 16] @global, k: i64[64]"
PIPELINE = "@pipelined{ii = 1, style = stp}"


def directives(body, vendor="xilinx", declared=""):
    text = f"sdfg @f({ARGS}) {{ dataflow {{ process p {{ {declared} {body} }} }} }}"
    units = generate_fpga(parse_sdfg(text), options=resolve_options({"device": "fpga", "fpga.vendor": vendor})).units
    last = units[-1].text if vendor == "intel" else units[1].text
    return [line.strip() for line in last.splitlines() if "DEPENDENCE" in line or "ivdep" in line]


def add_one(place, *, source=None, loops=f"loop i = 0:64 {PIPELINE}"):
    return f"{loops} {{ tasklet (v <- {source or place}) -> (o -> {place}) {{ o = v + f32(1.0) }} }}"


RINGS = f"loop i = 0:4 {{ loop t = 0:16 {PIPELINE} {{ tasklet (v <- s[t]) -> (o -> s[t]) {{ o = v + f32(1.0) }} }} }}"
S = "data s: f32[16] transient @local @bram"
GRID = f"loop i = 0:8 {{ loop j = 0:16 {PIPELINE} {{ tasklet (v <- A[i, j]) -> (o -> A[i, j]) {{ o = v * v }} }} }}"
SQUARES = "tasklet (v <- y[16*i + q]) -> (o -> y[16*i + q]) { o = v * v }"
TILES = f"loop i = 0:4 {{ loop q = 0:16 {PIPELINE} {{ {SQUARES} }} }}"


@pytest.mark.parametrize(
    ("body", "declared", "expected"),
    [
        (add_one("y[i]"), "", "variable=y type=inter false"),
        (GRID, "", "variable=A type=inter false"),
        (TILES, "", "variable=y type=inter false"),
        (add_one("y[2*i]", source="y[2*i + 1]", loops=f"loop i = 0:32 {PIPELINE}"), "", "variable=y type=inter false"),
        (RINGS, S, "variable=s type=inter direction=RAW distance=16 true"),
        (RINGS.replace("-> s[t])", "-> s[t](add))").replace("(v <- s[t])", "(v <- x[t])"), S, "distance=16 true"),
    ],
)
def test_what_is_proved_is_promised(body, declared, expected):
    (found,) = directives(body, declared=declared)
    assert found.startswith("#pragma HLS DEPENDENCE")
    assert expected in found


@pytest.mark.parametrize(
    ("body", "declared"),
    [
        (add_one("y[i + 1]", source="y[i]", loops=f"loop i = 0:63 {PIPELINE}"), ""),
        (add_one("y[i]", source="y[63 - i]"), ""),
        (add_one("y[i // 2]"), ""),
        (RINGS.replace("(v <- s[t])", "(v <- s[15 - t])"), S),
        (TILES.replace("16*i", "15*i"), ""),
        (f"loop i = 0:64 {PIPELINE} {{ tasklet (v <- x[i]) -> (o -> y[i]) {{ o = v }} }}", ""),
    ],
    ids=["carried", "mirrored", "halves", "mirrored-ring", "tiles-overlap", "written-only"],
)
def test_what_is_not_proved_is_not_promised(body, declared):
    assert directives(body, declared=declared) == []


def test_what_data_decide_is_not_promised():
    body = f"loop i = 0:64 {PIPELINE} {{ let at = k[i] tasklet (v <- y[at]) -> (o -> y[at]) {{ o = v }} }}"
    assert directives(body) == []


def test_intels_words():
    assert directives(add_one("y[i]"), "intel") == ["#pragma ivdep array(y)"]
    assert directives(RINGS, "intel", S) == ["#pragma ivdep array(s) safelen(16)"]
