"""Scans: every expansion computes what NumPy accumulates, for every operation, axis and size."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify
from dcpy.libraries.scan.expand import block_scans, column_scans
from dcpy.libraries.scan.expand.block_scans import ScanBlock
from dcpy.libraries.scan.nodes import SCANS
from dcpy.transforms.expand import expand_library_nodes
from tests.libraries.oracles import RTOL, values_of

RNG = np.random.default_rng(3)
SHORT_NAMES = {"float64": "f64", "float32": "f32", "complex128": "c128", "int64": "i64", "int8": "i8", "bool": "bool"}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Small sizes reach every form: a warp of 4 threads, a block of 8, tiles of 8 and 16 elements."""
    sizes = {"EACH": 2, "ROW": 4, "SHORT": 12, "PIECE": 32, "MANY": 5, "BLOCKS": ScanBlock(8), "WARPS": ScanBlock(4, 2)}
    for name, value in sizes.items():
        monkeypatch.setattr(block_scans, name, value)
    for name, value in {"PIECE": 4, "LONG": 6, "MANY": 8}.items():
        monkeypatch.setattr(column_scans, name, value)


def expanded(text, target):
    sdfg = parse_sdfg(text)
    expand_library_nodes(sdfg, target=target)
    verify(sdfg)
    return sdfg


def program(op="add", src="f64", dst="f64", rank=1, axis=0, more=""):
    sizes = ", ".join("NMK"[:rank])
    whole = ", ".join(f"0:{size}" for size in "NMK"[:rank])
    symbols = ", ".join(f"{size}: size" for size in "NMK"[:rank])
    return f"""sdfg @f(x: {src}[{sizes}], out: {dst}[{sizes}]) symbols({symbols}) {{
      state {{ scan (x <- x[{whole}]{more}) -> (out -> out[{whole}]) {{op = "{op}", axis = {axis}}} }} }}"""


def data(dtype, *shape):
    values = RNG.integers(0, 3, shape)
    if np.dtype(dtype).kind in "fc":
        values = values - RNG.random(shape)
    return (values + 1j * RNG.random(shape) if np.dtype(dtype).kind == "c" else values).astype(dtype)


def check(text, x, expected, **more):
    for sdfg in (parse_sdfg(text), *(expanded(text, target) for target in ("gpu", "a machine to come"))):
        found = values_of(sdfg, {"x": x, "out": np.zeros_like(expected), **more})["out"]
        np.testing.assert_allclose(found, expected, rtol=RTOL.get(expected.dtype.name, 0), atol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 32, 33, 70, 600])
def test_vectors_of_every_size(n):
    x = data("float64", n)
    check(program(), x, np.cumsum(x))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 40), (40, 3), (40, 9), (2, 70), (3, 9), (7, 13), (6, 40)])
@pytest.mark.parametrize("axis", [0, 1])
def test_lines_along_either_axis(shape, axis):
    x = data("float64", *shape)
    check(program(rank=2, axis=axis), x, np.cumsum(x, axis))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_three_dimensions(axis):
    x = data("float64", 3, 5, 14)
    check(program(rank=3, axis=axis), x, np.cumsum(x, axis))


OPERATIONS = [
    *((op, dtype) for dtype in ("int64", "int8", "float64", "float32") for op in ("add", "mul", "min", "max")),
    *(("add", "complex128"), ("mul", "complex128"), ("and", "bool"), ("or", "bool")),
]


@pytest.mark.parametrize(("op", "dtype"), OPERATIONS)
def test_operations(op, dtype):
    x, short = data(dtype, 40), SHORT_NAMES[dtype]
    check(program(op, short, short), x, SCANS[op].accumulate(x, dtype=dtype))


def test_elements_are_converted_before_they_are_combined():
    x = data("int8", 40) * 50
    check(program(src="i8", dst="i64"), x, np.cumsum(x, dtype=np.int64))
    check(program(src="bool", dst="i64"), x > 50, np.cumsum(x > 50))


def test_short_floats_are_summed_in_double_precision():
    x = np.full(500, 0.1, np.float32)
    found = values_of(expanded(program(src="f32", dst="f32"), "gpu"), {"x": x, "out": x})["out"]
    np.testing.assert_array_equal(found, np.cumsum(x, dtype=np.float64).astype(np.float32))


def test_zeros_keep_their_signs_and_nan_is_kept():
    x = np.array([-0.0] * 40)
    found = values_of(expanded(program(), "gpu"), {"x": x, "out": np.ones(40)})["out"]
    assert np.signbit(found).all()
    x[20] = np.nan
    check(program("max"), x, np.maximum.accumulate(x))


@pytest.mark.parametrize("n", [1, 9, 33, 70])
def test_what_stands_in_front_of_a_line(n):
    text = program(more=", initial <- s[]").replace("out: f64", "s: f64[], out: f64")
    x = data("float64", n)
    check(text, x, 2.5 + np.cumsum(x), s=np.array(2.5))
    text = program(rank=2, axis=1, more=", initial <- s[0:N]").replace("out: f64", "s: f64[N], out: f64")
    x, s = data("float64", 3, n), data("float64", 3)
    check(text, x, s[:, None] + np.cumsum(x, 1), s=s)


@pytest.mark.parametrize("n", [0, 20, 33])
def test_in_place(n):
    text = "sdfg @f(x: f64[N]) symbols(N: size) { state { scan (x <- x[0:N]) -> (out -> x[0:N]) } }"
    x = data("float64", n)
    for target in ("gpu", "a machine to come"):
        sdfg = expanded(text, target)
        assert "_new" not in print_sdfg(sdfg)
        np.testing.assert_allclose(values_of(sdfg, {"x": x})["x"], np.cumsum(x), atol=1e-14)


def test_an_output_that_overlaps_the_input_otherwise_is_written_behind_it():
    text = "sdfg @f(x: f64[N]) symbols(N: size {least = 1}) { state { scan (x <- x[0:N - 1]) -> (out -> x[1:N]) } }"
    x = data("float64", 40)
    for target in ("gpu", "a machine to come"):
        np.testing.assert_allclose(values_of(expanded(text, target), {"x": x})["x"][1:], np.cumsum(x[:-1]), atol=1e-14)


def test_the_host_asks_for_sizes_that_are_not_known():
    assert print_sdfg(expanded(program(rank=2, axis=1), "gpu")).count("if ") == 2
    text = program().replace("symbols(N: size)", "").replace("N", "20")
    assert "if " not in print_sdfg(expanded(text, "gpu"))


def test_few_columns_are_cut():
    text = print_sdfg(expanded(program(rank=2), "gpu"))
    assert text.count("if ") == 1
    assert "data sums: f64[M, -((-N) // 4)]" in text


def test_in_a_map_one_thread_scans():
    text = """sdfg @f(x: f64[N, 9], out: f64[N, 9]) symbols(N: size) { state {
      map i = 0:N { scan (x <- x[i, 0:9]) -> (out -> out[i, 0:9]) } } }"""
    sdfg = expanded(text, "gpu")
    assert "@block" not in print_sdfg(sdfg)
    x = data("float64", 5, 9)
    np.testing.assert_allclose(values_of(sdfg, {"x": x, "out": x})["out"], np.cumsum(x, 1), atol=1e-14)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (('op = "add"', 'op = "sub"'), "scans with 'sub', which is none of add, mul, min, max, and, or"),
        (("axis = 0", "axis = 1"), "axis 1 does not fit an operand of 1 dimensions"),
        (("out[0:N]", "out[0:N + 1]"), "scans [N], but the output is [N + 1]"),
        (("x <- x[0:N]", "y <- x[0:N]"), "has the connectors (x, initial) -> (out)"),
        (("x <- x[0:N]", "x <- x[0:N], initial <- x[0:N]"), "starts from one element, initial, for each line"),
    ],
)
def test_problems(change, problem):
    sdfg = parse_sdfg(program().replace(*change))
    (node,) = sdfg.body.walk_nodes()
    assert any(problem in found for found in node.problems())


@pytest.mark.parametrize("shape", [(0,), (5,), (33,), (70,), (7, 13), (0, 4), (2, 3, 4)])
def test_masks_on_devices(shape):
    """Stream compaction is a scan of the mask: positions, elements, and the way back."""
    flags, sizes, rank = RNG.random(shape) < 0.4, ", ".join(map(str, shape)), len(shape)
    whole, wanted = ", ".join(f"0:{size}" for size in shape), np.nonzero(flags)
    n, x = len(wanted[0]), RNG.random(shape)
    outs = ", ".join(f"p{k}: i64[{n}]" for k in range(rank))
    found_at = ", ".join(f"out{k} -> p{k}[0:{n}]" for k in range(rank))
    text = f"""sdfg @f(m: bool[{sizes}], x: f64[{sizes}], v: f64[{n}], y: f64[{n}], {outs}) {{ state {{
      indexing.nonzero (mask <- m[{whole}]) -> ({found_at})
      indexing.compress (mask <- m[{whole}], x0 <- x[{whole}]) -> (out0 -> y[0:{n}])
      indexing.masked_store (out <- x[{whole}], mask <- m[{whole}], values <- v[0:{n}]) -> (out -> x[{whole}]) }} }}"""
    sdfg = expanded(text, "gpu")
    assert "@block" in print_sdfg(sdfg)
    v, places = RNG.random(n), {f"p{k}": np.zeros(n, np.int64) for k in range(rank)}
    found = values_of(sdfg, {"m": flags, "x": x, "v": v, "y": np.zeros(n), **places})
    for k, places_along in enumerate(wanted):
        np.testing.assert_array_equal(found[f"p{k}"], places_along)
    np.testing.assert_array_equal(found["y"], x[flags])
    x[flags] = v
    np.testing.assert_array_equal(found["x"], x)
