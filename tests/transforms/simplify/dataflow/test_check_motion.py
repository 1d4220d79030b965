"""CheckMotion: shape, value, refusal."""

from __future__ import annotations

from dcpy.transforms.simplify.dataflow.check_motion import CheckMotion
from tests.support.expect import expect, parse


def test_checks_go_before_transients_and_are_made_once():
    expect(
        CheckMotion(),
        on=parse("""
            sdfg @f(A: f64[N], B: f64[M]) symbols(N: size, M: size) {
              data t: f64[N] transient
              state { map i = 0:N { tasklet (a <- A[i]) -> (o -> t[i]) { o = a + 1 } } }
              check N < M else ValueError "first"
              state { map j = 0:N { tasklet (a <- t[j]) -> (o -> t[j]) { o = a + 1 } } }
              check M > N else ValueError "the same"
              check N - M != 7 else ValueError "third"
              loop k = 0:N {
                check M - N > 0 else ValueError "still the same"
                state { map l = 0:N { tasklet (a <- t[l]) -> (o -> t[l]) { o = a + 1 } } }
              }
              state { copy t[0:N] -> B[0:N] }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], B: f64[M]) symbols(N: size, M: size) {
          data t: f64[N] transient
          check N < M else ValueError "first"
          check N - M != 7 else ValueError "third"
          state { map i = 0:N { tasklet (a <- A[i]) -> (o -> t[i]) { o = a + 1 } } }
          state { map j = 0:N { tasklet (a <- t[j]) -> (o -> t[j]) { o = a + 1 } } }
          loop k = 0:N {
            state { map l = 0:N { tasklet (a <- t[l]) -> (o -> t[l]) { o = a + 1 } } }
          }
          state { copy t[0:N] -> B[0:N] }
        }""").same_values(N=[0, 3], M=[3, 4])


def test_checks_of_what_is_never_written_are_made_once():
    """A check behind a write of an argument stays where it is, but need not be made when it was made before."""
    expect(
        CheckMotion(),
        on=parse("""
            sdfg @f(A: f64[N], B: f64[N], c: f64) symbols(N: size) {
              check c[] != 0.0 else ZeroDivisionError "division"
              state { map i = 0:N { tasklet (c <- c) -> (o -> A[i]) { o = 1.0 / c } } }
              check c[] != 0.0 else ZeroDivisionError "division"
              loop k = 0:N {
                check c[] != 0.0 else ZeroDivisionError "division"
                check B[k] > c[] else ValueError "small"
                check B[k] > c[] else ValueError "small"
                state { tasklet (c <- c) -> (o -> A[k]) { o = c } }
                check A[k] > 0.0 else ValueError "negative"
                state { tasklet (a <- A[k]) -> (o -> A[k]) { o = a - 1.0 } }
                check A[k] > 0.0 else ValueError "negative"
              }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], B: f64[N], c: f64) symbols(N: size) {
          check c[] != 0.0 else ZeroDivisionError "division"
          state { map i = 0:N { tasklet (c <- c) -> (o -> A[i]) { o = 1.0 / c } } }
          loop k = 0:N {
            check B[k] > c[] else ValueError "small"
            state { tasklet (c <- c) -> (o -> A[k]) { o = c } }
            check A[k] > 0.0 else ValueError "negative"
            state { tasklet (a <- A[k]) -> (o -> A[k]) { o = a - 1.0 } }
            check A[k] > 0.0 else ValueError "negative"
          }
        }""")


def refused(body: str) -> None:
    header = "sdfg @f(A: f64[N], c: f64) symbols(N: size) { data t: f64[N] transient data k: i64 transient "
    expect(CheckMotion(), on=parse(header + body + " }")).is_refused("no check can go further up")


CHECK = 'check N > 1 else ValueError "short"'


def test_a_check_does_not_pass_a_write_of_an_argument():
    refused("state { tasklet () -> (o -> A[0]) { o = f64(1) } }" + CHECK)


def test_a_check_does_not_pass_a_write_through_a_view():
    refused("view v: f64[N - 1] of A[1:N] state { tasklet () -> (o -> v[0]) { o = f64(1) } }" + CHECK)


def test_a_check_does_not_pass_what_it_reads_nor_another_check():
    body = "state { copy A[0:N] -> t[0:N] } check t[0] > 0 else ValueError \"negative\""
    refused(body)
    refused(body + CHECK)


def test_a_check_does_not_pass_what_may_raise_or_leave():
    refused('state { map i = 0:N { check A[i] > 0 else IndexError "i" state { copy A[i] -> t[i] } } }' + CHECK)
    refused("if c[] > 0 { return }" + CHECK)


def test_alternatives_are_the_same_in_any_order():
    expect(
        CheckMotion(),
        on=parse("""
            sdfg @f(A: f64[N]) symbols(N: size, M: i64) {
              check N == M or M == 1 else ValueError "first"
              loop k = 0:N {
                check 1 == M or M == N else ValueError "the same"
                check N == M and M == 1 else ValueError "another one"
                state { map l = 0:N { tasklet (a <- A[l]) -> (o -> A[l]) { o = a + 1 } } }
              }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N]) symbols(N: size, M: i64) {
          check N == M or M == 1 else ValueError "first"
          loop k = 0:N {
            check N == M and M == 1 else ValueError "another one"
            state { map l = 0:N { tasklet (a <- A[l]) -> (o -> A[l]) { o = a + 1 } } }
          }
        }""")


def test_a_check_of_what_changes_is_made_again():
    again = 'check A[0] > 0 else ValueError "A"'
    refused(f"{again} state {{ tasklet () -> (o -> A[0]) {{ o = f64(1) }} }} {again}")
    again = 'check p > 0 else ValueError "p"'
    refused(f"let p = 1 {again} let p = 0 {again}")


def test_a_check_of_one_way_is_made_again_on_the_other():
    refused(f"if c[] > 0 {{ {CHECK} }} {CHECK}")
