"""What the nodes demand of their state, and where the C library is."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from dcpy.base.bit_generators import generator_over, words_of
from dcpy.base.errors import DcpyError, ExpansionError
from dcpy.ir.interp import run
from dcpy.ir.library.expansions import ENVIRONMENTS
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify
from dcpy.libraries.random import environments
from dcpy.libraries.random.nodes import own_generator, words_of_own
from dcpy.transforms.expand import expand_library_nodes
from tests.support.streams import BITS, state_of

DRAW = 'random.draw (state <- {read}) -> (state -> {written}, out -> x[0:3]) {{method = "random"{own}}}'


def program(read="rng[0:5]", written="rng[0:5]", own=""):
    node = DRAW.format(read=read, written=written, own=own)
    return parse_sdfg(f"sdfg @f(rng: u64[5], own: u64[10], x: f64[3]) {{ state {{ {node} }} }}")


def test_a_node_reads_and_writes_all_of_one_state():
    verify(program())
    verify(program("own[0:10]", "own[0:10]", ", own = true"))
    for arguments, words in (
        (("rng[0:5]", "own[0:5]"), "writes another state than it reads"),
        (("rng[0:4]", "rng[0:4]"), "has a state of 4 words"),
        (("own[0:10]", "own[0:10]"), "has a state of 10 words"),
    ):
        with pytest.raises(DcpyError, match=words):
            verify(program(*arguments))


def test_s1_addresses_are_never_made_up():
    """S1: whoever writes the words of a generator decides where the process jumps."""
    sdfg = program()
    with pytest.raises(DcpyError, match=r"'rng' must be a numpy\.random\.Generator, not an array of numbers"):
        run(sdfg, {"rng": np.ones(5, np.uint64), "own": np.zeros(10, np.uint64), "x": np.zeros(3)})
    x, generator = np.zeros(3), np.random.default_rng(2)
    for given in (generator, words_of(generator)):
        run(sdfg, {"rng": given, "own": np.zeros(10, np.uint64), "x": x})
    assert x.tolist() == np.random.default_rng(2).random(6)[3:].tolist()
    calling = """sdfg @f(x: f64[3]) {{ {made} state {{ call @draws (rng = {shown}[0:5], x = x[0:3]) }} }}
      sdfg @draws(rng: u64[5], x: f64[3]) {{ state {{
        random.draw (state <- rng[0:5]) -> (state -> rng[0:5], out -> x[0:3]) {{method = "random"}} }} }}"""
    for made, shown in (
        ("data a: u64[5] transient", "a"),
        ("data a: u64[10] transient view b: u64[5] of a[0:5]", "b"),
    ):
        with pytest.raises(DcpyError, match=r"'rng' of call holds addresses, and 'a' is no argument"):
            verify(parse_sdfg(calling.format(made=made, shown=shown)))


def test_draws_are_sequential():
    """Where no function fills the output, elements are drawn in a loop, which is no map."""
    sdfg = parse_sdfg(
        "sdfg @f(rng: u64[5], x: f64[3, 4], y: f64[3]) { state {"
        ' random.draw (state <- rng[0:5]) -> (state -> rng[0:5], out -> x[0:3, 1]) {method = "random"}'
        " random.draw (state <- rng[0:5], scale <- x[0:3, 1])"
        ' -> (state -> rng[0:5], out -> y[0:3]) {method = "exponential"} } }'
    )
    expand_library_nodes(sdfg)
    text = print_sdfg(sdfg)
    assert text.count("loop") == 2
    assert "map" not in text
    assert "random_exponential" in text


@pytest.mark.parametrize("bits", BITS)
def test_a_generator_and_its_words(bits):
    generator = np.random.Generator(bits(5))
    twin = copy.deepcopy(generator)
    assert generator_over(words_of(generator)).normal() == twin.normal()
    assert state_of(generator) == state_of(twin)


def test_the_words_of_a_generator_of_the_program():
    generator = np.random.default_rng(7)
    generator.random(dtype=np.float32)  # leaves half a number behind
    words = words_of_own(generator)
    assert state_of(own_generator(words)) == state_of(generator)


def test_a_numpy_without_the_library(monkeypatch, tmp_path):
    assert ENVIRONMENTS["numpy.random"].missing() == ""
    environments.find_library.cache_clear()
    monkeypatch.setattr(environments.np, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(ExpansionError, match="this NumPy has no"):
        environments.find_library()
    environments.find_library.cache_clear()
