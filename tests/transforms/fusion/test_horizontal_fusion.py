"""HorizontalFusion: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.fusion.horizontal_fusion import HorizontalFusion
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N], s: f64[]) symbols(N: size)"


def node(write, read):
    return f"tasklet (a <- {read}) -> (o -> {write}) {{ o = a + 1.0 }}"


def maps(first, second, values="0:N", other="0:N", between=""):
    return parse(
        f"{HEAD} {{ state {{ map i = {values} {{ {first} }} {between} map j = {other} {{ {second} }} }} }}"
    )


LEGAL = {
    "readers of one array": (node("B[i]", "A[i]"), node("C[@]", "A[@]")),
    "the second reads what the first wrote there": (node("B[i]", "A[i]"), node("C[@]", "B[@]")),
    "the second overwrites what the first read there": (node("B[i]", "A[i]"), node("A[@]", "C[@]")),
    "both combine": (node("s (add)", "A[i]"), node("s (add)", "B[@]")),
}


@pytest.mark.parametrize("case", LEGAL)
def test_fuses(case):
    first, second = LEGAL[case]
    expect(HorizontalFusion(), on=maps(first, second.replace("@", "j"))).becomes(
        f"{HEAD} {{ state {{ map i = 0:N {{ {first} {second.replace('@', 'i')} }} }} }}"
    ).same_values(N=[0, 1, 5])


def test_passes_what_is_between_and_takes_along_what_is_private():
    second = "data t: f64 transient " + node("t", "A[@]") + node("C[@]", "t")
    before = maps(node("B[i]", "A[i]"), second.replace("@", "j"), between="tasklet () -> (o -> s) { o = 1.0 }")
    private, rest = second.replace("@", "i").split("transient")
    expect(HorizontalFusion(), on=before).becomes(
        f"""{HEAD} {{ state {{ map i = 0:N {{ {private} transient {node("B[i]", "A[i]")} {rest} }}
            tasklet () -> (o -> s) {{ o = 1.0 }} }} }}"""
    ).same_values(N=[0, 3])


def test_three_become_one():
    before = f"""{HEAD} {{ state {{ map i = 0:N {{ {node("B[i]", "A[i]")} }} map j = 0:N {{ {node("C[j]", "A[j]")} }}
                 map k = 0:N {{ {node("A[k]", "B[k]")} }} }} }}"""
    bodies = f"{node('B[i]', 'A[i]')} {node('C[i]', 'A[i]')} {node('A[i]', 'B[i]')}"
    expect(HorizontalFusion(), on=parse(before)).becomes(
        f"{HEAD} {{ state {{ map i = 0:N {{ {bodies} }} }} }}"
    ).same_values(N=[0, 4])


REFUSALS = {
    "the iteration spaces differ": maps(node("B[i]", "A[i]"), node("C[j]", "A[j]"), other="1:N"),
    "writes B[i], then reads B[i - 1]: distance (1) on (i)": maps(
        node("B[i]", "A[i]"), node("C[j]", "B[j - 1]"), "1:N", "1:N"
    ),
    "reads A[i], then writes A[i + 1]: distance (-1) on (i)": maps(
        node("B[i]", "A[i]"), node("A[j + 1]", "C[j]"), "0:N - 1", "0:N - 1"
    ),
    "writes s, then reads s": maps(node("s (add)", "A[i]"), node("C[j]", "s")),
    "the tasklet between them": maps(
        node("B[i]", "A[i]"), node("C[j]", "s"), between="tasklet (a <- B[0]) -> (o -> s) { o = a }"
    ),
    "schedules differ: @parallel and @vector": parse(
        f"""{HEAD} {{ state {{ map i = 0:N @parallel {{ {node("B[i]", "A[i]")} }}
            map j = 0:N @vector {{ {node("C[j]", "A[j]")} }} }} }}"""
    ),
    "something inside both has an effect that is seen outside": maps(
        'callback (x <- A[0:N]) -> (x -> B[0:N]) {function = "module:name", call = "x"}',
        'callback (x <- A[0:N]) -> (x -> C[0:N]) {function = "module:name", call = "x"}',
    ),
    "a check inside may end it early": maps(
        node("B[i]", "A[i]"), f'check A[j] < 9.0 else ValueError "x" state {{ {node("C[j]", "A[j]")} }}'
    ),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(HorizontalFusion(), on=REFUSALS[reason]).is_refused(reason)
