"""Reductions as loops for CPUs: for every dtype, without an atomic operation.

The order of the loops, partial sums and parallel blocks are those of `libraries.contraction.cpu`.
"""

from __future__ import annotations

from dcpy.ir import types
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, as_expr
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.contraction.contraction import innermost
from dcpy.libraries.contraction.cpu import contract
from dcpy.libraries.reduce.expand.extrema_of_columns import argreduce_columns
from dcpy.libraries.reduce.expand.reduction_contractions import first_flag, position, reduction
from dcpy.libraries.reduce.nodes import ArgReduce, Reduce

SHORT = 16  #: elements of a row, of which less are better added up as parts of one long row than where they are made
FLAGS = 64  #: truth values that are counted together, in 8 bits


@expands(Reduce, "cpu", on=("cpu",))
def reduce_loops(node: Reduce, f: Fragment) -> None:
    """Accumulate in a private scalar, or in a private row where the fastest dimension is kept."""
    x, out = f.input("x"), f.output("out")
    axes = tuple(sorted(node.axes))
    apart = _is_stored(f, x) or x.dtype == types.bool_ or (x.shape[-1].constant or SHORT) < SHORT
    if apart and len(axes) == len(x.shape) > 1 and (flat := f.flat(x)) is not None:
        x, axes = flat, (0,)
    counts = node.op == "add" and x.dtype == types.bool_ and out.dtype.is_integer
    if counts and len(axes) == len(x.shape) == 1 and _is_stored(f, x):
        _count_flags(f, x, out)
        return

    contract(f, reduction(node.op, x, axes, out))


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
    """Return whether a node's operand is in memory in any case: the caller's, or read by others as well.

    Otherwise the map that computes it is to be fused with what reads it, at one place.
    """
    others = (node for node in f.sdfg.body.walk_nodes() if node is not f.node)
    return not x.desc.transient or any(
        memlet.container == x.memlet.container for node in others for memlet in node.reads()
    )


@expands(ArgReduce, "cpu", on=("cpu",))
def argreduce_loops(node: ArgReduce, f: Fragment) -> None:
    """Two reductions, both vectorizable: the extremum, then the first position that holds it (or a NaN).

    Of truth values the extremum is known beforehand; and of columns, rows of extrema and of positions are kept.
    """
    x, out = f.input("x"), f.output("out")
    axes = tuple(sorted(node.axes))
    if x.dtype == types.bool_:
        contract(f, first_flag(node.op, x, axes, out))
        return
    if len(axes) == 1 and innermost(x.shape, x.strides) not in axes and x.dtype.kind in "iuf":
        argreduce_columns(f, node.op, x, axes[0], out)
        return
    kept = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
    extremum = f.array("extremum", x.dtype, kept, outermost=True)
    f.add(Reduce({"x": x.memlet}, {"out": extremum.memlet}, node.op, axes))
    contract(f, position(x, axes, extremum, out))
