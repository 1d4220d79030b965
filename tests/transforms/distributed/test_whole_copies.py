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
