"""IntegerNarrowing: shape, value, and random expressions of small integers."""

from __future__ import annotations

import random

import numpy as np
import pytest

import dcpy
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.cpu.integer_narrowing import IntegerNarrowing
from tests.support.expect import assert_same_text, assert_same_values

_POINT = """
    sdfg @f({arguments}) symbols(N: size) {{
      map i = 0:N {{
        data k: {kind} transient
        tasklet (p <- a[i], q <- b[i]) -> (o -> k) {{ o = {computed} }}
        tasklet (v <- k) -> (o -> y[i]) {{ o = {used} }}
      }}
    }}"""


def narrowed(text: str) -> str:
    before = parse_sdfg(text)
    after = copy_sdfg(before)
    IntegerNarrowing().run(Rewriter(after, "test"))
    assert_same_values(before, after, {"N": [0, 1, 9]})
    return print_sdfg(after)


def point(computed, used, *, kind="i64", arguments="a: bool[N], b: bool[N], y: bool[N]"):
    return _POINT.format(computed=computed, used=used, kind=kind, arguments=arguments)


def test_counts_of_bools_have_eight_bits():
    after = narrowed(point("i64(p) + i64(q)", "v == 2"))
    assert_same_text(after, print_sdfg(parse_sdfg(point("i8(p) + i8(q)", "v == i8(2)", kind="i8"))))


BYTES = "a: u8[N], b: u8[N], y: {}[N]"


@pytest.mark.parametrize(
    ("computed", "used", "result", "kind"),
    [
        ("i64(p) + i64(q)", "v > 300", "bool", "i16"),
        ("i64(p) * i64(q)", "f64(v)", "f64", "i32"),
        ("i64(p) - i64(q)", "f64(v)", "f64", "i16"),
        ("i64(p) * i64(q) * i64(p) * i64(q)", "f64(v)", "f64", "i64"),  # 32 bits
        ("i64(p + q)", "f64(v)", "f64", "i64"),  # what wraps around may be anything
    ],
)
def test_as_many_bits_as_values_need(computed, used, result, kind):
    after = narrowed(point(computed, used, arguments=BYTES.format(result)))
    assert f"data k: {kind} transient" in after


def test_what_may_not_fit_stays():
    text = point("p + q", "v == 2", arguments="a: i64[N], b: i64[N], y: bool[N]")
    assert narrowed(text) == print_sdfg(parse_sdfg(text))


DTYPES = ("bool", "uint8", "int8", "uint16", "int16", "int32", "uint32", "int64")


def random_expression(draw: random.Random, depth: int) -> str:
    """The text of an integer expression of arrays, with the dtypes of NumPy's promotion."""
    if depth == 0:
        name = draw.choice("abcdefgh")
        return draw.choice((name, f"{name}.astype(np.int64)", f"({name} > 0)", f"{name}.astype(np.uint8)"))
    one, other = (random_expression(draw, depth - 1) for _ in range(2))
    return draw.choice((
        f"({one}.astype(np.int64) + {other})", f"({one}.astype(np.int32) - {other}.astype(np.int16))",
        f"({one}.astype(np.int64) * {other})", f"np.minimum({one}, {other})",
        f"np.maximum({one}, {other}.astype(np.int64))",
        f"({one} & {other})", f"({one} ^ {other}.astype(np.int64))", f"np.where({one} > {other}, {one}, {other})",
        f"np.abs({one}.astype(np.int64) - {other})", f"{one}.astype(np.int64).astype(np.uint8)",
        f"({one}.astype(np.int64) // {draw.choice((1, 2, 9, 255, 70000))})",
        f"({one}.astype(np.int64) >> {draw.choice((0, 1, 8))})",
        f"({one}.astype(np.int64) % {draw.choice((1, 3, 1000))})",
        f"({one} == {draw.choice((-1, 0, 2, 127, 128, 255, 300, 2**31))})", f"({one} <= {other})",
        f"({one}.astype(np.int64) + {other}.astype(np.int64) * {draw.choice((-3, 2, 100, 2**40))})",
    ))  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_random_expressions(seed, tmp_path):
    draw = random.Random(seed)
    results = [f"({random_expression(draw, draw.randint(1, 3))}).astype(np.float64)" for _ in range(8)]
    lines = ["import numpy as np", "def computed(a, b, c, d, e, f, g, h):", f"    return ({', '.join(results)},)"]
    path = tmp_path / f"computed_{seed}.py"
    path.write_text("\n".join(lines) + "\n")
    namespace = {"__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    rng = np.random.default_rng(seed)
    arrays = []
    for dtype in DTYPES:
        limits = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        drawn = rng.integers(limits[0], limits[1], 67, endpoint=True, dtype=np.int64)
        drawn[:4] = limits[0], limits[1], limits[0] // 2, 0
        arrays.append(drawn.astype(dtype))
    with np.errstate(all="ignore"):
        expected = namespace["computed"](*arrays)
    found = dcpy.program(auto_optimize=True)(namespace["computed"])(*arrays)
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_array_equal(one, other, err_msg=results[number])
