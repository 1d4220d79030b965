"""NumPy programs whose elements go in tokens: NumPy's values, bit by bit, in a fraction of the cycles."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dcpy
from dcpy.base.options import InvalidOption

FPGA = dcpy.DeviceType.FPGA
N = dcpy.symbol("N")
RANDOM = np.random.default_rng(11)


def axpy(a: dcpy.float32, x: dcpy.float32[N], y: dcpy.float32[N]):
    y[:] = a * x + y


def mixed(A: dcpy.float64[N, 24], v: dcpy.int32[24], w: dcpy.float64[N]):
    return A * v + w[:, None], A > 0.5


def transposed_product(A: dcpy.float32[N, 256], x: dcpy.float32[N]):
    return x @ A


#: a program, its arguments, the error of its sums, and cycles: one by one it takes 1038, 196, 2852
CASES = [
    (axpy, (np.float32(0.3), *RANDOM.random((2, 1003), np.float32)), 0, 200),
    (mixed, (RANDOM.random((6, 24)), RANDOM.integers(-9, 9, 24).astype(np.int32), RANDOM.random(6)), 0, 100),
    (transposed_product, (RANDOM.random((9, 256), np.float32), RANDOM.random(9, np.float32)), 1e-6, 400),
]


def cycles(told: str) -> list[int]:
    """By the model, and simulated."""
    line = next(line for line in told.splitlines() if line.startswith("  in all: "))
    words = line.replace(":", " ").replace(",", " ").split()
    return [int(words[words.index(unit) - 1]) for unit in ("cycles", "simulated")]


@pytest.mark.cc
@pytest.mark.parametrize(("function", "arguments", "rtol", "most"), CASES, ids=[case[0].__name__ for case in CASES])
def test_tokens_have_numpys_values(function, arguments, rtol, most):
    """Also where the last token is not full; the model knows the cycles of tokens, too."""
    mine, numpys = copy.deepcopy(arguments), copy.deepcopy(arguments)
    program = dcpy.program(function, device=FPGA, **{"fpga.lanes": 0})
    results, expected = program(*mine), function(*numpys)
    pairs = list(zip(mine, numpys, strict=True))
    if expected is not None:
        pairs += zip(results, expected, strict=True) if isinstance(expected, tuple) else [(results, expected)]
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=0)
    model, simulated = cycles(program.explain(*copy.deepcopy(arguments)))
    assert model == simulated
    assert simulated < most


def test_lanes_are_an_option():
    """Elements go one by one unless it is asked for; both vendors' texts have tokens."""
    sdfg = dcpy.program(axpy, device=FPGA).to_sdfg()
    assert "hls::vector" not in sdfg.code(device="fpga")
    assert "hls::stream<hls::vector<float, 4>, 2> x_read(" in sdfg.code(device="fpga", **{"fpga.lanes": 4})
    assert "hls::vector<float, 16>" in sdfg.code(device="fpga", **{"fpga.lanes": 0})
    intel = sdfg.code(device="fpga", **{"fpga.lanes": 0, "fpga.vendor": "intel"})
    assert "typedef struct { float lane[16]; } float_x16;" in intel
    assert "vectorize-ports: axis 0 in 'compute': tokens of 16" in sdfg.explain(device="fpga", **{"fpga.lanes": 0})
    with pytest.raises(InvalidOption, match=r"fpga\.lanes is a power of two"):
        sdfg.code(device="fpga", **{"fpga.lanes": 3})
