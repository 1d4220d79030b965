"""Memory that holds addresses: the caller's, and written by what knows it only."""

import pytest

from dcpy import plugins
from dcpy.ir.text import parse_sdfg
from dcpy.ir.verify import problems

DRAW = 'random.draw (state <- {0}[0:5]) -> (state -> {0}[0:5], out -> x[0:3]) {{method = "random"}}'
CALLED = f"sdfg @g(w: u64[5], x: f64[3]) {{ {DRAW.format('w')} }}"

BROKEN = {
    "data a: u64[5] transient " + DRAW.format("a"): "'state' of random.draw holds addresses, and 'a' is no argument",
    "data a: u64[9] transient view b: u64[5] of a[0:5] " + DRAW.format("b"): "and 'a' is no argument",
    "data a: u64[5] transient call @g (w = a[0:5], x = x[0:3])": "'w' of call holds addresses, and 'a' is no argument",
    DRAW.format("w") + " copy v[0:5] -> w[0:5]": "copy writes 'w', which holds addresses",
    "call @g (w = w[0:5], x = x[0:3]) copy v[0:5] -> w[0:5]": "copy writes 'w', which holds addresses",
    "view b: u64[5] of w[0:5] " + DRAW.format("w") + " copy v[0:5] -> b[0:5]": "copy writes 'w', which holds addresses",
}


def found(body):
    plugins.load()
    sdfg = parse_sdfg(f"sdfg @f(w: u64[5], v: u64[5], x: f64[3]) {{ {body} }} {CALLED}")
    return [problem.message for problem in problems(sdfg) if problem.rule == "memory.handles"]


@pytest.mark.parametrize("body", BROKEN)
def test_s1_addresses_are_passed_and_kept(body):
    assert any(BROKEN[body] in message for message in found(body))


def test_what_takes_handles_may_write_them():
    for body in (DRAW.format("w"), "call @g (w = w[0:5], x = x[0:3])", DRAW.format("w") + " copy w[0:5] -> v[0:5]"):
        assert found(body) == []
