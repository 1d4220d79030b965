"""Transforms without a library: a call of a program of dcpy's own IR, which `programs` and `halves` are."""

from __future__ import annotations

from functools import reduce

from dcpy.ir import types
from dcpy.ir.copying import copy_sdfg
from dcpy.ir.expr import Const, Index, ScalarExpr, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Copy
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr
from dcpy.ir.types import DType
from dcpy.libraries.api import Element, Fragment, Operand, expands
from dcpy.libraries.fft.expand.halves import BACKWARD, COMPLEX, FORWARD, program
from dcpy.libraries.fft.nodes import Transform

REAL = {types.complex64: types.float32, types.complex128: types.float64}
HALVED = (types.float32, types.float64)


@expands(Transform, "pure")
def transform(node: Transform, f: Fragment) -> None:
    """All lines by one call, on packed operands: others are copied."""
    x, out = f.input("x"), f.output("y")
    real = REAL.get(x.dtype, x.dtype)
    if real not in HALVED or REAL.get(out.dtype, out.dtype) != real:
        f.decline(f"takes {', '.join(map(str, (*HALVED, *REAL)))} of one precision, not {x.dtype} and {out.dtype}")
    packed, y = _packed(f, x), out
    if f.reals(out) is None:
        y = f.array("spectrum", out.dtype, out.shape)
    kind = COMPLEX if x.dtype == out.dtype else FORWARD if x.dtype == real else BACKWARD
    length = out.shape[node.axis] if kind == BACKWARD else x.shape[node.axis]
    scale = f.scalar("scale", real)
    f.compute(scale.at(), lambda: factor(node, length, real))
    _call(f, node, program(kind, real), packed, y, scale.at(), length, kind == COMPLEX and node.backward)
    if y is not out:
        f.add(Copy(y.memlet, out.memlet))


def factor(node: Transform, length: Expr, real: DType) -> ScalarExpr:
    """What the sums are multiplied by, as NumPy computes it."""
    one, n = Const(1.0, real), cast(Index(length), real)
    if not node.is_scaled():
        return one
    return op("div", one, op("sqrt", n) if node.norm == "ortho" else n)


def _packed(f: Fragment, x: Operand) -> Operand:
    if f.reals(x) is not None:
        return x
    copied = f.array("points", x.dtype, x.shape)
    f.add(Copy(x.memlet, copied.memlet))
    return copied


def _call(
    f: Fragment, node: Transform, callee: Sdfg, x: Operand, y: Operand, scale: Element, length: Expr, backward: bool
) -> None:
    """Lines of packed operands: those before the axis are `outer`, those behind it lie side by side."""
    outer, inner = _product(x.shape[: node.axis]), _product(x.shape[node.axis + 1 :])
    symbols: dict[str, Expr] = {"n": length}
    memlets: dict[str, Memlet] = {"scale": scale.memlet}
    for name, operand in (("x", x), ("y", y)):
        reals = f.reals(operand)
        assert reals is not None  # packed by now
        parts = as_expr(1 if operand.dtype in HALVED else 2)
        points = operand.shape[node.axis]
        memlets[name] = reals.memlet
        symbols[name.upper()] = reals.shape[0]
        symbols |= {f"{name}0": ONE if backward else ZERO, f"{name}im": as_expr(-1 if backward else 1)}
        symbols |= {f"{name}o": parts * points * inner, f"{name}i": parts, f"{name}k": parts * inner}
    if inner is ONE:  # lines behind each other: that of neighbours is computed side by side, too
        symbols |= {"xi": symbols["xo"], "yi": symbols["yo"]}
        outer, inner = inner, outer
    symbols |= {"outer": outer, "inner": inner}
    shared = next((call.sdfg for call in f.sdfg.body.walk_calls() if call.sdfg.name == callee.name), None)
    callee = shared or copy_sdfg(callee)
    f.add(
        Call(
            callee,
            {name: memlets[name] for name in callee.arguments if name in memlets},
            {s: symbols[s] for s in callee.symbols},
        )
    )


def _product(sizes: tuple[Expr, ...]) -> Expr:
    return reduce(lambda one, other: one * other, sizes, ONE)
