"""The tree: who is inside of what, what comes before what, where control may leave."""

from __future__ import annotations

import pytest
from hypothesis import given

from dcpy.base.errors import InvalidSdfg
from dcpy.ir.editing.element_paths import element_at, path_of
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Block, Branch, Loop, Region, State, While
from dcpy.ir.text import parse_sdfg
from dcpy.ir.tree import (
    ancestors,
    child_of,
    children,
    dominates,
    holder_of,
    is_inside,
    jumps,
    may_complete,
    owners_around,
    region_of,
    regions_around,
    sdfg_of,
    subtree,
)
from tests.support.sdfg_strategies import programs

TEXT = """
    sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
      state { copy A[0:N] -> B[0:N]
              map i = 0:N { map j = 0:N { tasklet (a <- A[j]) -> (o -> B[i]) { o = a } } } }
      loop k = 0:N { if A[k] > 0 { state { copy A[k] -> B[k] } } else { continue } }
      state { copy A[0:N] -> B[0:N] }
    }"""


def sdfg_and(*paths):
    sdfg = parse_sdfg(TEXT)
    return sdfg, *(element_at(sdfg, path) for path in paths)


def test_ancestors_are_all_that_hold_a_place():
    sdfg, tasklet, outer, inner, state = sdfg_and("/0/1/0/0/0/0", "/0/1", "/0/1/0/0", "/0")
    assert ancestors(tasklet) == [
        tasklet.state, inner.body, inner, inner.state, outer.body, outer, state, sdfg.body, sdfg,
    ]  # fmt: skip
    assert ancestors(sdfg) == []
    assert list(regions_around(tasklet)) == [inner.body, outer.body, sdfg.body]
    assert list(owners_around(tasklet)) == [inner, outer]
    assert list(owners_around(tasklet, within=outer.body)) == [inner]
    assert holder_of(tasklet) is tasklet.state
    assert holder_of(state) is None
    assert sdfg_of(tasklet) is sdfg
    assert all(is_inside(tasklet, around) for around in ancestors(tasklet))
    assert not is_inside(outer, inner)
    assert not is_inside(inner, inner)


def test_the_child_that_holds_an_element():
    sdfg, tasklet, outer, state, loop = sdfg_and("/0/1/0/0/0/0", "/0/1", "/0", "/1")
    assert child_of(sdfg.body, tasklet) is state
    assert child_of(sdfg.body, state) is state
    assert child_of(state, tasklet) is outer
    assert child_of(loop.body, tasklet) is None
    assert children(state) == state.nodes
    assert children(loop) == loop.body.blocks


def test_what_is_in_no_sdfg_is_refused():
    lost = State()
    assert ancestors(lost) == []
    with pytest.raises(InvalidSdfg, match="this state is in no region"):
        region_of(lost)
    with pytest.raises(InvalidSdfg, match="in no SDFG"):
        sdfg_of(Region())


def test_dominance_is_standing_before():
    _, first, tasklet, loop, inside, last = sdfg_and("/0/0", "/0/1/0/0/0/0", "/1", "/1/0/0/0/0", "/2/0")
    assert dominates(first, tasklet)
    assert dominates(first, loop)
    assert dominates(loop, last)
    assert not dominates(inside, last)  # the branch may go the other way
    assert not dominates(tasklet, last)
    assert not dominates(last, first)
    assert not dominates(loop, inside)
    assert not dominates(loop, loop)


@given(programs())
def test_order_and_holders_agree(program):
    """Paths, subtrees, holders and dominance tell the same tree."""
    order = {element: number for number, element in enumerate(subtree(program.body))}
    for element in order:
        assert element_at(program, path_of(element)) is element
        holder = holder_of(element)
        assert holder is None or (order[holder] < order[element] and element in children(holder))
        first, *inside = subtree(element)
        assert first is element
        assert all(is_inside(inner, element) for inner in inside)
    elements = list(order)[:25]
    for first in elements:
        for second in elements:
            if dominates(first, second):
                assert order[first] < order[second]
                assert not dominates(second, first)
                assert not is_inside(second, first)
    nodes = [element for element in order if isinstance(element, Node)]
    assert set(nodes) == set(program.body.walk_nodes())
    assert [element for element in order if isinstance(element, Block)] == list(program.body.walk_blocks())


def parts(body: str) -> Region:
    text = f"sdfg @f(A: f64[N]) symbols(N: size) {{ loop i = 0:N {{ {body} }} }}"
    loop = parse_sdfg(text).body.blocks[0]
    assert isinstance(loop, Loop)
    return loop.body


@pytest.mark.parametrize(
    ("body", "found", "completes"),
    [
        ("state { }", [], True),
        ("break", ["break"], False),
        ("if A[i] > 0 { continue }", ["continue"], True),
        ("if A[i] > 0 { continue } else { break }", ["continue", "break"], False),
        ("if A[i] > 0 { continue } else { if A[0] > 0 { return } }", ["continue", "return"], True),
        ("if A[i] > 0 { break } else { if A[0] > 0 { return } else { break } }", ["break", "return", "break"], False),
        ("loop j = 0:N { break }", [], True),
        ("loop j = 0:N { if A[j] > 0 { return } continue }", ["return"], True),
        ("while A[0] > 0 { continue }", [], True),
        ("return state { }", ["return"], False),
    ],
)  # fmt: skip
def test_jumps(body, found, completes):
    region = parts(body)
    assert [jump.kind for jump in jumps(region)] == found
    assert may_complete(region) == completes


def test_kinds_of_owners_are_all_climbed_through():
    """A region's owner is one of these; each is passed on the way up and on the way down."""
    body = "while A[0] > 0 { if A[0] > 1 { state { map m = 0:N { state { copy A[0] -> A[m] } } } } }"
    region = parts(body)
    (copy,) = (node for node in region.walk_nodes() if not node.regions())
    assert [type(owner) for owner in owners_around(copy)] == [Map, Branch, While, Loop]
    assert copy in subtree(region)
