"""SavedBorders: shape, value, refusal, and compiled code beside Python."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.loops.saved_borders import SavedBorders
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size)"
SMALL = SavedBorders(blocks=3, shortest=0)


def node(write, *reads):
    inputs = ", ".join(f"a{n} <- {read}" for n, read in enumerate(reads))
    return f"tasklet ({inputs}) -> (o -> {write}) {{ o = {' + '.join(f'a{n}' for n in range(len(reads)))} + 1.0 }}"


def loop(*nodes, values="0:N - 1"):
    return f"loop i = {values} {{ state {{ {' '.join(nodes)} }} }}"


def test_what_the_last_iteration_of_a_block_reads_is_saved():
    body = "tasklet (a0 <- {read}, a1 <- B[{i}]) -> (o -> A[{i}]) {{ o = a0 + a1 + 1.0 }}"
    start, stop = "(N*block - block) // 3", "(N*block + N - block - 1) // 3"
    after = f"""{HEAD} {{ if N - 1 >= 3 {{
        data saved: f64[3, 1] transient
        state {{ map block_1 = 0:3, t = 0:1 {{
          tasklet (value <- A[((N*block_1 + N - block_1 - 1) // 3) + t]) -> (out -> saved[block_1, t]) {{
            out = value }} }} }}
        state {{ map block = 0:3 @parallel{{above = 1}} {{
          loop i_1 = {start}:({stop}) - 1 {{ state {{ {body.format(i="i_1", read="A[i_1 + 1]")} }} }}
          loop i_2 = ({stop}) - 1:{stop} {{
            state {{ {body.format(i="i_2", read=f"saved[block, i_2 - ({stop}) + 1]")} }} }} }} }}
      }} else {{ {loop(body.format(i="i", read="A[i + 1]"))} }} }}"""
    before = parse(f"{HEAD} {{ {loop(body.format(i='i', read='A[i + 1]'))} }}")
    expect(SMALL, on=before).becomes(after).same_values(N=[0, 1, 2, 3, 4, 5, 9])


CASES = {
    "going down": loop(node("A[i + 1]", "A[i]", "B[i]"), values="N - 2:-1:-1"),
    "new and old": loop(node("A[i]", "B[i]"), node("C[i]", "A[i]", "A[i + 1]")),
    "two arrays that overwrite each other": loop(node("A[i]", "B[i + 1]"), node("B[i]", "C[i]", "A[i + 1]")),
    "three ahead": loop(node("A[i]", "A[i + 3]", "A[i + 1]"), values="0:N - 3"),
    "under a condition": """loop i = 0:N - 1 { if B[i] > 0.5 {
        state { tasklet (a <- A[i + 1]) -> (o -> A[i]) { o = a * 2.0 } } } }""",
    "in the condition": """loop i = 0:N - 1 { if A[i + 1] > 0.5 {
        state { tasklet (a <- B[i]) -> (o -> A[i]) { o = a * 2.0 } } } }""",
    "a temporary from outside": f"data t: f64 transient {loop(node('t', 'A[i + 1]'), node('A[i]', 't', 'B[i]'))}",
}


@pytest.mark.parametrize("case", CASES)
def test_keeps_values(case):
    """The version for short runs is not versioned again: that the transformation settles is checked, too."""
    found = expect(SMALL, on=parse(f"{HEAD} {{ {CASES[case]} }}"))
    assert apply_repeated(found.after, SMALL, check=True) == 1
    found.same_values(N=[0, 1, 2, 4, 5, 11, 12])


REFUSALS = {
    "writes A[i], then reads A[i - 1]: distance (1) on (i)": loop(node("A[i]", "A[i - 1]"), values="1:N"),
    "no iteration reads what a later one writes": loop(node("A[i]", "A[i]")),
    "by how many iterations a read comes before the write is not known": loop(
        node("A[i]", "A[i + N // 2]"), values="0:N"
    ),
    "under a condition: without it, the element may not exist": """loop i = 0:N { if B[i] > 0.5 {
        state { tasklet (a <- A[i + 1]) -> (o -> A[i]) { o = a } } } }""",
    "is combined into by all iterations": (
        "data s: f64 transient loop i = 0:N - 1 { state { tasklet (a <- A[i + 1]) -> (o -> A[i]) { o = a } "
        "tasklet (a <- B[i]) -> (o -> s (add)) { o = a } } }"
    ),
    "an iteration writes A[j], which is no element of its own": f"loop j = 0:N {{ {loop(node('A[j]', 'A[i + 1]'))} }}",
    "its values do not go up or down one by one": loop(node("A[i]", "A[i + 2]"), values="0:N - 2:2"),
    "a check inside may end it early": """loop i = 0:N - 1 { check B[i] > 0.5 else ValueError "no"
        state { tasklet (a <- A[i + 1]) -> (o -> A[i]) { o = a } } }""",
    "there is a map around it already": f"map k = 0:1 {{ {loop(node('A[i]', 'A[i + 1]'))} }}",
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(SMALL, on=parse(f"{HEAD} {{ {REFUSALS[reason]} }}")).is_refused(reason)


@pytest.mark.cc
@pytest.mark.parametrize("size", [10, 65537, 70001])
def test_compiled_code_has_the_values_of_python(size):
    def smooth(a, b, c):
        for i in range(len(a) - 2):
            a[i] = 0.5 * (a[i] + a[i + 2])
            b[i] += a[i + 1] * c[i]

    mine = [np.random.default_rng(0).random(size) for _ in range(3)]
    theirs = [array.copy() for array in mine]
    dcpy.program(smooth, auto_optimize=True)(*mine)
    smooth(*theirs)
    for got, want in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(got, want)
