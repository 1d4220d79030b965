"""Subset algebra: each "yes" is a proof. Checked against enumeration, in numbers and under a symbol's bounds."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcpy.base.errors import SymbolicError
from dcpy.ir.subsets import Range, Subset, parse_subset
from dcpy.ir.symbolic import Ranges, as_expr, sym

N, S, K = sym("N"), sym("s"), sym("k")
SIZES = Ranges().bind("N", 0)
SIGNS = SIZES.bind("k", 1).bind("m", upper=-1)  # of s nothing is known
VALUES = range(7)
PLACES = [
    {"N": n, "s": s, "k": k, "m": m} for n in (0, 1, 2, 5, 6) for s in (-3, -2, -1, 1, 2, 3) for k in (1, 3)
    for m in (-1, -2)
]  # fmt: skip

edges = st.builds(lambda times, shift: N * times + shift, st.integers(0, 1), st.integers(-2, 6))
ranges = st.builds(Range, edges, edges, st.sampled_from([as_expr(1), as_expr(1), as_expr(2), as_expr(-1), as_expr(-3)]))
subsets = st.lists(st.one_of(edges, ranges), min_size=1, max_size=2).map(lambda dims: Subset(tuple(dims)))
pairs = st.tuples(subsets, subsets).filter(lambda pair: pair[0].rank == pair[1].rank)


# Starts, stops and steps that mention symbols; steps of either sign, and of one that nobody knows.
loose_edges = st.builds(
    lambda base, times, shift: base * times + shift,
    st.sampled_from([N, S, K, N * S, N * K]), st.integers(-1, 1), st.integers(-3, 6),
)  # fmt: skip
loose_steps = st.sampled_from([as_expr(1), as_expr(2), as_expr(-1), as_expr(-2), S, -S, S * 2, K, -K, sym("m"), K * S])
loose_ranges = st.builds(Range, loose_edges, loose_edges, loose_steps)
loose_subsets = st.lists(st.one_of(loose_edges, loose_ranges), min_size=1, max_size=2).map(
    lambda dims: Subset(tuple(dims))
)
loose_pairs = st.tuples(loose_subsets, loose_subsets).filter(lambda pair: pair[0].rank == pair[1].rank)


def indices(dim, n):
    known = n if isinstance(n, dict) else {"N": n}
    if not isinstance(dim, Range):
        return [dim.evaluate(known)]
    return list(range(*(part.evaluate(known) for part in (dim.start, dim.stop, dim.step))))


def points(subset, n):
    return set(itertools.product(*(indices(dim, n) for dim in subset.dims)))


@settings(max_examples=400)
@given(loose_ranges, st.sampled_from([Ranges(), SIZES, SIGNS]))
def test_s4_a_hull_holds_all_elements_whatever_the_sign_of_the_step(values, known):
    low, high = values.hull(known)
    for place in PLACES:
        inside = indices(values, place)
        if inside:
            assert low.evaluate(place) <= min(inside) <= max(inside) <= high.evaluate(place)
            if values.direction(known):
                assert (min(inside), max(inside)) == (low.evaluate(place), high.evaluate(place))


@settings(max_examples=400)
@given(loose_pairs, st.sampled_from([Ranges(), SIZES, SIGNS]))
def test_s4_covers_and_disjoint_are_proofs_whatever_the_sign_of_the_step(pair, known):
    left, right = pair
    covers, disjoint = left.covers(right, known), left.disjoint(right, known)
    for place in PLACES if covers or disjoint else ():
        mine, its = points(left, place), points(right, place)
        assert not covers or mine >= its
        assert not disjoint or not mine & its


@settings(max_examples=400)
@given(loose_pairs, st.sampled_from([Ranges(), SIZES, SIGNS]))
def test_s4_hulls_intersections_and_differences_whatever_the_sign_of_the_step(pair, known):
    left, right = pair
    hull, common, pieces = left.hull_with(right, known), left.intersection(right, known), left.difference(right, known)
    for place in PLACES:
        mine, its = points(left, place), points(right, place)
        assert points(hull, place) >= mine | its
        assert (points(common, place) if common is not None else set()) >= mine & its
        if pieces is not None:
            parts = [points(piece, place) for piece in pieces]
            assert sum(map(len, parts)) == len(mine - its)
            assert set().union(*parts) == mine - its


def test_s4_a_step_of_unknown_sign_goes_both_ways():
    """S4: the hull of ``6:0:s`` was empty, so that it was "disjoint" from everything."""
    assert not parse_subset("6:0:s").disjoint(parse_subset("0:6"), SIZES)
    assert not parse_subset("6:0:s").disjoint(parse_subset("4"), SIZES)
    assert not parse_subset("4:9").covers(parse_subset("6:0:s"), SIZES)
    assert parse_subset("6:0:s").disjoint(parse_subset("7:9"), SIZES)  # what is sure stays proved
    assert parse_subset("0:9").covers(parse_subset("6:0:s"), SIZES)
    assert parse_subset("0:9").covers(parse_subset("0:9:k"), SIGNS)
    assert not parse_subset("1:9").covers(parse_subset("9:0:k"), SIZES)


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
