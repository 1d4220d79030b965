"""WholeCopies: arrays with views that no rank has alone are gathered, and dealt out again where they are written."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.ir.text import parse_sdfg, print_sdfg
from tests.support.ranks import check, distributed

DIAGONAL = """
sdfg @f(A: f64[N, N], x: f64[N]) symbols(N: size) {
  view D: f64[N*N] of A
  BODY
}"""
READS = "map i = 0:N { tasklet (a <- D[i*(N + 1)]) -> (o -> x[i]) { o = a } }"
WRITES = "map j = 0:N { tasklet (a <- x[j]) -> (o -> D[j*(N + 1)]) { o = a } }"


@pytest.mark.parametrize("body", [READS, WRITES, f"{READS} {WRITES}", f"if N > 2 {{ {WRITES} return }} {READS}"])
@pytest.mark.parametrize("where", ["g(whole, block 0)", "g(whole, cyclic 0)"])
def test_reshapes_that_cut_a_dimension_are_of_whole_arrays(body, where):
    sdfg = parse_sdfg(DIAGONAL.replace("BODY", body))
    made = distributed(sdfg, {"A": where, "x": "g(block 0)"}, {"g": ["P"]})
    text = print_sdfg(made)
    assert "view D: f64[N*N] of A_whole" in text
    assert ("copy A_whole[0:N, 0:N] -> A[0:N, 0:N]" in text) == (WRITES in body)
    for ranks, n in ((2, 5), (3, 2), (4, 1)):
        arguments = {"A": np.random.default_rng(n).random((n, n)), "x": np.arange(n) + 2.0}
        check(sdfg, made, arguments, {"N": n, "P": ranks}, ranks)


@pytest.mark.parametrize("where", ["g(block 0, whole)", "g(whole, cyclic 0)", "g(whole, whole) root 0 at 1"])
@pytest.mark.parametrize("view", [
    "view D: f64[N] of A strides (N + 1)", "view D: f64[N - 1] of A strides (N + 1) offset 1",
    "view D: i64[N, N] of A", "view D: f64[N, N] of A strides (1, N)",
])  # fmt: skip
def test_views_of_other_elements_keep_their_strides_and_dtypes(view, where):
    """A diagonal, one beside it, bits as integers, a transpose; also of an array that one rank has."""
    dims = view.partition("[")[2].partition("]")[0].split(", ")
    domain, index = ("i = 0:N, j = 0:N", "i, j") if len(dims) > 1 else (f"i = 0:{dims[0]}", "i")
    dtype = "i64" if "i64" in view else "f64"
    sdfg = parse_sdfg(f"""
sdfg @f(A: f64[N, N], x: {dtype}[{', '.join(dims)}]) symbols(N: size) {{
  {view}
  map {domain} {{ tasklet (a <- D[{index}]) -> (o -> x[{index}]) {{ o = a }} }}
}}""")
    made = distributed(sdfg, {"A": where}, {"g": ["P"]})
    for ranks, n in ((2, 5), (3, 2)):
        sizes = [n - 1 if dim == "N - 1" else n for dim in dims]
        arguments = {"A": np.random.default_rng(n).random((n, n)), "x": np.zeros(sizes, f"{dtype[0]}8")}
        check(sdfg, made, arguments, {"N": n, "P": ranks}, ranks)
