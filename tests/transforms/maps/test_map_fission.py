"""MapFission: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.maps.map_fission import MapFission
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N], s: f64[]) symbols(N: size)"


def node(write, read):
    return f"tasklet (a <- {read}) -> (o -> {write}) {{ o = a + 1.0 }}"


def program(text):
    return parse(f"{HEAD} {{ state {{ {text} }} }}")


def test_cuts_all_nodes_apart():
    body = " ".join((node("B[i]", "A[i]"), node("C[i]", "B[i]"), node("A[i]", "C[i]")))
    expect(MapFission(), on=program(f"map i = 0:N @parallel {{ {body} }} copy A[0:N] -> B[0:N]")).becomes(
        f"""{HEAD} {{ state {{ map i = 0:N @parallel {{ {node("B[i]", "A[i]")} }}
            map i_1 = 0:N @parallel {{ {node("C[i_1]", "B[i_1]")} }}
            map i_1_1 = 0:N @parallel {{ {node("A[i_1_1]", "C[i_1_1]")} }} copy A[0:N] -> B[0:N] }} }}"""
    ).same_values(N=[0, 1, 5])


def test_cuts_blocks_of_a_triangle():
    first = f"state {{ {node('B[i]', 'A[i]')} }}"
    second = "loop k = 0:2 { state { tasklet (a <- B[{0}]) -> (o -> s (add)) { o = a } } }"
    text = f"map i = 0:N, j = 0:i {{ {first.replace('B[i]', 'C[i] (add)')} {second.replace('{0}', 'j')} }}"
    expect(MapFission(), on=program(text)).becomes(
        f"""{HEAD} {{ state {{ map i = 0:N, j = 0:i {{ {first.replace("B[i]", "C[i] (add)")} }}
            map i_1 = 0:N, j_1 = 0:i_1 {{ {second.replace("{0}", "j_1")} }} }} }}"""
    ).same_values(N=[0, 1, 4])


def test_takes_along_what_only_the_second_part_has():
    second = node("t", "B[@]") + node("C[@]", "t")
    before = f"map i = 0:N {{ data t: f64 transient {node('B[i]', 'A[i]')} {second.replace('@', 'i')} }}"
    after = f"data t: f64 transient {second.replace('@', 'i_1')}"
    expect(MapFission(), on=program(before), map="i").becomes(
        f"{HEAD} {{ state {{ map i = 0:N {{ {node('B[i]', 'A[i]')} }} map i_1 = 0:N {{ {after} }} }} }}"
    ).same_values(N=[0, 3])


REFUSALS = {
    "the body has 1 parts: none can be cut off after 1": f"map i = 0:N {{ {node('B[i]', 'A[i]')} }}",
    "each iteration has its own 't', which both parts use": (
        f"map i = 0:N {{ data t: f64 transient {node('t', 'A[i]')} {node('B[i]', 't')} }}"
    ),
    "a check inside may end it before the second part": (
        f'map i = 0:N {{ check A[i] < 0.0 else ValueError "no" state {{ {node("B[i]", "A[i]")} }} }}'
    ),
    "something inside has an effect that is seen outside": (
        f'map i = 0:N {{ callback (x <- A[0:N]) -> (x -> A[0:N]) {{function = "module:name", call = "x"}}'
        f" {node('B[i]', 'A[i]')} }}"
    ),
    "both parts use the symbol 'k', which each iteration assigns": (
        f"map i = 0:N {{ let k = select(A[i] > 0.0, i, 0) state {{ {node('B[i]', 'C[k]')} }} }}"
    ),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(MapFission(), on=program(REFUSALS[reason])).is_refused(reason)
