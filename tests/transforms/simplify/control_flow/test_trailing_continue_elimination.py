"""TrailingContinueElimination: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.simplify.control_flow.trailing_continue_elimination import TrailingContinueElimination
from tests.support.expect import expect, parse

HEAD = "sdfg @f(a: f64[N], b: f64[N]) symbols(N: size)"
WORK = "state { tasklet (x <- a[i]) -> (o -> b[i]) { o = x } }"


def program(body):
    return parse(f"{HEAD} {{ {body} }}")


def test_takes_out_what_jumps_over_nothing():
    def body(jump):
        return f"loop i = 0:N {{ if a[i] < 0.5 {{ if a[i] < 0.2 {{ {jump} }} else {{ {WORK} {jump} }} }} }}"

    expect(TrailingContinueElimination(), on=program(body("continue"))).becomes(f"{HEAD} {{ {body('')} }}").same_values(
        N=[0, 9]
    )


def test_in_loops_that_a_condition_ends():
    text = "let i = 0 while i < N {{ let i = i + 1 {jump} }}"
    expect(TrailingContinueElimination(), on=program(text.format(jump="continue"))).becomes(
        f"{HEAD} {{ {text.format(jump='')} }}"
    )


@pytest.mark.parametrize(
    "body",
    [
        f"loop i = 0:N {{ if a[i] < 0.5 {{ continue }} {WORK} }}",
        f"loop i = 0:N {{ if a[i] < 0.5 {{ if a[i] < 0.2 {{ continue }} {WORK} }} }}",
    ],
)
def test_refuses(body):
    expect(TrailingContinueElimination(), on=program(body)).is_refused("there is something behind it")
