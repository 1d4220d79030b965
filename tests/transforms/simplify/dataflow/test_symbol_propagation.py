"""SymbolPropagation: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.ir.refusal import Refusal
from dcpy.transforms.api import matches
from dcpy.transforms.simplify.dataflow.symbol_propagation import SymbolPropagation
from tests.support.expect import expect, parse


def test_the_value_goes_where_the_symbol_is_mentioned():
    expect(
        SymbolPropagation(),
        on=parse("""
            sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
              let k = N - 1
              loop i = 0:k {
                data t: f64[k] transient
                let j = i + 1
                if j < k { state { copy A[0:k] -> t[0:k]
                                   tasklet (a <- t[j - 1]) -> (o -> B[j]) { o = a * f64(k) } } }
              }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
          loop i = 0:N - 1 {
            data t: f64[N - 1] transient
            if i + 1 < N - 1 { state { copy A[0:N - 1] -> t[0:N - 1]
                                       tasklet (a <- t[i]) -> (o -> B[i + 1]) { o = a * f64(N - 1) } } }
          }
        }""").same_values(N=[1, 5])


def test_an_assignment_that_nobody_mentions_goes():
    expect(
        SymbolPropagation(),
        on=parse("sdfg @f(A: i64[N]) symbols(N: size) { let k = A[0] state { copy A[0:N] -> A[0:N] } }"),
    ).becomes("sdfg @f(A: i64[N]) symbols(N: size) { state { copy A[0:N] -> A[0:N] } }").same_values(N=[1])


def test_a_run_time_index_that_is_surely_inside_has_no_check():
    expect(
        SymbolPropagation(),
        on=parse("""
            sdfg @f(A: i64[N], B: i64[N]) symbols(N: size) {
              check N - 2 >= 0 else IndexError "too small" ()
              let k = wrap(N - 1, N)
              let j = wrap(-2, N)
              state { tasklet (a <- A[k]) -> (o -> B[j]) { o = a } }
            }"""),
    ).becomes("""
        sdfg @f(A: i64[N], B: i64[N]) symbols(N: size) {
          check N - 2 >= 0 else IndexError "too small" ()
          state { tasklet (a <- A[N - 1]) -> (o -> B[N - 2]) { o = a } }
        }""").same_values(N=[2, 5])


def test_refuses_a_run_time_index_that_may_be_outside():
    refused("let k = wrap(N - 1, N) state { tasklet () -> (o -> A[k]) { o = 1 } }", "whose check must stay")


def refused(body: str, reason: str) -> None:
    header = "sdfg @f(A: i64[N], c: f64) symbols(N: size) { "
    expect(SymbolPropagation(), on=parse(header + body + " }")).is_refused(reason)


def test_refuses_a_value_that_reads_memory():
    refused("let k = A[0] state { tasklet () -> (o -> A[k]) { o = 1 } }", "reads containers")


def test_refuses_a_symbol_that_is_assigned_twice():
    body = "let k = 0 while c[] > 0 { state { tasklet () -> (o -> A[k]) { o = 1 } } let k = k + 1 }"
    refused(body, "'k' is assigned elsewhere too")


def test_refuses_when_the_value_changes_before_the_mention():
    body = "let j = 0 let k = j let j = A[0] state { tasklet () -> (o -> A[k]) { o = j } }"
    refused(body, "'j', of which the value is made, is assigned again later")


def test_a_symbol_may_get_its_own_value_back():
    """An array that is remade with the size that it had: ``let n = k``, then ``let k = n``."""
    text = """sdfg @f(A: i64[N], B: i64[N]) symbols(N: size) {{ let k = A[0] {}
        state {{ tasklet () -> (o -> B[{}]) {{ o = 1 }} }} {} state {{ tasklet () -> (o -> B[k]) {{ o = k }} }} }}"""
    before, after = text.format("let n = k", "n", "let k = n"), text.format("", "k", "")
    expect(SymbolPropagation(), on=parse(before)).becomes(after)


READ_TWICE = """sdfg @f(A: i64[N], B: i64[N], C: i64[N]) symbols(N: size) {{ let n = A[0] {}
    state {{ map i = 0:min(n, N) {{ tasklet (b <- C[{}]) -> (o -> B[i]) {{ o = b }} }} }} }}"""


def test_what_was_read_before_has_a_symbol():
    """Bounds of slices that are written out twice; an index that is clamped to its own range is in it."""
    before = READ_TWICE.format("let m = A[0]", "min(i, min(m, N) - 1)")
    expect(SymbolPropagation(), on=parse(before)).becomes(READ_TWICE.format("", "i")).same_values(N=[1, 4])


@pytest.mark.parametrize(
    "between",
    [
        "state { tasklet () -> (o -> A[0]) { o = 1 } } let m = A[0]",
        "let k = 0 let p = A[k] let k = 1 let m = A[k]",
        "if N > 1 { state { tasklet () -> (o -> A[0]) { o = 1 } } } let m = A[0]",
        "let m = A[0] let m = 3",
    ],
)
def test_refuses_what_may_have_changed_since_it_was_read(between):
    on = parse(READ_TWICE.format(between, "m"))
    kind = SymbolPropagation()
    last = [kind.plan(match) for match in matches(kind, on) if match[kind.assign].symbol == "m"]
    assert last
    assert all(isinstance(plan, Refusal) for plan in last)


def test_refuses_when_the_symbol_changes_before_it_gets_its_value_back():
    body = "let j = 0 let k = j let j = A[0] let j = k state { tasklet () -> (o -> A[k]) { o = j } }"
    refused(body, "'j', of which the value is made, is assigned again later")


def test_refuses_a_mention_outside_of_the_region():
    body = "if c[] > 0 { let k = 1 } state { tasklet () -> (o -> A[k]) { o = 1 } }"
    refused(body, "is mentioned where the assignment may not have run")


def test_refuses_a_mention_in_the_next_iteration():
    body = "loop i = 0:2 { if i > 0 { state { tasklet () -> (o -> A[k]) { o = 1 } } } let k = i }"
    refused(body, "is mentioned where the assignment may not have run")


def test_refuses_a_value_that_would_explode():
    refused("let k = N*N*N*N*N*N*N state { tasklet () -> (o -> A[0]) { o = k * k } }", "too long")


def test_what_was_read_before_a_branch_is_not_read_in_it_again():
    expect(
        SymbolPropagation(),
        on=parse("""
            sdfg @f(A: i64[N], B: i64[N]) symbols(N: size {least = 4}) {
              let k = A[0]
              if k > 1 {
                let j = A[0]
                state { tasklet () -> (o -> B[0]) { o = j + k } }
              }
              loop i = 0:2 {
                let h = A[0]
                state { tasklet () -> (o -> A[0]) { o = h + 1 } }
              }
            }"""),
    ).becomes("""
        sdfg @f(A: i64[N], B: i64[N]) symbols(N: size {least = 4}) {
          let k = A[0]
          if k > 1 { state { tasklet () -> (o -> B[0]) { o = k + k } } }
          loop i = 0:2 {
            let h = A[0]
            state { tasklet () -> (o -> A[0]) { o = h + 1 } }
          }
        }""").same_values(N=[4])
