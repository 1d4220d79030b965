"""Distributions as a property: text, JSON, substitution, copies, erasure, and what the compiler says of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dcpy
from dcpy import plugins
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.distribution_erasure import erased
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.files.json import from_json, to_json
from dcpy.ir.nodes import Map
from dcpy.ir.symbolic import sym
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify

TEXT = """\
sdfg @f(A: f64[N, M] on g(block 0, cyclic 1 by 32 offset 1) halo (1:2, 0:0), x: f64[N] on g(block 1 by ((N + 1) // 2)) \
root 0 at 1, y: f64[N]) symbols(N: size, M: size, Px: size{least = 1}, Py: size) grids(g[Px, Py], h[2]) {
  data t: f64[N] transient @heap on g(whole) partial 0 add
  state {
    map i = 0:N home g(block 0 by ((N + Px - 1) // Px) offset 1) root 1 @parallel {
      tasklet (a <- A[i, 0]) -> (o -> x[i]) { o = a }
    }
    map i_1 = 0:N {
      tasklet (a <- x[i_1]) -> (o -> y[i_1]) { o = a + 1.0 }
    }
  }
}"""


def test_text_round_trip():
    assert print_sdfg(parse_sdfg(TEXT)) == TEXT
    verify(parse_sdfg(TEXT))


def test_json_round_trip():
    document = json.loads(json.dumps(to_json(parse_sdfg(TEXT))))
    assert print_sdfg(from_json(document)) == TEXT


def test_round_trip_of_a_grid_that_a_section_has():
    """What programs of the local view have: the sizes of their grids are symbols that they compute."""
    plugins.load()
    text = """\
sdfg @f(A: f64[N, M], B: f64[N, M]) symbols(N: size, M: size) {
  data sizes: i64[1] transient
  data coords: i64[1] transient
  state {
    comm.cart () -> (sizes -> sizes[0:1], coords -> coords[0:1]) {extents = (0,)}
  }
  let p = sizes[0]
  state {
    comm.copy (src <- A[0:N, 0:M]) -> (dst -> B[0:N, 0:M]) \
{source = [N, M] at [0:N, 0:M] on grid(whole, whole) root 0 of [p], target = [N, M] at [0:N, 0:M]}
  }
}"""
    found = parse_sdfg(text)
    assert print_sdfg(found) == text
    assert print_sdfg(from_json(json.loads(json.dumps(to_json(found))))) == text
    assert "p" in next(node for node in found.body.walk_nodes() if node.kind == "comm.copy").source.symbols


def test_a_program_without_grids_has_the_file_that_it_always_had():
    text = json.dumps(to_json(parse_sdfg("sdfg @f(x: f64[N]) { map i = 0:N { copy x[i] -> x[i] } }")))
    assert "grids" not in text
    assert "distribution" not in text
    assert "home" not in text


@pytest.mark.parametrize(
    ("placed", "message"),
    [
        ("g(row 0)", "a dimension is distributed by block or cyclic, or it is whole"),
        ("g(block)", "an axis of the grid"),
        ("g(whole) partial 0 mean", "no conflict resolution is called 'mean'"),
        ("g(whole) halo (1)", "expected ':'"),
    ],
)
def test_what_is_no_distribution(placed, message):
    with pytest.raises(dcpy.ParseError, match=message):
        parse_sdfg(f"sdfg @f(x: f64[N] on {placed}) grids(g[2]) {{ }}")


def test_symbols_of_distributions_are_uses():
    sdfg = parse_sdfg(TEXT)
    uses = Uses(sdfg)
    (mapped, _) = [node for node in sdfg.body.walk_nodes() if isinstance(node, Map)]
    assert uses.users("Px") == (mapped,)
    rw = Rewriter(sdfg, "test", check=True)
    rw.substitute_symbols({"N": sym("M") * 2})
    assert "home g(block 0 by ((2*M + Px - 1) // Px) offset 1)" in print_sdfg(sdfg)
    assert "x: f64[2*M] on g(block 1 by M) root 0 at 1" in print_sdfg(sdfg)


def test_copies_are_independent():
    sdfg = parse_sdfg(TEXT)
    copied = copy_sdfg(sdfg)
    copied.grids.clear()
    assert print_sdfg(sdfg) == TEXT


def test_who_changes_the_parameters_of_a_map_drops_its_home():
    sdfg = parse_sdfg(TEXT)
    rw = Rewriter(sdfg, "test", check=True)
    (mapped, _) = [node for node in sdfg.body.walk_nodes() if isinstance(node, Map)]
    rw.rename_params(mapped, {"i": "k"})
    assert mapped.home is not None
    rw.update(mapped, params=mapped.params, domain=mapped.domain)
    assert mapped.home is None


def test_erased_is_the_program_as_written():
    plain = """\
sdfg @f(A: f64[N, M], x: f64[N], y: f64[N]) symbols(N: size, M: size) {
  data t: f64[N] transient @heap
  state {
    map i = 0:N @parallel {
      tasklet (a <- A[i, 0]) -> (o -> x[i]) { o = a }
    }
    map i_1 = 0:N {
      tasklet (a <- x[i_1]) -> (o -> y[i_1]) { o = a + 1.0 }
    }
  }
}"""
    sdfg = parse_sdfg(TEXT)
    assert print_sdfg(erased(sdfg)) == plain
    assert print_sdfg(sdfg) == TEXT


def test_the_interpreter_runs_it_as_one_rank_does():
    x, y = np.zeros(5), np.zeros(5)
    a = np.arange(15.0).reshape(5, 3)
    dcpy.parse(TEXT).interpret(A=a, x=x, y=y)
    np.testing.assert_array_equal(y, a[:, 0] + 1)


def test_it_is_not_compiled_before_it_is_that_of_one_rank():
    with pytest.raises(dcpy.DcpyError, match="is distributed over the ranks of 'g', 'h', and is not the program"):
        dcpy.parse(TEXT).compile()
    with pytest.raises(dcpy.DcpyError, match="is not the program of one of them"):
        dcpy.parse(TEXT).code()
    with pytest.raises(dcpy.DcpyError, match="is not the program of one of them"):
        dcpy.parse(TEXT).lower("assign-schedules")


def test_containers_that_live_elsewhere_are_in_another_storage():
    sdfg = parse_sdfg(TEXT)
    a, y = sdfg.desc("A"), sdfg.desc("y")
    assert isinstance(a, Array)
    assert a.storage != y.storage


def test_grids_take_their_names():
    sdfg = parse_sdfg("sdfg @f(x: f64[N]) { }")
    sdfg.add_grid("g", "Px", 3)
    assert sdfg.assumed["Px"].least == 1
    assert [sdfg.fresh_name(name) for name in ("g", "g_c0", "g_c1", "g_c2")] == ["g_1", "g_c0_1", "g_c1_1", "g_c2"]
