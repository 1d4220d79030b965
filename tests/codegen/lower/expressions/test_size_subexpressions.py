"""What a rank has is computed once, where a function begins, and has a name."""

from __future__ import annotations

import re

import pytest

from dcpy.base.errors import CodegenError
from dcpy.ir.text import parse_sdfg
from tests.support.compiled import source_of

FIRST, LAST = "max(0, -(-N // P)*g_c0)", "min(-(-N // P)*g_c0 - (-N // P), N)"
OF_A_RANK = """
sdfg @f(A: f64[max(0, {last} - {first})], x: f64[M])
  symbols(N: size, M: size, P: size{{least = 1}}, g_c0: i64) grids(g[P]) {{ {inside} }}"""
ALL = """state {{ map i = {first}:{last} {{
  tasklet (a <- A[i - {first}]) -> (o -> A[i - {first}]) {{ o = a + 1.0 }} }} }}"""


def source(inside: str) -> str:
    inside = inside.format(first=FIRST, last=LAST) if inside is ALL else inside
    return source_of(parse_sdfg(OF_A_RANK.format(first=FIRST, last=LAST, inside=inside)))


def body(text: str) -> list[str]:
    """The lines of the function that does the work."""
    found = re.search(r"_program\([^{]*\)\n\{\n(.*?)\n\}", text, re.DOTALL)
    assert found is not None
    return [line.strip() for line in found[1].splitlines()]


def test_bounds_of_a_block():
    assert body(source(ALL))[:3] == [
        "const int64_t part_N = dcpy_floordiv<int64_t>(-N, P);",
        "const int64_t start_N_g_c0 = dcpy_max<int64_t>(-(part_N*g_c0), 0);",
        "const int64_t end_N_g_c0 = dcpy_min<int64_t>(-(part_N*g_c0) - part_N, N);",
    ]


def test_nothing_is_divided_in_loops():
    functions = [text for text in source(ALL).split("\n}\n") if "for (" in text]
    assert functions
    for text in functions:
        assert not re.search("floordiv|dcpy_min|dcpy_max", text[text.index("for (") :])


@pytest.mark.parametrize(
    ("inside", "why"),
    [
        ("state { map i = 0:M // 2 { tasklet () -> (o -> x[i]) { o = 1.0 } } }", "it stands in no other one"),
        (
            "state { map i = 0:M { map j = i:min(max(i // 2, 1), M) { tasklet () -> (o -> x[j]) { o = 1.0 } } } }",
            "a parameter changes",
        ),
        (
            "let k = M * 2 state { map i = 0:min(max(k // 3, 1), M) { tasklet () -> (o -> x[i]) { o = 1.0 } } }",
            "k is not known where the function begins",
        ),
    ],
)
def test_others_have_no_names(inside, why):
    assert not [line for line in body(source(inside)) if re.match(r"const int64_t (part|end|start|count|rest)_", line)]


def test_sizes_of_arguments_that_cannot_be_known():
    """It was an internal error: a division by zero, of symbols."""
    text = "sdfg @f(A: f64[N // M]) symbols(N: size, M: size{least = 1}) { }"
    with pytest.raises(CodegenError, match=r"a size of the argument 'A' is N // M: .* a symbol plus a number"):
        source_of(text)
