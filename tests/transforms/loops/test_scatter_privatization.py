"""ScatterPrivatization: shape, value (with and without exceptions), refusal; compiled, for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.loops.scatter_privatization import ScatterPrivatization
from tests.support.expect import assert_same_values, expect, parse

HEAD = "sdfg @f(h: f64[n], w: f64[N], p: i64[N]) symbols(N: size, n: size)"
SHORT = ScatterPrivatization(blocks=3, shortest=4, per_element=1)
UPDATE = "let k = p[i]  state { tasklet (x <- h[k], y <- w[i]) -> (o -> h[k]) { o = x + y } }"


def program(body, data="", head=HEAD):
    return parse(f"{head} {{ {data} {body} }}")


def keeps_values(on, **values):
    after = copy_sdfg(on)
    assert apply_repeated(after, SHORT, check=True) == 1
    assert_same_values(on, after, values)
    return after


def test_blocks_combine_in_copies_which_are_taken_up_in_order():
    found = expect(SHORT, on=program(f"loop i = 0:N {{ {UPDATE} }}"))
    found.becomes(f"""{HEAD} {{
        if N >= 4 and N >= n {{
          data h_copies: f64[3, n] transient
          state {{ map block = 0:3 @parallel{{above = 1}} {{
            state {{ map j = 0:n {{ tasklet () -> (out -> h_copies[block, j]) {{ out = -0.0 }} }} }}
            loop i_1 = N*block//3:(N*block + N)//3 {{
              let k_1 = p[i_1]
              state {{ tasklet (x <- h_copies[block, k_1], y <- w[i_1]) -> (o -> h_copies[block, k_1]) {{
                o = x + y }} }}
            }} }} }}
          loop q = 0:3 {{ state {{ map j_1 = 0:n {{
            tasklet (whole <- h[j_1], part <- h_copies[q, j_1]) -> (out -> h[j_1]) {{ out = whole + part }} }} }} }}
        }} else {{ loop i = 0:N {{ {UPDATE} }} }} }}""")
    found.same_values(N=[0, 1, 3, 4, 11], n=[3], p=[np.arange(11) % 3])


@pytest.mark.parametrize("op", ["x + y", "x * y", "min(x, y)", "max(x, y)"])
def test_values_of_any_operation_in_arrays_of_any_rank(op):
    on = program(
        f"""loop i = 3:N {{ let k = p[i]  let l = q[i]
        if w[i] > 0.25 {{ state {{ tasklet (x <- h[k, l], y <- w[i]) -> (o -> h[k, l]) {{ o = {op} }} }} }} }}""",
        head="sdfg @f(h: f64[n, m], w: f64[N], p: i64[N], q: i64[N]) symbols(N: size, n: size, m: size)",
    )
    some = {"p": [np.arange(40) % 2], "q": [np.arange(40) * 7 % 3]}
    keeps_values(on, N=[3, 40], n=[2], m=[3], **some)


def test_nothing_is_seen_of_iterations_behind_one_that_raises():
    """Transients are gone then; the lowest iteration that fails is the one that is told."""
    head = "sdfg @f(y: f64[n], w: f64[N], p: i64[N]) symbols(N: size, n: size)"
    body = """state { map j = 0:n { tasklet () -> (o -> h[j]) { o = 0.0 } } }
        loop i = 0:N { let k = wrap(p[i], n, 0)
          state { tasklet (x <- h[k], y <- w[i]) -> (o -> h[k]) { o = x + y } } }
        state { map j_1 = 0:n { tasklet (x <- h[j_1]) -> (o -> y[j_1]) { o = x } } }"""
    on = program(body, "data h: f64[n] transient", head)
    for p in ([0, 1, 2, 0, 1, 2, 0], [0, 1, 2, 0, -1, 9, 7], [0, 5, 2, 0, 1, 2, -8]):
        keeps_values(on, N=[7], n=[3], p=[np.array(p)])
    seen = program(body.replace("h[k]", "y[k]"), "data h: f64[n] transient", head)
    assert "the caller would see what later ones write to 'y'" in expect(SHORT, on=seen).reasons()[0]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"loop i = 0:N:2 {{ {UPDATE} }}", "its values do not go up one by one"),
        (f"state {{ map b = 0:2 {{ loop i = 0:N {{ {UPDATE} }} }} }}", "there is a map around it already"),
        ("loop i = 0:N { state { tasklet (y <- w[i]) -> (o -> h[i]) { o = y } } }", "no element that the data choose"),
        (
            f"loop i = 0:N {{ {UPDATE} state {{ tasklet (x <- h[0]) -> (o -> w[i]) {{ o = x }} }} }}",
            "'h' is also touched by tasklet in the loop",
        ),
        (
            f"loop i = 1:N {{ {UPDATE} state {{ tasklet (x <- w[i - 1]) -> (o -> w[i]) {{ o = x }} }} }}",
            "iteration i writes w[i], iteration i + 1 reads w[i - 1]",
        ),
        (
            f"loop i = 0:N {{ {UPDATE} state {{ tasklet () -> (o -> s[] (add)) {{ o = 1.0 }} }} }}",
            "'s', which is declared outside, would have to be private, too",
        ),
        (f"loop i = 0:N {{ {UPDATE} if w[i] < 0.0 {{ return }} }}", "a return inside may end it early"),
    ],
)
def test_refusals(body, reason):
    reasons = expect(SHORT, on=program(body, "data s: f64[] transient")).reasons()
    assert reason in reasons[0], reasons


def test_the_version_for_short_runs_stays():
    after = keeps_values(program(f"loop i = 0:N {{ {UPDATE} }}"), N=[5], n=[2], p=[np.zeros(5, int)])
    assert "this version is for runs that are too short" in expect(SHORT, on=after).reasons()


@dcpy.program
def mass(bins: int, p, w):
    found = np.zeros(bins)
    for i in range(len(p)):
        found[p[i]] += w[i]
    return found


@pytest.mark.cc
def test_compiled_results_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(3)
    p, w = rng.integers(-50, 50, 100_000), rng.random(100_000)
    expected = np.zeros(50)
    for block in range(16):
        own = slice(100_000 * block // 16, 100_000 * (block + 1) // 16)
        expected += np.bincount(p[own] % 50, w[own], 50)
    assert np.array_equal(mass(50, p, w), expected)


@pytest.mark.cc
def test_compiled_the_failure_of_the_first_iteration_is_told():
    p, w = np.zeros(100_000, int), np.ones(100_000)
    p[[70_001, 70_002, 77_000, 99_000]] = 60, 70, 50, -51
    with pytest.raises(IndexError, match="index 60 is out of bounds for axis 0 with size 50"):
        mass(50, p, w)
