"""The report: where, what, which rule; and programs in which nothing is wrong."""

from __future__ import annotations

import pytest

from dcpy.base.errors import InvalidSdfg
from dcpy.base.source import SrcSpan
from dcpy.ir.text import parse_sdfg
from dcpy.ir.verify import CODEGEN_FORM, FRONTEND_FORM, SIMPLE_FORM, problems, verify

GOOD = [
    "sdfg @f() { }",
    "sdfg @f(x: f64[N], y: f64[N]) { map i = 1:N { copy x[i - 1] -> y[i] } }",
    "sdfg @f(x: f64[N], n) { if n > 0 { let k = 1 } else { let k = 2 } copy x[k] -> x[0] }",
    "sdfg @f(x: f64[4]) { if 0 > 1 { copy x[7] -> x[0] } }",
    'sdfg @f(x: f64[4]) { check 7 < 4 else IndexError "no" copy x[7] -> x[0] }',
    "sdfg @f(x: f64[4], n) { if n < 9 { return } copy x[7] -> x[0] }",
    "sdfg @f(x: f64[4], n) { loop i = 0:9 { if i > 3 { break } copy x[0] -> x[i] } }",
    "sdfg @f(x: f64[N]) { map i = 0:N, j = 0:i { copy x[i - 1] -> x[j] } }",
    "sdfg @f(x: f64[N], n) { loop i = 0:N { if n > i { return } else { let k = i } copy x[k] -> x[i] } }",
    "sdfg @f(x: f64[N]) { data t: f64[k] transient let k = 2 copy x[0:2] -> t[0:k] }",
    "sdfg @f(A: f64[N, M]) { view d: f64[N] of A strides (M + 1) copy d[0:N] -> A[0:N, 0] }",
    "sdfg @f(x: i32[N]) { tasklet (a <- x[0]) -> (o -> x[1]) { t = a // i32(2); o = t % a } }",
]


@pytest.mark.parametrize("text", GOOD)
def test_good_programs(text):
    verify(parse_sdfg(text))


def test_the_error_tells_what_where_and_which_rule():
    sdfg = parse_sdfg("sdfg @f(x: f64[N]) { copy x[N] -> x[0] copy x[0] -> x[N + 1] map i = 0:N:0 { } }")
    sdfg.body.blocks[0].nodes[0].span = SrcSpan("prog.py", 7)
    with pytest.raises(InvalidSdfg) as caught:
        verify(sdfg)
    assert caught.value.message == "x[N]: index N is out of bounds for dimension 0 of size N [memlet.bounds], in 'f'"
    assert str(caught.value.span) == "prog.py:7"
    assert caught.value.notes == (
        "[memlet.bounds] x[N + 1]: index N + 1 is out of bounds for dimension 0 of size N",
        "[map.step] the range of 'i' has a step of 0",
    )


def test_an_iteration_that_there_may_not_be_leaves_nothing():
    text = "sdfg @f(x: f64[N]) {{ {} map i = 0:{} {{ copy x[i + N] -> x[i] }} }}"
    computed = text.format("let n = @min(N, 0)", "n")  # what a slice computes, which turns out to be empty
    assert problems(parse_sdfg(computed)) == ()
    assert {problem.rule for problem in problems(parse_sdfg(text.format("", "N + 1")))} == {"memlet.bounds"}


def test_callees_are_verified_once():
    sdfg = parse_sdfg("""
    sdfg @f(x: f64[N]) { call @g (y = x[0:N]) with (K = N) call @g (y = x[0:N]) with (K = N) }
    sdfg @g(y: f64[K]) { copy y[K] -> y[0] }
    """)
    assert [problem.rule for problem in problems(sdfg)] == ["memlet.bounds"]


def test_forms():
    text = "sdfg @f(x: f64[N]) {{ map i = 0:N {} {{ data t: f64 transient {} copy x[i] -> t copy t -> x[i] }} }}"
    open_, decided = parse_sdfg(text.format("", "")), parse_sdfg(text.format("@vector", "@register"))
    assert problems(open_, FRONTEND_FORM) == problems(open_, SIMPLE_FORM) == ()
    assert [problem.rule for problem in problems(open_, CODEGEN_FORM)] == ["codegen.schedules", "codegen.storage"]
    assert problems(decided, CODEGEN_FORM) == ()
    assert [problem.rule for problem in problems(decided, FRONTEND_FORM)] == ["frontend.schedules", "frontend.storage"]
