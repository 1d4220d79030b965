"""What is the same on all ranks, and collectives that not all of them reach."""

from __future__ import annotations

import pytest

from dcpy import plugins
from dcpy.ir.analysis.distributed.uniformity import varying_names
from dcpy.ir.text import parse_sdfg
from dcpy.ir.verify import problems

plugins.load()
SUM = "comm.allreduce (x <- a[0:1]) -> (out -> b[0:1])"


def program(body):
    args = "x: f64[N + g_c0], a: f64[1], b: f64[1], s: f64[1]"
    return parse_sdfg(f"sdfg @f({args}) symbols(N: size, P: size, g_c0: i64) grids(g[P]) {{ {body} }}")


def said(body):
    return [problem.message for problem in problems(program(body)) if problem.rule.startswith("comm.")]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("copy x[0:1] -> a[0:1]", {"a"}),
        (f"copy x[0:1] -> a[0:1] {SUM}", {"a"}),
        (f"copy x[0:1] -> a[0:1] {SUM} copy a[0:1] -> b[0:1]", {"a", "b"}),
        ("copy s[0:1] -> a[0:1]", set()),
        ("if g_c0 == 0 { copy s[0:1] -> a[0:1] }", {"a"}),
        ("loop t = 0:g_c0 { copy s[0:1] -> a[0:1] }", {"t", "a"}),
        ("view v: f64[1] of a[0:1] copy x[0:1] -> a[0:1] copy v[0:1] -> b[0:1]", {"a", "v", "b"}),
        ("let q = g_c0 + 1 let r = N", {"q"}),
        ("comm.recv () -> (out -> a[0:1]) {source = 0}", {"a"}),
        ('comm.allreduce (x <- a[0:1]) -> (out -> b[0:1]) {grid = "g"}', {"b"}),
    ],
)
def test_what_varies(body, names):
    assert varying_names(program(body)) - {"x", "g_c0"} == names


@pytest.mark.parametrize(
    "body",
    [
        f"if s[0] > 0.0 {{ {SUM} }}",
        f"loop t = 0:N {{ {SUM} }}",
        f"copy x[0:1] -> a[0:1] {SUM} while b[0] > 1.0 {{ {SUM} }}",
        "if g_c0 == 0 { comm.send (x <- a[0:1]) -> () {to = 1} }",
    ],
)
def test_all_ranks_get_there(body):
    assert said(body) == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"if g_c0 == 0 {{ {SUM} }}", "a comm.allreduce is in a branch that may run otherwise on other ranks"),
        (f"loop t = 0:g_c0 {{ {SUM} }}", "is in a loop that may run otherwise"),
        (f"loop t = 0:N {{ if x[0] > 0.0 {{ {SUM} }} }}", "is in a branch that may run otherwise"),
        (f"while a[0] > 1.0 {{ {SUM} copy x[0:1] -> a[0:1] }}", "is in a while that may run otherwise"),
        (f"map i = 0:N {{ {SUM} }}", "a comm.allreduce is in a map or a process"),
        ('comm.barrier () {grid = "h"}', "a comm.barrier is on the grid 'h', which does not exist"),
        ('comm.barrier () {grid = "g", along = (1,)}', "a comm.barrier is along axis 1, which its grid does not have"),
    ],
)
def test_ranks_part(body, message):
    assert any(message in each for each in said(body)), said(body)
