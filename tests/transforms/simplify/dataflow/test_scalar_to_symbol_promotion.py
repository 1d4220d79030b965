"""ScalarToSymbolPromotion: shape, value, refusal."""

from __future__ import annotations

from dcpy.transforms.api import apply_repeated
from dcpy.transforms.simplify.dataflow.scalar_to_symbol_promotion import ScalarToSymbolPromotion
from tests.support.expect import assert_same_values, expect, parse


def test_a_scalar_computed_from_symbols_becomes_a_symbol():
    expect(
        ScalarToSymbolPromotion(),
        on=parse("""
            sdfg @f(A: f64[N], B: i64[N]) symbols(N: size) {
              data k: i64 transient
              state { tasklet () -> (o -> A[0]) { o = f64(1) }
                      tasklet () -> (o -> k) { t = i64(2) * N; o = t - 1 }
                      tasklet (k <- k, b <- B[0]) -> (o -> B[0]) { o = k + b } }
              if k[] > 3 { let j = k[] - 2 state { tasklet () -> (o -> B[j]) { o = j } } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], B: i64[N]) symbols(N: size) {
          state { tasklet () -> (o -> A[0]) { o = f64(1) } }
          let k = 2*N - 1
          state { tasklet (b <- B[0]) -> (o -> B[0]) { o = k + b } }
          if k > 3 { let j = k - 2 state { tasklet () -> (o -> B[j]) { o = j } } }
        }""").same_values(N=[1])


def test_a_counter_becomes_a_symbol():
    expect(
        ScalarToSymbolPromotion(),
        on=parse("""
            sdfg @f(A: i64[N]) symbols(N: size) {
              data k: i64 transient
              state { tasklet () -> (o -> k) { o = 0 } }
              while k[] < N {
                let j = k[]
                state { tasklet (a <- A[j]) -> (o -> A[j]) { o = a + 1 }
                        tasklet (k <- k) -> (o -> k) { o = k + 1 } }
              }
            }"""),
    ).becomes("""
        sdfg @f(A: i64[N]) symbols(N: size) {
          let k = 0
          while k < N {
            let j = k
            state { tasklet (a <- A[j]) -> (o -> A[j]) { o = a + 1 } }
            let k = k + 1
          }
        }""").same_values(N=[0, 4])


def refused(body: str, reason: str) -> None:
    header = "sdfg @f(A: i64[N], B: i32[N]) symbols(N: size) { "
    expect(ScalarToSymbolPromotion(), on=parse(header + body + " }")).is_refused(reason)


def test_refuses_an_argument():
    refused("state { tasklet () -> (o -> A[0]) { o = 1 } }", "'A' is not a transient of its own")


def test_refuses_a_narrow_integer():
    body = "data k: i32 transient state { tasklet () -> (o -> k) { o = i32(1) } copy k -> B[0] }"
    refused(body, "'k' is not a single int64")


def test_refuses_a_value_from_memory():
    body = """data k: i64 transient state { tasklet (a <- A[0]) -> (o -> k) { o = a }
                                            tasklet (a <- k) -> (o -> A[1]) { o = a } }"""
    refused(body, "is not an exact integer expression over symbols")


def test_refuses_a_reader_that_needs_memory():
    body = "data k: i64 transient state { tasklet () -> (o -> k) { o = 1 } copy k -> A[0] }"
    refused(body, "a copy reads 'k' from memory")


def test_refuses_a_conflict_resolution():
    body = """data k: i64 transient state { tasklet () -> (o -> k (add)) { o = 1 }
                                            tasklet (a <- k) -> (o -> A[0]) { o = a } }"""
    refused(body, "in a way that is no assignment")


def test_refuses_a_reader_that_a_loop_may_leave_without_a_value():
    body = """data k: i64 transient loop i = 0:N { state { tasklet () -> (o -> k) { o = i } } }
              state { tasklet (a <- k) -> (o -> A[0]) { o = a } }"""
    refused(body, "'k' may be read before it is written")
    either = """data k: i64 transient if A[0] > 0 { state { tasklet () -> (o -> k) { o = N } } }"""
    refused(either + " state { tasklet (a <- k) -> (o -> A[0]) { o = a } }", "'k' may be read before it is written")


def test_a_scalar_that_each_branch_writes_becomes_a_symbol():
    text = """sdfg @f(A: i64[N]) symbols(N: size) { data k: i64 transient
      if A[0] > 0 { state { tasklet () -> (o -> k) { o = N } } } else { state { tasklet () -> (o -> k) { o = 1 } } }
      state { tasklet (a <- k) -> (o -> A[0]) { o = a } } }"""
    changed = parse(text)
    assert apply_repeated(changed, ScalarToSymbolPromotion(), check=True) == 1
    assert_same_values(parse(text), changed, {"N": [1, 3]})
