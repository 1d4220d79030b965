"""Rematerialization: shape, value, refusal."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.ir.text import print_sdfg
from dcpy.transforms.fusion.rematerialization import Rematerialization
from tests.support.expect import expect, parse

HEAD = "sdfg @f(x: f64[N], y: f64[N]) symbols(N: size)"
FILL = "map i = 0:N { tasklet () -> (o -> g[i]) { o = 2.0 * f64(i) } }"
USE = "map j = 0:N { tasklet (a <- g[N - 1 - j], b <- x[j]) -> (o -> y[j]) { o = a * b } }"
ONE = "data g: f64[N] transient"


def program(body, data=ONE):
    return parse(f"{HEAD} {{ {data} {body} }}")


def test_an_element_is_computed_where_it_is_read():
    expect(Rematerialization(), on=program(f"state {{ {FILL} {USE} }}")).becomes(f"""
        {HEAD} {{ state {{ map j = 0:N {{
          tasklet (b <- x[j]) -> (o -> y[j]) {{ o = 2.0 * f64(N - j - 1) * b }} }} }} }}
    """).same_values(N=[0, 1, 5])


def test_numbers_that_the_caller_gives_are_read_again():
    fill = FILL.replace("() ->", "(q <- step) ->").replace("2.0", "q")
    before = parse(f"{HEAD.replace('y: f64[N]', 'y: f64[N], step: f64')} {{ {ONE} state {{ {fill} {USE} }} }}")
    after = expect(Rematerialization(), on=before).applies().same_values(N=[0, 1, 5]).after
    assert "g[" not in print_sdfg(after)


def test_in_a_loop_behind_checks_and_in_branches():
    body = f"state {{ {FILL} }} check N > 0 else ValueError \"\" loop t = 0:3 {{ if t > 0 {{ state {{ {USE} }} }} }}"
    expect(Rematerialization(), on=program(body)).applies().same_values(N=[1, 4])


def test_maps_that_write_parts_of_their_own():
    fill = """map i = 0:N { tasklet () -> (o -> g[0, i]) { o = 1.0 } }
              map i_1 = 0:N { tasklet () -> (o -> g[1, i_1]) { o = f64(i_1) } }"""
    use = "map j = 0:N { tasklet (a <- g[0, j], b <- g[1, j], c <- x[j]) -> (o -> y[j]) { o = a + b * c } }"
    before = program(f"state {{ {fill} {use} }}", "data g: f64[2, N] transient")
    found = expect(Rematerialization(), on=before).applies()
    assert "g[" not in print_sdfg(found.same_values(N=[1, 4]).after)


def test_several_reads_of_one_element_compute_it_once():
    fill = """map i = 0:N { data h: f64 transient
        tasklet () -> (o -> h) { o = 2.0 * f64(i) } tasklet (a <- h) -> (o -> g[i]) { o = a + 1.0 } }"""
    use = "map j = 0:N { tasklet (a <- g[j], b <- g[j]) -> (o -> y[j]) { o = a * b } }"
    after = expect(Rematerialization(), on=program(f"state {{ {fill} {use} }}")).applies().same_values(N=[3]).after
    assert print_sdfg(after).count("o = 2.0") == 1


@pytest.mark.parametrize(
    ("body", "data", "reason"),
    [
        (f"state {{ {FILL} copy g[0:N] -> y[0:N] }}", ONE, "is read by a copy"),
        (f"state {{ {USE} {FILL} }}", ONE, "may not have been written"),
        (f"if N > 3 {{ state {{ {FILL} }} }} state {{ {USE} }}", ONE, "may not have been written"),
        (f"state {{ {FILL} {FILL.replace('i', 'k')} {USE} }}", ONE, "may write the same element"),
        (f"state {{ {FILL.replace('2.0 *', 'exp(1.0) + sin(2.0) +')} {USE} }}", ONE, "takes longer than to load it"),
        (f"state {{ {FILL.replace('() ->', '(q <- x[i]) ->').replace('2.0', 'q')} {USE} }}", ONE, "it reads memory"),
        (
            f"state {{ {FILL.replace('g[i]', 'g[0, i]')} map k = 0:N {{ tasklet () -> (o -> g[k, 0]) {{ o = 1.0 }} }}"
            f" {USE.replace('g[N - 1 - j]', 'g[0, j]')} }}",
            "data g: f64[N, N] transient",
            "may write the same element",
        ),
        (
            f"state {{ {FILL.replace('g[i]', 'g[0, i]')} {FILL.replace('i', 'k').replace('g[k]', 'g[1, k]')}"
            f" {USE.replace('g[N - 1 - j]', 'g[j, 0]')} }}",
            "data g: f64[N, N] transient",
            "only at run time",
        ),
    ],
    ids=["copied", "before", "perhaps", "twice", "dear", "memory", "crossing", "unknown"],
)
def test_refuses(body, data, reason):
    expect(Rematerialization(), on=program(body, data)).is_refused(reason)


def test_a_symbol_that_changes_in_between():
    body = f"let s = N state {{ {FILL.replace('2.0', 'f64(s)')} }} let s = N + 1 state {{ {USE} }}"
    expect(Rematerialization(), on=program(body)).is_refused("'s' may change")


@pytest.mark.cc
def test_grids_and_ranges_need_no_memory():
    @dcpy.program(auto_optimize=True)
    def waves(x, n):
        i, j = np.mgrid[0:n, 0:n]
        total = np.zeros((n, n))
        for t in range(3):
            total += np.sqrt(x * i + t) * (x * j)
        return total + np.linspace(0.0, 1.0, n)

    sdfg = waves.to_sdfg(0.5, 9).auto_optimize()
    assert "i64[" not in str(sdfg)
    np.testing.assert_array_equal(waves(0.5, 9), waves.function(0.5, 9))
