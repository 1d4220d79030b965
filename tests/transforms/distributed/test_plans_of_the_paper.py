"""The plan that is chosen for each kernel of the paper's figure on 16 ranks, as text: a regression is a diff."""

from __future__ import annotations

import pytest

from dcpy.transforms.distributed.planning.choose_distributions import ChooseDistributions
from tests.support.kernels_of_the_paper import SHAPES, annotated

#: of the order of the paper's (its table 2) at one rank
SIZES = {
    "atax": {"N": 20000, "M": 25000}, "bicg": {"N": 25000, "M": 20000}, "gemver": {"N": 10000},
    "gesummv": {"N": 22400}, "mvt": {"N": 22000}, "doitgen": {"N": 2048, "M": 512, "K": 512},
    "gemm": {"N": 8000, "M": 9200, "K": 5200}, "k2mm": {"N": 6400, "M": 7200, "K": 4400, "L": 4800},
    "k3mm": {"N": 6400, "M": 7200, "K": 4000, "L": 4400, "T": 4800},
    "jacobi_1d": {"N": 384000}, "jacobi_2d": {"N": 5200},
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_the_plan(name, golden):
    sdfg = annotated(name).to_sdfg().simplify().auto_optimize()
    sizes = {symbol: size for symbol, size in SIZES[name].items() if symbol in sdfg.symbols}
    said = sdfg.explain(ChooseDistributions(ranks=16), sizes=sizes)
    sdfg.distribute(ranks=16, sizes=sizes)
    golden(f"{said}\n\n{sdfg}")
