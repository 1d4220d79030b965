"""Patterns of loops: optimized programs give what Python gives, and what is parallel stays so."""

import copy

import numpy as np
import pytest

import dcpy
from benchmarks.patterns import CLASSES, PATTERNS
from benchmarks.patterns.verdicts import INNER, PARALLEL, SEQUENTIAL, program_of, reason, verdict
from dcpy.ir.text import parse_sdfg

LENGTH = 48  # odd numbers of rows, and bounds of blocks, are in the tests of transformations


def verdict_of(name):
    return verdict(program_of(PATTERNS[name].function, PATTERNS[name].arguments(400)))


def test_there_are_enough_of_each_class():
    assert len(PATTERNS) >= 151
    assert {one.family for one in PATTERNS.values()} == {*CLASSES}


@pytest.mark.heavy
@pytest.mark.parametrize("name", PATTERNS)
def test_optimized_programs_give_what_python_gives(name):
    same_as_python(name)


@pytest.mark.parametrize("name", list(PATTERNS)[::9])
def test_some_of_them(name):
    same_as_python(name)


def same_as_python(name):
    pattern = PATTERNS[name]
    mine, theirs = (copy.deepcopy(pattern.arguments(LENGTH)) for _ in range(2))
    sdfg = dcpy.program(pattern.function, auto_optimize=True).to_sdfg(*mine)
    got, want = sdfg.interpret(*mine), pattern.function(*theirs)
    for found, expected in zip((got, *mine), (want, *theirs), strict=True):
        if expected is not None:
            np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("triad", PARALLEL),
        ("total", PARALLEL),
        ("from_the_other_half", PARALLEL),
        ("product_of_counters", PARALLEL),
        ("old_value_of_the_next", PARALLEL),
        ("place_of_the_maximum", PARALLEL),
        ("count_of_those_above", PARALLEL),
        ("skips_some", PARALLEL),
        ("counts_twice_in_a_step", PARALLEL),
        ("reader_before_the_writer", PARALLEL),
        ("sum_with_the_one_before", PARALLEL),
        ("minimum_by_function", PARALLEL),
        ("index_of_the_one_before", PARALLEL),
        ("row_above", INNER),
        ("not_linear", SEQUENTIAL),
    ],
)
def test_verdicts(name, kind):
    assert verdict_of(name) == kind


def test_the_best_version_counts_and_the_worst_block():
    text = "sdfg @f(A: f64[N]) symbols(N: size) {{ if N >= 3 {{ {first} }} else {{ {second} }} {behind} }}"
    loop = "loop {p} = 0:N {{ state {{ tasklet (a <- A[0]) -> (o -> A[0]) {{ o = a * a }} }} }}"
    node = "map j = 0:N { tasklet () -> (o -> A[j]) { o = 0.0 } }"
    parts = {"first": loop.format(p="i"), "second": node, "behind": ""}
    assert verdict(parse_sdfg(text.format(**parts))) == PARALLEL
    assert verdict(parse_sdfg(text.format(**parts | {"behind": loop.format(p="k")}))) == SEQUENTIAL


def test_what_is_sequential_has_a_reason():
    made = program_of(PATTERNS["not_linear"].function, PATTERNS["not_linear"].arguments(400))
    assert "reads a[i_1 - 1]" in reason(made)
