"""Process grids in programs: ``Cart_create``, ``Cart_sub``, ``Cart_shift`` and ``coords``.

These are integers that the program computes when it runs, from how many ranks there are: one program serves all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dcpy.base.rank_grids import RankGrid
from dcpy.frontend.abstract_values.values import RecordValue, Static, TupleValue, Value, integer
from dcpy.frontend.comm.collectives import size
from dcpy.frontend.comm.constants import PROC_NULL, CartGrid
from dcpy.frontend.comm.operands import NONE, implements_comm
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.ir.expressions.scalar import Const, Index, op
from dcpy.ir.symbolic import ONE, Expr, as_expr, max_of, min_of
from dcpy.ir.types import int64

ONE_STEP = Static(1)
FIELDS = ("sizes", "coords", "all_sizes", "all_coords", "periods", "keep", "exact")


@implements_comm("Cart_create")
def cart_create(b: OpBuilder, dims: Value, periods: Value = NONE) -> Value:
    """A grid of ranks in rows and columns: the first ones of all. A size of 0 stands for what the others leave."""
    extents = b.shape_argument(dims)
    if not extents:
        raise b.error("a grid has one axis at least", help="write comm.Cart_create([2, 2])")
    return _created(b, extents, _flags(b, periods, len(extents), "periods") if periods != NONE else ())


def _created(b: OpBuilder, extents: Sequence[Expr], periods: tuple[bool, ...]) -> RecordValue:
    count, b.result_name = len(extents), ""
    found, here = b.empty((count,), int64, name="sizes"), b.empty((count,), int64, name="coords")
    b.library("comm.cart", {}, {"sizes": found, "coords": here}, extents=tuple(extents))
    sizes = tuple(
        extent if (extent.constant or 0) > 0 else b.emit.assign_symbol("p", found.load((k,)), 1)
        for k, extent in enumerate(extents)
    )
    coords = tuple(b.emit.assign_symbol("c", here.load((k,)), 0) for k in range(count))
    ranks = b.integer(size(b))
    fits = op("le", Index(_product(sizes)), Index(ranks))
    b.check(fits, "ValueError", "a grid has {0} ranks, and there are {1}", [Index(_product(sizes)), Index(ranks)])
    return record(sizes, coords, periods or (False,) * count, (True,) * count, None)


def record(
    sizes: Sequence[Expr], coords: Sequence[Expr], periods: Sequence[bool], keep: Sequence[bool], exact: Expr | None
) -> RecordValue:
    """The value of a grid with some of the axes of a whole."""
    kept = [axis for axis, has in enumerate(keep) if has]
    items = (
        _integers(sizes[axis] for axis in kept), _integers(coords[axis] for axis in kept), _integers(sizes),
        _integers(coords), TupleValue(tuple(map(Static, periods))), TupleValue(tuple(map(Static, keep))),
        NONE if exact is None else integer(exact),
    )  # fmt: skip
    return RecordValue(CartGrid, FIELDS, items)


def _integers(exprs: Iterable[Expr]) -> TupleValue:
    return TupleValue(tuple(map(integer, exprs)))


class CartesianGrid:
    """A grid that programs name, taken apart: what `record` was made of."""

    def __init__(self, b: OpBuilder, value: RecordValue) -> None:
        items = dict(zip(value.names, value.items, strict=True))
        self.value = value
        self.sizes = _exprs(b, items["all_sizes"])
        self.coords = _exprs(b, items["all_coords"])
        self.periods = tuple(bool(b.static(flag)) for flag in items_of(items["periods"]) or ())
        self.keep = tuple(bool(b.static(flag)) for flag in items_of(items["keep"]) or ())
        self.exact = None if items["exact"] == NONE else b.integer(items["exact"])

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the whole grid that it has."""
        return tuple(axis for axis, has in enumerate(self.keep) if has)

    @property
    def rank(self) -> Expr:
        """The number of the rank at these coordinates."""
        return self.rank_at(self.coords)

    @property
    def is_inside(self) -> Expr:
        """1 on ranks of the whole, 0 on those outside of it."""
        return min_of(1, max_of(0, self.sizes[0] - self.coords[0]))

    def rank_at(self, coords: Sequence[Expr]) -> Expr:
        """The number of the rank at some coordinates."""
        found = as_expr(0)
        for at, count in zip(coords, self.sizes, strict=True):
            found = found * count + at
        return found

    def coords_of(self, number: Expr) -> tuple[Expr, ...]:
        """Return the coordinates of a rank of the whole grid."""
        found = []
        for count in reversed(self.sizes):
            found.append(number % count)
            number = number // count
        return tuple(reversed(found))


def grid_of(b: OpBuilder, value: Value, what: str, known: CartesianGrid | None = None) -> CartesianGrid:
    """A grid as an argument: one that the program made, or one that was made before it runs.

    Where this rank is on a grid that is `known` is not asked again.
    """
    if isinstance(value, Static) and isinstance(value.value, RankGrid):
        made = value.value
        sizes = tuple(as_expr(count) for count in made.all_sizes)
        whole = (
            known if known is not None and known.sizes == sizes else CartesianGrid(b, _created(b, sizes, made.periods))
        )
        exact = None if made.exact is None else as_expr(made.exact)
        return CartesianGrid(b, record(whole.sizes, whole.coords, whole.periods, made.keep, exact))
    if isinstance(value, RecordValue) and value.cls is CartGrid:
        return CartesianGrid(b, value)
    raise b.error(f"{what} is a grid of ranks, not {b.describe(value)}", help="grid = comm.Cart_create([2, 2])")


@implements_comm("Cart_sub")
def cart_sub(b: OpBuilder, grid: Value, remain_dims: Value, exact_grid: Value = NONE) -> Value:
    """Rows or columns of a grid: those with the axes that remain, each for its own ranks.

    With `exact_grid`, a rank, the part that has this rank is the only one.
    """
    whole = grid_of(b, grid, "the first argument of comm.Cart_sub")
    remain = iter(_flags(b, remain_dims, len(whole.axes), "remain_dims"))
    keep = tuple(has and next(remain) for has in whole.keep)
    if not any(keep):
        raise b.error("a part of a grid has one axis at least", help="write comm.Cart_sub(grid, [True, False])")
    exact = whole.exact if exact_grid == NONE else b.integer(exact_grid, "exact_grid")
    if exact is not None and exact_grid != NONE:
        _require_rank(b, whole, exact)
    return record(whole.sizes, whole.coords, whole.periods, keep, exact)


@implements_comm("Cart_shift")
def cart_shift(b: OpBuilder, grid: Value, direction: Value, disp: Value = ONE_STEP) -> Value:
    """The ranks from which and to which this one shifts along an axis: ``(source, dest)``; no rank beyond its ends."""
    whole = grid_of(b, grid, "the first argument of comm.Cart_shift")
    axis = whole.axes[b.axis(direction, len(whole.axes), "direction")]
    step = b.integer(disp, "disp")
    return _integers(_neighbour(whole, axis, by) for by in (-step, step))


def _neighbour(whole: CartesianGrid, axis: int, by: Expr) -> Expr:
    at, count = whole.coords[axis] + by, whole.sizes[axis]
    there = whole.is_inside
    if whole.periods[axis]:
        at = at % count
    else:
        there = there * min_of(1, max_of(0, at + 1)) * min_of(1, max_of(0, count - at))
    other = whole.rank_at([at if number == axis else own for number, own in enumerate(whole.coords)])
    return there * (other - PROC_NULL) + PROC_NULL


@implements_comm("coords")
def coords(b: OpBuilder, grid: Value, rank: Value = NONE) -> Value:
    """Return the coordinates of a rank on a grid, by default this rank; one outside has the grid's sizes."""
    whole = grid_of(b, grid, "the first argument of comm.coords")
    found: Sequence[Expr] = whole.coords
    if rank != NONE:
        number = b.integer(rank, "rank")
        _require_rank(b, whole, number)
        found = whole.coords_of(number)
    return _integers(found[axis] for axis in whole.axes)


def _require_rank(b: OpBuilder, whole: CartesianGrid, number: Expr) -> None:
    count = _product(whole.sizes)
    inside = op("and", op("ge", Index(number), Const(0, int64)), op("lt", Index(number), Index(count)))
    b.check(inside, "ValueError", "rank {0} is not on the grid, which has {1}", [Index(number), Index(count)])


def _flags(b: OpBuilder, value: Value, count: int, what: str) -> tuple[bool, ...]:
    known = items_of(value)
    found = tuple(bool(b.static(item, what)) for item in known or ())
    if known is None or len(found) != count:
        raise b.error(f"{what} says yes or no to each of {count} axes", help=f"write {[True] * count}")
    return found


def _exprs(b: OpBuilder, value: Value) -> tuple[Expr, ...]:
    return tuple(b.integer(item) for item in items_of(value) or ())


def _product(sizes: Sequence[Expr]) -> Expr:
    return math.prod(sizes, start=ONE)
