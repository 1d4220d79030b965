"""Reductions as loops: everywhere, for every dtype, without an atomic operation.

The order of the loops, partial sums and parallel blocks are those of `libraries.contraction`.
"""

from __future__ import annotations

from collections.abc import Callable

from dcpy.ir import types
from dcpy.ir.expressions.identities import extreme_value, identity_value
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.nodes import Node
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr, as_expr
from dcpy.libraries.api import Element, Fragment, Operand, expands
from dcpy.libraries.contraction import Contraction, Indices, accumulator_dtype, contract, innermost, short_dtype
from dcpy.libraries.reduce.nodes import ArgReduce, Reduce

FLAGS = 64  #: truth values that are counted together, in 8 bits


@expands(Reduce, "pure")
def reduce_loops(node: Reduce, f: Fragment) -> None:
    """Accumulates in a private scalar, or in a private row where the fastest dimension is kept."""
    x, out = f.input("x"), f.output("out")
    axes = tuple(sorted(node.axes))
    if len(axes) == len(x.shape) > 1 and (flat := f.flat(x)) is not None:
        x, axes = flat, (0,)
    counts = node.op == "add" and x.dtype == types.bool_ and out.dtype.is_integer
    if counts and len(axes) == len(x.shape) == 1 and _is_stored(f, x):
        _count_flags(f, x, out)
        return

    def element(f: Fragment, target: Element, indices: Indices, wcr: str) -> Node:
        return f.put(target, x.at(*indices), wcr=wcr)

    dtype, inner = accumulator_dtype(node.op, out.dtype), innermost(x.shape, x.strides)
    identity = identity_value(node.op, dtype)
    short = short_dtype(out.dtype, dtype)
    contract(f, Contraction(x.shape, axes, inner, node.op, dtype, identity, element, _store_in(out), short))


def _count_flags(f: Fragment, x: Operand, out: Operand) -> None:
    """Blocks of flags are counted in 8 bits: a vector instruction adds many."""
    (size,) = x.shape
    blocks = Range(ZERO, size).size_within(f.ranges) // FLAGS  # a window that is inside out has a negative size
    total = f.scalar("total", out.dtype)
    f.put(total.at(), 0)
    with f.map(Range(ZERO, blocks), param="block") as block:
        count = f.scalar("count", types.uint8)
        f.put(count.at(), 0)
        with f.map(Range(ZERO, as_expr(FLAGS)), param="k") as k:
            f.put(count.at(), x.at(block * FLAGS + k), wcr="add")
        f.put(total.at(), count.at(), wcr="add")
    with f.map(Range(blocks * FLAGS, size), param="k") as k:
        f.put(total.at(), x.at(k), wcr="add")
    f.put(out.at(), total.at())


def _is_stored(f: Fragment, x: Operand) -> bool:
    """Whether a node's operand is in memory in any case: the caller's, or read by others as well.

    Otherwise the map that computes it is to be fused with what reads it, at one place.
    """
    others = (node for node in f.sdfg.body.walk_nodes() if node is not f.node)
    return not x.desc.transient or any(
        memlet.container == x.memlet.container for node in others for memlet in node.reads()
    )


@expands(ArgReduce, "pure")
def argreduce_loops(node: ArgReduce, f: Fragment) -> None:
    """Two reductions, both vectorizable: the extremum, then the first position that holds it (or a NaN)."""
    x, out = f.input("x"), f.output("out")
    axes = tuple(sorted(node.axes))
    kept = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
    extremum = f.array("extremum", x.dtype, kept, outermost=True)
    f.add(Reduce({"x": x.memlet}, {"out": extremum.memlet}, node.op, axes))
    none = Const(extreme_value("min", types.int64), types.int64)

    def element(f: Fragment, target: Element, indices: Indices, wcr: str) -> Node:
        place = _position(x, axes, indices)
        best = extremum.at(*(index for axis, index in enumerate(indices) if axis not in axes))

        def value(a: ScalarExpr, b: ScalarExpr) -> ScalarExpr:
            is_nan = op("ne", a, a)
            found = op("or", op("eq", a, b), is_nan) if x.dtype.is_inexact else op("eq", a, b)
            return op("select", found, Index(place), none)

        return f.compute(target, value, x.at(*indices), best, wcr=wcr)

    contract(
        f,
        Contraction(
            x.shape, axes, innermost(x.shape, x.strides), "min", types.int64, none.value, element, _store_in(out)
        ),
    )


def _store_in(out: Operand) -> Callable[[Fragment, Indices, Element], Node]:
    def store(f: Fragment, kept: Indices, value: Element) -> Node:
        return f.put(out.at(*kept), value)

    return store


def _position(x: Operand, axes: tuple[int, ...], indices: Indices) -> Expr:
    """The position within the searched axes, counted in C order."""
    place = ZERO
    for axis in axes:
        place = place * x.shape[axis] + indices[axis]
    return place
