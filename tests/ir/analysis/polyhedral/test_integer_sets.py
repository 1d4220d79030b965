"""Integer sets: answers about parametric subsets, and all of them against enumeration."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.analysis.polyhedral.integer_sets import covers, distance, overlap, overlap_across
from dcpy.ir.subsets import Range, Subset, parse_subset
from dcpy.ir.symbolic import Ranges, parse_expr

SIZES = Ranges().bind("N", 0).bind("M", 0)


def values(text):
    return None if text == "?" else parse_subset(text).dims[0]


def sweep(text, **over):
    """``sweep("i + 1, j", i="0:N", j="0:i")``"""
    return Footprint(parse_subset(text), tuple((name, values(dim)) for name, dim in over.items()))


def iterations(**over):
    return tuple((name, values(dim)) for name, dim in over.items())


T = iterations(t="0:N")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (sweep("t"), sweep("t"), False),
        (sweep("t"), sweep("t - 1"), True),
        (sweep("2*t"), sweep("2*t + 1"), False),
        (sweep("4*t:4*t + 4"), sweep("4*t:4*t + 4"), False),
        (sweep("t, j", j="0:N"), sweep("t, j + 1", j="0:N"), False),
        (sweep("t, j", j="0:N"), sweep("j, t", j="0:N"), True),
        (sweep("t // 2"), sweep("t // 2"), True),
        (sweep("t % 3"), sweep("t % 3"), True),
        (sweep("3*(t // 3) + t % 3"), sweep("3*(t // 3) + t % 3"), False),
        (sweep("0"), sweep("t + 1"), False),
        (sweep("1:N - 1"), sweep("0:N"), True),
        (sweep("k", k="?"), sweep("t"), None),
        (sweep("N*t"), sweep("M*t"), None),
        (sweep("t + N*M"), sweep("t + N*M"), False),
    ],
    ids=str,
)
def test_different_iterations(left, right, expected):
    assert overlap_across(left, right, T, SIZES).value is expected


def test_two_parameters_that_one_index_mixes():
    half = iterations(i="0:N", j="0:2")
    assert overlap_across(sweep("2*i + j"), sweep("2*i + j"), half, SIZES).is_no
    assert overlap_across(sweep("i + j"), sweep("i + j"), half, SIZES).is_yes
    assert overlap_across(sweep("i + j, j"), sweep("i + j, j"), half, SIZES).is_no


def test_an_unknown_answer_says_why():
    assert "not affine in t" in overlap_across(sweep("N*t:N*t + N"), sweep("N*t"), T, SIZES).reason
    assert overlap_across(sweep("k", k="?"), sweep("k", k="?"), T, SIZES).reason == "an index is only known at run time"


def test_an_answer_is_not_a_bool():
    with pytest.raises(TypeError, match="is_yes"):
        bool(overlap(sweep("0"), sweep("1"), SIZES))


def test_what_covers_what():
    whole = sweep("0:N, 0:N")
    lower, upper = sweep("i, j", i="0:N", j="0:i"), sweep("i, j", i="0:N", j="i:N")
    assert covers([lower, upper], whole, SIZES).is_yes
    assert covers([lower], whole, SIZES).is_no
    assert covers([sweep("2*i", i="0:N"), sweep("2*i + 1", i="0:N")], sweep("0:2*N"), SIZES).is_yes
    assert covers([sweep("k", k="?")], sweep("0"), SIZES).is_unknown


def test_distance_of_plain_indices():
    assert distance(parse_subset("i, t"), parse_subset("i, t - 2"), "t") == 2
    assert distance(parse_subset("t"), parse_subset("0:N"), "t") is None


def test_plain_questions_do_not_load_isl():
    program = """
import sys
from tests.ir.analysis.polyhedral.test_integer_sets import *
overlap_across(sweep("t, j", j="0:N"), sweep("t, j + 1", j="0:N"), T, SIZES)
overlap_across(sweep("1:N - 1"), sweep("0:N"), T, SIZES)
covers([sweep("i + 1, j", i="0:N", j="0:M")], sweep("1:N, 0:M"), SIZES)
assert "islpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


# -- against enumeration ---------------------------------------------------------------------------------------------

NAMES = ("i", "j")
N = 5

number = st.integers(-2, 3)


@st.composite
def indices(draw):
    """An affine index over i and j, sometimes divided."""
    a, b, c = draw(number), draw(number), draw(number)
    expr = parse_expr("i") * a + parse_expr("j") * b + c
    match draw(st.integers(0, 4)):
        case 0:
            return expr // draw(st.sampled_from([2, 3, -2]))
        case 1:
            return expr % draw(st.sampled_from([2, 3, -2]))
    return expr


@st.composite
def footprints(draw, inner=""):
    dims = []
    for _ in range(draw(st.integers(1, 2))):
        index = draw(indices())
        dims.append(Range.of(index, index + draw(st.integers(-1, 3)), draw(st.sampled_from([1, 2]))))
        if draw(st.booleans()):
            dims[-1] = index
    over = (("j", Range.of(0, parse_expr("i"))),) if draw(st.booleans()) else (("j", Range.of(0, N)),)
    return Footprint(Subset(tuple(dims)), over)


def elements(footprint, known):
    boxes = footprint.sample(known, 10**6)
    return {point for box in boxes for point in itertools.product(*box)}


@given(footprints(), footprints())
def test_iterations_meet_as_enumeration_says(left, right):
    answer = overlap_across(left, right, (("i", Range.of(0, N)),), Ranges())
    if left.subset.rank != right.subset.rank:
        assert answer.is_unknown
        return
    mine = [elements(left, {"i": i}) for i in range(N)]
    its = [elements(right, {"i": i}) for i in range(N)]
    truth = any(mine[a] & its[b] for a in range(N) for b in range(N) if a != b)
    assert answer.value is truth


@given(footprints(), footprints(), footprints())
def test_covering_is_as_enumeration_says(first, second, inner):
    outers = [part for part in (first, second) if part.subset.rank == inner.subset.rank]
    answer = covers(outers, inner, Ranges().bind("i", 0, N - 1))
    if not outers:
        assert answer.is_unknown
        return
    truth = all(
        elements(inner, {"i": i}) <= set().union(*(elements(outer, {"i": i}) for outer in outers)) for i in range(N)
    )
    assert answer.value is truth


@given(footprints())
def test_a_box_has_the_same_elements(footprint):
    for i in range(N):
        assert elements(footprint.box(), {"i": i}) == elements(footprint, {"i": i})


MANY = iterations(t=f"0:{2**60}")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("2*t", "2*t + 1", False),
        (f"2*t:2*t + {2**60}", f"3*t + 1:3*t + {2**60}", True),
        (f"0:{2**62}:6", f"3:{2**62}:6", False),
        (f"0:{2**62}:6", f"4:{2**62}:10", True),
        (f"0:{2**62}:6", f"{2**62 + 6}:{2**63 - 8}:7", False),
    ],
)
def test_ranges_of_many_numbers_are_not_counted(left, right, expected):
    assert overlap_across(sweep(left), sweep(right), MANY, SIZES).value is expected
