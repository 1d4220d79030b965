"""RemoveRedundantCommunication: figure 11 of the paper, copies between blocks, copies of what has not changed."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text import parse_sdfg
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.distributed.communication.remove_redundant_communication import RemoveRedundantCommunication
from dcpy.transforms.distributed.grids.distribute_element_wise import DistributeElementWiseArrayOp
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.support.ranks import check, distributed, localized

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M])"
TWO_STEPS = """
  data tmp: f64[N, M] transient
  map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> tmp[i, j]) { o = 2.0 * a } }
  map k = 0:N, l = 0:M { tasklet (a <- tmp[k, l]) -> (o -> B[k, l]) { o = a + 1.0 } }"""


def text(sdfg):
    return str(dcpy.SDFG.of(sdfg))


def cleaned(sdfg):
    """Without what is redundant, and how many copies that took away."""
    made = copy_sdfg(sdfg)
    run_pipeline(made, Pipeline("clean", RemoveRedundantCommunication()), check=True)
    return made, text(sdfg).count("copy ") - text(made).count("copy ")


def test_figure_11():
    sdfg = parse_sdfg(f"{HEAD} {{ {TWO_STEPS} }}")
    whole = copy_sdfg(sdfg)
    assert apply_repeated(whole, DistributeElementWiseArrayOp(), check=True) == 2
    after, fewer = cleaned(whole)
    assert fewer == 1  # the gather of tmp: each rank reads its own block
    assert "copy tmp_part" not in text(after)
    arguments = {"A": np.arange(15.0).reshape(5, 3), "B": np.zeros((5, 3))}
    symbols = {"N": 5, "M": 3, "g_p0": 4}
    before = check(sdfg, whole, arguments, symbols, 4, local=localized(whole))
    traffic = check(sdfg, after, arguments, symbols, 4, local=localized(after))
    assert traffic.messages < before.messages


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_different_blocks_become_one_copy(ranks):
    source = f"""{HEAD.replace(")", "")} on g(whole, block 0)) symbols(P: size) grids(g[P]) {{
      data mine: f64[N, M] transient on g(block 0, whole)
      data tmp: f64[N, M] transient
      data other: f64[N, M] transient on g(whole, block 0)
      map i = 0:N, j = 0:M home g(block 0 by (-((-N) // P)), whole) {{
        tasklet (a <- A[i, j]) -> (o -> mine[i, j]) {{ o = 2.0 * a }} }}
      copy mine[0:N, 0:M] -> tmp[0:N, 0:M]
      copy tmp[0:N, 0:M] -> other[0:N, 0:M]
      map k = 0:N, l = 0:M home g(whole, block 0 by (-((-M) // P))) {{
        tasklet (a <- other[k, l]) -> (o -> B[k, l]) {{ o = a + 1.0 }} }} }}"""
    sdfg, whole = parse_sdfg(f"{HEAD} {{ {TWO_STEPS} }}"), parse_sdfg(source)
    after, fewer = cleaned(whole)
    assert fewer == 1
    assert "copy mine[0:N, 0:M] -> other[0:N, 0:M]" in text(after)
    arguments = {"A": np.arange(15.0).reshape(5, 3), "B": np.zeros((5, 3))}
    check(sdfg, after, arguments, {"N": 5, "M": 3, "P": ranks}, ranks, local=localized(after))


def test_an_array_that_has_not_changed_is_copied_once():
    sdfg = parse_sdfg("""sdfg @f(A: f64[N], x: f64[N], y: f64[N], z: f64[N]) {
      map i = 0:N { tasklet (a <- A[0], b <- A[N - 1 - i]) -> (o -> x[i]) { o = a + b } }
      map j = 0:N { tasklet (a <- A[N - 1 - j]) -> (o -> y[j]) { o = a } }
      map k = 0:N { tasklet (a <- y[k]) -> (o -> A[k]) { o = 2.0 * a } }
      map l = 0:N { tasklet (a <- A[N - 1 - l]) -> (o -> z[l]) { o = a } } }""")
    after = distributed(sdfg, dict.fromkeys("Axyz", "g(block 0)"), {"g": ["P"]})
    assert text(after).count("copy A") == 2  # the third map reads other values
    arguments = {"A": np.arange(7.0), "x": np.zeros(7), "y": np.zeros(7), "z": np.zeros(7)}
    check(sdfg, after, arguments, {"N": 7, "P": 3}, 3, local=localized(after))


@pytest.mark.parametrize(
    ("between", "kept"),
    [
        ("", True),  # nothing between: the pair vanishes
        ("map i = 0:N home g(block 0 by b) { tasklet (a <- C[i]) -> (o -> mine[i]) { o = a } }", False),
        ("if (N > 3) { copy C[0:N] -> tmp[0:N] }", False),
        ("loop t = 0:2 { copy C[0:N] -> tmp[0:N] }", False),
    ],
)
def test_copies_end_where_one_side_is_written(between, kept):
    source = f"""sdfg @f(mine: f64[N] on g(block 0 by b), B: f64[N] on g(block 0 by b), C: f64[N])
      symbols(P: size, b: size) grids(g[P]) {{
      data tmp: f64[N] transient
      copy mine[0:N] -> tmp[0:N]
      {between}
      copy tmp[0:N] -> B[0:N] }}"""
    sdfg = parse_sdfg(source)
    after, _ = cleaned(sdfg)
    assert ("copy tmp" not in text(after)) is kept


def test_users_apply_it_as_in_the_paper():
    sdfg = dcpy.parse(f"{HEAD} {{ {TWO_STEPS} }}")
    sdfg.apply(dcpy.ElementWiseArrayOperation).apply(dcpy.RemoveRedundantComm)
    assert str(sdfg).count("copy ") == 1
    assert dcpy.RedundantComm2D == dcpy.RemoveRedundantCommunication()
    assert sdfg.applied()["remove-redundant-communication"] == 1
