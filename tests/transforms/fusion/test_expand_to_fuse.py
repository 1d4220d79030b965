"""ExpandToFuse: shape, value, refusal."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import pytest

import dcpy
from dcpy import plugins
from dcpy.ir.nodes import Copy, LibraryNode
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, as_expr
from dcpy.libraries.api import expands, register
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.fusion.expand_to_fuse import ExpandToFuse
from tests.support.expect import expect, parse
from tests.support.oracles import check_same

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


def test_a_table_that_is_looked_up_where_data_say():
    """The map that fills it is no part of looking it up: indices would be checked in a map of their own for nothing."""
    head = "sdfg @f(p: i64[N], y: f64[N], s: f64) symbols(N: size)"
    data = "data t: f64[N] transient data r: f64[N] transient"
    fill = "map i = 0:N { tasklet (a <- s) -> (o -> t[i]) { o = a } }"
    gather = "indexing.gather (x <- t[0:N], i0 <- p[0:N]) -> (out -> {}[0:N]) {{axes = (0,), shown = (0,)}}"
    alone = parse(f"{head} {{ {data} state {{ {fill} {gather.format('y')} }} }}")
    expect(ExpandToFuse(), on=alone).is_refused("where its parameters say")
    use = "map j = 0:N { tasklet (a <- r[j]) -> (o -> y[j]) { o = a + a } }"
    read = parse(f"{head} {{ {data} state {{ {fill} {gather.format('r')} {use} }} }}")
    expect(ExpandToFuse(), on=read).applies()


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
    expect(ExpandToFuse(foreign=True), on=on).is_refused("its results lie side by side in 't'")
    found = expect(ExpandToFuse(foreign=True, columns=True), on=on)
    assert found.reasons() == [""]


def test_sums_of_columns_where_they_are_asked_for():
    sums = "reduce (x <- t[0:N, 0:M]) -> (out -> x[0:M]) {axes = (0,)}"
    expect(ExpandToFuse(columns=True), on=program(SQUARES + sums)).becomes(f"""{HEAD} {{ {DATA} state {{ {SQUARES}
        map i_1 = 0:M {{ data acc: f64 transient
            tasklet () -> (out -> acc) {{ out = 0.0 }}
            map k = 0:N {{ tasklet (a <- t[k, i_1]) -> (out -> acc (add)) {{ out = a }} }}
            tasklet (a <- acc) -> (out -> x[i_1]) {{ out = a }} }} }} }}
    """).same_values(N=[0, 1, 4], M=[0, 1, 5])


ALSO = "map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> t[i, j], p -> B[i, j]) { o = a*a p = a + 1.0 } }"


def test_one_result_is_that_of_the_results_of_rows():
    """Where the map has other results, so that map-inlining does not take it into the loops of the sum."""
    whole = "reduce (x <- t[0:N, 0:M]) -> (out -> y[0]) {axes = (0, 1)}"
    expect(ExpandToFuse(), on=program(ALSO + whole)).becomes(f"""{HEAD} {{ {DATA}
        data rows: f64[N] transient data total: f64 transient state {{ {ALSO}
        map i_1 = 0:N {{ data acc: f64 transient
            tasklet () -> (out -> acc) {{ out = 0.0 }}
            map k = 0:M {{ tasklet (a <- t[i_1, k]) -> (out -> acc (add)) {{ out = a }} }}
            tasklet (a <- acc) -> (out -> rows[i_1]) {{ out = a }} }}
        reduce (x <- rows[0:N]) -> (out -> total) {{axes = (0,)}}
        tasklet (a <- total) -> (out -> y[0]) {{ out = a }} }} }}
    """).same_values(N=[1, 4], M=[0, 1, 5])


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2), ()])
@pytest.mark.parametrize("operation", ["add", "max"])
def test_any_axes(axes, operation):
    """The neutral variant is whole: what it declines is one row with one result."""
    kept = [f"0:{size}" for axis, size in enumerate("NMK") if axis not in axes]
    head = f"sdfg @f(A: f64[N, M, K], B: f64[N, M, K], y: f64[{', '.join(part[2:] for part in kept) or '1'}])"
    tasklet = "tasklet (a <- A[i, j, l]) -> (o -> t[i, j, l], p -> B[i, j, l]) { o = a*a p = a }"
    make = f"map i = 0:N, j = 0:M, l = 0:K {{ {tasklet} }}"
    out = f"y[{', '.join(kept) or '0'}]"
    reduce = f'reduce (x <- t[0:N, 0:M, 0:K]) -> (out -> {out}) {{op = "{operation}", axes = {axes}}}'
    on = parse(f"""{head} symbols(N: size, M: size, K: size) {{
        data t: f64[N, M, K] transient state {{ {make} {reduce} }} }}""")
    found = expect(ExpandToFuse(columns=True), on=on)
    assert found.reasons() == [""]
    apply_repeated(found.after, ExpandToFuse(columns=True), check=True)
    found.same_values(N=[1, 3], M=[2], K=[1, 4])


MASK = "map j = 0:M { tasklet (a <- x[j]) -> (o -> q[j]) { o = a > 0.5 } }"
SCATTER = (
    ALSO + "indexing.scatter (out <- B[0:N, 0:M], values <- t[0:K, 0:M], i0 <- p[0:K]) -> (out -> B[0:N, 0:M])"
    " {axes = (0,), shown = (0,)}"
)
MORE = "data pp: i32[K] transient data i: i32 transient data q: bool[M] transient data p: i64[K] transient"


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (SUMS, "no map of its state computes what it reads"),
        (SQUARES + SUMS.replace("x <- t", "x <- A"), "no map of its state computes what it reads"),
        (SQUARES + SUMS + "copy t[0:N, 0:M] -> B[0:N, 0:M]", "no map of its state computes what it reads"),
        (SQUARES + "reduce (x <- t[0:N, 0:M]) -> (out -> x[0:M]) {axes = (0,)}", "side by side in 't'"),
        (SQUARES + "reduce (x <- t[0:N, 0:M]) -> (out -> y[0]) {axes = (0, 1)}", "map-inlining does that"),
        (ALSO + "reduce (x <- t[0, 0:M]) -> (out -> y[0]) {axes = (0,)}", "it has one result of one row"),
        (SQUARES + "lapack.svd (a <- t[0:N, 0:M]) -> (s -> y[0:N], info -> i)", "lapack.svd has no expansion called"),
        (SQUARES + "sort (x <- t[0:N, 0:M]) -> (out -> B[0:N, 0:M])", "its maps are in loops and branches"),
        (SQUARES + "lapack.lu (a <- t[0:N, 0:M]) -> (lu -> B[0:N, 0:M], pivots -> pp[0:K], info -> i)", "its maps are"),
        (SCATTER, "its maps are in loops and branches"),
        (MASK + "indexing.nonzero (mask <- q[0:M]) -> (out0 -> p[0:K])", "its maps are in loops and branches"),
        (ALSO + "argreduce (x <- t[0, 0:M]) -> (out -> p[0]) {axes = (0,)}", "it has one result of one row"),
        (ALSO + "argreduce (x <- t[0:N, 0:M]) -> (out -> p[0]) {axes = (0, 1)}", "it has one result of one row"),
    ],
)
def test_refusals(nodes, reason):
    expect(ExpandToFuse(), on=program(nodes, f"{DATA} {MORE}")).is_refused(reason)


@pytest.mark.parametrize("name", ["blas.dot (x <- t[0, 0:M], y <- x[0:M]) -> (result -> y[0])"])
def test_one_result_of_one_row_is_refused_where_it_is_asked_for(name):
    expect(ExpandToFuse(foreign=True), on=program(ALSO + name)).is_refused("it has one result of one row")


SHOWN = " map p0 = 0:N { tasklet (a <- p[p0]) -> (o -> y[p0]) { o = f64(a) } }"


def test_positions_of_extrema_of_what_a_map_computes():
    search = 'argreduce (x <- t[0:N, 0:M]) -> (out -> p[0:N]) {op = "max", axes = (1,)}'
    on = program(SQUARES + search + SHOWN, f"{DATA} data p: i64[N] transient")
    expect(ExpandToFuse(), on=on).becomes(f"""{HEAD} {{ {DATA} data p: i64[N] transient state {{ {SQUARES}
        map i_1 = 0:N {{
            data best: f64 transient
            data first: i64 transient
            tasklet () -> (out -> best) {{ out = f64(-inf) }}
            tasklet () -> (out -> first) {{ out = 9223372036854775807 }}
            map k = 0:M {{ tasklet (a <- t[i_1, k]) -> (out -> best (max)) {{ out = a }} }}
            map k_1 = 0:M {{
                tasklet (a <- t[i_1, k_1], b <- best) -> (out -> first (min)) {{
                    out = select(a == b or a != a, index(k_1), 9223372036854775807) }} }}
            tasklet (a <- first) -> (out -> p[i_1]) {{ out = a }} }}
        {SHOWN} }} }}
    """).same_values(N=[0, 1, 4], M=[1, 5])


PRODUCT = "blas.gemm (a <- t[0:N, 0:M], b <- A[0:N, 0:M]) -> (c -> C[0:N, 0:N]) {trans_b = true}"


def test_a_product_of_rows_with_rows():
    """Each row of the temporary is needed for one row of the result alone."""
    on = parse(f"{HEAD[:-len(' symbols(N: size, M: size)') - 1]}, C: f64[N, N]) symbols(N: size, M: size) {{ {DATA} "
               f"state {{ {SQUARES} {PRODUCT} }} }}")  # fmt: skip
    found = expect(ExpandToFuse(foreign=True), on=on)
    assert found.reasons() == [""]
    found.same_values(N=[0, 3], M=[0, 4])


def test_what_a_foreign_library_does_well_stays(monkeypatch):
    monkeypatch.setattr("dcpy.transforms.fusion.expand_to_fuse._is_foreign", lambda node: node.kind == "blas.gemv")
    ones = "map i = 0:N { tasklet () -> (o -> r[i]) { o = 1.0 } }"
    gemv = "blas.gemv (a <- A[0:N, 0:M], x <- r[0:N]) -> (y -> x[0:M]) {trans_a = true}"
    expect(ExpandToFuse(), on=program(ones + gemv)).is_refused("a foreign library does it well")


def test_a_matrix_that_is_read_once_is_not_stored_for_a_library(monkeypatch):
    monkeypatch.setattr("dcpy.transforms.fusion.expand_to_fuse._is_foreign", lambda node: node.kind == "blas.gemv")
    gemv = "blas.gemv (a <- t[0:N, 0:M], x <- x[0:M]) -> (y -> y[0:N])"
    found = expect(ExpandToFuse(), on=program(SQUARES + gemv))
    assert found.reasons() == [""]
    found.same_values(N=[1, 4], M=[1, 5])


def test_what_a_plug_in_calls_maps_is_looked_at():
    """Loops in an expansion that does not say so, and maps that touch nothing shared."""

    @dataclass(eq=False)
    class Odd(LibraryNode):
        kind = "test.odd"
        looped: bool = False

    @expands(Odd, "maps")
    def odd(node, f):
        x, out = f.input("x"), f.output("out")
        copy = f.array("copy", x.dtype, x.shape)
        f.add(Copy(x.memlet, copy.memlet))
        with f.loop(Range(ZERO, as_expr(2))) if node.looped else nullcontext(), f.map(Range(ZERO, x.shape[0])) as i:
            f.put(out.at(i), copy.at(i, ZERO))

    register(nodes=[Odd], expansions=[odd])
    call = "test.odd (x <- t[0:N, 0:M]) -> (out -> y[0:N])"
    expect(ExpandToFuse(), on=program(SQUARES + call)).is_refused("no map of its expansion touches what a map beside")
    looped = program(f"{SQUARES}{call} {{looped = true}}")
    expect(ExpandToFuse(), on=looped).is_refused("its maps are in loops and branches")


def by_scatter(total, at, values, where):
    np.add.at(total, at, values[where])
    return total


def by_bincount(at, values, where):
    return np.bincount(at, weights=values[where], minlength=8)


def test_what_is_gathered_for_a_scatter_is_read_where_it_is_added():
    generator = np.random.default_rng(0)
    at, where, values = generator.integers(0, 8, 500), generator.integers(-20, 20, 500), generator.random(20)
    for function, arguments in ((by_scatter, (np.zeros(8), at, values, where)), (by_bincount, (at, values, where))):
        program = dcpy.program(auto_optimize=True)(function)
        text = program.to_sdfg(*arguments).code()
        assert "tmp_kept" not in text  # no array between
        check_same(function, *arguments)
        np.testing.assert_array_equal(program(*map(np.copy, arguments)), function(*map(np.copy, arguments)))


def test_an_index_of_what_is_gathered_is_checked_before_anything_is_added():
    total, at, values = np.zeros(8), np.arange(8), np.ones(20)
    where = np.array([0, 1, 2, 3, 20, 5, 6, 7])
    with pytest.raises(IndexError, match="index 20 is out of bounds for axis 0 with size 20"):
        dcpy.program(auto_optimize=True)(by_scatter)(total, at, values, where)
    np.testing.assert_array_equal(total, 0)
    at[2], where[4] = 8, 4
    with pytest.raises(IndexError, match="index 8 is out of bounds for axis 0 with size 8"):
        dcpy.program(auto_optimize=True)(by_scatter)(total, at, values, where)
    np.testing.assert_array_equal(total, 0)
