"""TransientReuse: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.memory.transient_reuse import TransientReuse
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N]) symbols(N: size)"


def step(source, target, operation="x + 1"):
    index = f"i{source}{target}"
    return f"map {index} = 0:N {{ tasklet (x <- {source}[{index}]) -> (o -> {target}[{index}]) {{ o = {operation} }} }}"


def program(blocks, data="data t: f64[N] transient data u: f64[N] transient"):
    return parse(f"{HEAD} {{ {data} {blocks} }}")


def test_in_one_state_and_over_blocks():
    steps = step("A", "t"), step("t", "B"), step("B", "u", "x*x"), step("u", "A")
    renamed = " ".join(steps).replace("-> u[", "-> t[").replace("<- u[", "<- t[")
    expect(TransientReuse(), on=program(f"state {{ {' '.join(steps)} }}")).becomes(
        f"{HEAD} {{ data t: f64[N] transient state {{ {renamed} }} }}"
    ).same_values(N=[0, 3])
    on = program(f"loop k = 0:3 {{ state {{ {steps[0]} {steps[1]} }} }} state {{ {steps[2]} {steps[3]} }}")
    found = expect(TransientReuse(), on=on)
    assert found.reasons() == [""]
    found.same_values(N=[0, 3])


def test_the_one_that_is_asked_for():
    steps = step("A", "u"), step("u", "B"), step("B", "t", "x*x"), step("t", "A")
    on = program(f"state {{ {' '.join(steps)} }}")
    expect(TransientReuse(second="u"), on=on).is_refused("still needed")
    assert expect(TransientReuse(second="t"), on=on).reasons() == [""]


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        (f"state {{ {step('A', 't')} {step('t', 'u')} {step('u', 'B')} }}", "still needed when"),
        (f"state {{ {step('A', 't')} {step('t', 'B')} }}", "no two transients of a region are alike"),
        (
            f"loop k = 0:3 {{ state {{ {step('A', 't')} {step('t', 'B')} {step('B', 'u')} {step('u', 'A')} }} }}",
            "still needed",
        ),
    ],
)
def test_refusals(blocks, reason):
    expect(TransientReuse(), on=program(blocks)).is_refused(reason)


def test_other_descriptors():
    blocks = f"state {{ {step('A', 't')} {step('t', 'B')} {step('B', 'u')} {step('u', 'A')} }}"
    on = program(blocks, "data t: f64[N] transient data u: f64[N + 1] transient")
    expect(TransientReuse(), on=on).is_refused("no two transients of a region are alike")
