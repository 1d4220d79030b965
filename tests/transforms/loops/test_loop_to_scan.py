"""LoopToScan: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy import plugins
from dcpy.transforms.loops.loop_to_scan import LoopToScan
from tests.support.expect import expect, parse

plugins.load()
HEAD = """sdfg @f(x: f64[N], y: f64[N], k: i64[N], A: f64[N, M], B: f64[N, M], s: f64[])
    symbols(N: size, M: size)"""


def program(body):
    return parse(f"{HEAD} {{ {body} }}")


def becomes(body, after, **values):
    expect(LoopToScan(), on=program(body)).becomes(f"{HEAD} {{ {after} }}").same_values(**values)


def loop(code="a + b", out="x[i]", before="x[i - 1]", value="y[i]", values="1:N"):
    return f"loop i = {values} {{ state {{ tasklet (a <- {before}, b <- {value}) -> (o -> {out}) {{ o = {code} }} }} }}"


def test_what_was_copied_is_read_where_it_was():
    becomes(
        f"state {{ copy y[0:N] -> x[0:N] }} {loop(value='x[i]')}",
        "state { scan (x <- y[0:N]) -> (out -> x[0:N]) }",
        N=[0, 1, 70], M=[0],
    )  # fmt: skip


def test_what_was_computed_is_read_from_an_array_of_its_own():
    becomes(
        f"state {{ map j = 0:N {{ tasklet (a <- y[j]) -> (o -> x[j]) {{ o = sqrt(a * a) }} }} }} {loop(value='x[i]')}",
        """data values: f64[N] transient
           state { map j = 0:N { tasklet (a <- y[j]) -> (o -> values[j]) { o = sqrt(a * a) } } }
           state { scan (x <- values[0:N]) -> (out -> x[0:N]) }""",
        N=[0, 1, 70], M=[0],
    )  # fmt: skip


def test_what_was_converted_once_is_read_where_it_was():
    def body(code):
        return f"state {{ map j = 0:N {{ tasklet (a <- k[j]) -> (o -> x[j]) {{ o = {code} }} }} }} {loop(value='x[i]')}"

    after = "state { scan (x <- k[0:N]) -> (out -> x[0:N]) }"
    becomes(body("f64(a)"), after, N=[0, 1, 70], M=[0])
    becomes(
        body("f64(i8(a))"),
        """data values: f64[N] transient
           state { map j = 0:N { tasklet (a <- k[j]) -> (o -> values[j]) { o = f64(i8(a)) } } }
           state { scan (x <- values[0:N]) -> (out -> x[0:N]) }""",
        N=[70], M=[0],
    )  # fmt: skip


def test_what_stands_in_front_is_an_operand_of_its_own():
    becomes(
        loop(),
        "if N - 1 > 0 { state { scan (x <- y[1:N], initial <- x[0]) -> (out -> x[1:N]) } }",
        N=[0, 1, 2, 70], M=[0],
    )  # fmt: skip


def test_values_that_are_expressions_are_computed_first():
    becomes(
        loop("max(a, b * b + float64(i))").replace("float64", "f64"),
        """data values: f64[N - 1] transient
           state { map i = 1:N { tasklet (b <- y[i]) -> (o -> values[i - 1]) { o = b * b + f64(i) } } }
           if N - 1 > 0 { state { scan (x <- values[0:N - 1], initial <- x[0]) -> (out -> x[1:N]) {op = "max"} } }""",
        N=[0, 1, 70], M=[0],
    )  # fmt: skip


@pytest.mark.parametrize(("out", "before", "values", "axis"), [
    ("A[j, i]", "A[j, i - 1]", "1:M", 1), ("A[i, j]", "A[i - 1, j]", "1:N", 0)
])  # fmt: skip
def test_lines(out, before, values, axis):
    others = "0:N" if axis else "0:M"
    first, window = ("A[0:N, 0]", "A[0:N, 1:M]") if axis else ("A[0, 0:M]", "A[1:N, 0:M]")
    body = f"""loop i = {values} {{ state {{ map j = {others} {{
        tasklet (a <- {before}, b <- B[{out[2:]}) -> (o -> {out}) {{ o = b * a }} }} }} }}"""
    becomes(
        body,
        f"""if {values[2:]} - 1 > 0 {{ state {{
              scan (x <- B{window[1:]}, initial <- {first}) -> (out -> {window}) {{op = "mul", axis = {axis}}} }} }}""",
        N=[0, 1, 5], M=[0, 1, 4],
    )  # fmt: skip


def test_an_accumulator_stands_for_the_element_before():
    body = "loop i = 0:N { state { tasklet (a <- s, b <- y[i]) -> (o -> s) { o = a + b }  %s } }"
    becomes(
        body % "tasklet (a <- s) -> (o -> x[i]) { o = a }",
        """if N > 0 { state { scan (x <- y[0:N], initial <- s[]) -> (out -> x[0:N])
             tasklet (a <- x[N - 1]) -> (o -> s) { o = a } } }""",
        N=[0, 1, 70], M=[0],
    )  # fmt: skip
    nowhere = program(body % "tasklet (a <- s) -> (o -> s) { o = a }")
    expect(LoopToScan(), on=nowhere).is_refused("s may be what it accumulates in")


def test_values_that_are_written_later_in_the_same_iteration():
    """x[i] in an expression is what was there before the loop."""
    found = expect(LoopToScan(), on=program(loop("a + b * 2.0", value="x[i]")))
    assert found.reasons() == [""]
    found.same_values(N=[0, 1, 9], M=[0])


def test_more_than_one_loop():
    sdfg = program(loop() + loop(values="2:N", out="k[i]", before="k[i - 1]", value="k[i]"))
    found = expect(LoopToScan(), on=sdfg)
    assert found.reasons() == ["", ""]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (loop(values="1:N:2"), "its counter goes in steps of 2"),
        (loop(values="1:60"), "it has 59 iterations"),
        (loop("a - b"), "by an operation that is associative"),
        (loop("a + b * a"), "neither operand is the element before"),
        (loop(before="x[i - 2]", values="2:N"), "neither operand is the element before"),
        (loop(value="x[i - 1]"), "may be what it has written"),
        (loop(value="x[N - i]"), "may be what it has written"),
        (loop(out="x[2 * i]", before="x[2 * i - 2]"), "is not one element for each value of its counter"),
        (loop(out="A[i, i]", before="A[i - 1, i - 1]"), "is not one element for each value of its counter"),
        (f"loop t = 0:3 {{ {loop(out='x[t]', before='x[t]')} }}", "is not one element for each value of its counter"),
        ("loop i = 1:N { state { copy x[i - 1:i] -> x[i:i + 1] } }", "it is not one expression"),
        ("loop i = 1:N { let q = k[i]  state { } }", "it is not one map or tasklet"),
        ("""loop i = 1:N { state { map j = 0:i {
              tasklet (a <- A[i - 1, j], b <- B[i, j]) -> (o -> A[i, j]) { o = a + b } } } }""",
         "depend on its counter"),
        (f"state {{ map j = 0:N {{ {loop(out='A[j, i]', before='A[j, i - 1]')} }} }}", "each thread of a map runs it"),
        ("""loop i = 0:N { state { tasklet (a <- s, b <- y[i]) -> (o -> s) { o = a + b }
              tasklet (a <- s, b <- y[i]) -> (o -> x[i]) { o = a + b } } }""", "does not keep what the first one"),
    ],
)  # fmt: skip
def test_refuses(body, reason):
    expect(LoopToScan(), on=program(body)).is_refused(reason)


def test_arguments_that_may_overlap_are_refused():
    text = HEAD.replace("x: f64[N], y: f64[N]", "x: f64[N] alias x, y: f64[N] alias x")
    expect(LoopToScan(), on=parse(f"{text} {{ {loop()} }}")).is_refused("may be what it has written")


def test_float16_is_rounded_in_each_step():
    sdfg = parse(f"sdfg @f(x: f16[N], y: f16[N]) symbols(N: size) {{ {loop()} }}")
    expect(LoopToScan(), on=sdfg).is_refused("f16 is rounded in each step")


def test_complex_extrema_have_no_order():
    sdfg = parse(f"sdfg @f(x: c128[N], y: c128[N]) symbols(N: size) {{ {loop('max(a, b)')} }}")
    expect(LoopToScan(), on=sdfg).is_refused("max of c128 is not associative")
