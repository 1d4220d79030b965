"""Layered placement: order, no overlaps, few crossings."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dcpy.viewer.layered_layout import Layout, layered


def placed(count, edges):
    return layered([(40.0, 20.0)] * count, edges)


def test_a_chain_goes_straight_down():
    layout = placed(3, [(0, 1), (1, 2)])
    assert [x for x, _ in layout.positions] == [0.0, 0.0, 0.0]
    assert [y for _, y in layout.positions] == [0.0, 42.0, 84.0]
    assert layout.paths[0] == [(20.0, 20.0), (20.0, 20.0), (20.0, 42.0), (20.0, 42.0)]


def test_a_source_stands_just_above_its_use():
    layout = placed(5, [(0, 1), (1, 2), (2, 4), (3, 4)])
    assert layout.positions[3][1] == layout.positions[2][1]


def test_crossings_that_can_be_avoided_are():
    layout = placed(4, [(0, 3), (1, 2)])
    tops, bottoms = (sorted(pair, key=lambda v: layout.positions[v][0]) for pair in ((0, 1), (3, 2)))
    assert dict([(0, 3), (1, 2)])[tops[0]] == bottoms[0]


def test_nothing_is_placed_in_nothing():
    assert layered([], []) == Layout([], [], 0.0, 0.0)


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 12))
    sizes = draw(st.lists(st.tuples(st.floats(1, 200), st.floats(1, 200)), min_size=count, max_size=count))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda pair: pair[0] < pair[1])
    return sizes, draw(st.lists(pairs, max_size=20)) if count > 1 else []


@given(graphs())
def test_vertices_never_overlap_and_edges_go_down(graph):
    sizes, edges = graph
    layout = layered(sizes, edges)
    boxes = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(layout.positions, sizes, strict=True)]
    for position, (left, top, right, bottom) in enumerate(boxes):
        assert -0.01 <= left < right <= layout.width + 0.01
        assert -0.01 <= top < bottom <= layout.height + 0.01
        for other_left, other_top, other_right, other_bottom in boxes[position + 1 :]:
            beside = right <= other_left + 0.01 or other_right <= left + 0.01
            assert beside or bottom <= other_top + 0.01 or other_bottom <= top + 0.01
    for (source, target), path in zip(edges, layout.paths, strict=True):
        assert all(above[1] <= below[1] + 0.01 for above, below in pairwise(path))
        assert boxes[source][0] <= path[0][0] <= boxes[source][2]
        assert boxes[target][0] <= path[-1][0] <= boxes[target][2]
    assert layered(sizes, edges) == layout
