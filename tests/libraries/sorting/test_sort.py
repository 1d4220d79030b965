"""Rows sorted by their digits, or by merging runs."""

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ExpansionError
from dcpy.ir import types
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, as_expr
from dcpy.ir.text import parse_sdfg
from dcpy.libraries.sorting.nodes import ArgSort, RankPartition, Sort
from dcpy.runtime.loading import shared_libraries
from dcpy.transforms.expand import expand_library_nodes
from tests.libraries.oracles import assert_compiles, assert_expands
from tests.support import tiers
from tests.support.oracles import check_same
from tests.support.tiers import some

DTYPES = ("bool", "int8", "uint16", "int32", "uint64", "int64", "float16", "float32", "float64", "complex64")
SIZES = (0, 1, 2, 64, 65, 8192, 8193)  # where another way of sorting begins


OWN_PROGRAMS = ((1, 5), (2, 2), (64, 3), (0, 4), (40, 1))  # rows and numbers


@pytest.fixture(params=[True, False], ids=["NumPy's sorts", "by itself"])
def lent(request, monkeypatch):
    """Whether programs that are loaded in the test get NumPy's own sorts, as they do in its process only."""
    if not request.param:
        monkeypatch.setattr(shared_libraries, "lend_sorts", lambda handle: False)
    return request.param


def sorts(a):
    orders = np.argsort(a, axis=1, kind="stable"), a.argsort(0, "stable"), np.argsort(a, None, stable=True)
    return np.sort(a), np.sort(a, axis=0), np.sort(a, axis=None), *orders


def numbers(dtype, shape, seed=0):
    """With duplicates, both signs, and all digits; NaN and infinities, where there are."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind not in "fc":
        every = rng.integers(0, 256, (*shape, np.dtype(dtype).itemsize), np.uint8)
        found = (every % 2).astype(dtype)[..., 0] if dtype == "bool" else every.view(dtype)[..., 0]
        return np.where(rng.random(shape) < 0.3, found.dtype.type(1), found)
    found = rng.choice([np.nan, np.inf, -np.inf, 1.5, *rng.normal(0, 50, 100)], shape)
    if np.dtype(dtype).kind == "c":
        found = np.stack((rng.choice([-1, 0.5, np.nan, np.inf], shape), found), -1).view(complex)[..., 0]
    return found.astype(dtype)


@pytest.mark.cc
@pytest.mark.parametrize("dtype", some(DTYPES, "bool", "int32", "float16", "float64", "complex64"))
def test_as_numpy(dtype):
    check_same(sorts, numbers(dtype, (3, 90)))


@pytest.mark.cc
@pytest.mark.parametrize("dtype", some(("int8", "float32", "float64"), "float64"))
def test_of_all_sizes(dtype, lent):
    def sorted_(a):
        return sorts(a), lent

    program = dcpy.program(sorted_)
    for n in SIZES:
        a = numbers(dtype, (2, n), seed=n)
        for got, expected in zip(program(a)[0], sorts(a), strict=True):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.cc
@pytest.mark.parametrize("dtype", some(DTYPES[:-1], "bool", "uint16", "float32", "float64"))
def test_short_rows_side_by_side(dtype, lent):
    """Shapes of a program of their own are those of float64, and every third of them of another dtype."""

    def sorted_(a):
        return np.sort(a), np.argsort(a, kind="stable"), np.sort(a, axis=0), lent

    program = dcpy.program(sorted_)
    every = dtype == "float64" or tiers.EXHAUSTIVE
    own = OWN_PROGRAMS if every else OWN_PROGRAMS[DTYPES.index(dtype) % 3 :: 3]
    for rows, n in (*own, (9, 33), (17, 100), (67, 16), (5, 1024), (5, 1025)):
        a = numbers(dtype, (rows, n), seed=n)
        expected = np.sort(a), np.argsort(a, kind="stable"), np.sort(a, axis=0)
        for got, wanted in zip(program(a)[:3], expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


def of_kind(kind, a):
    """The numbers, or others of the same shape and dtype."""
    if kind == "sorted":
        return np.sort(a)
    return a if kind == "mixed" else np.resize(a[0, : 3 if kind == "three values" else 1], a.shape)


def partitions(a, ranks):
    return np.partition(a, ranks), np.partition(a.T, ranks, axis=0).T


@pytest.mark.cc
@pytest.mark.parametrize("dtype", some(DTYPES[:-1], "bool", "uint16", "int32", "float32", "float64"))
def test_elements_of_some_ranks_come_to_their_places(dtype):
    program = dcpy.program(partitions)
    for n, ranks in ((5, [2]), (511, [0, 3]), (512, [7, 7, 511]), (4000, [0, 1999, -2001, 2000, -1]), (9000, [8990])):
        for kind in ("mixed", "one value", "sorted", "three values"):
            a = of_kind(kind, numbers(dtype, (3, n), seed=n))
            in_order = np.sort(a)
            for got in program(a, np.array(ranks)):
                for rank in np.array(ranks) % n:
                    np.testing.assert_array_equal(got[:, rank], in_order[:, rank])
                    before, behind = np.sort(got[:, :rank]), np.sort(got[:, rank:])
                    np.testing.assert_array_equal(np.concatenate((before, behind), axis=1), in_order)


@pytest.mark.cc
def test_selection_ends_where_each_pivot_is_the_worst():
    """All elements that a sample looks at are the greatest: what is left is sorted at last."""
    a = np.arange(20_000.0)
    for n in (20_000, 1_500):
        a[(2 * np.arange(63) + 1) * (n // 126) + np.arange(63) % 3] = np.inf
    median = dcpy.program(lambda a: np.median(a))
    assert median(a) == np.median(a)


@pytest.mark.cc
@pytest.mark.parametrize("close", [2, 40, 5000])
def test_orders_of_numbers_whose_first_bits_are_equal(close):
    """Of `close` numbers each; in a packed number there is no place for the bits in which they differ."""
    near = 1 + np.random.default_rng(0).integers(0, 60, 5000) * 2.0**-52
    a = near * (np.arange(5000) // close * 1.5 + 1)
    a[0] = -1e300
    check_same(lambda a: np.argsort(a[::-1], kind="stable"), np.stack((a, -a)))


@pytest.mark.cc
def test_rows_with_gaps():
    a = numbers("float64", (6, 200))
    check_same(lambda a: sorts(a[::2, ::-3]), a)
    check_same(lambda a: sorts(a[::-1].T), a)


@pytest.mark.cc
def test_zeros_of_both_signs_are_equal():
    a = np.resize([0.0, -0.0, 1.0, -0.0, -1.0], 100)
    check_same(lambda a: (np.argsort(a, kind="stable"), np.abs(np.sort(a))), a)


@pytest.mark.cc
def test_in_place():
    def in_place(a, c):
        a.sort()
        c[:, ::2] = np.sort(c[:, ::2], axis=0)

    check_same(in_place, numbers("int64", (3, 70)), numbers("float32", (70, 5)))


@pytest.mark.parametrize("node", [Sort, ArgSort])
def test_operands_of_another_form_are_a_problem(node):
    def memlet(*sizes):
        return Memlet("x", Subset(tuple(Range(ZERO, as_expr(size)) for size in sizes)))

    assert list(node(inputs={"x": memlet(2, 3)}, outputs={"out": memlet(2, 3)}).problems()) == []
    assert list(node(inputs={"x": memlet(2, 3)}, outputs={"out": memlet(3, 2)}).problems())
    assert list(node(inputs={"x": memlet(3)}, outputs={"out": memlet(3)}).problems())
    assert list(node(inputs={"y": memlet(2, 3)}, outputs={"out": memlet(2, 3)}).problems())


def test_a_partition_needs_a_vector_of_ranks():
    matrix, vector = (Memlet("x", Subset((Range(ZERO, as_expr(3)),) * k)) for k in (2, 1))
    assert list(RankPartition(inputs={"x": matrix, "ranks": vector}, outputs={"out": matrix}).problems()) == []
    assert list(RankPartition(inputs={"x": matrix, "ranks": matrix}, outputs={"out": matrix}).problems())
    assert list(RankPartition(inputs={"x": matrix}, outputs={"out": matrix}).problems())


# -- the node, by any expansion ----------------------------------------------------------------------------------------

REAL = [dtype for dtype in DTYPES if dtype != "complex64"]
ROWS = {"": "0:R, 0:N", "from the end": "R - 1:-1:-1, N - 1:-1:-1", "every second": "0:R, 0:2*N:2"}


def statement(node, dtype, layout=""):
    t, place = types.from_numpy(dtype).name, ROWS[layout]
    wide = "2*N" if layout == "every second" else "N"
    out = "i64" if node == "argsort" else t
    return f"""sdfg @f(x: {t}[R, {wide}], out: {out}[R, N]) symbols(R: size, N: size) {{ state {{
                 {node} (x <- x[{place}]) -> (out -> out[0:R, 0:N]) }} }}"""


@pytest.mark.parametrize("node", ["sort", "argsort"])
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("layout", ROWS)
def test_merging_runs_sorts(node, dtype, layout):
    """The stages end where one run is left: sizes around powers of two, and none at all."""
    long = (33,) if dtype in ("int8", "float64") or tiers.EXHAUSTIVE else ()
    for n in (0, 1, 2, 3, 7, 8, 9, *long) if not layout else (1, 5):
        x = numbers(dtype, (2, 2 * n if layout == "every second" else n), seed=n)
        out = np.full((2, n), 77).astype("int64" if node == "argsort" else dtype)
        assert_expands(statement(node, dtype, layout), {"x": x, "out": out}, "maps")


@pytest.mark.cc
@pytest.mark.parametrize("node", ["sort", "argsort"])
@pytest.mark.parametrize("dtype", some(REAL, "bool", "float64"))
def test_merging_runs_sorts_when_compiled(node, dtype):
    for n in (0, 1, 2, 1000, 1025):
        out = np.full((2, n), 77).astype("int64" if node == "argsort" else dtype)
        assert_compiles(statement(node, dtype), {"x": numbers(dtype, (2, n), seed=n), "out": out}, "maps")


@pytest.mark.parametrize("expansion", ["maps", pytest.param("selection", marks=pytest.mark.cc)])
def test_a_partition_by_any_expansion(expansion):
    text = """sdfg @f(x: f64[R, N], ranks: i64[K], out: f64[R, N]) symbols(R: size, N: size, K: size) { state {
                  partition (x <- x[0:R, 0:N], ranks <- ranks[0:K]) -> (out -> out[0:R, 0:N]) } }"""
    check = assert_expands if expansion == "maps" else assert_compiles
    x = numbers("float64", (2, 40))  # short rows are sorted, as the interpreter does
    check(text, {"x": x, "ranks": np.array([3, 1]), "out": np.full((2, 40), 77.0)}, expansion)


def test_complex_numbers_are_declined():
    with pytest.raises(ExpansionError) as refused:
        expand_library_nodes(parse_sdfg(statement("sort", "complex64")), target="a machine to come")
    assert "maps: sorts real numbers only" in refused.value.notes
