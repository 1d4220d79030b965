"""Merge sort from the bottom up, as maps: each stage moves every element to its place in a run of twice the length.

An element's place is its place in its own run, and the number of elements of the neighbouring run that go before it,
which a binary search finds. So there is nothing sequential but the stages, and equal elements keep their order.
"""

from __future__ import annotations

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, Load, ScalarExpr, cast, op
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, max_of, min_of
from dcpy.libraries.api import Element, Fragment, Operand, expands
from dcpy.libraries.sorting.nodes import ArgSort, RankPartition, Sort


@expands(Sort, "maps", fuses=False)
def sort_rows(node: Sort, f: Fragment) -> None:
    """The elements themselves move."""
    _sort(f)


@expands(RankPartition, "maps", fuses=False)
def partition_rows(node: RankPartition, f: Fragment) -> None:
    """All of it is sorted."""
    _sort(f)


def _sort(f: Fragment) -> None:
    x, out = _input(f), f.output("out")
    rows, n = x.shape
    runs = f.array("runs", x.dtype, (as_expr(2), rows, n))
    with f.maps([Range(ZERO, rows), Range(ZERO, n)]) as (r, i):
        f.put(runs.at(ZERO, r, i), x.at(r, i))
    parity = _stages(f, runs, [runs])
    with f.maps([Range(ZERO, rows), Range(ZERO, n)]) as (r, i):
        f.put(out.at(r, i), runs.at(parity, r, i))


@expands(ArgSort, "maps", fuses=False)
def argsort_rows(node: ArgSort, f: Fragment) -> None:
    """The elements move, and beside them the places that they came from."""
    x, out = _input(f), f.output("out")
    rows, n = x.shape
    runs, places = (f.array(stem, t, (as_expr(2), rows, n)) for stem, t in (("runs", x.dtype), ("places", types.int64)))
    with f.maps([Range(ZERO, rows), Range(ZERO, n)]) as (r, i):
        f.put(runs.at(ZERO, r, i), x.at(r, i))
        f.compute(places.at(ZERO, r, i), lambda: Index(i))
    parity = _stages(f, runs, [runs, places])
    with f.maps([Range(ZERO, rows), Range(ZERO, n)]) as (r, i):
        f.put(out.at(r, i), places.at(parity, r, i))


def _input(f: Fragment) -> Operand:
    x = f.input("x")
    if x.dtype.kind == "c":
        f.decline("sorts real numbers only")
    return x


def _stages(f: Fragment, runs: Operand, moved: list[Operand]) -> Expr:
    """Sort what is in plane 0 of the operands that are `moved`, by `runs`; return the plane where it is then."""
    _, rows, n = runs.shape
    pairs = cast(Index(max_of(n - 1, ONE)), types.float64)
    stages = f.let("stages", op("add", cast(op("log2", pairs), types.int64), Const(1, types.int64)))
    parity, width = f.let("parity", Const(0, types.int64)), f.let("width", Const(1, types.int64))
    with f.loop(Range(ZERO, stages), "stage") as stage:
        with f.maps([Range(ZERO, rows), Range(ZERO, n)]) as (r, i):
            place = _place(f, runs, (parity, r), i, (width, stage))
            for operand in moved:
                f.put(operand.at(1 - parity, r, place), operand.at(parity, r, i))
        f.assign(parity, Index(1 - parity))
        f.assign(width, Index(2 * width))
    return parity


def _place(f: Fragment, runs: Operand, row: tuple[Expr, Expr], i: Expr, stage: tuple[Expr, Expr]) -> Expr:
    """Return the place of element `i` after the merge: runs have `width` elements, a search takes `number + 1` steps.

    Left runs begin at `start`, right ones at `middle`. In the other run elements before `low` go before element `i`:
    as many as lie between the beginning of that run and `low`. So either way the place is ``i + low - middle``.
    """
    n, (width, number) = runs.shape[2], stage
    start = f.let("start", Index(i - i % (2 * width)))
    middle = f.let("middle", Index(min_of(start + width, n)))
    is_left = op("lt", Index(i), Index(middle))
    low = f.let("low", op("select", is_left, Index(middle), Index(start)))
    high = f.let("high", op("select", is_left, Index(min_of(middle + width, n)), Index(middle)))
    mine = _load(runs.at(*row, i))
    with f.loop(Range(ZERO, number + 1), "step"):
        some, _ = f.branch(op("lt", Index(low), Index(high)))
        with f.inside(some):
            probe = f.let("probe", Index((low + high) // 2))
            other = _load(runs.at(*row, probe))
            goes_first = op("select", is_left, _less(other, mine), op("not", _less(mine, other)))
            before, behind = f.branch(goes_first)
            with f.inside(before):
                f.assign(low, Index(probe + 1))
            with f.inside(behind):
                f.assign(high, Index(probe))
    return f.let("place", Index(i + low - middle))


def _less(a: ScalarExpr, b: ScalarExpr) -> ScalarExpr:
    """Return whether `a` goes before `b`; NaN comes last."""
    less = op("lt", a, b)
    if not a.dtype.is_inexact:
        return less
    return op("or", less, op("and", op("eq", a, a), op("ne", b, b)))


def _load(element: Element) -> Load:
    return Load(element.memlet.container, element.memlet.subset.indices, element.dtype)
