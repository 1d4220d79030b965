"""Copies say the same, share no graph, and leave the original alone."""

from __future__ import annotations

from dcpy.ir.editing.copying import copy_block, copy_node, copy_region, copy_sdfg
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.files.hashing import sdfg_hash
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.symbolic import parse_expr, sym
from dcpy.ir.text import parse_sdfg, print_block, print_node, print_sdfg

TEXT = """
    sdfg @f(A: f64[N], s: stream f64) symbols(N: size) -> (A: argument) {
      data t: f64 transient
      loop k = 0:N {
        view v: f64[k] of A[0:k]
        if A[k] > 0.0 {
          state {
            map i = 0:k {
              data u: f64 transient
              tasklet (a <- v[i]) -> (o -> u) { o = a + f64(k) }
            }
            call @g (x = A[0:k]) with (N = k)
            call @g (x = A[0:N]) with (N = N)
            copy s -> t
          }
        } else { break }
      }
    }
    sdfg @g(x: f64[N]) symbols(N: size) { state { } }
"""


def graph_objects(sdfg):
    yield sdfg
    yield from sdfg.body.walk_regions()
    yield from sdfg.body.walk_blocks()
    yield from sdfg.body.walk_nodes()


def test_a_copy_says_the_same_and_shares_no_graph():
    original = parse_sdfg(TEXT)
    copied = copy_sdfg(original)
    assert print_sdfg(copied) == print_sdfg(original)
    assert sdfg_hash(copied) == sdfg_hash(original)
    assert not set(graph_objects(original)) & set(graph_objects(copied))
    for region in copied.body.walk_regions():
        assert region is copied.body or region.parent in copied.body.walk_regions()
    for node in copied.body.walk_nodes():
        assert node.state in copied.body.walk_blocks()


def test_a_callee_stays_one_and_is_copied():
    original = parse_sdfg(TEXT)
    first, second = copy_sdfg(original).body.walk_calls()
    assert first.sdfg is second.sdfg
    assert first.sdfg is not next(original.body.walk_calls()).sdfg


def test_changing_a_copy_leaves_the_original():
    original = parse_sdfg(TEXT)
    before = print_sdfg(original)
    copied = copy_sdfg(original)
    for node in copied.body.walk_nodes():
        if isinstance(node, Tasklet):
            node.inputs.clear()
    copied.body.blocks.clear()
    copied.arguments.append("z")
    del copied.containers["t"]
    assert print_sdfg(original) == before


def test_a_region_is_copied_with_other_names():
    original = parse_sdfg(TEXT)
    values = Substitution({"k": parse_expr("N - 1"), "i": sym("j")}, {"A": "B", "v": "w", "u": "u2"})
    region = copy_region(original.body.blocks[0].body, values)
    assert list(region.containers) == ["w"]
    assert region.containers["w"].of == "B"
    state = region.blocks[0].cases[0][1].blocks[0]
    map_ = next(node for node in state.nodes if isinstance(node, Map))
    assert print_node(map_, original).splitlines() == [
        "map j = 0:N - 1 {",
        "  data u2: f64 transient",
        "  tasklet (a <- w[j]) -> (o -> u2) { o = a + f64(N - 1) }",
        "}",
    ]


def test_blocks_and_nodes_are_copied_alone():
    original = parse_sdfg(TEXT)
    branch = original.body.blocks[0].body.blocks[0]
    alone = copy_block(branch, Substitution(containers={"A": "B"}))
    assert alone.region is None
    assert print_block(alone, original).startswith("if B[k] > 0.0 {")
    call = next(original.body.walk_calls())
    renamed = copy_node(call, Substitution(containers={"A": "B"}))
    assert (renamed.state, renamed.sdfg) == (None, call.sdfg)
    assert print_node(renamed, original) == "call @g (x = B[0:k]) with (N = k)"
    map_ = next(node for node in original.body.walk_nodes() if isinstance(node, Map))
    assert "<- w[i]" in print_node(copy_node(map_, Substitution(containers={"v": "w"})), original)


def test_the_hash_is_of_the_content():
    texts = ["sdfg @f(A: f64[N]) { }", "sdfg @f(A: f64[M]) { }", "sdfg @f( A:f64[N] ){} # again"]
    first, other, again = (sdfg_hash(parse_sdfg(text)) for text in texts)
    assert first == again != other
