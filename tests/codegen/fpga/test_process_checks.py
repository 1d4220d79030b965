"""Checks in processes: the first failure counts, and what hands on tokens cannot check."""

import re

import pytest

from dcpy.base.errors import CodegenError
from dcpy.codegen.fpga.program import generate_fpga
from dcpy.ir.text import parse_sdfg

ARGS = "x: f64[N], y: f64[N], k: i64[N]) symbols(N: size"


def device_text(body):
    return generate_fpga(parse_sdfg(f"sdfg @f({ARGS}) {{ {body} }}")).units[1].text


def test_what_is_behind_a_failed_check_is_left_out():
    inside = "let m = wrap(k[i], N, 0) copy x[m] -> y[i]"
    text = device_text(f"dataflow {{ process a {{ loop i = 0:N @pipelined {{ {inside} }} }} }}")
    failed, taken = text.index("== 0) {"), text.index("y[i] = x[m]")
    assert failed < text.index("} else {", failed) < taken
    assert re.search(r"failed\w*\[0\] = failure", text)


def test_two_processes_have_places_of_their_own():
    bodies = [
        "process a { loop i = 0:N @pipelined { let m = wrap(k[i], N, 0) copy x[m] -> y[i] } }",
        "process b { loop j = 0:N @pipelined { let n = wrap(k[j], N, 0) } }",
    ]
    text = device_text(f"dataflow {{ {' '.join(bodies)} }}")
    assert ", failed)" in text
    assert ", failed + 5)" in text


def test_tokens_are_not_left_out():
    stream = "stream s: f64 capacity 2 transient"
    give = "process a { loop i = 0:N @pipelined { let m = wrap(k[i], N, 0) copy x[m] -> s } }"
    take = "process b { loop j = 0:N @pipelined { copy s -> y[j] } }"
    with pytest.raises(CodegenError, match="it passes elements on after the check"):
        device_text(f"{stream} dataflow {{ {give} {take} }}")
