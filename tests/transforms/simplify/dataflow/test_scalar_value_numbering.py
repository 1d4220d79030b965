"""ScalarValueNumbering: shape, value, refusal."""

import pytest

from dcpy.transforms.simplify.dataflow.scalar_value_numbering import ScalarValueNumbering
from tests.support.expect import expect, parse


def program(body, after=""):
    return parse(f"""
        sdfg @f(A: i64[N], B: i64[N]) symbols(N: size) {{
          data n: i64 transient
          data m: i64 transient
          state {{ tasklet () -> (a -> n, b -> m) {{ a = N; b = N }} }}
          loop i = 0:3 {{ {body} }}
          {after}
        }}""")


USES = "state { tasklet (a <- m) -> (o -> A[0]) { o = a } }"
LEAVE = "if j < 2 { state { tasklet () -> (o -> n) { o = k } } break }"
LESS = "state { tasklet () -> (a -> n, b -> m) { a = k - 1; b = k - 1 } }"


def test_scalars_that_are_written_together_are_one():
    expect(
        ScalarValueNumbering(),
        on=program(f"let k = n[] let j = m[] {LEAVE} {LESS}", USES),
    ).becomes(f"""
        sdfg @f(A: i64[N], B: i64[N]) symbols(N: size) {{
          data n: i64 transient
          data m: i64 transient
          state {{ tasklet () -> (a -> n, b -> m) {{ a = N; b = N }} }}
          loop i = 0:3 {{
            let k = n[]
            let j = n[]
            {LEAVE}
            {LESS}
          }}
          {USES.replace("<- m", "<- n")}
        }}""").same_values(N=[1, 2, 9])


UNLIKE = {
    "given different values": "let k = n[] state { tasklet () -> (a -> n, b -> m) { a = k - 1; b = k - 2 } }",
    "'n' and 'm' are given": "let k = n[] state { tasklet () -> (o -> m) { o = k } }",  # the other one's value
    "'m' are given different": "let k = A[0] state { tasklet () -> (o -> n) { o = k } }",
    "and 'm' are given different": f"let k = n[] {LESS} state {{ tasklet () -> (o -> n) {{ o = k }} }}",
    "by the iterations of a map": "state { map j = 0:1 { tasklet () -> (a -> n, b -> m) { a = 1; b = 1 } } }",
    "a copy writes 'm'": "state { copy A[0] -> m }",
}


@pytest.mark.parametrize(("reason", "body"), UNLIKE.items(), ids=UNLIKE)
def test_scalars_that_may_differ_are_two(reason, body):
    expect(ScalarValueNumbering(), on=program(body, USES)).is_refused(reason)


def test_what_nobody_reads_stays():
    expect(ScalarValueNumbering(), on=program(LESS.replace("k - 1", "i"))).is_refused("'m' is never read")


def test_scalars_of_two_dtypes_are_two():
    expect(
        ScalarValueNumbering(),
        on=parse("""
            sdfg @f(A: i64[N]) symbols(N: size) {
              data n: i64 transient
              data m: i32 transient
              state {
                tasklet () -> (a -> n, b -> m) { a = N; b = N }
                tasklet (x <- m) -> (o -> A[0]) { o = i64(x) }
              }
            }"""),
    ).is_refused("differ in dtype")
