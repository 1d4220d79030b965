"""The Rewriter: what it changes, what it keeps current, what it tells."""

from __future__ import annotations

import pytest

from dcpy.base.errors import InvalidSdfg, TransformationRefused
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Scalar
from dcpy.ir.editing.element_paths import element_at, path_of
from dcpy.ir.editing.rewriter import Rewriter, rewriting
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Tasklet
from dcpy.ir.region import Loop, State
from dcpy.ir.subsets import Range, parse_subset
from dcpy.ir.symbolic import sym
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.tree import is_inside
from dcpy.ir.types import float64

TEXT = """
    sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
      data t: f64[k] transient
      view v: f64[N - 1] of t[1:N]
      let k = N
      state s {
        copy A[0:N] -> t[0:N]
        map i = 0:k { tasklet (a <- t[i]) -> (o -> B[i]) { o = a + f64(k) } }
      }
      loop j = 1:k { if A[j] > 0 { state { tasklet (a <- v[j - 1]) -> (o -> B[j]) { o = a } } } }
    }"""


@pytest.fixture(name="rw")
def rewriter_of_text():
    return Rewriter(parse_sdfg(TEXT), "test", check=True)


def same_index(rw):
    return rw.uses.differs_from(Uses(rw.sdfg)) == ""


def test_the_index_says_who_touches_what(rw):
    uses = rw.uses
    copy = rw.sdfg.body.blocks[1].nodes[0]
    assert uses.writers("t") == (copy,)
    assert [reader.kind for reader in uses.readers("t")] == ["tasklet"]
    assert [reader.kind for reader in uses.readers("A")] == ["copy", "branch"]
    assert [user.kind for user in uses.users("k")] == ["map", "tasklet", "loop"]
    assert [definer.kind for definer in uses.definers("k")] == ["assign"]
    assert uses.described_by("k") == ("t",)
    assert uses.views_of("t") == ("v",)
    assert uses.root("v") == "t"
    assert uses.overlapping("t") == ("t", "v")
    assert uses.is_private("t")
    assert not uses.is_private("v")
    assert not uses.is_private("A")


def test_aliases_overlap():
    uses = Uses(
        parse_sdfg("""
            sdfg @f(A: f64[4] alias m, B: f64[4] alias m, C: f64[4]) {
              view b: f64[2] of B[0:2]
              view c: f64[1] of b[1:2]
            }""")
    )
    assert sorted(uses.overlapping("A")) == ["A", "B", "b", "c"]
    assert sorted(uses.overlapping("c")) == ["A", "B", "b", "c"]
    assert uses.overlapping("C") == ("C",)


def test_substitution_reaches_everything_that_mentions_a_symbol(rw):
    rw.substitute_symbols({"k": sym("N")})
    text = print_sdfg(rw.sdfg)
    assert "data t: f64[N]" in text
    assert "map i = 0:N" in text
    assert "loop j = 1:N" in text
    assert "o = a + f64(N)" in text
    assert rw.uses.users("k") == ()
    assert same_index(rw)


def test_substitution_within_a_region_leaves_the_rest(rw):
    loop = rw.sdfg.body.blocks[2]
    rw.substitute_symbols({"j": sym("N")}, loop.body)
    assert "if A[N] > 0" in print_sdfg(rw.sdfg)
    assert str(loop.range) == "1:k"
    assert same_index(rw)


def test_renaming_follows_definitions_and_mentions(rw):
    rw.rename_symbol("k", "size")
    rw.rename_params(rw.sdfg.body.blocks[2], {"j": "row"})
    text = print_sdfg(rw.sdfg)
    assert "let size = N" in text
    assert "loop row = 1:size" in text
    assert "B[row]" in text
    assert "f64[size]" in text
    assert same_index(rw)


def test_containers_are_renamed_with_their_views(rw):
    rw.rename_container("t", "A")
    assert "view v: f64[N - 1] of A[1:N]" in print_sdfg(rw.sdfg)
    rw.undeclare_unused(["t"])
    assert not rw.uses.declared("t")
    assert same_index(rw)


def test_unused_views_go_with_their_bases(rw):
    for block in reversed(rw.sdfg.body.blocks):
        rw.erase(block)
    rw.undeclare_unused(["v"])
    assert list(rw.sdfg.containers) == ["A", "B"]
    assert same_index(rw)


def test_splitting_a_state_keeps_the_order(rw):
    state = rw.sdfg.body.blocks[1]
    copy, map_ = state.nodes
    before, alone, after = rw.split_state(map_)
    assert (before.nodes, alone.nodes, after.nodes) == ([copy], [map_], [])
    assert rw.sdfg.body.blocks[1:4] == [before, alone, after]
    assert same_index(rw)


def test_inlining_a_region_takes_its_containers_along(rw):
    loop = rw.sdfg.body.blocks[2]
    rw.declare("c", Scalar(float64, transient=True), loop.body)
    rw.substitute_symbols({"j": 1}, loop.body)
    rw.inline_region(loop.body, loop)
    assert rw.uses.home("c") is rw.sdfg.body
    assert [block.kind for block in rw.sdfg.body.blocks] == ["assign", "state", "branch"]
    assert same_index(rw)


def test_blocks_and_nodes_go_where_they_are_put(rw):
    state = rw.sdfg.body.blocks[1]
    first = Copy(Memlet("A", parse_subset("0:1")), Memlet("B", parse_subset("0:1")))
    rw.add_node_before(state.nodes[0], first)
    rw.insert_before(state, State("before"))
    rw.insert_after(state, State("after"), State("later"))
    assert [getattr(block, "name", "") for block in rw.sdfg.body.blocks[1:5]] == ["before", "s", "after", "later"]
    assert state.nodes[0] is first
    rw.replace(first, Copy(first.dst, first.src))
    assert state.nodes[0].src.container == "B"
    assert not is_inside(first, rw.sdfg)
    assert same_index(rw)


def test_listeners_hear_of_neighbours(rw):
    heard = []
    rw.listeners.append(lambda what, element: heard.append((what, element.kind)))
    copy = rw.sdfg.body.blocks[1].nodes[0]
    rw.erase(copy)
    assert ("look", "tasklet") in heard  # who read what the copy wrote
    rw.update(rw.sdfg.body.blocks[2], range=Range.of(0, 1))
    assert ("change", "loop") in heard


def test_unknown_fields_are_refused(rw):
    with pytest.raises(InvalidSdfg, match="test sets 'rnage', which a loop does not have"):
        rw.update(rw.sdfg.body.blocks[2], rnage=Range.of(0, 1))


def test_a_step_that_breaks_the_sdfg_is_named():
    sdfg = parse_sdfg(TEXT)
    with pytest.raises(InvalidSdfg) as error, rewriting(sdfg, "clumsy", at="/1", check=True) as rw:
        rw.update(sdfg.body.blocks[1].nodes[0], src=Memlet("nowhere", parse_subset("0:N")))
    assert "this is what 'clumsy /1' made of 'f'" in str(error.value)


def test_a_change_past_the_rewriter_is_found():
    sdfg = parse_sdfg(TEXT)
    rw = Rewriter(sdfg, "sly", check=True)
    sdfg.body.blocks[1].nodes[1].body.blocks[0].add(Tasklet({}, {}, ()))
    with pytest.raises(InvalidSdfg, match="was changed past the Rewriter"):
        rw.record("sly")


def test_history_holds_changes_only():
    sdfg = parse_sdfg(TEXT)
    with rewriting(sdfg, "nothing"):
        pass
    assert sdfg.history == []
    with rewriting(sdfg, "something", at="/2") as rw:
        rw.erase(sdfg.body.blocks[2])
    assert sdfg.history == ["something /2"]


def test_paths_lead_to_elements_and_back(rw):
    elements = [*rw.sdfg.body.walk_blocks(), *rw.sdfg.body.walk_nodes()]
    paths = [path_of(element) for element in elements]
    assert paths[:4] == ["/0", "/1", "/1/1/0", "/2"]
    assert len(set(paths)) == len(elements)
    assert [element_at(rw.sdfg, path) for path in paths] == elements


@pytest.mark.parametrize("path", ["/9", "/2/0/x", "/1/0/0", "/2/0/0/0"])
def test_paths_that_lead_nowhere_are_refused(rw, path):
    with pytest.raises(TransformationRefused):
        element_at(rw.sdfg, path)
    assert isinstance(rw.sdfg.body.blocks[2], Loop)
