"""ExpandToFuse: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy import plugins
from dcpy.transforms.fusion.expand_to_fuse import ExpandToFuse
from tests.support.expect import expect, parse

plugins.load()
HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], x: f64[M], y: f64[N]) symbols(N: size, M: size)"
SQUARES = "map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> t[i, j]) { o = a*a } }"
SUMS = "reduce (x <- t[0:N, 0:M]) -> (out -> y[0:N]) {axes = (1,)}"
USE = "map p = 0:N, q = 0:M { tasklet (a <- A[p, q], b <- r[p]) -> (o -> B[p, q]) { o = a - b } }"
DATA = "data t: f64[N, M] transient data r: f64[N] transient"


def program(nodes, data=DATA):
    return parse(f"{HEAD} {{ {data} state {{ {nodes} }} }}")


def test_a_reduction_of_what_a_map_computes():
    expect(ExpandToFuse(), on=program(SQUARES + SUMS)).becomes(f"""{HEAD} {{ {DATA} state {{ {SQUARES}
        map i_1 = 0:N {{ data acc: f64 transient
            tasklet () -> (out -> acc) {{ out = 0.0 }}
            map k = 0:M {{ tasklet (a <- t[i_1, k]) -> (out -> acc (add)) {{ out = a }} }}
            tasklet (a <- acc) -> (out -> y[i_1]) {{ out = a }} }} }} }}
    """).same_values(N=[0, 1, 4], M=[0, 1, 5])


def test_a_reduction_that_a_map_reads():
    on = program('reduce (x <- A[0:N, 0:M]) -> (out -> r[0:N]) {op = "max", axes = (1,)}' + USE)
    found = expect(ExpandToFuse(), on=on)
    assert found.reasons() == [""]
    found.same_values(N=[1, 4], M=[1, 5])


def test_a_product_where_it_is_asked_for():
    gemv = "blas.gemv (a <- t[0:N, 0:M], x <- x[0:M]) -> (y -> y[0:N])"
    expect(ExpandToFuse(foreign=True), on=program(SQUARES + gemv)).becomes(f"""{HEAD} {{ {DATA} state {{ {SQUARES}
        map i_1 = 0:N {{ data acc: f64 transient
            tasklet () -> (out -> acc) {{ out = 0.0 }}
            map k = 0:M {{ tasklet (a <- t[i_1, k], b <- x[k]) -> (out -> acc (add)) {{ out = a*b }} }}
            tasklet (a <- acc) -> (out -> y[i_1]) {{ out = a }} }} }} }}
    """).same_values(N=[0, 3], M=[0, 4])
    turned = gemv.replace("t[0:N, 0:M], x <- x[0:M]", "t[0:N, 0:M], x <- y[0:N]").replace("y -> y[0:N]", "y -> x[0:M]")
    on = program(SQUARES + turned + " {trans_a = true}")
    expect(ExpandToFuse(foreign=True), on=on).is_refused("no runs of memory")


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (SUMS, "no map of its state computes what it reads"),
        (SQUARES + SUMS.replace("x <- t", "x <- A"), "no map of its state computes what it reads"),
        (SQUARES + SUMS + "copy t[0:N, 0:M] -> B[0:N, 0:M]", "no map of its state computes what it reads"),
        (SQUARES + "reduce (x <- t[0:N, 0:M]) -> (out -> x[0:M]) {axes = (0,)}", "whole rows are combined at a time"),
        (SQUARES + "reduce (x <- t[0:N, 0:M]) -> (out -> y[0]) {axes = (0, 1)}", "it has one result"),
        (SQUARES + "sort (x <- t[0, 0:M]) -> (out -> x[0:M])", "sort has no expansion called 'maps'"),
    ],
)
def test_refusals(nodes, reason):
    expect(ExpandToFuse(), on=program(nodes)).is_refused(reason)


def test_what_a_foreign_library_does_well_stays(monkeypatch):
    monkeypatch.setattr("dcpy.transforms.fusion.expand_to_fuse._is_foreign", lambda node: node.kind == "blas.gemv")
    gemv = "blas.gemv (a <- t[0:N, 0:M], x <- x[0:M]) -> (y -> y[0:N])"
    expect(ExpandToFuse(), on=program(SQUARES + gemv)).is_refused("a foreign library does it well")
