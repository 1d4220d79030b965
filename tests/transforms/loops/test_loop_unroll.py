"""LoopUnroll: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.loops.loop_unroll import LoopUnroll
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], s: f64[]) symbols(N: size)"
ADD = "state {{ tasklet (a <- A[{0}], b <- s) -> (o -> s) {{ o = 2.0*b + a }} }}"


def program(blocks):
    return parse(f"{HEAD} {{ {blocks} }}")


def test_writes_out_every_iteration():
    expect(LoopUnroll(), on=program(f"loop i = 1:6:2 {{ {ADD.format('i')} }}")).becomes(
        f"{HEAD} {{ {ADD.format('1')} {ADD.format('3')} {ADD.format('5')} }}"
    ).same_values(N=[6, 9])


def test_writes_out_a_loop_that_goes_down():
    expect(LoopUnroll(), on=program(f"loop i = 2:-1:-1 {{ {ADD.format('i')} }}")).becomes(
        f"{HEAD} {{ {ADD.format('2')} {ADD.format('1')} {ADD.format('0')} }}"
    ).same_values(N=[3])


def test_a_loop_without_iterations_goes():
    expect(LoopUnroll(), on=program(f"loop i = 3:0 {{ {ADD.format('i')} }} {ADD.format('0')}")).becomes(
        f"{HEAD} {{ {ADD.format('0')} }}"
    ).same_values(N=[3])


def test_a_transient_that_gets_a_negative_size_is_empty():
    body = """if 1 - {0} >= 0 {{ data t: f64[1 - {0}] transient state {{ map j = 0:1 - {0} {{
        tasklet (a <- A[j + {0}]) -> (o -> t[j]) {{ o = a }} }} map k = 0:1 - {0} {{
        tasklet (a <- t[k]) -> (o -> A[k]) {{ o = 2.0*a }} }} }} }}"""
    expect(LoopUnroll(), on=program(f"loop i = 0:4 {{ {body.format('i')} }}")).same_values(N=[1, 3])


def test_writes_out_a_tile():
    before = program(f"loop t = 0:N - 1:2 {{ loop i = t:t + 2 {{ {ADD.format('i')} }} }}")
    expect(LoopUnroll(), on=before, loop="i").becomes(
        f"{HEAD} {{ loop t = 0:N - 1:2 {{ {ADD.format('t')} {ADD.format('t + 1')} }} }}"
    ).same_values(N=[0, 2, 6])


def test_each_copy_has_containers_and_loops_of_its_own():
    body = """data {1}: f64 transient
      state {{ tasklet (a <- A[{0}]) -> (o -> {1}) {{ o = a }} }}
      loop {2} = 0:{0} {{ state {{ tasklet (a <- {1}, b <- s) -> (o -> s) {{ o = 2.0*b + a }} }} }}"""
    expanded = [
        part.partition("transient")
        for part in (body.format("1", "t_1", "k_1"), body.format("2", "t_2", "k_2"), body.format("3", "t", "k"))
    ]
    expect(LoopUnroll(), on=program(f"loop i = 1:4 {{ {body.format('i', 't', 'k')} }}"), loop="i").becomes(
        f"{HEAD} {{ {' '.join(head + word for head, word, _ in expanded)} {''.join(rest for *_, rest in expanded)} }}"
    ).same_values(N=[4])


def test_each_copy_has_symbols_of_its_own():
    before = program(f"loop i = 0:2 {{ let k = select(s[] > 0.0, i, 0) {ADD.format('k')} }}")
    expectation = expect(LoopUnroll(), on=before, loop="i")
    expectation.becomes(
        f"{HEAD} {{ let k_1 = select(s[] > 0.0, index(0), 0) {ADD.format('k_1')}"
        f" let k = select(s[] > 0.0, index(1), 0) {ADD.format('k')} }}"
    ).same_values(N=[2])


@pytest.mark.parametrize("factor", [2, 3, 5])
@pytest.mark.parametrize("values", ["0:N", "N - 1:-1:-1", "1:N:2", "N - 1:0:-3"])
def test_groups_and_the_rest(values, factor):
    expectation = expect(LoopUnroll(factor=factor), on=program(f"loop i = {values} {{ {ADD.format('i')} }}"), loop="i")
    expectation.becomes(_unrolled(values, factor)).same_values(N=list(range(12)))


def _unrolled(values, factor):
    start, _, step = [*values.split(":"), "1"][:3]
    step = int(step)
    size = {2: "max(0, -((1 - N) // 2))", -3: "max(0, -((1 - N) // 3))"}.get(step, "N")
    middle = f"{start} + ({size}) // {factor} * {factor} * ({step})"
    stop = values.split(":")[1]
    copies = " ".join(ADD.format(f"i + {step * number}") for number in range(factor))
    return f"""{HEAD} {{ loop i = {start}:{middle}:{step * factor} {{ {copies} }}
               loop i_1 = {middle}:{stop}:{step} {{ {ADD.format("i_1")} }} }}"""


def test_no_rest_where_the_factor_divides():
    before = parse(f"sdfg @f(A: f64[4*N], s: f64[]) symbols(N: size) {{ loop i = 0:4*N {{ {ADD.format('i')} }} }}")
    expect(LoopUnroll(factor=2), on=before).becomes(
        "sdfg @f(A: f64[4*N], s: f64[]) symbols(N: size)"
        f" {{ loop i = 0:4*N:2 {{ {ADD.format('i')} {ADD.format('i + 1')} }} }}"
    ).same_values(N=[0, 1, 2])


REFUSALS = {
    "the number of iterations, N, is not known before the run": (LoopUnroll(), f"loop i = 0:N {{ {ADD.format('i')} }}"),
    "it has 100 iterations": (LoopUnroll(), f"loop i = 0:100 {{ {ADD.format('0')} }}"),
    "groups of 1 iterations": (LoopUnroll(factor=1), f"loop i = 0:N {{ {ADD.format('i')} }}"),
    "the step N of 'i' is not a number": (LoopUnroll(factor=2), f"loop i = 0:N:N {{ {ADD.format('i')} }}"),
    "a break inside leaves an iteration": (
        LoopUnroll(factor=2),
        f"loop i = 0:N {{ if s[] > 1.0 {{ break }} {ADD.format('i')} }}",
    ),
    "a continue inside leaves an iteration": (
        LoopUnroll(),
        f"loop i = 0:3 {{ if s[] > 1.0 {{ continue }} {ADD.format('i')} }}",
    ),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    transformation, blocks = REFUSALS[reason]
    expect(transformation, on=program(blocks)).is_refused(reason)


def test_a_return_is_written_out():
    before = program(f"loop i = 0:2 {{ {ADD.format('i')} if s[] > 1.0 {{ return }} }}")
    expect(LoopUnroll(), on=before, loop="i").becomes(
        f"{HEAD} {{ {ADD.format('0')} if s[] > 1.0 {{ return }} {ADD.format('1')} if s[] > 1.0 {{ return }} }}"
    ).same_values(N=[2, 3])
