"""What branches have tested is known inside of them: `ir.analysis.conditions`, and `ranges_at` with it."""

import pytest

import dcpy
from dcpy.ir.analysis.conditions import facts_of
from dcpy.ir.analysis.ranges_at import ranges_at
from dcpy.ir.nodes import Map
from dcpy.ir.region import Branch
from dcpy.ir.symbolic import sym


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
