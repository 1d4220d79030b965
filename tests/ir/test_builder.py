"""SDFGs written by hand: Python calls in, text out."""

from __future__ import annotations

import doctest
import textwrap

import numpy as np
import pytest

from dcpy.base.errors import InvalidSdfg, ParseError
from dcpy.ir.building import builder
from dcpy.ir.building.builder import Out, SdfgBuilder
from dcpy.ir.schedules import PARALLEL
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.types import float32, float64, int32, int64


def text_of(b: SdfgBuilder) -> str:
    text = print_sdfg(b.sdfg)
    assert print_sdfg(parse_sdfg(text)) == text
    return text


def dedent(text: str) -> str:
    return textwrap.dedent(text).strip()


def test_the_example_of_the_docstring_runs():
    assert doctest.testmod(builder).failed == 0


def test_every_kind_of_node():
    callee = SdfgBuilder("scale")
    m = callee.size("M")
    data, factor = callee.array("data", float64, (m,)), callee.scalar("factor", float64)
    with callee.map(i=m) as (i,):
        callee.tasklet("o = a * f", a=data[i], f=factor, o=Out(data[i]))

    b = SdfgBuilder("all")
    n = b.size("N")
    x, a = b.array("x", float64, (n,)), b.scalar("a", float64)
    total = b.returns(float64)
    parts = b.transient("parts", float64, (n, 2))
    work = b.stream("work", float64, capacity=8)
    with b.state("first"):
        b.copy(x[1:], parts[: n - 1, 1])
        b.call(callee.sdfg, data=x[0:3], factor=a)
        with b.map(PARALLEL, i=n, j=(0, 4, 2)) as (i, _):
            local = b.transient("local", float64)
            b.tasklet("t = a + f64(i); o = t * t", "square", a=x[i], o=Out(local))
            b.tasklet("o = a", a=local, o=Out(total, wcr="add"))
    with b.dataflow():
        with b.process("fill", p=1) as (p,):
            b.copy(x[p], work)
        with b.process("drain", endless=True):
            b.copy(work, total)
    assert text_of(b) == dedent("""
        sdfg @all(x: f64[N], a: f64) symbols(N: size) -> (__return: scalar) {
          data __return: f64[]
          data parts: f64[N, 2] transient
          stream work: f64 capacity 8 transient
          state first {
            copy x[1:N] -> parts[0:N - 1, 1]
            call @scale (data = x[0:3], factor = a) with (M = 3)
            map i = 0:N, j = 0:4:2 @parallel {
              data local: f64 transient
              tasklet square (a <- x[i]) -> (o -> local) { t = a + f64(i); o = t * t }
              tasklet (a <- local) -> (o -> __return (add)) { o = a }
            }
          }
          dataflow {
            process fill p = 0:1 {
              state {
                copy x[p] -> work
              }
            }
            process drain endless {
              state {
                copy work -> __return
              }
            }
          }
        }

        sdfg @scale(data: f64[M], factor: f64) symbols(M: size) {
          state {
            map i = 0:M {
              tasklet (a <- data[i], f <- factor) -> (o -> data[i]) { o = a * f }
            }
          }
        }""")


def test_every_kind_of_block():
    b = SdfgBuilder("flow")
    n, steps = b.size("N"), b.symbol("steps")
    x = b.array("x", float64, (n,))
    b.array("idx", int32, (n,))
    with b.loop(t=(1, steps)):
        k = b.assign("k", "wrap(i64(idx[t]), N)")
        b.check("k < N and x[k] >= 0.0", "ValueError", "x[{0}] is bad", "k")
        cases = b.branch()
        with cases.case("x[k] > 1.0"):
            b.break_()
        with cases.case("x[k] > 0.5"):
            b.copy(x[k], x[0])
            b.continue_()
        with cases.otherwise():
            b.return_()
    with b.while_("x[0] < 3"):
        pass
    assert text_of(b) == dedent("""
        sdfg @flow(steps, x: f64[N], idx: i32[N]) symbols(N: size, steps: i64) {
          loop t = 1:steps {
            let k = wrap(i64(idx[t]), N, 0)
            check k < N and x[k] >= 0.0 else ValueError "x[{0}] is bad" (k)
            if x[k] > 1.0 {
              break
            } elif x[k] > 0.5 {
              state {
                copy x[k] -> x[0]
              }
              continue
            } else {
              return
            }
          }
          while x[0] < 3.0 { }
        }""")


def test_views_and_results():
    b = SdfgBuilder("views")
    n = b.size("N")
    x = b.array("x", float32, (n, n), order="F")
    p = b.array("p", float32, (3,))
    row = b.view("row", x[2, 1:])
    flipped = b.view("flipped", x, axes=(1, 0))
    y = b.returns(float32, (n,))
    flat = b.reshape("flat", y, (n, 1))
    b.copy(p[0], flat[0, 0])
    b.result(x)
    b.result(row)
    b.result(None)
    count = b.returns(int64, python=True)
    assert (flipped.shape, count.name) == ((n, n), "__return_1")
    assert text_of(b) == dedent("""
        sdfg @views(x: f32[N, N] strides (1, N), p: f32[3]) symbols(N: size) \
-> (__return: array, x: argument, row: view, constant = none, __return_1: python) {
          view row: f32[N - 1] of x[2, 1:N]
          view flipped: f32[N, N] of x[0:N, 0:N] axes (1, 0)
          data __return: f32[N]
          view flat: f32[N, 1] of __return
          data __return_1: i64[]
          state {
            copy p[0] -> flat[0, 0]
          }
        }""")


def test_a_name_that_is_taken_gets_a_number():
    b = SdfgBuilder("twice")
    x = b.array("x", float64, (4,))
    for _ in range(2):
        with b.map(i=4) as (i,):
            t = b.transient("t", float64)
            b.tasklet("o = a + f64(i + 1)", a=x[i], o=Out(t))
    assert (str(i), t.name) == ("i_1", "t_1")
    assert "tasklet (a <- x[i_1]) -> (o -> t_1) { o = a + f64(i_1 + 1) }" in text_of(b)


def test_dtypes_may_be_those_of_numpy():
    b = SdfgBuilder("n")
    x = b.array("x", np.float32, (4,))
    b.scalar("a", "int16")
    assert x.dtype == float32
    with pytest.raises(InvalidSdfg, match="is no dtype that dcpy has"):
        b.scalar("s", object)


def refused(write):
    b = SdfgBuilder("bad")
    x = b.array("x", float64, (4, 4))
    with pytest.raises((InvalidSdfg, ParseError)) as caught:
        write(b, x)
    return caught.value.message


def test_refusals():
    assert refused(lambda b, x: x[-1]) == "x[-1] counts from the end, which a memlet never does"
    assert refused(lambda b, x: x[0, 0, 0]) == "'x' has 2 dimensions, not 3"
    assert refused(lambda b, x: b.tasklet("o = 1", o=x[0, 0])) == "'o' is assigned in 'o = 1'"
    assert refused(lambda b, x: b.tasklet("t = 1", o=Out(x[0, 0]))) == "'t = 1' does not assign the output 'o'"
    assert refused(lambda b, x: b.tasklet("o = q", o=Out(x[0, 0]))).startswith("'q' is no connector")
    assert refused(lambda b, x: b.result(b.transient("t", float64))) == "'t' is a temporary"
    assert refused(lambda b, x: b.assign("x", 3)) == "'x' is the name of something else in 'bad'"
    assert refused(lambda b, x: b.array("x", float64, ())) == "'x' is declared twice in 'bad'"
    callee = SdfgBuilder("callee")
    callee.symbol("k")
    assert refused(lambda b, x: b.call(callee.sdfg)) == "the call of 'callee' gives no value for k"


def test_a_block_does_not_go_into_a_state():
    b = SdfgBuilder("bad")
    with pytest.raises(InvalidSdfg, match="a break does not go into a state"), b.state():
        b.break_()


def test_symbols_carry_assumptions():
    b = SdfgBuilder("f")
    b.array("A", float64, (b.size("N"),))
    b.assume("N", least=1, multiple_of=4)
    b.assume("N", most=64, multiple_of=8)
    assert "symbols(N: size{least = 1, most = 64, multiple_of = 8})" in print_sdfg(b.sdfg)
