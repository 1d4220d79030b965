"""ChosenIteration: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.loops.chosen_iteration import ChosenIteration
from tests.support.expect import expect, parse

HEAD = "sdfg @f(a: f64[N], b: f64[N], k: i32[N], m: f64[], p: i64[], l: i32[]) symbols(N: size)"
KEEP = "state { tasklet (x <- a[@]) -> (o -> m) { o = x }  tasklet () -> (o -> p) { o = @ } }"


def program(body):
    return parse(f"{HEAD} {{ {body} }}")


def keep(condition="a[i] > m[]", body=KEEP, more=""):
    return f"loop i = 0:N {{ if {condition} {{ {body.replace('@', 'i')} }} {more} }}"


def test_the_place_of_a_maximum_is_found_behind_the_maximum():
    expect(ChosenIteration(), on=program(keep())).becomes(f"""{HEAD} {{
        data place_found: i64 transient
        data best: f64 transient
        state {{ tasklet () -> (out -> best) {{ out = -inf }} }}
        loop i = 0:N {{ state {{
          tasklet (x0 <- a[i]) -> (out -> best (max)) {{ out = select(x0 == x0, x0, -inf) }} }} }}
        state {{ tasklet () -> (out -> place_found) {{ out = N }} }}
        loop i_1 = 0:N {{ state {{
          tasklet (x0 <- a[i_1], x1 <- best) -> (out -> place_found (min)) {{ out = select(x0 == x1, i_1, N) }} }} }}
        let place = place_found[]
        if place < N and best[] > m[] {{ {KEEP.replace("@", "place")} }}
        }}""").same_values(N=[0, 1, 5], m=[np.array(0.5), np.array(np.nan), np.array(-np.inf)])


def test_the_last_one_counts_where_nothing_is_compared_with_what_is_kept():
    body = keep("a[i] > 0.5", more="state { tasklet (x <- b[i]) -> (o -> b[i]) { o = x + 1.0 } }")
    expect(ChosenIteration(), on=program(body)).becomes(f"""{HEAD} {{
        data place_found: i64 transient
        state {{ tasklet () -> (out -> place_found) {{ out = index(-1) }} }}
        loop i = 0:N {{
          state {{ tasklet (x0 <- a[i]) -> (out -> place_found (max)) {{ out = select(x0 > 0.5, i, index(-1)) }} }}
          state {{ tasklet (x <- b[i]) -> (o -> b[i]) {{ o = x + 1.0 }} }} }}
        let place = place_found[]
        if place >= index(0) {{ {KEEP.replace("@", "place")} }}
        }}""").same_values(N=[0, 1, 7])


@pytest.mark.parametrize("condition", ["a[i] < m[]", "m[] > a[i]", "m[] >= a[i]", "a[i] >= m[]", "m[] < a[i]"])
def test_equal_values_nan_and_signs_of_zeros(condition):
    a = np.array([1.0, np.nan, -3, 7, np.nan, 7, -3, 0.0, -0.0])
    found = expect(ChosenIteration(), on=program(keep(condition)))
    assert found.reasons()[0] == ""
    values = [a, np.full(9, np.nan), np.full(9, np.inf), np.full(9, -np.inf), a * 0.0]
    found.same_values(N=[9], a=values, m=[np.array(x) for x in (2.0, np.nan, -0.0, np.inf, -np.inf)])


def test_integers_and_flags():
    body = "loop i = 0:N { if k[i] < l[] { state { tasklet (x <- k[i]) -> (o -> l) { o = x } } let q = i } }"
    text = f"let q = 0 {body} state {{ tasklet () -> (o -> p) {{ o = q }} }}"
    found = expect(ChosenIteration(), on=program(text))
    assert found.reasons()[0] == ""
    found.same_values(N=[0, 3], l=[np.array(2, "i4"), np.array(2**31 - 1, "i4")])
    flag = keep("k[i] > 0", "state { tasklet () -> (o -> m) { o = 1.0 } }")
    expect(ChosenIteration(), on=program(flag)).same_values(N=[0, 4])


WRITES = "state { tasklet (x <- b[i]) -> (o -> a[i]) { o = x } }"
REFUSALS = {
    "it is not directly in a loop": f"if a[0] > m[] {{ {KEEP.replace('@', '0')} }}",
    "it has more than one case": f"loop i = 0:N {{ if a[i] > 0.0 {{ {KEEP.replace('@', 'i')} }} else {{ }} }}",
    "do not go up one by one": keep().replace("0:N", "0:N:2"),
    "something inside may leave the loop early": keep(more="if a[i] > 3.0 { break }"),
    "there is a loop in it": keep(body="loop j = 0:2 { state { tasklet () -> (o -> m) { o = 1.0 } } }"),
    "it does not write a[i] each time": keep(body="state { tasklet () -> (o -> a[@]) { o = 1.0 } }"),
    "'m' is also touched by tasklet in the loop": keep(more="state { tasklet (x <- m) -> (o -> b[i]) { o = x } }"),
    "symbol 'q' is also used elsewhere": f"let q = 0 {keep(body='let q = @', more='let r = q + 1')}",
    "it reads 'm', which it keeps": keep("a[i] > 0.0", "state { tasklet (x <- m) -> (o -> m) { o = x + 1.0 } }"),
    "it uses a symbol that the loop assigns": keep(body="let q = q + 1", condition="a[i] > 0.0").join(
        ("let q = 0 ", "")
    ),
    "'a', which it reads, is written in the loop": keep(more=WRITES),
    "that is no comparison": keep("a[i] > 0.0 and m[] > 0.0"),
    "it does not keep the value that it compares": keep("b[i] > m[]"),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(ChosenIteration(), on=program(REFUSALS[reason])).is_refused(reason)


@pytest.mark.cc
def test_compiled_code_finds_what_python_finds():
    def place(a):
        x = a[0]
        k = 0
        for i in range(1, len(a)):
            if abs(a[i]) > x:
                x = abs(a[i])
                k = i
        return x, k

    a = np.random.default_rng(0).integers(-50, 50, 100_001).astype(np.float64)
    assert dcpy.program(place, auto_optimize=True)(a) == place(a)
