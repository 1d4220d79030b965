"""Sorting by digits, or by networks where rows are short, and selection, in C++ that comes with dcpy (sorting.h)."""

from __future__ import annotations

from pathlib import Path

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Index, ScalarExpr
from dcpy.ir.nodes import Copy, ForeignCall
from dcpy.ir.symbolic import ONE, Expr, as_expr, max_of, min_of
from dcpy.libraries.api import Environment, ForeignLibrary, Fragment, Operand, expands
from dcpy.libraries.sorting.nodes import ArgSort, RankPartition, Sort

NAME = "sorting.h"
LONGEST_OF_NETWORK = 1024  # elements of a row, as sorting.h has it
BYTES_OF_LANES = 64  # of a vector
KEYS = {1: types.uint8, 2: types.uint16, 4: types.uint32, 8: types.uint64}  # by size in bytes


def _environment() -> Environment:
    source = (Path(__file__).parents[1] / "sorting.h").read_text(encoding="utf-8")
    return Environment(NAME, declarations=source)


RADIX = ForeignLibrary(NAME, _environment)


@expands(Sort, "radix", environment=NAME)
def sort_rows(node: Sort, f: Fragment) -> None:
    """One call for all rows, with a spare row of keys, or spare vectors of them for short rows."""
    x = _input(f)
    _call(f, "dcpy::sort_rows", x, _keys(f, x))


@expands(RankPartition, "selection", environment=NAME)
def partition_rows(node: RankPartition, f: Fragment) -> None:
    """One call for all rows, with a spare row and a vector of keys, and the ranks in order."""
    x, ranks = _input(f), f.input("ranks")
    rising = f.array("rising", types.int64, ranks.shape, outermost=True)
    _call(f, "dcpy::partition_rows", x, _keys(f, x), ranks, rising)


@expands(ArgSort, "radix", environment=NAME)
def argsort_rows(node: ArgSort, f: Fragment) -> None:
    """One call for all rows, with two spare rows of keys and their places, of 16 bytes at most, or vectors of both."""
    x = _input(f)
    spare = _spare(x.shape[1], 4, 2 * BYTES_OF_LANES // types.uint64.itemsize)
    _call(f, "dcpy::argsort_rows", x, f.array("places", types.uint64, (spare,), outermost=True))


def _keys(f: Fragment, x: Operand) -> Operand:
    """Return spare keys, one vector more than a row where that is long."""
    key = KEYS[x.dtype.itemsize]
    lanes = BYTES_OF_LANES // key.itemsize
    return f.array("keys", key, (_spare(x.shape[1], 1, lanes) + lanes,), outermost=True)


def _spare(n: Expr, alone: int, side_by_side: int) -> Expr:
    """Return the size for rows that are sorted one by one, and short ones that are in the lanes of vectors."""
    return max_of(alone * n, side_by_side * min_of(n, as_expr(LONGEST_OF_NETWORK)))


def _input(f: Fragment) -> Operand:
    x = f.input("x")
    if x.dtype.kind == "c":
        f.decline("sorts real numbers only")
    return x


def _call(
    f: Fragment, function: str, x: Operand, spare: Operand, ranks: Operand | None = None, rising: Operand | None = None
) -> None:
    target = f.output("out")
    rows, n = x.shape
    out = target if target.strides == (n, ONE) else f.array("rows", target.dtype, (rows, n), outermost=True)
    inputs, outputs = {"x": x.memlet}, {"out": out.memlet, "spare": spare.memlet}
    words, sizes = ["x", "out", "spare"], [rows, n, *x.strides]
    if ranks is not None and rising is not None:
        inputs["ranks"], outputs["rising"] = ranks.memlet, rising.memlet
        words, sizes = ["x", "ranks", "out", "spare", "rising"], [*sizes, *ranks.strides, *ranks.shape]
    arguments: tuple[str | ScalarExpr, ...] = (*words, *map(Index, sizes))
    f.add(ForeignCall(function, arguments, inputs, outputs, NAME))
    if out is not target:
        f.add(Copy(out.memlet, target.memlet))
