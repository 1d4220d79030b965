"""ScaLAPACK: products on a grid by one call of ``p?gemm``, as C++ that comes with dcpy (scalapack.h).

Blocks go to it as they are. L. S. Blackford et al.: "ScaLAPACK Users' Guide", 1997; its rows are our columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcpy.ir.analysis.distributed.ownership import resolved
from dcpy.ir.distribution import Blocked, Section
from dcpy.ir.expressions.scalar import Const, Index, Ref, ScalarExpr, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.blas.expand.cblas import LETTERS
from dcpy.libraries.mpi.expand.collectives import group_numbers
from dcpy.libraries.pblas.environments import OF_MKL, OF_SYSTEM
from dcpy.libraries.pblas.expand.summa import scale_summand
from dcpy.libraries.pblas.nodes import ProductOnGrid


def _gemm(node: ProductOnGrid, f: Fragment, environment: str) -> None:
    a, b, c = f.input("a"), f.input("b"), f.output("c")
    if not a.dtype == b.dtype == c.dtype:
        f.decline("operands have several dtypes")
    if c.dtype not in LETTERS:
        f.decline(f"takes {', '.join(map(str, LETTERS))}, not {c.dtype}")
    inner = node.first.shape[0 if node.trans_a else 1]
    is_added = "c" in node.inputs
    numbers = [
        *map(as_expr, (list(LETTERS).index(c.dtype), int(node.trans_a), int(node.trans_b), int(is_added))),
        *node.result.shape, inner, as_expr(node.rows), as_expr(node.columns), *c.shape,
        *group_numbers(replace(node, along=tuple(sorted((node.rows, node.columns)))), f),
    ]  # fmt: skip
    for section, operand in ((node.first, a), (node.second, b), (node.result, c)):
        numbers += _descriptor(section, operand, f)
    inputs: dict[str, Memlet] = {"a": a.memlet, "b": b.memlet}
    factor: ScalarExpr = Const(node.alpha, c.dtype)
    if "alpha" in node.inputs:
        inputs["alpha"] = node.inputs["alpha"]
        factor = op("mul", factor, cast(Ref("alpha", f.input("alpha").dtype), c.dtype))
    if is_added:
        scale_summand(node, f, c)
        inputs["c"] = c.memlet
    arguments: tuple[str | ScalarExpr, ...] = ("a", "b", "c", factor, *map(Index, numbers))
    f.add(ForeignCall("dcpy::product_on_grid", arguments, inputs, {"c": c.memlet}, environment))


def _descriptor(section: Section, operand: Operand, f: Fragment) -> Iterator[Expr]:
    """Sizes, blocks, and how far rows are apart in memory."""
    assert section.distribution is not None  # it is in blocks
    if operand.strides[1] is not ONE:
        f.decline(f"takes matrices that are stored by rows, not {operand.memlet.container}")
    yield from section.shape
    for axis in resolved(section.distribution, section.shape, f.sdfg.grids).axes:
        assert isinstance(axis, Blocked)  # as `ProductOnGrid.problems` says
        assert axis.block is not None  # it is resolved
        if axis.offset is not ZERO:
            f.decline("takes blocks that begin with the first element")
        yield axis.block
    yield operand.strides[0]


@expands(ProductOnGrid, "scalapack-mkl", environment=OF_MKL)
def gemm_mkl(node: ProductOnGrid, f: Fragment) -> None:
    """Call that of Intel's MKL."""
    _gemm(node, f, OF_MKL)


@expands(ProductOnGrid, "scalapack", environment=OF_SYSTEM)
def gemm(node: ProductOnGrid, f: Fragment) -> None:
    """Call that of the system, or where the option `scalapack` says."""
    _gemm(node, f, OF_SYSTEM)
