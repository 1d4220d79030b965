"""Products of a few rows with a large matrix on CPUs: the matrix goes by once, and is packed nowhere.

A library packs both factors into blocks that caches like, which pays where each element is used many times. With eight
rows it is used eight times, and to pack it takes longer than to multiply. Here tiles of some columns go down it: a few
of its rows at a time are multiplied with as many terms of each row of the other factor, and added to sums that
stay in the cache (streaming; Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008, call the
shape a panel times a matrix).

Sums of `GROUP` terms are taken in the elements' own precision, and those of groups in that of the accumulator, as
`contraction.registers` does; neither depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from dcpy.ir.expressions.scalar import Index, ScalarExpr, cast, op
from dcpy.ir.schedules import SEQUENTIAL, VECTOR
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, const, min_of
from dcpy.ir.types import DType
from dcpy.libraries.api import Fragment, Operand
from dcpy.libraries.blas.expand.products import Factor, updating
from dcpy.libraries.blas.nodes import Gemm
from dcpy.libraries.contraction.spec import accumulator_dtype, short_dtype

LARGE = 1 << 22  #: elements of a matrix that no cache holds
ROW = 2048  #: bytes of a row of sums: eight of them stay in a first-level cache
TOGETHER = 8  #: rows of the matrix that are added up in one go: a sum is loaded and stored once for all of them
GROUP = 256  #: terms of a sum in the elements' own precision


def pays(node: Gemm, f: Fragment, c: Operand) -> ScalarExpr | bool:
    """Where a product is taken so: the rows are few, the matrix is large, and lies by rows of real numbers.

    The library takes longer to pack the matrix for up to `few_rows` than these loops to multiply with it.

    A condition where only the run time knows the sizes.
    """
    b = Factor(f.input("b"), node.trans_b)
    by_rows = b.strides[1] is ONE and c.strides[1] is ONE
    if not f.costs.few_rows or c.dtype.kind != "f" or c.dtype.itemsize < 4 or not by_rows:
        return False
    conditions = []
    for least, most in ((c.shape[0], const(f.costs.few_rows)), (const(LARGE), b.shape[0] * b.shape[1])):
        if least.constant is None or most.constant is None:
            conditions.append(op("le", Index(least), Index(most)))
        elif least.constant > most.constant:
            return False
    return reduce(lambda one, other: op("and", one, other), conditions) if conditions else True


def stream(node: Gemm, f: Fragment, c: Operand) -> None:
    """Tile by tile of the columns, in parallel; a tile goes down all terms."""
    rows, columns = c.shape
    a, b = Factor(f.input("a"), node.trans_a), Factor(f.input("b"), node.trans_b)
    dtype, width = accumulator_dtype("add", c.dtype), ROW // c.dtype.itemsize
    store = updating(node, f, c, "c")
    with f.map(Range(ZERO, columns, const(width)), param="left") as left:
        tile = Range(left, min_of(left + width, columns))
        totals = _zeros(f, "total", c, dtype, rows, tile)
        with f.map(Range(ZERO, a.shape[1], const(GROUP)), SEQUENTIAL, "group") as first:
            end = min_of(first + GROUP, a.shape[1])
            sums = _zeros(f, "sum", c, short_dtype(c.dtype, dtype) or dtype, rows, tile)
            with f.map(Range(first, end, const(TOGETHER)), SEQUENTIAL, "k") as k:
                full, rest = f.branch(op("le", Index(k + TOGETHER), Index(end)))
                with f.inside(full):
                    _add(f, sums, (a, b), [k + i for i in range(TOGETHER)], rows, tile)
                with f.inside(rest), f.map(Range(k, end), SEQUENTIAL, "last") as last:
                    _add(f, sums, (a, b), [last], rows, tile)
            with f.map(Range(ZERO, rows), SEQUENTIAL, "i") as i, f.map(tile, VECTOR, "j") as j:
                f.compute(totals.at(i, j - left), lambda part: cast(part, dtype), sums.at(i, j - left), wcr="add")
        with f.map(Range(ZERO, rows), SEQUENTIAL, "i") as i, f.map(tile, VECTOR, "j") as j:
            store(f, (i, j), totals.at(i, j - left))


def _zeros(f: Fragment, stem: str, c: Operand, dtype: DType, rows: Expr, tile: Range) -> Operand:
    """A row of sums for each row of the result."""
    made = f.array(stem, dtype, (const(f.costs.few_rows), const(ROW // c.dtype.itemsize)))
    with f.map(Range(ZERO, rows), SEQUENTIAL, "i") as i, f.map(tile, VECTOR, "j") as j:
        f.put(made.at(i, j - tile.start), 0)
    return made


def _add(
    f: Fragment, sums: Operand, factors: tuple[Factor, Factor], terms: Sequence[Expr], rows: Expr, tile: Range
) -> None:
    """Adds the products of some terms to all sums of a tile."""
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
