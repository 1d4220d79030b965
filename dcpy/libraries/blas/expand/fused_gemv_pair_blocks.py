"""Fused GEMV pair by blocks of threads: each reads tiles of the matrix once, and adds parts of rows and of columns.

Where the second product is of the result of the first, blocks have whole rows (`fused_gemv_chain`).

Parts are added up in the order of the tiles, so results have the same bits each time. They are a share of 1 / 32 of the
matrix: with tiles of 64 by 64 elements, a sum per row and one per column, written and read again.
"""

from __future__ import annotations

from dcpy.ir.nodes import Map
from dcpy.ir.schedules import BLOCK, GRID, SEQUENTIAL
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, min_of
from dcpy.ir.tree import owners_around
from dcpy.ir.types import DType
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.blas.expand.block_partial_sums import product_in, totals, zero
from dcpy.libraries.blas.expand.fused_gemv_chain import chain
from dcpy.libraries.blas.nodes import GemvPair
from dcpy.libraries.contraction.contraction import accumulator_dtype

TILE = 64  #: rows and columns of the matrix that a block has; its threads are along the columns
SIDE = 4  #: threads that share a row, or a column, of a tile


@expands(GemvPair, "maps", fuses=False)
def gemv_pair_apart(node: GemvPair, f: Fragment) -> None:
    """Two products, each of which reads the matrix."""
    f.add(node.part("y"))
    f.add(node.part("z"))


@expands(GemvPair, "device", on=("gpu",), fuses=False)
def gemv_pair(node: GemvPair, f: Fragment) -> None:
    """One kernel over tiles, and one for the sums of each direction; or one over rows, and one for sums of columns."""
    if any(isinstance(owner, Map) for owner in owners_around(node)):
        f.decline("is inside of a map")
    a, y, z = f.input("a"), f.output("y"), f.output("z")
    if a.strides[1] is not ONE:
        f.decline("the matrix does not lie by rows")
    if node.is_chain:
        chain(node, f, a, y, z)
        return
    dtype = accumulator_dtype("add", y.dtype)
    rows, columns = (Range(ZERO, size, as_expr(TILE)) for size in a.shape)
    of_rows = f.array("row_sums", dtype, (columns.size, a.shape[0]))
    of_columns = f.array("column_sums", dtype, (rows.size, a.shape[1]))
    with f.maps([rows, columns], GRID, "tile") as (top, left):
        _tile(f, (top, left), (of_rows, of_columns), dtype)
    totals(node, f, "y", y, of_rows)
    totals(node, f, "z", z, of_columns)


def _tile(f: Fragment, corner: tuple[Expr, Expr], sums: tuple[Operand, Operand], dtype: DType) -> None:
    """Read each element of a tile once: into a sum of its column, and, as a product, for that of its row."""
    a, x, w = (f.input(name) for name in "axw")
    top, left = corner
    down, across = (_within(start, size) for start, size in zip(corner, a.shape, strict=True))
    products = f.shared("products", dtype, (TILE, TILE + 1))  # one more, so that rows begin in different banks
    rows, columns = f.shared("of_rows", dtype, (TILE, SIDE)), f.shared("of_columns", dtype, (SIDE, TILE))
    product = product_in(dtype)
    with f.maps([Range(ZERO, as_expr(SIDE)), across], BLOCK, "t") as (t, j):
        own = zero(f, dtype)
        with f.map(Range(down.start + t, down.stop, as_expr(SIDE)), SEQUENTIAL) as i:
            element = f.scalar("element", a.dtype)
            f.put(element.at(), a.at(i, j))
            f.compute(own, product, element.at(), w.at(i), wcr="add")
            f.compute(products.at(i - top, j - left), product, element.at(), x.at(j))
        f.put(columns.at(t, j - left), own)
    # rows and their shares as one range, so that the block has no more threads than read the tile
    with f.maps([Range(ZERO, (down.stop - top) * SIDE)], BLOCK, "u") as (u,):
        own = zero(f, dtype)
        i, t = u // SIDE, u - u // SIDE * SIDE
        with f.map(Range(left + t, across.stop, as_expr(SIDE)), SEQUENTIAL) as j:
            f.put(own, products.at(i, j - left), wcr="add")
        f.put(rows.at(i, t), own)
    with f.maps([down], BLOCK) as (i,):
        own = zero(f, dtype)
        with f.map(Range(ZERO, as_expr(SIDE)), SEQUENTIAL) as t:
            f.put(own, rows.at(i - top, t), wcr="add")
        f.put(sums[0].at(left // TILE, i), own)
    with f.maps([across], BLOCK) as (j,):
        own = zero(f, dtype)
        with f.map(Range(ZERO, as_expr(SIDE)), SEQUENTIAL) as t:
            f.put(own, columns.at(t, j - left), wcr="add")
        f.put(sums[1].at(top // TILE, j), own)


def _within(start: Expr, size: Expr) -> Range:
    """The range from the beginning of a tile to its end, or that of the matrix."""
    return Range(start, min_of(start + TILE, size))
