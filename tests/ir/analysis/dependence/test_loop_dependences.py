"""Dependences between iterations: what is proved, what is private, and what stands in the way."""

from __future__ import annotations

import pytest

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_dependences import loop_dependences
from dcpy.ir.region import Loop
from dcpy.ir.text import parse_sdfg


def first_loop(body, data="", arguments="a: f64[N], b: f64[N], c: f64[N, N], s: f64[], k: i64[N]"):
    sdfg = parse_sdfg(f"sdfg @f({arguments}) symbols(N: size) {{ {data} {body} }}", file="f.txt")
    loop = next(block for block in sdfg.body.walk_blocks() if isinstance(block, Loop))
    return loop, Uses(sdfg)


def dependences(body, data="", **rest):
    return loop_dependences(*first_loop(body, data, **rest))


def test_a_recurrence_names_the_two_accesses():
    answer = dependences("loop t = 1:N { tasklet (x <- b[t - 1]) -> (o -> b[t]) { o = x } }").answer
    assert answer.is_yes
    assert answer.reason.startswith("iteration t writes b[t], iteration t + 1 reads b[t - 1]")


@pytest.mark.parametrize(
    "body",
    [
        "loop t = 0:N { tasklet (x <- a[t]) -> (o -> b[t]) { o = x } }",
        "loop t = 0:N // 2 { tasklet (x <- a[2*t + 1]) -> (o -> a[2*t]) { o = x } }",
        "loop t = 0:N { loop j = 0:t { tasklet (x <- c[j, t]) -> (o -> c[t, j]) { o = x } } }",
        "loop t = 0:N { map j = 0:N { tasklet (x <- c[t, N - 1 - j]) -> (o -> b[t]) { o = x } } }",
        "loop t = 0:N { tasklet (x <- a[t]) -> (o -> s (add)) { o = x } }",
        "loop t = 0:N { let i = N - t - 1 tasklet (x <- a[i]) -> (o -> b[t]) { o = x } }",
    ],
)
def test_independent(body):
    assert dependences(body).answer.is_no


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "loop t = 0:N - 1 { tasklet (x <- a[t]) -> (o -> b[t]) { o = x } "
            "tasklet (x <- b[t + 1]) -> (o -> a[t]) { o = x } }",
            "iteration t writes b[t], iteration t - 1 reads b[t + 1]",
        ),
        ("loop t = 0:N { tasklet (x <- a[t]) -> (o -> s) { o = x } }", "iteration t writes s, another one writes s"),
        ("loop t = 0:N { let i = k[t] tasklet (x <- a[t]) -> (o -> b[i]) { o = x } }", "only known at run time"),
        ("loop t = 0:N { tasklet (x <- a[t]) -> (o -> b[t % 2]) { o = x } }", "another one writes b[t % 2]"),
        ("loop t = 0:N { if a[t] > 0.0 { break } tasklet () -> (o -> b[t]) { o = 0.0 } }", "a break inside"),
        ('loop t = 0:N { check t < 5 else ValueError "no" tasklet () -> (o -> b[t]) { o = 0.0 } }', "a check inside"),
        (
            "loop t = 0:N { while s[] < 1.0 { tasklet () -> (o -> s) { o = 2.0 } } }",
            "iteration t writes s, another one reads s",
        ),
        (
            'loop t = 0:N { while b[t] < 1.0 { check t < 5 else ValueError "no" '
            "tasklet () -> (o -> b[t]) { o = 2.0 } } }",
            "a check inside",
        ),
        ("loop t = 0:N { let i = t tasklet () -> (o -> b[t]) { o = 0.0 } } let j = i", "'i' changes inside"),
        ("let i = 0 loop t = 0:N { tasklet () -> (o -> b[i]) { o = 0.0 } let i = i + 1 }", "before it is assigned"),
    ],
)
def test_dependent(body, reason):
    answer = dependences(body).answer
    assert not answer.is_no
    assert reason in answer.reason


def test_a_temporary_that_each_iteration_fills_is_private():
    found = dependences(
        """loop t = 0:N {
             map j = 0:N { tasklet (x <- c[t, j]) -> (o -> row[j]) { o = x } }
             map i = 0:N - 1 { tasklet (x <- row[i + 1]) -> (o -> c[t, i]) { o = x } }
           }""",
        "data row: f64[N] transient",
    )
    assert found.answer.is_no
    assert found.private == ("row",)


@pytest.mark.parametrize(
    "body",
    [
        # filled in part
        """loop t = 0:N { map j = 1:N { tasklet (x <- c[t, j]) -> (o -> row[j]) { o = x } }
                          map i = 0:N { tasklet (x <- row[i]) -> (o -> c[t, i]) { o = x } } }""",
        # filled after it is read
        """loop t = 0:N { map i = 0:N { tasklet (x <- row[i]) -> (o -> c[t, i]) { o = x } }
                          map j = 0:N { tasklet (x <- c[t, j]) -> (o -> row[j]) { o = x } } }""",
        # filled under a condition
        """loop t = 0:N { if t > 3 { map j = 0:N { tasklet (x <- c[t, j]) -> (o -> row[j]) { o = x } } }
                          map i = 0:N { tasklet (x <- row[i]) -> (o -> c[t, i]) { o = x } } }""",
        # read after the loop
        """loop t = 0:N { map j = 0:N { tasklet (x <- c[t, j]) -> (o -> row[j]) { o = x } } }
           copy row[0:N] -> a[0:N]""",
    ],
)
def test_a_temporary_that_carries_values_is_not_private(body):
    found = dependences(body.replace("copy", "state { copy") + (" }" if "copy" in body else ""),
                        "data row: f64[N] transient")  # fmt: skip
    assert found.answer.is_yes
    assert found.private == ()


def test_views_are_followed_to_their_base():
    body = "loop t = 0:N - 1 { tasklet (x <- b[t]) -> (o -> v[t]) { o = x } }"
    answer = dependences(body, "view v: f64[N - 1] of b[1:N]").answer
    assert answer.reason.startswith("iteration t writes b[t + 1], iteration t + 1 reads b[t]")


def test_arguments_that_may_overlap_are_not_told_apart():
    arguments = "a: f64[N] alias g, b: f64[N] alias g"
    body = "loop t = 0:N { tasklet (x <- a[t]) -> (o -> b[t]) { o = x } }"
    assert dependences(body, arguments=arguments).answer.is_unknown


def test_updates_and_reductions_are_reported():
    plain = dependences("loop t = 0:N { tasklet (x <- a[t], y <- s) -> (o -> s) { o = x + y } }")
    assert plain.answer.is_yes
    assert plain.updates == ("s",)
    combined = dependences("loop t = 0:N { tasklet (x <- a[t]) -> (o -> s (add)) { o = x } }")
    assert combined.reductions == ("s",)
