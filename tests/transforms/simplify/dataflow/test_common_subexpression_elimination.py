"""CommonSubexpressionElimination: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy import plugins
from dcpy.transforms.api import apply_repeated, explain
from dcpy.transforms.simplify.dataflow.common_subexpression_elimination import CommonSubexpressionElimination
from tests.support.expect import expect, parse
from tests.support.spent import calls_of

plugins.load()
HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], C: f64[N, M], s: f64[N], k: i64[]) symbols(N: size, M: size)"
DATA = "data t: f64[N, M] transient data u: f64[N, M] transient data p: f64 transient data q: f64 transient"
FIRST = """map i = 0:N, j = 0:M { data x: f64 transient tasklet (a <- A[i, j]) -> (o -> x) { o = a + 1 }
             tasklet (a <- x) -> (o -> t[i, j]) { o = a*a } }"""
SECOND = """map g = 0:N, h = 0:M { data y: f64 transient tasklet (v <- A[g, h]) -> (w -> y) { w = v + 1 }
             tasklet (v <- y) -> (w -> u[g, h]) { w = v*v } }"""
USE = "map e = 0:N, f = 0:M { tasklet (a <- t[e, f], b <- u[e, f]) -> (o -> B[e, f]) { o = a - b*2 } }"


def program(blocks, data=DATA):
    return parse(f"{HEAD} {{ {data} {blocks} }}")


def test_equal_maps_of_one_state():
    expect(CommonSubexpressionElimination(), on=program(f"state {{ {FIRST} {SECOND} {USE} }}")).becomes(
        f"""{HEAD} {{ {DATA.replace("data u: f64[N, M] transient", "")} state {{ {FIRST}
        {USE.replace("u[e, f]", "t[e, f]")} }} }}"""
    ).same_values(N=[0, 2], M=[0, 3])


def test_equal_maps_of_different_states():
    between = "let n = k[] state { map z = 0:N { tasklet () -> (o -> C[z, 0]) { o = f64(n) } } }"
    expect(
        CommonSubexpressionElimination(), on=program(f"state {{ {FIRST} }} {between} state {{ {SECOND} {USE} }}")
    ).becomes(
        f"""{HEAD} {{ {DATA.replace("data u: f64[N, M] transient", "")} state {{ {FIRST} }} {between}
        state {{ {USE.replace("u[e, f]", "t[e, f]")} }} }}"""
    ).same_values(N=[1, 2], M=[1, 3])


def test_tasklets_and_library_nodes():
    on = program("""state { tasklet (a <- s[0]) -> (o -> p) { o = sqrt(a) }
        tasklet (b <- s[0]) -> (r -> q) { r = sqrt(b) }
        tasklet (a <- p, b <- q) -> (o -> s[1]) { o = a + b } }""")
    expect(CommonSubexpressionElimination(), on=on).becomes(f"""{HEAD} {{
        {DATA.replace("data q: f64 transient", "")} state {{ tasklet (a <- s[0]) -> (o -> p) {{ o = sqrt(a) }}
        tasklet (a <- p, b <- p) -> (o -> s[1]) {{ o = a + b }} }} }}""").same_values(N=[2], M=[0])
    rows = "data t: f64[N] transient data u: f64[N] transient"
    on = program(
        """state { reduce (x <- A[0:N, 0:M]) -> (out -> t[0:N]) {axes = (1,)}
        reduce (x <- A[0:N, 0:M]) -> (out -> u[0:N]) {axes = (1,)}
        map z = 0:N { tasklet (a <- t[z], b <- u[z]) -> (o -> s[z]) { o = a*b } } }""",
        rows,
    )
    found = expect(CommonSubexpressionElimination(), on=on)
    assert found.reasons().count("") == 1
    on = program(
        """state { reduce (x <- A[0:N, 0:M]) -> (out -> t[0:N]) {axes = (1,)}
        reduce (x <- A[0:N, 0:M]) -> (out -> u[0:N]) {op = "max", axes = (1,)}
        map z = 0:N { tasklet (a <- t[z], b <- u[z]) -> (o -> s[z]) { o = a*b } } }""",
        rows,
    )
    expect(CommonSubexpressionElimination(), on=on).is_refused("nothing before it computes the same")


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        (f"state {{ {FIRST} {SECOND.replace('v + 1', 'v - 1')} {USE} }}", "nothing before it computes the same"),
        (f"state {{ {FIRST} {SECOND.replace('A[g, h]', 'A[g, M - 1 - h]')} {USE} }}", "nothing before it computes the"),
        (f"state {{ {FIRST} {SECOND.replace('0:N', '1:N')} {USE} }}", "nothing before it computes the same"),
        (
            f"state {{ {FIRST} tasklet () -> (o -> A[0, 0]) {{ o = 1.0 }} {SECOND} {USE} }}",
            "what it reads is written in between",
        ),
        (
            f"state {{ {FIRST} }} loop l = 0:2 {{ state {{ {SECOND} {USE} }} }}",
            "nothing before it computes the same",
        ),
        (f"loop l = 0:2 {{ state {{ {USE} {FIRST} {SECOND} }} }}", "where it has not been computed yet"),
        (f"state {{ {FIRST} {SECOND.replace('u[g, h]', 'C[g, h]')} }}", "'C' must stay in memory"),
        (
            f"state {{ {FIRST} {SECOND} map z = 0:N {{ tasklet () -> (o -> u[z, 0]) {{ o = 1.0 }} }} {USE} }}",
            "'u' is written elsewhere",
        ),
        (f"state {{ {FIRST} {SECOND.replace('-> u[g, h]', '-> u[g, h] (add)')} {USE} }}", "combines values"),
        ("state { tasklet () -> (o -> p) { o = 1.0 } tasklet () -> (o -> q) { o = 1.0 } }", "nothing before it"),
    ],
)
def test_refusals(blocks, reason):
    expect(CommonSubexpressionElimination(), on=program(blocks)).is_refused(reason)


def test_a_symbol_that_changes():
    first = "map i = 0:N { tasklet (a <- A[i, 0]) -> (o -> t[i, 0]) { o = a + f64(n) } }"
    second = "map g = 0:N { tasklet (a <- A[g, 0]) -> (o -> u[g, 0]) { o = a + f64(n) } }"
    use = "map e = 0:N { tasklet (a <- t[e, 0], b <- u[e, 0]) -> (o -> s[e]) { o = a - b } }"
    on = program(f"let n = 1 state {{ {first} }} let n = 2 state {{ {second} {use} }}")
    expect(CommonSubexpressionElimination(), on=on).is_refused("a symbol that it uses changes in between")


def _long(count: int) -> str:
    """`count` different maps over one operand, and all of them again."""
    names = [f"{kind}{number}" for kind in "tu" for number in range(count)]
    data = " ".join(f"data {name}: f64[N] transient" for name in names)
    maps = [f"map i = 0:N {{ tasklet (a <- s[i]) -> (o -> {name}[i]) {{ o = a + {name[1:]} }} }}" for name in names]
    uses = [f"map i = 0:N {{ tasklet (a <- {name}[i]) -> (o -> s[i]) {{ o = a }} }}" for name in names]
    return f"{HEAD} {{ {data} state {{ {' '.join(maps)} }} state {{ {' '.join(uses)} }} }}"


def test_all_repetitions_are_found_however_many_read_an_operand():
    sdfg = parse(_long(100))
    assert apply_repeated(sdfg, CommonSubexpressionElimination) == 100


def test_looking_for_them_is_linear_in_the_program():
    def work(count):
        sdfg = parse(_long(count))
        return calls_of(lambda: explain(sdfg, CommonSubexpressionElimination))

    assert work(200) < 2.1 * work(100)
