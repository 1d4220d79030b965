"""Skinny GEMM on CPUs: a product of a few rows with a large matrix reads the matrix once, and packs nothing.

A library packs both factors into blocks that caches like, which pays where each element is used many times. With eight
rows it is used eight times, and to pack it takes longer than to multiply. Here tiles of some columns go down it: a few
of its rows at a time are multiplied with as many terms of each row of the other factor, and added to sums that
stay in the cache (streaming; Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008, call the
shape a panel times a matrix).

Sums of `GROUP` terms are taken in the elements' own precision, and those of groups in that of the accumulator, as
`contraction.register_tiling` does; neither depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir.expressions.scalar import Index, ScalarExpr, cast, op
from dcpy.ir.schedules import SEQUENTIAL, VECTOR
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, const, min_of
from dcpy.ir.types import DType
from dcpy.libraries.api import Fragment, Operand
from dcpy.libraries.blas.expand.product_contractions import ContractionOperand, updating
from dcpy.libraries.blas.nodes import Gemm
from dcpy.libraries.contraction.contraction import accumulator_dtype, short_dtype

LARGE = 1 << 22  #: elements of a matrix that no cache holds
WIDE = 4096  #: columns of a matrix of few rows that are worth a team
ROW = 2048  #: bytes of a row of sums: eight of them stay in a first-level cache
TOGETHER = 8  #: rows of the matrix that are added up in one go: a sum is loaded and stored once for all of them
FEW_TOGETHER = 2  #: the same where there are no more than eight
GROUP = 256  #: terms of a sum in the elements' own precision


def is_large(node: Gemm, f: Fragment, c: Operand) -> ScalarExpr | bool:
    """Return the condition under which `stream` pays: few rows, and a large real matrix stored by rows.

    The library takes longer to pack the matrix for up to `skinny_gemm` than these loops to multiply with it. A
    condition where only the run time knows the sizes.
    """
    terms, columns = ContractionOperand(f.input("b"), node.trans_b).shape
    if c.dtype.kind != "f" or not _by_rows(node, f, c):
        return False
    return _both(_at_most(c.shape[0], const(f.costs.few_rows)), _at_most(const(LARGE), terms * columns))


def is_thin(node: Gemm, f: Fragment, c: Operand) -> ScalarExpr | bool:
    """Return the condition under which `stream_thin` pays: complex numbers, a matrix of few rows and many columns.

    All is seen but once then, and libraries pack it all the same; with real numbers, they have kernels for that. Where
    sizes are not known, only a square factor is asked for its size, as one way more takes time to compile.
    """
    rows, (terms, columns) = c.shape[0], ContractionOperand(f.input("b"), node.trans_b).shape
    if c.dtype.kind != "c" or not _by_rows(node, f, c):
        return False
    if (rows.constant is None or terms.constant is None) and (rows != terms or columns == terms):
        return False
    few = const(f.costs.few_rows)
    return _both(_both(_at_most(rows, few), _at_most(terms, few)), _at_most(const(WIDE), columns))


def _by_rows(node: Gemm, f: Fragment, c: Operand) -> bool:
    b = ContractionOperand(f.input("b"), node.trans_b)
    return f.costs.few_rows > 0 and c.dtype.real.itemsize >= 4 and b.strides[1] is ONE and c.strides[1] is ONE


def _at_most(low: Expr, high: Expr) -> ScalarExpr | bool:
    if low.constant is None or high.constant is None:
        return op("le", Index(low), Index(high))
    return low.constant <= high.constant


def _both(one: ScalarExpr | bool, other: ScalarExpr | bool) -> ScalarExpr | bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one and other
    return op("and", one, other)


def stream(node: Gemm, f: Fragment, c: Operand) -> None:
    """Tile by tile of the columns, in parallel; a tile goes down all terms."""
    rows, columns = c.shape
    a, b = ContractionOperand(f.input("a"), node.trans_a), ContractionOperand(f.input("b"), node.trans_b)
    dtype, width = accumulator_dtype("add", c.dtype), ROW // c.dtype.itemsize
    store = updating(node, f, c, "c")
    with f.map(Range(ZERO, columns, const(width)), param="left") as left:
        tile = Range(left, min_of(left + width, columns))
        totals = _zeros(f, "total", c, dtype, rows, tile)
        with f.map(Range(ZERO, a.shape[1], const(GROUP)), SEQUENTIAL, "group") as first:
            end = min_of(first + GROUP, a.shape[1])
            sums = _zeros(f, "sum", c, short_dtype(c.dtype, dtype) or dtype, rows, tile)
            _add_all(f, sums, (a, b), Range(first, end, const(TOGETHER)), rows, tile)
            with f.map(Range(ZERO, rows), SEQUENTIAL, "i") as i, f.map(tile, VECTOR, "j") as j:
                f.compute(totals.at(i, j - left), lambda part: cast(part, dtype), sums.at(i, j - left), wcr="add")
        with f.map(Range(ZERO, rows), SEQUENTIAL, "i") as i, f.map(tile, VECTOR, "j") as j:
            store(f, (i, j), totals.at(i, j - left))


def stream_thin(node: Gemm, f: Fragment, c: Operand) -> None:
    """The same with so few terms that one row of sums does."""
    rows, columns = c.shape
    a, b = ContractionOperand(f.input("a"), node.trans_a), ContractionOperand(f.input("b"), node.trans_b)
    width = ROW // c.dtype.itemsize
    store = updating(node, f, c, "c")
    with f.map(Range(ZERO, columns, const(width)), param="left") as left:
        tile = Range(left, min_of(left + width, columns))
        sums = _zeros(f, "sum", c, c.dtype, rows, tile)
        _add_all(f, sums, (a, b), Range(ZERO, a.shape[1], const(FEW_TOGETHER)), rows, tile)
        with f.map(Range(ZERO, rows), SEQUENTIAL, "i") as i, f.map(tile, VECTOR, "j") as j:
            store(f, (i, j), sums.at(i, j - left))


def _add_all(
    f: Fragment,
    sums: Operand,
    factors: tuple[ContractionOperand, ContractionOperand],
    terms: Range,
    rows: Expr,
    tile: Range,
) -> None:
    """Add the products of the terms of a range, of as many at a time as it has steps, to all sums of a tile."""
    together = terms.step.constant or 1
    with f.map(terms, SEQUENTIAL, "k") as k:
        full, rest = f.branch(op("le", Index(k + together), Index(terms.stop)))
        with f.inside(full):
            _add(f, sums, factors, [k + i for i in range(together)], rows, tile)
        with f.inside(rest), f.map(Range(k, terms.stop), SEQUENTIAL, "last") as last:
            _add(f, sums, factors, [last], rows, tile)


def _zeros(f: Fragment, stem: str, c: Operand, dtype: DType, rows: Expr, tile: Range) -> Operand:
    """A row of sums for each row of the result."""
    made = f.array(stem, dtype, (const(f.costs.few_rows), const(ROW // c.dtype.itemsize)))
    with f.map(Range(ZERO, rows), SEQUENTIAL, "i") as i, f.map(tile, VECTOR, "j") as j:
        f.put(made.at(i, j - tile.start), 0)
    return made


def _add(
    f: Fragment,
    sums: Operand,
    factors: tuple[ContractionOperand, ContractionOperand],
    terms: Sequence[Expr],
    rows: Expr,
    tile: Range,
) -> None:
    """Add the products of some terms to all sums of a tile."""
    a, b = factors
    with f.map(Range(ZERO, rows), SEQUENTIAL, "i") as i:
        each = [f.scalar("factor", sums.dtype) for _ in terms]
        for one, k in zip(each, terms, strict=True):
            f.compute(one.at(), lambda element: cast(element, sums.dtype), a.at_dims(0, 1)((i, k)))
        with f.map(tile, VECTOR, "j") as j:

            def together(*refs: ScalarExpr) -> ScalarExpr:
                known, elements = refs[: len(terms)], refs[len(terms) :]
                products = [op("mul", one, cast(other, sums.dtype)) for one, other in zip(known, elements, strict=True)]
                total = products[0]
                for product in products[1:]:
                    total = op("add", total, product)
                return total

            elements = [b.at_dims(0, 1)((k, j)) for k in terms]
            f.compute(sums.at(i, j - tile.start), together, *(one.at() for one in each), *elements, wcr="add")
