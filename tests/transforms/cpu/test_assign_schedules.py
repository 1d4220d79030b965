"""AssignSchedules: which maps get threads and vectors, and why others do not."""

from __future__ import annotations

import pytest

from dcpy import driver
from dcpy.base.options import Options
from dcpy.ir.text.printer import print_sdfg
from tests.support.expect import parse

HEAD = "sdfg @f(t: i32[N, N], x: f64[N, N], s: i32[], r: f64[]) symbols(N: size)"


def scheduled(body):
    graph, report = driver.lower(parse(f"{HEAD} {{ {body} }}"), Options(), explain=True)
    return print_sdfg(graph), "\n".join(map(str, report.remarks or []))


def inside(values, loops="loop i = 0:N { loop j = i:N"):
    """A sum over a map in a nest of loops, each of which reads what the one before has written."""
    depth = loops.count("loop")
    return f"""{loops} {{ state {{ map k = {values} {{
        tasklet (a <- x[k, 0], b <- r) -> (o -> x[0, k]) {{ o = a * b }} }} }}
        state {{ tasklet (a <- x[0, 0]) -> (o -> r) {{ o = a }} }} {"}" * depth}"""


def test_no_team_where_a_map_is_no_longer_than_two_loops_around_it():
    text, why = scheduled(inside("i:j"))
    assert "no threads: it is as long as two loops around it at most" in why
    assert "@parallel" not in text


@pytest.mark.parametrize("values", ["0:N", "i:N", "0:1000 * j - i"])
def test_a_team_where_it_may_be_long(values):
    text, why = scheduled(inside(values))
    assert "@parallel{above" in text
    assert "two loops around" not in why


def test_one_loop_around_leaves_time_for_a_team():
    assert "@parallel{above" in scheduled(inside("i:N", "loop i = 0:N"))[0]


def folded(value, kept="s"):
    return f"map k = 0:N {{ tasklet ({value}) -> (o -> {kept} (add)) {{ o = a }} }}"


def test_no_vectors_to_collect_integers_that_are_far_from_each_other():
    _, why = scheduled(folded("a <- t[k, 0]"))
    assert "no vectors: elements far from each other would be collected one by one, to combine integers" in why


@pytest.mark.parametrize("body", [folded("a <- t[0, k]"), folded("a <- x[k, 0]", "r")])
def test_vectors_for_what_is_together_and_for_chains_of_floats(body):
    _, why = scheduled(body)
    assert "vectors along k" in why
    assert "no vectors" not in why
