"""What branches have tested is known inside of them: `ir.analysis.dataflow.branch_facts`, and `ranges_at` with it."""

import pytest

import dcpy
from dcpy.ir.analysis.dataflow.branch_facts import facts_of, refine_ranges
from dcpy.ir.analysis.dataflow.value_ranges import bind_parameter, ranges_at
from dcpy.ir.nodes import Map
from dcpy.ir.region import Branch
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Ranges, const, sym


@pytest.mark.parametrize(
    ("text", "holds", "facts"),
    [
        ("n < m", True, ["m - n - 1"]),
        ("n < m", False, ["n - m"]),
        ("n >= 3 and m <= n", True, ["n - 3", "n - m"]),
        ("n >= 3 and m <= n", False, []),  # one of them fails, and nobody knows which
        ("n >= 3 or m <= n", False, ["2 - n", "m - n - 1"]),
        ("not (n > m)", True, ["m - n"]),
        ("n == m", True, ["m - n", "n - m"]),
        ("n == m", False, []),
    ],
)
def test_facts_of_a_condition(text, holds, facts):
    sdfg = dcpy.parse(f"sdfg @f(n, m) symbols(n: i64, m: i64) {{ if {text} {{ }} }}")
    (branch,) = (block for block in sdfg.body.walk_blocks() if isinstance(block, Branch))
    condition = branch.cases[0][0]
    assert sorted(map(str, facts_of(condition, holds=holds))) == sorted(facts)


def test_ranges_are_refined_by_a_condition_and_by_its_opposite():
    sdfg = dcpy.parse("sdfg @f(n, m) symbols(n: i64, m: i64) { if n < m and m <= 9 { } }")
    (branch,) = (block for block in sdfg.body.walk_blocks() if isinstance(block, Branch))
    condition = branch.cases[0][0]
    known = Ranges().bind("m").bind("n", 0)
    inside = refine_ranges(known, condition, holds=True)
    assert inside.bounds("n") == (ZERO, sym("m") - 1)  # a bound of the innermost symbol, not a fact beside it
    assert inside.bounds("m") == (None, const(9))
    assert refine_ranges(known, condition, holds=False).bounds("n") == (ZERO, None)  # one part fails, unknown which


@pytest.mark.parametrize(
    ("values", "bounds", "size"),
    [
        (Range(ZERO, sym("n"), ONE), (ZERO, sym("n") - 1), 1),
        (Range(sym("n"), ZERO, const(-1)), (ONE, sym("n")), 1),
        (Range(const(3), sym("n"), ONE), (const(3), sym("n") - 1), 4),
    ],
    ids=["forward", "backward", "offset"],
)
def test_inside_a_loop_its_parameter_has_bounds_and_its_range_is_not_empty(values, bounds, size):
    inside = bind_parameter(Ranges().bind("n"), "i", values)
    assert inside.bounds("i") == bounds
    assert inside.proves_le(size, sym("n"))
    assert not inside.proves_le(size + 1, sym("n"))


def test_a_step_of_unknown_sign_tells_nothing_of_its_loop():
    inside = bind_parameter(Ranges().bind("n").bind("s"), "i", Range(ZERO, sym("n"), sym("s")))
    assert inside.bounds("i") == (None, None)
    assert not inside.proves_nonneg(sym("n"))


PROGRAM = """
sdfg @f(a: f64[N], n, m) symbols(N: size, n: i64, m: i64) assumes(N >= 4) {{
  let k = n
  {before}
  if k >= 1 and N >= k {{
    {inside}
    state {{ map i = 0:N - k {{ tasklet () -> (out -> a[i + k]) {{ out = 1.0 }} }} }}
  }} elif m >= 2 {{
    state {{ map j = 0:m {{ tasklet () -> (out -> a[0]) {{ out = 1.0 }} }} }}
  }}
}}
"""


def maps(before="", inside=""):
    sdfg = dcpy.parse(PROGRAM.format(before=before, inside=inside))
    return {node.params[0]: ranges_at(node) for node in sdfg.body.walk_nodes() if isinstance(node, Map)}


def test_the_sides_of_a_branch_know_its_condition():
    known = maps()
    assert known["i"].proves_nonneg(sym("k") - 1)
    assert known["i"].proves_le(sym("k"), sym("N"))
    assert known["i"].proves_nonneg(sym("N") - 3)  # assumed by the whole program
    assert known["j"].proves_nonneg(sym("m") - 1)
    assert not known["j"].proves_nonneg(sym("k") - 1)


def test_a_symbol_that_changes_inside_is_not_known_any_more():
    """The condition was about another value: nothing is concluded from it."""
    known = maps(inside="let k = 0 - 5")
    assert not known["i"].proves_nonneg(sym("k") - 1)


def test_a_symbol_that_changes_before_is_known():
    assert maps(before="let k = n + 1")["i"].proves_nonneg(sym("k") - 1)
