"""Fused GEMV chain, ``z = a.T @ (a @ x)``: blocks of threads that hold rows of the matrix read it once.

What row i contributes to the second product is ``y[i] * a[i]``, where ``y[i]`` is the product of that very row and
``x``. So a block takes a few rows into shared memory, adds up their products with ``x``, and adds multiples of them to
sums of columns, which it keeps in shared memory, too: then those that are behind. The sums of each block are its part
of ``z``, and parts are added up in order: the same bits each time.

Rows have to fit: where they are known to be too long, or turn out to be, there are two products.
"""

from __future__ import annotations

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, op
from dcpy.ir.schedules import BLOCK, GRID, SEQUENTIAL
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr, as_expr, max_of, min_of
from dcpy.ir.types import DType
from dcpy.libraries.api import Fragment, Operand
from dcpy.libraries.blas.expand.block_partial_sums import product_in, store, totals, zero
from dcpy.libraries.blas.nodes import GemvPair
from dcpy.libraries.contraction.contraction import accumulator_dtype

Operands = tuple[Operand, Operand, Operand]  # the matrix, and both results

BAND = 64  #: rows of a block: parts of sums are a share of 1 / 32 of the matrix, written and read again
ROWS = 4  #: of which so many at most are in shared memory at a time
THREADS, FEW = 256, 16  #: of a block; and those that add up what they have found, for each row
SHARED_BYTES = 46 * 1024  #: of a block, which is what every chip has


def chain(node: GemvPair, f: Fragment, a: Operand, y: Operand, z: Operand) -> None:
    """One kernel over bands of rows, and one for the sums of columns."""
    dtype = accumulator_dtype("add", y.dtype)
    room = SHARED_BYTES // dtype.itemsize - ROWS * (THREADS + FEW + 1)
    longest = room // 2  # a row, and the sums of columns
    columns = a.shape[1]
    if f.ranges.proves_lt(longest, columns):
        f.decline(f"rows of {columns} elements do not fit into the shared memory of a block: {longest} do")
    if f.ranges.proves_le(columns, longest):
        _single_pass(node, f, (a, y, z), room, dtype)
        return
    fits, does_not = f.branch(op("le", Index(columns), Const(longest, types.int64)))
    with f.inside(fits):
        _single_pass(node, f, (a, y, z), room, dtype)
    with f.inside(does_not):
        f.add(node.part("y"))
        f.add(node.part("z"))


def _single_pass(node: GemvPair, f: Fragment, operands: Operands, room: int, dtype: DType) -> None:
    a, _, z = operands
    rows, columns = a.shape
    at_once = min_of(ROWS, as_expr(room) // max_of(columns, 1) - 1)
    bands = Range(ZERO, rows, as_expr(BAND))
    of_columns = f.array("column_sums", dtype, (bands.size, columns))
    with f.map(bands, GRID, "band") as band:
        held = f.shared("held", dtype, (room,))  # sums of columns, and then the rows
        with f.map(Range(ZERO, columns), BLOCK, "j") as j:
            f.put(held.at(j), 0)
        with f.loop(Range(band, min_of(band + BAND, rows), at_once), "top") as top:
            _rows(node, f, operands, Range(top, min_of(top + at_once, band + BAND, rows)), held, dtype)
        with f.map(Range(ZERO, columns), BLOCK, "j") as j:
            f.put(of_columns.at(band // BAND, j), held.at(j))
    totals(node, f, "z", z, of_columns)


def _rows(node: GemvPair, f: Fragment, operands: Operands, here: Range, held: Operand, dtype: DType) -> None:
    """Some rows: first their products with the vector, then their multiples."""
    a, y, _ = operands
    x, columns, product = f.input("x"), a.shape[1], product_in(dtype)
    parts, few = f.shared("parts", dtype, (ROWS, THREADS)), f.shared("few", dtype, (ROWS, FEW))
    factors = f.shared("factors", y.dtype, (ROWS,))

    def place(i: Expr, j: Expr) -> Expr:
        return (i - here.start + 1) * columns + j

    with f.map(Range(ZERO, as_expr(THREADS)), BLOCK, "t") as t, f.map(here, SEQUENTIAL, "i") as i:
        own = zero(f, dtype)
        with f.map(Range(t, columns, as_expr(THREADS)), SEQUENTIAL, "j") as j:
            element = f.scalar("element", a.dtype)
            f.put(element.at(), a.at(i, j))
            f.put(held.at(place(i, j)), element.at())
            f.compute(own, product, element.at(), x.at(j), wcr="add")
        f.put(parts.at(i - here.start, t), own)
    with f.maps([here, Range(ZERO, as_expr(FEW))], BLOCK, "i") as (i, t):
        own = zero(f, dtype)
        with f.map(Range(t, as_expr(THREADS), as_expr(FEW)), SEQUENTIAL) as k:
            f.put(own, parts.at(i - here.start, k), wcr="add")
        f.put(few.at(i - here.start, t), own)
    with f.map(here, BLOCK) as i:
        own = zero(f, dtype)
        with f.map(Range(ZERO, as_expr(FEW)), SEQUENTIAL) as k:
            f.put(own, few.at(i - here.start, k), wcr="add")
        store(node, f, "y", y, i, own)
        f.put(factors.at(i - here.start), y.at(i))
    with f.map(Range(ZERO, columns), BLOCK, "j") as j:
        own = f.scalar("own", dtype).at()
        f.put(own, held.at(j))
        with f.map(here, SEQUENTIAL) as i:
            f.compute(own, product, factors.at(i - here.start), held.at(place(i, j)), wcr="add")
        f.put(held.at(j), own)
