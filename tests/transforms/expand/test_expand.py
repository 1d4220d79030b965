"""Which expansion a library node gets, and what is said where none fits."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from dcpy import plugins
from dcpy.base.errors import ExpansionError, UnknownName
from dcpy.base.registry import FEW
from dcpy.ir.library.expansions import EXPANSIONS
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.nodes import ForeignCall, LibraryNode
from dcpy.ir.text import parse_sdfg, print_node, print_sdfg
from dcpy.libraries.api import expands, register
from dcpy.transforms.api import apply_once
from dcpy.transforms.expand import ExpandLibraryNode, expand_library_nodes
from dcpy.transforms.history import replay

plugins.load()

DOT = """sdfg @f(x: {t}[4], y: {t}[4], r: {t}[]) {{ state {{
           blas.dot (x <- x[0:4], y <- y[0:4]) -> (result -> r[]) }} }}"""


def choices(text, *prefer, **options):
    sdfg = parse_sdfg(text)
    return sdfg, [choice.expansion for choice in expand_library_nodes(sdfg, prefer, **options)]


def test_what_is_preferred_comes_first():
    assert choices(DOT.format(t="f64"), "cpu")[1] == ["cpu"]
    assert choices(DOT.format(t="f64"), "maps", "cpu")[1] == ["maps"]
    assert choices(DOT.format(t="f64"), "openblas", "cpu")[1] == ["openblas"]


def test_pure_stands_for_what_calls_no_library():
    """In the order of the target, where several do."""
    assert choices(DOT.format(t="f64"), "pure")[1] == ["cpu"]
    assert choices(DOT.format(t="f64"), "maps", "pure")[1] == ["maps"]
    assert choices(DOT.format(t="f64"), "openblas", "pure")[1] == ["openblas"]
    sort = "sdfg @f(x: f64[4, 4]) { state { sort (x <- x[0:4, 0:4]) -> (out -> x[0:4, 0:4]) } }"
    assert (choices(sort)[1], choices(sort, "pure")[1]) == (["radix"], ["maps"])


def test_a_target_without_preferences_gets_what_is_for_all():
    sdfg, found = choices(DOT.format(t="f64"), target="abacus")
    assert found == ["maps"]
    assert not any(isinstance(node, ForeignCall) for node in sdfg.body.walk_nodes())


def test_why_is_said():
    (chosen,) = expand_library_nodes(parse_sdfg(DOT.format(t="i32")))
    assert ", preferred to maps; not mkl: " in str(chosen)
    (chosen,) = expand_library_nodes(parse_sdfg(DOT.format(t="i32")), "maps")
    assert str(chosen) == "blas.dot -> maps, as was asked for"
    (chosen,) = expand_library_nodes(parse_sdfg(DOT.format(t="i32")), target="abacus")
    assert str(chosen) == "blas.dot -> maps; not mkl: is for cpu; not openblas: is for cpu; not cpu: is for cpu"


def test_the_next_one_is_taken_with_the_reason_why_not_the_first():
    sdfg = parse_sdfg(DOT.format(t="i32"))
    (choice,) = expand_library_nodes(sdfg, "openblas")
    assert choice.expansion == "cpu"
    assert choice.refused[0] == "openblas: takes f32, f64, c64, c128, not i32"
    assert str(choice).startswith("blas.dot -> cpu, preferred to maps; not openblas: takes")


def test_a_whole_call():
    sdfg, _ = choices(DOT.format(t="f64"), "openblas")
    (call,) = sdfg.body.walk_nodes()
    assert print_node(call, sdfg) == (
        "foreign (x <- x[0:4], y <- y[0:4]) -> (result -> r) from openblas "
        "{ result = scipy_cblas_ddot(i32(index(4)), &x, i32(index(1)), &y, i32(index(1))) }"
    )


def test_nodes_in_scopes_and_called_programs_are_expanded():
    text = """
    sdfg @f(A: f64[3, 4], r: f64[3]) {
      loop t = 0:2 { state { map i = 0:3 { blas.dot (x <- A[i, 0:4], y <- A[0, 0:4]) -> (result -> r[i]) } } }
      state { call @g(x = A[0, 0:4], y = A[1, 0:4], r = r[0]) } }
    sdfg @g(x: f64[4], y: f64[4], r: f64[]) { state {
      blas.dot (x <- x[0:4], y <- y[0:4]) -> (result -> r[]) } }"""
    sdfg, found = choices(text, "openblas")
    assert found == ["openblas", "openblas"]
    assert any(isinstance(node, ForeignCall) for call in sdfg.body.walk_calls() for node in call.sdfg.body.walk_nodes())


def test_the_history_can_be_replayed():
    sdfg, _ = choices(DOT.format(t="f64"), "pure")
    assert sdfg.history == ["expand-library-node{prefer=pure} node=/0/0"]
    again = replay(parse_sdfg(DOT.format(t="f64")), sdfg.history)
    assert print_sdfg(again) == print_sdfg(sdfg)


def test_one_node_can_be_expanded():
    text = DOT.format(t="f64").replace("} }", "blas.dot (x <- y[0:4], y <- y[0:4]) -> (result -> r[]) } }")
    sdfg = parse_sdfg(text)
    apply_once(sdfg, ExpandLibraryNode, node=list(sdfg.body.walk_nodes())[1])
    assert [node.kind for node in sdfg.body.walk_nodes()] == ["blas.dot", "foreign"]


def test_nothing_to_do_leaves_no_trace():
    sdfg, found = choices("sdfg @f() { state { } }")
    assert (found, sdfg.history) == ([], [])


def test_where_nothing_fits_all_reasons_are_given():
    text = "sdfg @f(x: f64[4]) { state { test.hosted (x <- x[0:4]) -> (y -> x[0:4]) } }"

    @dataclass(eq=False)
    class Hosted(LibraryNode):
        kind = "test.hosted"

    @expands(Hosted, "here", on=("cpu",))
    def here(node, f):
        f.decline("is never used")

    register(nodes=[Hosted], expansions=[here])
    with pytest.raises(ExpansionError) as caught:
        choices(text, target="abacus")
    assert "no expansion of test.hosted fits the target 'abacus'" in caught.value.message
    assert caught.value.notes == ("here: is for cpu",)


def test_a_node_without_expansions():
    @dataclass(eq=False)
    class Lonely(LibraryNode):
        kind = "test.lonely"

    LIBRARY_KINDS.add("test.lonely", Lonely)
    with pytest.raises(ExpansionError, match="there is no expansion of"):
        choices("sdfg @f(x: f64[4]) { state { test.lonely (x <- x[0:4]) -> (y -> x[0:4]) } }")


@pytest.mark.parametrize(
    ("name", "near"), [("PBLAS", "openblas"), ("OpenBlas", "openblas"), ("puer", "pure"), ("nothing like it", "")]
)
def test_w7_names_of_expansions_that_do_not_exist_are_refused(name, near):
    """W7: also where no node would have had it. All are told where none is near or they are few, else the nearest."""
    sdfg = parse_sdfg("sdfg @f() { }")
    known = sorted({"pure", *(one.rpartition("/")[2] for one in EXPANSIONS)})
    there_are = f"there are {', '.join(known)}"
    for prefer in (name, ("pure", name)):
        with pytest.raises(UnknownName, match=f"no expansion is called '{name}'") as refused:
            expand_library_nodes(sdfg, prefer)
        assert refused.value.help == (f"did you mean {near}?" if near else there_are)
        assert refused.value.notes == ((there_are,) if near and len(known) <= FEW else ())


def test_w7_a_preferred_expansion_need_not_be_one_of_each_node():
    sdfg = parse_sdfg("sdfg @f() { }")
    assert expand_library_nodes(sdfg, ("fftw", "openblas")) == ()
