"""CopyToMove: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.cpu.copy_to_move import CopyToMove
from tests.support.expect import expect, parse

_LAST = """
    sdfg @f(x: f64[N], y: f64[N], T) symbols(N: size, T: i64) {{
      data u: f64[N] transient
      state {{ copy x[0:N] -> u[0:N] }}
      loop t = 0:T {{
        data new: f64[N] transient
        state {{
          map i = 0:N {{ tasklet (a <- u[N - 1 - i]) -> (o -> new[i]) {{ o = a + 1.0 }} }}
          {copy}
          {behind}
        }}
      }}
      state {{ copy u[0:N] -> y[0:N] }}
    }}"""


def last(copy="copy new[0:N] -> u[0:N]", behind=""):
    return _LAST.format(copy=copy, behind=behind)


def test_the_last_copy_of_an_iterations_own_array():
    after = last("move new[0:N] -> u[0:N]")
    expect(CopyToMove(), on=parse(last())).becomes(after).same_values(N=[0, 1, 5], T=[0, 1, 4])


_FIRST = """
    sdfg @f(x: f64[N], y: f64[N], T) symbols(N: size, T: i64) {{
      data u: f64[N] transient
      state {{ copy x[0:N] -> u[0:N] }}
      loop t = 0:T {{
        data before: f64[N] transient
        state {{
          {copy} u[0:N] -> before[0:N]
          map i = 0:{stop} {{
            tasklet (a <- before[N - 1 - i], b <- {own}[i]) -> (o -> u[i]) {{ o = a - b }}
          }}
          {behind}
        }}
      }}
      state {{ copy u[0:N] -> y[0:N] }}
    }}"""


def first(copy="copy", own="u", stop="N", behind=""):
    return _FIRST.format(copy=copy, own=own, stop=stop, behind=behind)


def test_the_copy_of_an_array_that_is_stored_again():
    after = first("move", own="before")
    expect(CopyToMove(), on=parse(first())).becomes(after).same_values(N=[0, 1, 5], T=[0, 1, 4])


def test_what_is_read_later_is_the_new_value():
    behind = "copy u[0:N] -> y[0:N]"
    after = first("move", own="before", behind=behind)
    expect(CopyToMove(), on=parse(first(behind=behind))).becomes(after).same_values(N=[0, 1, 5], T=[0, 1, 4])


_ARGUMENT = """
    sdfg @f(u: f64[N], k: i64[1], T) symbols(N: size, T: i64) {
      loop t = 0:T {
        data new: f64[N] transient
        %s
        state {
          map i = 0:N { tasklet (a <- u[N - 1 - i]) -> (o -> new[i]) { o = a + 1.0 } }
          copy new[0:N] -> u[0:N]
        }
      }
    }"""


def test_an_argument_where_nothing_raises():
    expect(CopyToMove(), on=parse(_ARGUMENT % "")).applies().same_values(N=[0, 1, 5], T=[0, 1, 4])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (last("copy new[0:N - 1] -> u[0:N - 1]"), "does not copy all"),
        (last(behind="copy new[0:N - 1] -> y[0:N - 1]"), "'new' is accessed again"),
        (first(stop="N - 1"), "'u' is not stored again, as a whole"),
        (first(behind="copy x[0:N] -> before[0:N]"), "'before' is stored to"),
        (_ARGUMENT % 'check k[0] > 0 else ValueError "k"', "the caller sees 'u'"),
        ("sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) { copy x[0:N] -> y[0:N] }", "in an iteration"),
    ],
)
def test_refusals(text, reason):
    expect(CopyToMove(), on=parse(text)).is_refused(reason)
