"""BranchValueNumbering: shape, value, refusal."""

import pytest

from dcpy.transforms.simplify.control_flow.branch_value_numbering import BranchValueNumbering
from tests.support.expect import expect, parse

SECOND = """
    if a[] == b[] { state { tasklet (a <- a) -> (o -> y) { o = a - 0.5 } } }
    else { state { tasklet (a <- a) -> (o -> y) { o = a } } }"""


def program(second=SECOND, between="", ahead="", behind=""):
    return parse(f"""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) assumes(N >= 2) {{
          data a: f64 transient
          data b: f64 transient
          data x: f64 transient
          data y: f64 transient
          state {{
            tasklet (i <- A[0]) -> (o -> a) {{ o = i }}
            tasklet (i <- A[1]) -> (o -> b) {{ o = i }}
          }}
          {ahead}
          if a[] == b[] {{ state {{ tasklet (a <- a) -> (o -> x) {{ o = a - 0.5 }} }} }}
          else {{ state {{ tasklet (a <- a) -> (o -> x) {{ o = a }} }} }}
          {between}
          {second}
          state {{ tasklet (x <- x, y <- y) -> (o -> B[0]) {{ o = x * y }} }}
          {behind}
        }}""")


def test_what_was_decided_is_not_decided_again():
    expect(BranchValueNumbering(), on=program()).becomes("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) assumes(N >= 2) {
          data a: f64 transient
          data b: f64 transient
          data x: f64 transient
          state {
            tasklet (i <- A[0]) -> (o -> a) { o = i }
            tasklet (i <- A[1]) -> (o -> b) { o = i }
          }
          if a[] == b[] { state { tasklet (a <- a) -> (o -> x) { o = a - 0.5 } } }
          else { state { tasklet (a <- a) -> (o -> x) { o = a } } }
          state { tasklet (x <- x, y <- x) -> (o -> B[0]) { o = x * y } }
        }""").same_values(N=[2, 3])


def test_a_check_that_was_made_is_not_made_again():
    check = 'if a[] < 0.0 { check false else ValueError "negative" }'
    state = "state { tasklet () -> (o -> y) { o = 3.0 } }"
    expect(BranchValueNumbering(), on=program(second=state, ahead=check, between=check)).applies().same_values(
        N=[2, 3]
    )
    other = 'if a[] < 0.0 { check false else ValueError "below" }'
    expect(BranchValueNumbering(), on=program(second=state, ahead=check, between=other)).is_refused(
        "no branch before it computes the same"
    )


@pytest.mark.parametrize(
    ("on", "why"),
    [
        (program(between="state { tasklet () -> (o -> a) { o = 1.0 } }"), "what it reads is written in between"),
        (program(second=SECOND.replace("a[] == b[]", "a[] <= b[]")), "computes the same"),
        (program(second=SECOND.replace("a - 0.5", "a - 0.25")), "computes the same"),
        (program(second=SECOND.replace("else", "elif a[] < 1.0")), "computes the same"),
        (program(behind="state { tasklet () -> (o -> y) { o = 1.0 } }"), "'y' holds values from elsewhere"),
        (program(second=SECOND.replace("-> y", "-> B[1]")), "'B' is no scalar of its own"),
        (program(second=SECOND.replace("(a <- a) -> (o -> y) { o = a }", "(b <- y) -> (o -> y) { o = b }")), "from"),
        (program(ahead="state { tasklet (y <- y) -> (o -> B[1]) { o = y } }"), "where it has not been computed yet"),
    ],
)
def test_what_differs_is_refused(on, why):
    expect(BranchValueNumbering(), on=on).is_refused(why)


def test_scalars_that_live_longer_are_refused():
    """Where no case is taken, `x` is new in each iteration, and `y` is what the last one has left."""
    on = parse("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
          data y: f64 transient
          loop i = 0:N {
            data x: f64 transient
            if A[i] > 0.0 { state { tasklet (a <- A[i]) -> (o -> x) { o = a } } }
            if A[i] > 0.0 { state { tasklet (a <- A[i]) -> (o -> y) { o = a } } }
            if A[i] > 1.0 { state { tasklet (x <- x, y <- y) -> (o -> B[i]) { o = x * y } } }
          }
        }""")
    expect(BranchValueNumbering(), on=on).is_refused("computes the same")


def test_an_iteration_that_leaves_in_between_is_refused():
    """It fills `x` alone, and the next one may read what it has left of `x`, and what another one has left of `y`."""
    on = parse("""
        sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size) {
          data x: f64 transient
          data y: f64 transient
          loop i = 0:N {
            if A[i] > 0.0 { state { tasklet (b <- B[i]) -> (o -> x) { o = b } } }
            if B[i] > 0.5 { continue }
            if A[i] > 0.0 { state { tasklet (b <- B[i]) -> (o -> y) { o = b } } }
            state { tasklet (x <- x, y <- y) -> (o -> C[i]) { o = x + y } }
          }
        }""")
    expect(BranchValueNumbering(), on=on).is_refused("may leave before it")
