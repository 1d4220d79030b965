"""Products as systolic arrays: NumPy's values for any size, a term of each PE in a cycle, and the model's cycles."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import CodegenError
from dcpy.ir.text import parse_sdfg
from dcpy.transforms.expand import expand_library_nodes

f32 = dcpy.float32
N, M = dcpy.symbol("N"), dcpy.symbol("M")
RANDOM = np.random.default_rng(3)
GEMM = """
sdfg @f(A: f32[{n}, {k}], B: f32[{k}, {m}], C: f32[{n}, {m}]) symbols(N: size, M: size, K: size) {{
  blas.gemm (a <- A[0:{n}, 0:{k}], b <- B[0:{k}, 0:{m}]) -> (c -> C[0:{n}, 0:{m}])
}}"""


def systolic(function, pes=0, **options):
    return dcpy.program(function, device="fpga", **{"fpga.systolic": True, "fpga.pes": pes, **options})


def processes_of(sdfg):
    return [block.name for block in sdfg.body.walk_blocks() if block.kind == "process"]


def product(A: f32[16, 12], B: f32[12, 20]):
    return A @ B


def transposed(A: f32[7, 9], B: f32[5, 7]):
    return A.T @ B.T


def updated(alpha: f32, beta: f32, A: f32[9, 7], B: f32[7, 13], C: f32[9, 13]):
    C[:] = alpha * (A @ B) + beta * C


def of_symbols(A: f32[N, 6], B: f32[6, M]):
    return A @ B


def of_doubles(A: dcpy.float64[5, 6], B: dcpy.float64[6, 4]):
    return A @ B


def squared(A: f32[9, 9]):
    return A @ A


def stacked(A: f32[3, 5, 7], B: f32[3, 7, 4]):
    return A @ B


CASES = [
    (transposed, ((7, 9), (5, 7)), 3),
    (updated, ((), (), (9, 7), (7, 13), (9, 13)), 2),
    (of_symbols, ((10, 6), (6, 70)), 4),
    (of_doubles, ((5, 6), (6, 4)), 0),
    (squared, ((9, 9),), 2),
    (stacked, ((3, 5, 7), (3, 7, 4)), 3),
]


@pytest.mark.cc
@pytest.mark.parametrize(("function", "shapes", "pes"), CASES, ids=[case[0].__name__ for case in CASES])
def test_values_are_numpys_and_cycles_the_models(function, shapes, pes):
    dtype = np.float64 if function is of_doubles else np.float32
    args = [RANDOM.random(shape).astype(dtype) if shape else dtype(RANDOM.random()) for shape in shapes]
    mine, numpys = [arg.copy() for arg in args], [arg.copy() for arg in args]
    program = systolic(function, pes)
    result, expected = program(*mine), function(*numpys)
    for its, one in zip([result, *mine], [expected, *numpys], strict=True):
        if one is not None:
            np.testing.assert_allclose(its, one, rtol=1e-5)
    for line in program.explain(*args).splitlines():
        if "cycles by the model" in line:
            told = re.search(r"(\d+) cycles by the model, (\d+) simulated", line)
            assert told is not None, line
            model, simulated = map(int, told.groups())
            assert model == simulated


@pytest.mark.cc
def test_each_pe_starts_a_term_in_every_cycle():
    n, k, m, pes = 24, 32, 24, 4

    def square(A: f32[24, 32], B: f32[32, 24]):
        return A @ B

    sdfg = dcpy.program(square).to_sdfg().expand_library_nodes("systolic", pes=pes)
    A, B = RANDOM.random((n, k), np.float32), RANDOM.random((k, m), np.float32)
    (kernel,) = sdfg.compile(device="fpga").simulated(A, B).values()
    fill = pes * (k + m)
    assert n * k * m // pes < kernel.cycles < n * k * m // pes + fill + 64


@pytest.mark.cc
def test_products_of_any_sizes_are_one_network():
    """No tile fits: zeros are put behind the rows of each factor, and what is beyond the end is dropped."""

    def k3mm(A: f32[5, 6], B: f32[6, 7], C: f32[7, 3], D: f32[3, 11]):
        return A @ B @ C @ D

    program = systolic(k3mm, 4)
    shapes = ((5, 6), (6, 7), (7, 3), (3, 11))
    args = [RANDOM.random(shape).astype(np.float32) for shape in shapes]
    np.testing.assert_allclose(program(*args), k3mm(*args), rtol=1e-5)
    told = program.explain(*args)
    assert told.count("cycles by the model") == 1
    (line,) = [line for line in told.splitlines() if "cycles by the model" in line]
    model, simulated = (int(word) for word in line.replace(",", "").split() if word.isdigit())
    assert model == simulated


@pytest.mark.cc
def test_two_products_are_one_network():
    def k2mm(A: f32[8, 6], B: f32[6, 12], C: f32[12, 10]):
        return A @ B @ C

    program = systolic(k2mm, 4)
    A, B, C = (RANDOM.random(shape).astype(np.float32) for shape in ((8, 6), (6, 12), (12, 10)))
    np.testing.assert_allclose(program(A, B, C), A @ B @ C, rtol=1e-5)
    told = program.explain(A, B, C)
    assert re.search(r"a temporary of `return A @ B @ C` \(line \d+\) comes through a queue", told)
    assert told.count("cycles by the model") == 1


def test_why_products_of_symbols_are_loops():
    sdfg = parse_sdfg(GEMM.format(n="N", m="M", k="K"))
    (choice, *_) = expand_library_nodes(sdfg, ("systolic", "maps"), "fpga")
    assert choice.expansion == "maps"
    assert "a row of the first factor has K elements, which wait in a queue: that is to be a number" in str(choice)


def test_products_in_maps_are_loops():
    text = GEMM.format(n="N", m="M", k=8).replace("blas", "state { map l = 0:2 { blas").replace(")\n}", ")\n}}}")
    sdfg = parse_sdfg(text)
    (choice, *_) = expand_library_nodes(sdfg, ("systolic", "maps"), "fpga")
    assert choice.expansion == "maps"
    assert "it is in a map, whose iterations have no order" in str(choice)


def test_tiles_of_symbols_are_masked():
    sdfg = parse_sdfg(GEMM.format(n="N", m="M", k=8))
    (choice, *_) = expand_library_nodes(sdfg, ("systolic", "maps"), "fpga")
    assert choice.expansion == "systolic"
    assert processes_of(sdfg) == ["read_A", "read_B", "rows", "pe", "drain", "write_C"]


def test_more_processing_elements_than_the_board_has_dsps():
    def large(A: f32[16, 12], B: f32[12, 20]):
        return A @ B

    with pytest.raises(CodegenError, match="5000 processing elements take 25000 DSPs, and u250 has 12288") as caught:
        systolic(large, 5000).to_sdfg().code(device="fpga", **{"fpga.systolic": True, "fpga.pes": 5000})
    assert "test_systolic_arrays.py" in str(caught.value)
    assert "fpga.pes=2457 is the most" in str(caught.value)


def test_without_the_option_products_are_loops():
    text = dcpy.program(product).to_sdfg().code(device="fpga")
    assert "_pe(" not in text
    assert "product_pe(" in systolic(product).to_sdfg().code(device="fpga", **{"fpga.systolic": True})


def test_text_of_both_vendors():
    sdfg = dcpy.program(product).to_sdfg().expand_library_nodes("systolic", pes=2)
    vitis, intel = (sdfg.code(device="fpga", **{"fpga.vendor": vendor}) for vendor in ("xilinx", "intel"))
    assert "DCPY_COPY(product_pe, 1, (" in vitis
    assert "DCPY_AUTORUN void product_pe_1(" in intel
