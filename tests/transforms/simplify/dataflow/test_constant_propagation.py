"""ConstantPropagation: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.ir.symbolic import Ranges
from dcpy.ir.text import parse_scalar, print_expr
from dcpy.transforms.simplify.dataflow.constant_folding import decide, fold
from dcpy.transforms.simplify.dataflow.constant_propagation import ConstantPropagation
from tests.support.expect import expect, parse


def test_numbers_go_where_they_are_read():
    expect(
        ConstantPropagation(),
        on=parse("""
            sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
              data c: f64 transient
              state { tasklet () -> (o -> c) { o = f64(1) / f64(3) + f64(i64(2)) } }
              state { map i = 0:N { tasklet (a <- A[i], c <- c) -> (o -> B[i]) { o = a * (c + f64(1)) } }
                      copy c -> A[0] }
              if c[] > 5 { return }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
          data c: f64 transient
          state { tasklet () -> (o -> c) { o = 2.3333333333333335 } }
          state { map i = 0:N { tasklet (a <- A[i]) -> (o -> B[i]) { o = a * 3.3333333333333335 } }
                  tasklet () -> (out -> A[0]) { out = 2.3333333333333335 } }
          if false { return }
        }""").same_values(N=[1, 4])


def test_an_array_that_holds_one_number_everywhere_is_one():
    expect(
        ConstantPropagation(),
        on=parse("""
            sdfg @f(B: f64[N]) symbols(N: size) {
              data ones: f64[N] transient
              state { map i = 0:N { tasklet () -> (o -> ones[i]) { o = f64(1) } }
                      map j = 0:N { tasklet (a <- ones[j], b <- B[j]) -> (o -> B[j]) { o = a + b } } }
            }"""),
    ).becomes("""
        sdfg @f(B: f64[N]) symbols(N: size) {
          data ones: f64[N] transient
          state { map i = 0:N { tasklet () -> (o -> ones[i]) { o = f64(1) } }
                  map j = 0:N { tasklet (b <- B[j]) -> (o -> B[j]) { o = f64(1) + b } } }
        }""").same_values(N=[0, 4])


def refused(body: str, reason: str) -> None:
    header = "sdfg @f(A: f64[N], x: f64) symbols(N: size) { data c: f64 transient "
    expect(ConstantPropagation(), on=parse(header + body + " }")).is_refused(reason)


READ = "state { tasklet (a <- c) -> (o -> A[0]) { o = a } }"


def test_refuses_an_argument():
    refused("state { tasklet () -> (o -> A[0]) { o = f64(1) } }", "'A' is not a transient of its own")


def test_refuses_when_other_values_are_written():
    first, second = (f"state {{ tasklet () -> (o -> c) {{ o = f64({n}) }} }}" for n in (1, 2))
    refused(f"{first} if x[] > 0 {{ {second} }} {READ}", "'c' also gets other values")


def test_refuses_a_conflict_resolution():
    body = "state { tasklet () -> (o -> c (add)) { o = f64(1) } }"
    refused(body + READ, "is not a number that is known")


def test_refuses_a_container_that_is_viewed():
    refused("view v: f64 of c state { tasklet () -> (o -> c) { o = f64(1) } }" + READ, "not a transient of its own")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("u8(200) + u8(100)", "u8(44)"),
        ("i64(-7) // i64(2)", "-4"),
        ("i64(-7) % i64(3)", "2"),
        ("f32(0.5) + f32(0.25)", "f32(0.75)"),
        ("i64(1) < i64(2) and true", "true"),
        ("select(false, f64(1), f64(2))", "2.0"),
        ("i32(f64(-2.7))", "i32(-2)"),
        ("sqrt(f64(-1))", "nan"),
        ("max(nan, f64(0))", "nan"),
    ],
)
def test_folds_as_numpy_computes(text, value):
    assert print_expr(fold(parse_scalar(text, {}))) == print_expr(parse_scalar(value, {}))


@pytest.mark.parametrize(
    ("text", "answer"),
    [("N >= 0", True), ("N < 0", False), ("N > 0", None), ("not (N == N + 1)", True), ("N < N + 1 and N != 3", None)],
)
def test_decides_what_sizes_prove(text, answer):
    assert decide(parse_scalar(text, {}, ("N",)), Ranges().bind("N", 0)) is answer


@pytest.mark.parametrize(
    ("text", "most", "answer"),
    [
        ("add_fits(N, 1)", 2**60, True),
        ("add_fits(N, 1)", 2**63 - 2, True),
        ("add_fits(N, 1)", 2**63 - 1, None),
        ("add_fits(N, N)", 2**62, None),
        ("add_fits(N, 1)", None, None),
    ],
)
def test_decides_what_fits_into_an_integer(text, most, answer):
    assert decide(parse_scalar(text, {}, ("N",)), Ranges().bind("N", 0, most)) is answer
