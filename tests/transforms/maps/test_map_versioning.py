"""MapVersioning: shape, value, refusal. S-2: operands whose sizes the program computes are loaded by vectors."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.options import resolve_options
from dcpy.ir.nodes import Map
from dcpy.ir.symbolic import parse_expr
from dcpy.ir.symbolic.function_terms import arguments_of, functions_in, replaced
from dcpy.transforms.maps.map_versioning import MapVersioning
from tests.support.expect import expect, parse

HEAD = "sdfg @f(a: f64[N], b: f64[M], c: f64[N]) symbols(N: size, M: size)"
FAST = "tasklet (x <- a[i_1], y <- b[i_1]) -> (o -> c[i_1]) { o = x + y }"
ADD = "tasklet (x <- a[i], y <- b[min(i, n - 1)]) -> (o -> c[i]) { o = x + y }"


def program(body, head=HEAD):
    return parse(f"{head} {{ {body} }}")


def test_what_may_be_one_element_is_read_without_asking_where_it_is_none():
    expect(MapVersioning(), on=program(f"let n = M state {{ map i = 0:N {{ {ADD} }} }}")).becomes(
        f"""{HEAD} {{ let n = M
          if N <= n {{ state {{ map i_1 = 0:N {{ {FAST} }} }} }}
          else {{ state {{ map i = 0:N {{ {ADD} }} }} }} }}"""
    ).same_values(N=[0, 1, 4], M=[1, 4, 5])


def test_neighbours_stay_before_and_behind():
    text = f"""let n = M state {{ tasklet (x <- b[0]) -> (o -> a[0]) {{ o = x }} map i = 0:N {{ {ADD} }}
               tasklet (x <- c[0]) -> (o -> b[0]) {{ o = x }} }}"""
    expect(MapVersioning(), on=program(text)).becomes(
        f"""{HEAD} {{ let n = M
          state {{ tasklet (x <- b[0]) -> (o -> a[0]) {{ o = x }} }}
          if N <= n {{ state {{ map i_1 = 0:N {{ {FAST} }} }} }}
          else {{ state {{ map i = 0:N {{ {ADD} }} }} }}
          state {{ tasklet (x <- c[0]) -> (o -> b[0]) {{ o = x }} }} }}"""
    ).same_values(N=[1, 4], M=[1, 4])


def test_each_operand_has_its_own_condition():
    text = """let n = M state { map i = 0:N, j = 0:n {
        tasklet (x <- a[min(N - 1, i)], y <- b[min(j, n - 1)], z <- b[2*min(i, n - 1)]) -> (o -> c[i] (add)) {
          o = x + y*z } } }"""
    sdfg = program(text, HEAD.replace("b: f64[M]", "b: f64[2*M]"))
    driver.apply_repeated(sdfg, MapVersioning)
    fast, slow = [node for node in sdfg.body.walk_nodes() if isinstance(node, Map)]
    read = [str(memlet) for memlet in next(fast.body.walk_nodes()).reads()]
    assert read == ["a[i_1]", "b[j_1]", "b[2*i_1]"]
    assert "min" in str(next(slow.body.walk_nodes()).reads()[0])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("state { map i = 0:N { tasklet (x <- b[min(i, M - 1)]) -> (o -> c[i]) { o = x } } }",
         "all sizes are known at the entry"),
        ("let n = M state { map i = 0:N { tasklet (x <- b[min(i, M - 1)]) -> (o -> c[i]) { o = x } } }",
         "no index in it depends on how a computed size compares with another one"),
        ("let n = M state { map i = 0:N { tasklet (x <- b[min(i*i, n - 1)]) -> (o -> c[i]) { o = x } } }",
         "no index in it depends on how a computed size compares with another one"),
        (f"let n = M state {{ map k = 0:1 {{ map i = 0:N {{ {ADD} }} }} }}", "it is inside of another map"),
        (f"let n = M state {{ map i = 0:N {{ {ADD * 41} }} }}", "it has more than 40 nodes"),
    ],
)  # fmt: skip
def test_refusals(body, reason):
    expect(MapVersioning(), on=program(body)).is_refused(reason)


def test_a_version_is_made_once():
    sdfg = program(f"let n = M state {{ map i = 0:N {{ {ADD} }} }}")
    assert driver.apply_repeated(sdfg, MapVersioning) == 1
    assert driver.apply_repeated(sdfg, MapVersioning) == 0


def halves(x):
    while len(x) > 1:
        x = x[::2] + x[1::2]
    return x[0]


@pytest.mark.cc
@pytest.mark.parametrize("auto", [False, True])
def test_s2_levels_of_halves(auto):
    """S-2: ``x[::2] + x[1::2]`` of a level that is half as long as the one before it."""
    compiled = dcpy.program(halves, auto_optimize=auto)
    for size in (1, 2, 8, 1024):
        x = np.random.default_rng(size).random(size)
        assert compiled(x) == halves(x)
    for size in (3, 6):  # 3 + 2 elements do not fit: 2 and 1 do, which is repeated
        x = np.arange(float(size))
        assert np.array_equal(compiled(x), halves(x))
    with pytest.raises(ValueError, match="broadcast"):
        compiled(np.ones(5))
    lowered = driver.lower(compiled.to_sdfg(np.ones(8)), resolve_options())[0]
    maps = [node for node in lowered.body.walk_nodes() if isinstance(node, Map)]
    read = [[str(memlet) for node in scope.body.walk_nodes() for memlet in node.reads()] for scope in maps]
    assert any(len(memlets) == 2 and not any("min" in memlet for memlet in memlets) for memlets in read)


def test_functions_in_expressions_are_found_and_replaced():
    expr = parse_expr("2*min(i, n - 1) + min(j, 3)//2 + i")
    inner, outer = functions_in(expr, "min")
    assert [str(part) for part in (inner, outer)] in (["min(i, n - 1)", "min(3, j)"], ["min(3, j)", "min(i, n - 1)"])
    index = parse_expr("min(i, n - 1)")
    assert set(map(str, arguments_of(index))) == {"i", "n - 1"}
    assert replaced(expr, {index: parse_expr("i")}) is parse_expr("3*i + min(j, 3)//2")
    assert replaced(expr, {}) is expr
