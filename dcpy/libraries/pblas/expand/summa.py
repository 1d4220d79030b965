"""SUMMA: a product on a grid as broadcasts of panels along its rows and columns, and products of these on each rank.

R. van de Geijn, J. Watts: "SUMMA: Scalable Universal Matrix Multiplication Algorithm", 1997. Any grid, blocks that do
not divide the sizes, and empty ones: a panel ends where the columns of op(a) of one rank end, and where the rows of
op(b) of one do, so that each has one owner in each row, and in each column, of the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcpy.ir.analysis.distributed.ownership import Share, shares_of
from dcpy.ir.distribution import Section, coordinate_names
from dcpy.ir.expressions.scalar import Const, Index, cast, op
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, as_expr, max_of, min_of, sym
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.pblas.nodes import ProductOnGrid


@expands(ProductOnGrid, "summa", fuses=False)
def gemm(node: ProductOnGrid, f: Fragment) -> None:
    """Loops over the owners of columns of op(a), over those of rows of op(b), and over panels that both have."""
    a, b, c = f.input("a"), f.input("b"), f.output("c")
    if not a.dtype == b.dtype == c.dtype:
        f.decline("operands have several dtypes")
    mine, its = (1 - int(node.trans_a), int(node.trans_b))  # the dimensions of a and b over which sums are taken
    left, right = _shares(node.first, f)[mine], _shares(node.second, f)[its]
    _start(node, f, c)
    width = as_expr(node.panel)
    rows, columns = a.shape[1 - mine], b.shape[1 - its]
    panel_a = f.array("panel_a", a.dtype, (width, rows), outermost=True)
    panel_b = f.array("panel_b", b.dtype, (width, columns), outermost=True)
    with f.loop(Range(ZERO, left.ranks), "owner") as first, f.loop(Range(ZERO, right.ranks), "owner") as second:
        one, other = replace(left, at=first), replace(right, at=second)
        start, stop = max_of(one.low, other.low), min_of(one.high, other.high)
        with f.loop(Range(start, stop, width), "k") as k:
            size = min_of(width, stop - k)
            sent_a = _broadcast(node, f, a, panel_a, mine, left, one, k, size, node.columns)
            sent_b = _broadcast(node, f, b, panel_b, its, right, other, k, size, node.rows)
            inputs = {"a": sent_a, "b": sent_b, "c": c.memlet}
            if "alpha" in node.inputs:
                inputs["alpha"] = node.inputs["alpha"]
            product = LIBRARY_KINDS["blas.gemm"]
            f.add(product(inputs, {"c": c.memlet}, trans_a=True, alpha=node.alpha))  # type: ignore[call-arg]


def _shares(section: Section, f: Fragment) -> Sequence[Share]:
    assert section.distribution is not None  # it is in blocks
    return shares_of(section.distribution, section.shape, f.sdfg.grids)


def _broadcast(
    node: ProductOnGrid,
    f: Fragment,
    matrix: Operand,
    panel: Operand,
    dim: int,
    mine: Share,
    owner: Share,
    k: Expr,
    size: Expr,
    along: int,
) -> Memlet:
    """`size` columns of op(a), or rows of op(b), from their owner to all ranks along an axis; each is a row there."""
    here = sym(coordinate_names(node.grid, len(f.sdfg.grids[node.grid].sizes))[along])
    length = panel.shape[1]
    holds, _ = f.branch(op("eq", Index(here), Index(owner.at)))
    with f.inside(holds), f.maps([Range(ZERO, size), Range(ZERO, length)]) as (position, other):
        place = mine.local(k + position)
        source = matrix.at(place, other) if dim == 0 else matrix.at(other, place)
        f.put(panel.at(position, other), source)
    part = Memlet(panel.memlet.container, Subset((Range(ZERO, size), Range(ZERO, length))))
    broadcast = LIBRARY_KINDS["comm.bcast"]
    f.add(broadcast({"x": part}, {"out": part}, root=owner.at, grid=node.grid, along=(along,)))  # type: ignore[call-arg]
    return part


def scale_summand(node: ProductOnGrid, f: Fragment, c: Operand) -> None:
    """``c = beta * c``, on each rank: what products are added to."""
    if node.beta == 1 and "beta" not in node.inputs:
        return
    with f.maps([Range(ZERO, length) for length in c.shape]) as (i, j):
        place = c.at(i, j)
        if node.beta != 1:
            f.compute(place, lambda old: op("mul", Const(node.beta, c.dtype), old), place)
        if "beta" in node.inputs:
            f.compute(place, lambda old, factor: op("mul", cast(factor, c.dtype), old), place, f.input("beta").at())


def _start(node: ProductOnGrid, f: Fragment, c: Operand) -> None:
    """Initialize the sum: beta times the old values, or zeros."""
    if "c" in node.inputs:
        scale_summand(node, f, c)
        return
    with f.maps([Range(ZERO, length) for length in c.shape]) as (i, j):
        f.put(c.at(i, j), 0)
