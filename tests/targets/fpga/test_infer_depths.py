"""Depths of queues: two where nothing meets again; else what is on its way on the longer path, and not one less."""

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import InvalidSdfg
from dcpy.base.options import resolve_options
from dcpy.codegen.fpga.program import predicted
from dcpy.ir.text import parse_sdfg
from dcpy.targets.fpga.infer_depths import InferDepths, rounded
from tests.support.passes import Passed


def fork_that_joins(depth, size="100", symbols=""):
    """A square root of 56 cycles beside a queue alone."""
    v = "data v: f64 transient @register copy s -> v copy v -> a copy v -> b"
    w = "data w: f64 transient @register copy a -> w tasklet (i <- w) -> (o -> c) { o = sqrt(i) }"
    p = "data p: f64 transient @register data q: f64 transient @register copy c -> p copy b -> q"
    streams = " ".join(f"stream {name}: f64 capacity 2 transient" for name in ("s", "o"))
    processes = {
        "give": "stp} { copy x[give] -> s }",
        "fork": f"frp}} {{ {v} }}",
        "long": f"frp}} {{ {w} }}",
        "join": f"frp}} {{ {p} tasklet (l <- p, r <- q) -> (t -> o) {{ t = l + r }} }}",
        "take": "stp} { copy o -> y[take] }",
    }
    text = " ".join(f"process {n} {{ loop {n} = 0:{size} @pipelined{{style = {b} }}" for n, b in processes.items())
    open_ = " ".join(f"stream {name}: f64 {depth} transient" for name in "abc")
    return f"sdfg @f(x: f64[{size}], y: f64[{size}]){symbols} {{ {streams} {open_} dataflow {{ {text} }} }}"


def test_what_joins_parts_needs_two():
    text = """sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) { stream s: f64 transient dataflow {
        process give { loop i = 0:N { copy x[i] -> s } } process take { loop j = 0:N { copy s -> y[j] } } } }"""
    assert "stream s: f64 capacity 2" in Passed(text, InferDepths()).says("needs 2 places, gets 2").text


def test_where_paths_meet_again_the_model_says_it():
    found = Passed(fork_that_joins(""), InferDepths()).says("needs 59 places, gets 512", "needs 2 places, gets 2")
    assert "stream b: f64 capacity 512" in found.text
    assert "stream a: f64 capacity 2" in found.text


@pytest.mark.cc
def test_one_less_is_slower():
    x, y = np.arange(100.0), np.zeros(100)
    cycles = {}
    for depth in (58, 59, 60):
        text = fork_that_joins(f"capacity {depth}")
        (kernel,) = dcpy.parse(text).compile(device="fpga").simulated(x, y).values()
        (told,) = predicted(parse_sdfg(text), {}, options=resolve_options({"device": "fpga"})).kernels.values()
        cycles[depth] = kernel.cycles
        assert told.longest.needed_depths["b"] == 59
    assert cycles[58] > cycles[59] == cycles[60] == told.cycles


def test_depths_that_grow_with_sizes_are_none():
    text = fork_that_joins("", "N", " symbols(N: size)")
    found = Passed(text, InferDepths()).says("paths meet again, and how long they are depends on sizes", applied=False)
    assert "stream b: f64 transient" in found.text
    with pytest.raises(InvalidSdfg, match="the queue 'a' has the capacity 0"):
        dcpy.parse(text).compile(device="fpga")


def test_rounding():
    assert [rounded(need) for need in (1, 2, 3, 16, 17, 33, 512, 513)] == [2, 2, 16, 16, 32, 512, 512, 1024]
