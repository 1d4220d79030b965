"""SUMMA on virtual ranks: any grid, remainders, empty blocks, transposed operands; broadcasts are counted."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify
from dcpy.transforms.api import Match
from dcpy.transforms.expand import ExpandLibraryNode, perform
from tests.support.ranks import check, distributed, localized

PANEL = 2
GRIDS = ((1, 1), (2, 2), (3, 1), (1, 3), (2, 3), (7, 1))


@functools.cache
def made(trans_a=False, trans_b=False, beta=""):
    """The product, its distributed form, its local form, and that with broadcasts."""
    shapes = {"A": "KN" if trans_a else "NK", "B": "MK" if trans_b else "KM", "C": "NM"}
    sizes = {name: f"[{shape[0]}, {shape[1]}]" for name, shape in shapes.items()}
    whole = {name: f"{name}[0:{shape[0]}, 0:{shape[1]}]" for name, shape in shapes.items()}
    more = f", c <- {whole['C']}, {beta}" if beta else ""
    flags = f"trans_a = {str(trans_a).lower()}, trans_b = {str(trans_b).lower()}"
    sdfg = parse_sdfg(
        f"sdfg @f(A: f64{sizes['A']}, B: f64{sizes['B']}, C: f64{sizes['C']}, beta: f64) symbols(N: size, M: size) {{ "
        f"blas.gemm (a <- {whole['A']}, b <- {whole['B']}{more}) -> (c -> {whole['C']}) {{alpha = 0.5, {flags}}} }}"
    )
    straight, turned = "g(block 0, block 1)", "g(block 1, block 0)"
    plan = {"A": turned if trans_a else straight, "B": turned if trans_b else straight, "C": straight}
    whole_form = distributed(sdfg, plan, {"g": ("Px", "Py")})
    local = localized(whole_form)
    spread = copy_sdfg(local)
    (node,) = [node for node in spread.body.walk_nodes() if node.kind == "pblas.gemm"]
    node.panel = PANEL
    step, rw = ExpandLibraryNode(("summa",), "cpu"), Rewriter(spread, "test")
    perform(step, Match(spread, rw.uses, {"node": node}), step.choose(node), rw)
    verify(spread)
    return sdfg, whole_form, local, spread


def panels(k, px, py):
    """Of columns that have one owner in each row of the grid, and one in each column: at most so many at once."""
    a, b = -(-k // py), -(-k // px)
    overlaps = [
        max(0, min((i + 1) * a, (j + 1) * b, k) - max(i * a, j * b)) for i in range(py) for j in range(px)
    ]  # fmt: skip
    return sum(-(-overlap // PANEL) for overlap in overlaps)


@pytest.mark.parametrize(
    "case", [(), (True,), (False, True), (True, True), (False, False, "beta <- beta"), (True, False, "alpha <- beta")]
)
def test_it_is_the_product(case):
    sdfg, whole, local, spread = made(*case)
    draw = np.random.default_rng(2)
    for px, py in GRIDS:
        for n, m, k in ((5, 3, 7), (1, 2, 1), (0, 3, 2), (4, 4, 0)):
            shapes = {"A": (n, k), "B": (k, m), "C": (n, m)}
            turned = dict(zip("AB", case, strict=False))
            values = {name: draw.uniform(size=s[::-1] if turned.get(name) else s) for name, s in shapes.items()}
            symbols = {"N": n, "M": m, "K": k, "Px": px, "Py": py}
            arguments = {**values, "beta": 0.25}
            traffic = check(sdfg, whole, arguments, symbols, px * py + 1, local=spread, exact=False, strict=n == 5)
            assert (traffic.messages, traffic.collectives) == (0, panels(k, px, py) * (px + py))
            if (px, py) == (2, 3):
                check(sdfg, whole, arguments, symbols, px * py, local=local, exact=False)


def test_nothing_is_sent_before_it():
    _, whole, local, _ = made()
    assert "copy" not in print_sdfg(whole)
    assert "comm" not in print_sdfg(local)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"panel": 0}, "broadcasts 0 columns at a time"),
        ({"columns": 0}, "rows and columns along the same axis"),
        ({"trans_a": True}, "wants first in blocks along the axes 1 and 0 of 'g'"),
    ],
)
def test_what_it_wants(change, problem):
    (node,) = [node for node in copy_sdfg(made()[2]).body.walk_nodes() if node.kind == "pblas.gemm"]
    for name, value in change.items():
        setattr(node, name, value)
    assert problem in " ".join(node.problems())
