"""Fused GEMV pair on CPUs: a few rows at a time go into both products, so that the matrix is read once.

Sums of columns are those of parts of the rows, each of which has a row of its own, added up in the order of the parts.
Their number, and so the results, do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir.expressions.scalar import Index, ScalarExpr, op
from dcpy.ir.nodes import Map
from dcpy.ir.schedules import SEQUENTIAL, VECTOR
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, ceil_div, const, min_of
from dcpy.ir.tree import owners_around
from dcpy.libraries.api import Element, Fragment, Operand, expands
from dcpy.libraries.blas.expand.block_partial_sums import product_in, store, totals, zero
from dcpy.libraries.blas.nodes import GemvPair
from dcpy.libraries.contraction.contraction import accumulator_dtype

TOGETHER = 4  #: rows of a group: a sum of a column is loaded and stored once for all of them
PARTS = 32  #: of the rows: some more than there are processors to share them


@expands(GemvPair, "cpu", on=("cpu",), fuses=False)
def gemv_pair(node: GemvPair, f: Fragment) -> None:
    """Parts of the rows in parallel, group by group."""
    if any(isinstance(owner, Map) for owner in owners_around(node)):
        f.decline("is inside of a map")
    a = f.input("a")
    if a.dtype.kind != "f":
        f.decline(f"vectors have no {a.dtype}")
    if a.strides[1] is not ONE:
        f.decline("the matrix does not lie by rows")
    z = f.output("z")
    dtype = accumulator_dtype("add", z.dtype)
    rows, columns = a.shape
    length = f.let("length", Index(min_of(f.costs.partial_sum, ceil_div(rows, PARTS * TOGETHER) * TOGETHER)))
    parts = Range(ZERO, ceil_div(rows, length))
    sums = f.array("column_sums", dtype, (parts.size, columns))
    with f.map(parts, param="part") as part:
        end = min_of(part * length + length, rows)
        with f.map(Range(ZERO, columns), VECTOR, "j") as j:
            f.put(sums.at(part, j), 0)
        with f.map(Range(part * length, end, const(TOGETHER)), SEQUENTIAL) as top:
            full, rest = f.branch(op("le", Index(top + TOGETHER), Index(end)))
            with f.inside(full):
                _group(node, f, [top + i for i in range(TOGETHER)], (sums, part))
            with f.inside(rest), f.map(Range(top, min_of(top + TOGETHER, end)), SEQUENTIAL) as i:
                _group(node, f, [i], (sums, part))
    totals(node, f, "z", z, sums)


def _group(node: GemvPair, f: Fragment, rows: Sequence[Expr], sums: tuple[Operand, Expr]) -> None:
    """Add a few rows to both products; the second one after the first where it is of its result."""
    y, columns, dtype = f.output("y"), f.input("a").shape[1], sums[0].dtype
    found = [zero(f, dtype) for _ in rows]
    with f.map(Range(ZERO, columns, const(f.costs.partial_sum)), SEQUENTIAL, "left") as left:
        chunk = Range(left, min_of(left + f.costs.partial_sum, columns))
        in_chunk = [zero(f, dtype) for _ in rows]
        with f.map(chunk, VECTOR, "j") as j:
            for i, total in zip(rows, in_chunk, strict=True):
                f.compute(total, product_in(dtype), f.input("a").at(i, j), f.input("x").at(j), wcr="add")
            if not node.is_chain:
                _add_to_columns(f, rows, j, [f.input("w").at(i) for i in rows], sums)
        for total, own in zip(found, in_chunk, strict=True):
            f.put(total, own, wcr="add")
    for i, total in zip(rows, found, strict=True):
        store(node, f, "y", y, i, total)
    if node.is_chain:
        with f.map(Range(ZERO, columns), VECTOR, "j") as j:
            _add_to_columns(f, rows, j, [y.at(i) for i in rows], sums)


def _add_to_columns(
    f: Fragment, rows: Sequence[Expr], j: Expr, factors: Sequence[Element], sums: tuple[Operand, Expr]
) -> None:
    """Add what a few rows contribute to the sum of a column, in one go."""
    parts, part = sums

    def contribution(*refs: ScalarExpr) -> ScalarExpr:
        elements, others = refs[: len(rows)], refs[len(rows) :]
        terms = [product_in(parts.dtype)(one, other) for one, other in zip(elements, others, strict=True)]
        total = terms[0]
        for term in terms[1:]:
            total = op("add", total, term)
        return total

    elements = [f.input("a").at(i, j) for i in rows]
    f.compute(parts.at(part, j), contribution, *elements, *factors, wcr="add")
