"""Every operation on every dtype for which NumPy has a loop: compiled code gives what NumPy gives, on nasty values."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import dcpy
from dcpy.ir import types
from dcpy.ir.data import Array
from dcpy.ir.expressions import bit_ops, float_ops, integer_ops
from dcpy.ir.expressions.ops import OPS
from dcpy.ir.expressions.scalar import Const, Ref, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import sym
from dcpy.ir.types import DTYPES, DType
from tests.support.compiled import compile_sdfg

pytestmark = pytest.mark.cc

BY_OTHER_MEANS = {
    "real", "imag", "cabs", "complex", "select", *integer_ops.FUNCTIONS, *float_ops.FUNCTIONS, *bit_ops.FUNCTIONS
}  # fmt: skip
REAL_ONLY = {"abs"}  # of a complex number NumPy gives a real one: `cabs`
_ROUNDED = """
    cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2 hypot
    pow logaddexp logaddexp2 sqrt deg2rad rad2deg cabs erf erfc gamma lgamma bessel_j0 bessel_j1 bessel_y0 bessel_y1
    erfinv erfcinv digamma
"""
ROUNDED = set(_ROUNDED.split())  # the C library (or its vector version) may differ from NumPy's own in the last places
ULPS = 8
COMPLEX_TOLERANCE = {"complex64": 2e-6, "complex128": 2e-15}


def nasty(dtype: DType) -> np.ndarray:
    """Values at which implementations differ."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.is_integer:
        info = np.iinfo(dtype.numpy)
        around = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, -1, -2, -3, -7, -8, -64]
        edges = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2]
        return np.array([v for v in around + edges if info.min <= v <= info.max], dtype.numpy)
    finite = [0.0, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 0.1, 7.25, 100.0, 1e-3, 12345.678]
    values = [*finite, *(-v for v in finite), np.nan, np.inf, -np.inf]
    if dtype.kind == "f":
        info = np.finfo(dtype.numpy)
        values += [info.max, info.min, info.tiny, float(info.smallest_subnormal), -float(info.tiny)]
        values += [2.0**15, 2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 1e10] if dtype.itemsize > 2 else []
        return np.array(values, dtype.numpy)
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, np.nan, np.inf, -np.inf, 1e-3]
    return np.array([complex(re, im) for re in parts for im in parts], dtype.numpy)


def has_loop(name: str, dtype: DType) -> bool:
    """Whether NumPy computes the operation on that dtype without casting."""
    if name in BY_OTHER_MEANS or (name in REAL_ONLY and dtype.kind == "c"):
        return False
    ufunc = OPS[name].numpy()
    try:
        resolved = ufunc.resolve_dtypes((*[dtype.numpy] * ufunc.nin, None))
    except TypeError:
        return False
    return all(found == dtype.numpy for found in resolved[: ufunc.nin])


def table_sdfg(title: str, rows: dict[str, tuple[DType, object, DType]], arity: int, dtype: DType) -> Sdfg:
    """One map that computes all rows: name to (input dtype, expression, output dtype)."""
    sdfg = Sdfg(title)
    sdfg.add_symbol("N", size=True)
    inputs = {}
    for letter in "ab"[:arity]:
        sdfg.add_argument(letter, Array.packed(dtype, [sym("N")]))
        inputs[f"{letter}_in"] = Memlet(letter, Subset.point(sym("i")))
    body = State()
    for name, (_, expr, result) in rows.items():
        sdfg.add_argument(f"r_{name}", Array.packed(result, [sym("N")]))
        out = {"out": Memlet(f"r_{name}", Subset.point(sym("i")))}
        body.add(Tasklet(dict(inputs), out, (("out", expr),)))
    sdfg.body.add(State(nodes=[Map(("i",), (Range.of(0, sym("N")),), Region([body]))]))
    return sdfg


def run_table(sdfg: Sdfg, rows: dict[str, tuple[DType, object, DType]], arrays: list[np.ndarray]) -> dict:
    results = {name: np.zeros(arrays[0].shape, result.numpy) for name, (_, _, result) in rows.items()}
    compile_sdfg(sdfg)(*arrays, *results.values())
    return results


def assert_agrees(name: str, got: np.ndarray, expected: np.ndarray, arrays: list[np.ndarray]) -> None:
    assert got.dtype == expected.dtype
    same = same_values(name, got, expected)
    where = np.flatnonzero(~same)[:5]
    shown = [f"{name}({', '.join(repr(a[k]) for a in arrays)}) is {expected[k]!r}, not {got[k]!r}" for k in where]
    assert not shown, f"{(~same).sum()} of {same.size}: " + "; ".join(shown)


def same_values(name: str, got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    if got.dtype.kind in "biu":
        return got == expected
    if got.dtype.kind == "c":
        tolerance = COMPLEX_TOLERANCE[got.dtype.name]
        return same_complex(got, expected, tolerance)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    if name in ROUNDED:
        ulps = 1 if got.dtype == np.float16 else ULPS
        with np.errstate(all="ignore"):
            same |= np.abs(got - expected) <= ulps * np.spacing(np.abs(expected))
    return same


def same_complex(got: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    scale = np.where(np.isfinite(np.abs(expected)), np.abs(expected), 0)
    close = np.ones(got.shape, bool)
    for mine, theirs in ((got.real, expected.real), (got.imag, expected.imag)):
        with np.errstate(all="ignore"):
            near = (mine == theirs) | (np.abs(mine - theirs) <= 8 * tolerance * np.maximum(scale, np.abs(theirs)))
        close &= near | (np.isnan(mine) & np.isnan(theirs))
    return close


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("arity", [1, 2])
def test_operations_are_those_of_numpy(dtype, arity):
    names = [name for name, info in OPS.items() if info.arity == arity and has_loop(name, dtype)]
    refs = [Ref("a_in", dtype), Ref("b_in", dtype)][:arity]
    rows = {name: (dtype, op(name, *refs), op(name, *refs).dtype) for name in names}
    pairs = list(itertools.product(nasty(dtype), repeat=arity))
    arrays = [np.array(column, dtype.numpy) for column in zip(*pairs, strict=True)]
    got = run_table(table_sdfg(f"table_{dtype}_{arity}", rows, arity, dtype), rows, arrays)
    failures = []
    for name in names:
        with np.errstate(all="ignore"):
            arguments = [np.abs(arrays[1])] if name == "pow" and dtype.kind == "i" else arrays[1:]
            if name == "pow" and dtype.kind == "i":
                keep = arrays[1] >= 0
                expected = np.power(arrays[0][keep], arrays[1][keep])
                mine, given = got[name][keep], [arrays[0][keep], arrays[1][keep]]
            else:
                expected, mine, given = OPS[name].numpy()(arrays[0], *arguments), got[name], arrays
        try:
            assert_agrees(name, mine, expected, given)
        except AssertionError as error:
            failures.append(str(error))
    assert failures == []


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_casts_are_those_of_astype(source):
    rows = {target.name: (source, cast(Ref("a_in", source), target), target) for target in DTYPES}
    values = nasty(source)
    got = run_table(table_sdfg(f"casts_of_{source}", rows, 1, source), rows, [values])
    failures = []
    for target in DTYPES:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            expected = values.astype(target.numpy)
        keep = np.ones(values.shape, bool)
        if target.name == "u32" and source.kind in "fc":  # beyond: NumPy's own result depends on the place in the array
            keep = np.abs(values.real.astype(np.float64)) < 2**31
        try:
            assert_agrees(f"{source} to {target}", got[target.name][keep], expected[keep], [values[keep]])
        except AssertionError as error:
            failures.append(str(error))
    assert failures == []


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_choices_and_parts(dtype):
    a, b = Ref("a_in", dtype), Ref("b_in", dtype)
    exprs = {"select": op("select", op("ne", a, b), a, b), "real": op("real", a), "imag": op("imag", a)}
    exprs |= {"cabs": op("cabs", a)} if dtype.kind == "c" else {}
    exprs |= {"complex": op("complex", a, b)} if dtype.kind == "f" and dtype.complex != dtype else {}
    rows = {name: (dtype, expr, expr.dtype) for name, expr in exprs.items()}
    pairs = list(itertools.product(nasty(dtype), repeat=2))
    x, y = (np.array(column, dtype.numpy) for column in zip(*pairs, strict=True))
    got = run_table(table_sdfg(f"parts_{dtype}", rows, 2, dtype), rows, [x, y])
    expected = {"select": np.where(x != y, x, y), "real": x.real, "imag": x.imag, "cabs": np.abs(x)}
    if "complex" in rows:
        assert same_values("bits", got["complex"].view(x.dtype), np.stack([x, y], axis=-1).ravel()).all()
        del rows["complex"]
    for name in rows:
        assert_agrees(name, got[name], expected[name], [x, y])


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype.is_integer], ids=str)
def test_operations_with_numbers(dtype):
    a = Ref("a_in", dtype)
    numbers = {"add": 3, "sub": 100, "mul": 7, "floordiv": 3, "mod": 5, "bitand": 12, "lshift": 3, "rshift": 2}
    exprs = {name: op(name, a, Const(number, dtype)) for name, number in numbers.items()}
    exprs["lt"] = op("lt", Const(3, dtype), op("add", a, Const(100, dtype)))
    rows = {name: (dtype, expr, expr.dtype) for name, expr in exprs.items()}
    x = nasty(dtype)
    got = run_table(table_sdfg(f"numbers_{dtype}", rows, 1, dtype), rows, [x])
    with np.errstate(all="ignore"):
        expected = {name: OPS[name].numpy()(x, dtype.numpy.type(number)) for name, number in numbers.items()}
        expected["lt"] = dtype.numpy.type(3) < x + dtype.numpy.type(100)
    for name in rows:
        assert_agrees(name, got[name], expected[name], [x])


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype.is_integer], ids=str)
def test_divisions_by_powers_of_two(dtype):
    a = Ref("a_in", dtype)
    powers = [1, 2, 4, 1 << (8 * dtype.itemsize - 2)]
    divisions = [(name, power) for name in ("floordiv", "mod") for power in powers]
    rows = {f"{name}_{power}": (dtype, op(name, a, Const(power, dtype)), dtype) for name, power in divisions}
    x = nasty(dtype)
    got = run_table(table_sdfg(f"powers_{dtype}", rows, 1, dtype), rows, [x])
    for name, power in divisions:
        assert_agrees(name, got[f"{name}_{power}"], OPS[name].numpy()(x, dtype.numpy.type(power)), [x])


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype.kind == "f"], ids=str)
def test_operations_that_numpy_has_no_function_for(dtype):
    arguments = [Ref("a_in", dtype), Ref("b_in", dtype)]
    exprs = {name: op(name, *arguments[:arity]) for name, arity in float_ops.ARITIES.items()}
    rows = {name: (dtype, expr, dtype) for name, expr in exprs.items()}
    digits = np.arange(-24.0, 25.0)
    values = np.concatenate([nasty(dtype), np.array([0.25, 4.5, 15.0, 0.125, 2.675, 1.005, 25.0], dtype.numpy)])
    pairs = [*itertools.product(values, nasty(dtype)), *itertools.product(values, digits)]
    x, y = (np.array(column, dtype.numpy) for column in zip(*pairs, strict=True))
    got = run_table(table_sdfg(f"float_ops_{dtype}", rows, 2, dtype), rows, [x, y])
    failures = []
    for name, arity in float_ops.ARITIES.items():
        given = [x, y][:arity]
        with np.errstate(all="ignore"):
            expected = OPS[name].numpy()(*given)
            near = np.abs(got[name] - expected) < 8 * np.finfo(dtype.numpy).eps  # of values between -1 and 1
        if name.startswith(("bessel", "lgamma", "digamma")):
            expected = np.where(near, got[name], expected)
        try:
            assert_agrees(name, got[name], expected, given)
        except AssertionError as error:
            failures.append(str(error))
    assert failures == []


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype.kind == "c"], ids=str)
def test_comparisons_of_magnitudes_are_those_of_hypot(dtype):
    # limits are magnitudes, their neighbours, and numbers whose squares are infinite, denormal or no numbers
    a, size = Ref("a_in", dtype), Ref("b_in", dtype)
    limit = op("real", size)
    orders = ("lt", "le", "gt", "ge")
    exprs = {name: op(name, op("cabs", a), limit) for name in orders}
    exprs |= {f"{name}_turned": op(name, limit, op("cabs", a)) for name in orders}
    rows = {name: (dtype, expr, expr.dtype) for name, expr in exprs.items()}
    rng = np.random.default_rng(5)
    real = dtype.real.numpy.type
    z = np.concatenate([(rng.normal(size=400) + 1j * rng.normal(size=400)).astype(dtype.numpy), nasty(dtype)])
    info = np.finfo(real)
    scales = [real(1), real(1e-18), real(1e18), info.max, info.tiny, info.smallest_subnormal]
    found = []
    with np.errstate(all="ignore"):
        for scale in scales:
            scaled = (z * scale).astype(dtype.numpy)
            sizes = np.hypot(scaled.real, scaled.imag)
            near = [sizes, np.nextafter(sizes, real(np.inf)), np.nextafter(sizes, real(0)), -sizes, sizes * 0]
            found += [(scaled, limits) for limits in (*near, sizes * real(1 - 5 * info.eps), sizes * real(np.inf))]
        x, limits = (np.concatenate(column) for column in zip(*found, strict=True))
        sizes = np.hypot(x.real, x.imag)
        got = run_table(table_sdfg(f"magnitudes_{dtype}", rows, 2, dtype), rows, [x, limits.astype(dtype.numpy)])
        for name in orders:
            assert_agrees(name, got[name], OPS[name].numpy()(sizes, limits), [x, limits])
            assert_agrees(name, got[f"{name}_turned"], OPS[name].numpy()(limits, sizes), [x, limits])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_remainders_near_multiples_are_exact(dtype):
    """Where the quotient rounds up to an integer, is large, or is none."""
    random = np.random.default_rng(0)
    y = random.standard_normal(20_000).astype(dtype)
    x = (y * random.integers(-5_000_000, 5_000_000, y.size)).astype(dtype)
    x[::2] = np.nextafter(x[::2], random.choice([-np.inf, np.inf], y.size // 2).astype(dtype))
    special = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, 1e38, 4194303.5, 4194304], dtype)
    x, y = (np.concatenate([a, b.ravel()]) for a, b in zip((x, y), np.meshgrid(special, special), strict=True))

    @dcpy.program
    def remainders(x, y):
        return np.remainder(x, y), np.fmod(x, y), np.floor_divide(x, y)

    with np.errstate(all="ignore"):
        found, expected = remainders(x, y), remainders.function(x, y)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one[other == 0]), np.signbit(other[other == 0]))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_divisions_around_32_bits(dtype):
    ends = [0, 1, 2, 3, 7, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**62, 2**63 - 1]
    values = ends if dtype is np.uint64 else [*ends, *(-end for end in ends), -(2**63)]
    x, y = (np.array(side, dtype) for side in zip(*((a, b) for a in values for b in values), strict=True))

    def parts(x, y):
        return x // y, x % y

    with np.errstate(all="ignore"):
        for found, expected in zip(dcpy.program(parts)(x, y), parts(x, y), strict=True):
            assert np.array_equal(found, expected)


def test_floats_as_bits_and_back():
    x = nasty(types.float64)
    x = np.concatenate([x, np.array([0x7FF0DEAD0000BEEF, -1], np.int64).view(np.float64)])
    rows = {"bits": (types.float64, op("bits", Ref("a_in", types.float64)), types.int64)}
    words = run_table(table_sdfg("bits", rows, 1, types.float64), rows, [x])["bits"]
    np.testing.assert_array_equal(words, x.view(np.int64))
    rows = {"of_bits": (types.int64, op("of_bits", Ref("a_in", types.int64)), types.float64)}
    back = run_table(table_sdfg("of_bits", rows, 1, types.int64), rows, [words])["of_bits"]
    np.testing.assert_array_equal(back.view(np.int64), words)
