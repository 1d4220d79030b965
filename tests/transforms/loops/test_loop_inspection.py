"""LoopInspection: shape, value (with and without exceptions), refusal. S-5: loops that may raise run in parallel."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.loops.loop_inspection import LoopInspection
from tests.support.expect import expect, parse

HEAD = "sdfg @f(a: f64[N], b: f64[M], p: i64[N], q: i64[M]) symbols(N: size, M: size)"


def program(body, data=""):
    return parse(f"{HEAD} {{ {data} {body} }}")


GATHER = "loop i = 0:N { let k = wrap(p[i], M, 0)  state { tasklet (x <- b[k]) -> (o -> a[i]) { o = x } } }"


def test_an_index_is_looked_at_before_the_loop():
    expect(LoopInspection(), on=program(GATHER)).becomes(f"""{HEAD} {{
        data first: i64 transient
        state {{ tasklet () -> (out -> first) {{ out = N }} }}
        loop i_1 = 0:N {{
          state {{ tasklet (x0 <- p[i_1]) -> (out -> first (min)) {{ out = select(x0 < -M or x0 >= M, i_1, N) }} }} }}
        let F = first[]
        loop i_2 = 0:F {{
          let k_2 = select(p[i_2] < 0, p[i_2] + M, p[i_2])
          state {{ tasklet (x <- b[k_2]) -> (o -> a[i_2]) {{ o = x }} }} }}
        if F < N {{ loop i = F:F + 1 {{ let k = wrap(p[i], M, 0)
          state {{ tasklet (x <- b[k]) -> (o -> a[i]) {{ o = x }} }} }} }}
        }}""").same_values(N=[0, 4], M=[0, 2, 5], p=[np.array([0, 1, -2, 4]), np.array([0, 1, -1, -2])])


def test_a_failed_check_guards_what_comes_after_it():
    """The second index is read at the first one: beyond the end nothing is read."""
    on = program("""loop i = 0:N { let k = wrap(p[i], M, 0)  let l = wrap(q[k], M, 0)
        state { tasklet (x <- b[l]) -> (o -> a[i]) { o = x } } }""")
    found = expect(LoopInspection(), on=on)
    assert found.reasons()[0] == ""
    for p in ([0, 1, 0], [0, 9, 0], [0, -1, 3]):
        for q in ([1, 0], [0, -3]):
            found.same_values(N=[3], M=[2], p=[np.array(p)], q=[np.array(q)])


def test_checks_in_inner_loops_and_branches_count():
    on = program("""loop i = 0:N { let k = wrap(p[i], M, 0) loop j = 0:M { if q[j] > 0 {
        check q[k] < 4 else ValueError "large"
        state { tasklet (x <- b[k]) -> (o -> a[i]) { o = x } } } } }""")
    expect(LoopInspection(), on=on).same_values(
        N=[4], M=[2], p=[np.array([0, 1, -2, 5]), np.array([0, 1, -1, 1])], q=[np.array([0, 0]), np.array([1, 4])]
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("loop i = 0:N { state { tasklet () -> (o -> a[i]) { o = 1.0 } } }", "nothing inside ends it early"),
        ('loop i = 0:N { check M - i > 0 else IndexError "far" }', "reads nothing: loop-versioning decides"),
        ('loop i = 0:N { check b[0] > 0.0 else ValueError "negative" }', "no array that it looks at first bounds"),
        (
            "loop j = 0:N { let n = p[j]  let m = q[0]  loop i = n:m { let k = wrap(p[i], M, 0) "
            "state { tasklet (x <- b[k]) -> (o -> a[i]) { o = x } } } }",
            "data tell how often it runs, each time anew",
        ),
        (GATHER.replace("0:N", "0:N:2"), "its values do not go up one by one"),
        ("loop i = 0:N { if a[i] > 0.0 { break } }", "a break inside may end it early"),
        (GATHER.replace("b[k]", "a[k]"), "writes a[i]"),
        (
            "loop i = 0:N { let k = wrap(p[i], N, 0) state { tasklet () -> (o -> a[k]) { o = 1.0 } } }",
            "an index is only known at run time",
        ),
        (
            "loop i = 0:N { let k = wrap(p[i], N, 0) state { tasklet () -> (o -> p[i]) { o = 1 } } }",
            "a check depends on 'p', which the loop writes",
        ),
    ],
)
def test_refuses(body, reason):
    expect(LoopInspection(), on=program(body)).is_refused(reason)


def gather(a, b, p):
    for i in range(len(p)):
        a[i] = b[p[i]] * 2.0


def gather_sum(a, b, p):
    for i in range(len(p)):
        a[0] += b[p[i]]


def until_negative(a, b, p):
    for i in range(len(a)):
        if b[i] < 0.0:
            raise ValueError("negative")
        a[i] = np.sqrt(b[i]) + b[p[i]]


@pytest.mark.cc
@pytest.mark.parametrize("function", [gather, gather_sum, until_negative])
@pytest.mark.parametrize("size", [10, 100_000])
def test_s5_loops_that_may_raise(function, size):
    """S-5: the first failing iteration decides, and nothing is written after it."""
    program = dcpy.program(function, auto_optimize=True)
    rng = np.random.default_rng(0)
    b, p = rng.random(size), rng.integers(-size, size, size)
    bad_index, bad_value = p.copy(), b.copy()
    bad_index[[size // 2, size - 1]] = size, 3 * size
    bad_value[[size // 3, size - 2]] = -1
    for values, positions in ((b, p), (b, bad_index), (bad_value, p), (bad_value, bad_index)):
        mine, reference = np.zeros(size), np.zeros(size)
        try:
            function(reference, values, positions)
        except (IndexError, ValueError) as error:
            with pytest.raises(type(error), match=r"index .* is out of bounds|negative"):
                program(mine, values, positions)
        else:
            program(mine, values, positions)
        np.testing.assert_allclose(mine, reference, rtol=1e-11)


def test_s5_the_loop_becomes_a_map():
    a, p = np.zeros(5), np.zeros(5, np.int64)
    for function in (gather, gather_sum):
        sdfg = dcpy.program(function, auto_optimize=True).to_sdfg(a, a.copy(), p)
        assert [node.kind for node in sdfg.body.walk_nodes()].count("map") == 2, str(sdfg)
