"""LoopDistribution: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.api import apply_once
from dcpy.transforms.loops.loop_distribution import LoopDistribution
from dcpy.transforms.loops.scalar_expansion import ScalarExpansion
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size)"


def node(write, *reads):
    """``write = sum of reads + 1``, with @ for the parameter i."""
    inputs = ", ".join(f"a{n} <- {read}" for n, read in enumerate(reads))
    return f"tasklet ({inputs}) -> (o -> {write}) {{ o = {' + '.join(f'a{n}' for n in range(len(reads)))} + 1.0 }}"


def over(text, param):
    return text.replace("@", param)


def loop(*nodes, param="i", values="1:N"):
    return f"loop {param} = {values} {{ state {{ {' '.join(nodes)} }} }}"


LEGAL = {
    "flow forward": ((node("A[@]", "A[@ - 1]"), node("B[@]", "A[@]")), "1:N"),
    "flow from earlier": ((node("A[@]", "C[@]"), node("B[@]", "A[@ - 1]")), "1:N"),
    "anti": ((node("B[@]", "A[@ - 1]"), node("A[@]", "C[@]")), "N - 1:0:-1"),
    "nothing shared": ((node("A[@]", "A[@ - 1]"), node("B[@]", "B[@ - 1]")), "1:N"),
}


@pytest.mark.parametrize("case", LEGAL)
def test_distributes(case):
    nodes, values = LEGAL[case]
    first, second = nodes
    before = parse(f"{HEAD} {{ {loop(over(first, 'i'), over(second, 'i'), values=values)} }}")
    expect(LoopDistribution(), on=before).becomes(
        f"{HEAD} {{ {loop(over(first, 'i'), values=values)} {loop(over(second, 'i_1'), param='i_1', values=values)} }}"
    ).same_values(N=[0, 1, 2, 6])


def test_goes_on_where_the_parts_can_be_cut_again():
    nodes = [node("A[@]", "A[@ - 1]"), node("B[@]", "A[@]"), node("C[@]", "B[@]", "C[@ - 1]")]
    before = parse(f"{HEAD} {{ {loop(*(over(part, 'i') for part in nodes))} }}")
    loops = [loop(over(part, name), param=name) for part, name in zip(nodes, ("i", "i_1", "i_1_1"), strict=True)]
    expect(LoopDistribution(), on=before).becomes(f"{HEAD} {{ {' '.join(loops)} }}").same_values(N=[0, 5])


def test_blocks_with_what_they_declare():
    inner = "loop k = 0:@ { state { tasklet (a <- A[k]) -> (o -> t (add)) { o = a } } }"
    tail = "data t: f64 transient state { tasklet () -> (o -> t) { o = 0.0 } }" + inner + (
        "state { tasklet (a <- t) -> (o -> B[@]) { o = a } }"
    )
    head = f"state {{ {node('C[@]', 'A[@]')} }}"
    body = over(tail, "i").replace("transient", f"transient {over(head, 'i')}", 1)
    expect(LoopDistribution(), on=parse(f"{HEAD} {{ loop i = 0:N {{ {body} }} }}")).becomes(
        f"{HEAD} {{ loop i = 0:N {{ {over(head, 'i')} }} loop i_1 = 0:N {{ {over(tail, 'i_1')} }} }}"
    ).same_values(N=[0, 4])


REFUSALS = {
    "writes B[i], then reads B[i - 1]: distance (1) on (i)": loop(node("A[i]", "B[i - 1]"), node("B[i]", "A[i]")),
    "writes A[i - 1], then writes A[i]": loop(node("A[i]", "B[i]"), node("A[i - 1]", "C[i]"), values="N - 1:0:-1"),
    "the body has 1 parts: none can be cut off after 1": loop(node("A[i]", "B[i]")),
    "scalar-expansion{container=t} makes it an array of all iterations": (
        f"loop i = 0:N {{ data t: f64 transient state {{ {node('t', 'A[i]')} {node('B[i]', 't')} }} }}"
    ),
    "both parts use the symbol 'k', which each iteration assigns": (
        f"loop i = 0:N {{ let k = select(A[i] > 0.0, i, 0) state {{ {node('B[i]', 'C[k]')} }} }}"
    ),
    "a check inside may end it early": (
        f'loop i = 0:N {{ state {{ {node("B[i]", "A[i]")} }} check i < 3 else ValueError "no" }}'
    ),
    "the step N of 'i' is not a number": loop(node("A[i]", "B[i]"), node("C[i]", "A[i]"), values="0:N:N"),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(LoopDistribution(), on=parse(f"{HEAD} {{ {REFUSALS[reason]} }}")).is_refused(reason)


def test_scalar_expansion_comes_before():
    text = f"loop i = 1:N {{ data t: f64 transient state {{ {node('t', 'A[i]')} {node('B[i]', 't')} }} }}"
    middle = expect(ScalarExpansion(), on=parse(f"{HEAD} {{ {text} }}")).after
    apply_once(middle, ScalarExpansion(container="t"))
    expect(LoopDistribution(), on=middle).becomes(
        f"""{HEAD} {{ data t: f64[max(0, N - 1)] transient
            {loop(node("t[i - 1]", "A[i]"))} {loop(node("B[i_1]", "t[i_1 - 1]"), param="i_1")} }}"""
    ).same_values(N=[0, 1, 5])
