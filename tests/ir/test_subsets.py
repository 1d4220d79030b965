"""Subset algebra: each "yes" is a proof. Checked against enumeration, in numbers and under a symbol's bounds."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcpy.base.errors import SymbolicError
from dcpy.ir.subsets import Range, Subset, parse_subset
from dcpy.ir.symbolic import Ranges, as_expr, sym

N = sym("N")
SIZES = Ranges().bind("N", 0)
VALUES = range(7)

edges = st.builds(lambda times, shift: N * times + shift, st.integers(0, 1), st.integers(-2, 6))
ranges = st.builds(Range, edges, edges, st.sampled_from([as_expr(1), as_expr(1), as_expr(2), as_expr(-1), as_expr(-3)]))
subsets = st.lists(st.one_of(edges, ranges), min_size=1, max_size=2).map(lambda dims: Subset(tuple(dims)))
pairs = st.tuples(subsets, subsets).filter(lambda pair: pair[0].rank == pair[1].rank)


def indices(dim, n):
    if not isinstance(dim, Range):
        return [dim.evaluate({"N": n})]
    return list(range(*(part.evaluate({"N": n}) for part in (dim.start, dim.stop, dim.step))))


def points(subset, n):
    return set(itertools.product(*(indices(dim, n) for dim in subset.dims)))


@given(pairs)
def test_covers_and_disjoint_are_proofs(pair):
    left, right = pair
    if left.covers(right, SIZES):
        assert all(points(left, n) >= points(right, n) for n in VALUES)
    if left.disjoint(right, SIZES):
        assert not any(points(left, n) & points(right, n) for n in VALUES)


@given(pairs)
def test_hull_holds_both_and_intersection_what_is_common(pair):
    left, right = pair
    hull, common = left.hull_with(right), left.intersection(right)
    for n in VALUES:
        mine, its = points(left, n), points(right, n)
        if mine and its:  # hulls are for subsets that are not inside out
            assert points(hull, n) >= mine | its
        assert (points(common, n) if common is not None else set()) >= mine & its


@given(pairs)
def test_a_difference_that_is_known_is_exact(pair):
    left, right = pair
    pieces = left.difference(right, SIZES)
    for n in VALUES if pieces is not None else ():
        parts = [points(piece, n) for piece in pieces]
        assert sum(map(len, parts)) == len(set().union(*parts))
        assert set().union(*parts) == points(left, n) - points(right, n)


def test_a_difference_is_made_of_disjoint_boxes():
    pieces = parse_subset("0:8, 0:8").difference(parse_subset("1:7, 2:8"), Ranges())
    assert [str(piece) for piece in pieces] == ["0:1, 0:8", "7:8, 0:8", "1:7, 0:2"]
    assert parse_subset("0:N").difference(parse_subset("0:N"), SIZES) == ()
    assert parse_subset("0:N:2").difference(parse_subset("0:N"), SIZES) is None


@given(ranges, ranges)
def test_compose_counts_within_the_outer_subset(outer, inner):
    for n in VALUES:
        kept, picked = indices(outer, n), indices(inner, n)
        if picked and min(picked) >= 0 and max(picked) < len(kept):
            composed = Subset((outer,)).compose(Subset((inner,)))
            assert indices(composed.dims[0], n) == [kept[index] for index in picked]


@given(subsets)
def test_text_reads_back(subset):
    assert parse_subset(str(subset)) == subset


def test_a_range_is_no_point():
    with pytest.raises(SymbolicError, match="not a single element"):
        _ = parse_subset("0:N").indices
