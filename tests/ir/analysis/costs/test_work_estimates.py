"""How much a map computes: estimates that decide about threads."""

import pytest

from dcpy.ir.analysis.costs.work_estimates import work_of
from dcpy.ir.machine_model import COSTS
from dcpy.ir.symbolic import sym
from dcpy.ir.text import parse_sdfg


def work(code, domain="i = 0:N", reads="a <- A[i]", costs=COSTS):
    text = f"""sdfg @f(A: f64[N + 2], B: f64[N, N], C: f64[N + 2], k: i64[N + 2]) symbols(N: size) {{
               state {{ map {domain} {{ tasklet ({reads}) -> (o -> C[i]) {{ o = {code} }} }} }} }}"""
    sdfg = parse_sdfg(text)
    (node,) = sdfg.body.blocks[0].nodes
    factors, units = work_of(node, sdfg, costs)
    return [str(factor) for factor in factors], units


TWO_ARRAYS = 2 * 8 // COSTS.bytes_per_unit


@pytest.mark.parametrize(
    ("code", "units"),
    [
        ("a", TWO_ARRAYS),
        ("a + 1.0", TWO_ARRAYS + 1),
        ("exp(a)", TWO_ARRAYS + COSTS.operations.exp),
        ("a ** 1.7", TWO_ARRAYS + COSTS.operations.pow),
        ("a ** 2.0", TWO_ARRAYS + 1),
        ("a ** 3.5", TWO_ARRAYS + 3 + COSTS.operations.sqrt),  # a * a * a * sqrt(a)
    ],
)
def test_operations_and_bytes(code, units):
    assert work(code) == (["N"], units)


def test_neighbours_in_one_array_come_together():
    assert work("a + b + c", reads="a <- A[i], b <- A[i + 1], c <- A[i + 2]") == (["N"], TWO_ARRAYS + 2)


def test_the_longest_side_of_a_branch_counts():
    text = """sdfg @f(A: f64[N], C: f64[N]) symbols(N: size, M: size) { state { map i = 0:N { if M <= 8 {
      state { map j = 0:M { tasklet (a <- A[i]) -> (o -> C[i] (add)) { o = a } } }
    } else { state { tasklet (a <- A[i]) -> (o -> C[i]) { o = a } } } } } }"""
    sdfg = parse_sdfg(text)
    (node,) = sdfg.body.blocks[0].nodes
    assert work_of(node, sdfg, COSTS) == (tuple(map(sym, "NM")), TWO_ARRAYS)


def test_trips_of_loops_around_maps_count():
    text = """sdfg @f(A: f64[N, M], C: f64[N, M]) symbols(N: size, M: size) { state { map i = 0:N {
      state { map j = 0:8 { tasklet (a <- A[i, j]) -> (o -> C[i, j]) { o = a } } }
      loop k = 1:M { state { map l = 0:8 { tasklet (a <- A[i, k]) -> (o -> C[i, k]) { o = a } } } } } } }"""
    sdfg = parse_sdfg(text)
    (node,) = sdfg.body.blocks[0].nodes
    factors, units = work_of(node, sdfg, COSTS)
    assert ([str(factor) for factor in factors], units) == (["N", "M - 1", "8"], TWO_ARRAYS)


def test_inner_parameters_count_as_iterations():
    assert work("a", domain="i = 0:N, j = 2:N")[0] == ["N", "N - 2"]
