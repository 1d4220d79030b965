"""The collectives, as C++ that comes with dcpy (collectives.h) and calls MPI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dcpy.ir.communication import CommNode
from dcpy.ir.expressions.scalar import Index, ScalarExpr
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.symbolic import ZERO, Expr, as_expr
from dcpy.libraries.api import Fragment, Operand
from dcpy.libraries.mpi import nodes
from dcpy.libraries.mpi.expand.distributed_copies import OPERATIONS
from dcpy.libraries.mpi.expand.expansion_pairs import both

#: kind -> the function, and its number there, as in collectives.h
FUNCTIONS = {
    "comm.bcast": ("whole", 0), "comm.reduce": ("whole", 1), "comm.allreduce": ("whole", 2), "comm.scan": ("whole", 3),
    "comm.exscan": ("whole", 4), "comm.scatter": ("pieces", 0), "comm.gather": ("pieces", 1),
    "comm.allgather": ("pieces", 2), "comm.alltoall": ("pieces", 3), "comm.reduce_scatter": ("pieces", 4),
}  # fmt: skip
OF_COMPLEX = ("add", "mul")


def group_numbers(node: CommNode, f: Fragment) -> Iterator[Expr]:
    """Its line, the grid of a node, and along which of its axes it reaches; nothing stands for all ranks."""
    yield line_of(node)
    if not node.grid:
        yield from (ZERO, ZERO)
        return
    sizes = f.sdfg.grids[node.grid].sizes
    along = node.along or tuple(range(len(sizes)))
    yield from (as_expr(len(sizes)), *sizes, as_expr(len(along)), *map(as_expr, along))


def line_of(node: CommNode) -> Expr:
    """Return the line of a node in the user's file, for reports of waiting ranks; 0 if it is not known."""
    return as_expr(node.span.line if node.span is not None else 0)


def view_numbers(operand: Operand) -> Iterator[Expr]:
    """Sizes and strides of an operand, in elements."""
    yield as_expr(len(operand.shape))
    for size, stride in zip(operand.shape, operand.strides, strict=True):
        yield from (size, stride)


def moving(node: Any, f: Fragment, environment: str) -> None:
    """A collective with one operand in and one out."""
    x, out = f.input("x"), f._operand(node.outputs["out"])
    if x.dtype != out.dtype:
        f.decline(f"takes {x.dtype} and gives {out.dtype}")
    operation = getattr(node, "op", "")
    if x.dtype.kind == "c" and operation and operation not in OF_COMPLEX:
        f.decline(f"combines complex numbers by {operation!r}")
    function, number = FUNCTIONS[node.kind]
    numbers = [as_expr(number), getattr(node, "root", ZERO), as_expr(OPERATIONS[operation])]
    numbers += [*group_numbers(node, f), *view_numbers(x), *view_numbers(out)]
    arguments: tuple[str | ScalarExpr, ...] = ("x", "out", *map(Index, numbers))
    f.add(ForeignCall(f"dcpy::{function}", arguments, dict(node.inputs), {"out": out.memlet}, environment))


def waiting(node: nodes.Barrier, f: Fragment, environment: str) -> None:
    """One call."""
    f.add(ForeignCall("dcpy::barrier", tuple(map(Index, group_numbers(node, f))), {}, {}, environment))


def placing(node: nodes.Place, f: Fragment, environment: str) -> None:
    """One call."""
    arguments: tuple[str | ScalarExpr, ...] = ("rank", "size", *map(Index, group_numbers(node, f)))
    f.add(ForeignCall("dcpy::place", arguments, {}, dict(node.outputs), environment))


def on_grid(node: nodes.Cart, f: Fragment, environment: str) -> None:
    """One call, of what is known of the sizes."""
    numbers = (as_expr(len(node.extents)), *node.extents)
    f.add(ForeignCall("dcpy::cart", ("sizes", "coords", *map(Index, numbers)), {}, dict(node.outputs), environment))


place, place_alone = both(nodes.Place, placing)
cart, cart_alone = both(nodes.Cart, on_grid)
barrier, barrier_alone = both(nodes.Barrier, waiting)
bcast, bcast_alone = both(nodes.Bcast, moving)
reduce, reduce_alone = both(nodes.Reduce, moving)
allreduce, allreduce_alone = both(nodes.Allreduce, moving)
scan, scan_alone = both(nodes.Scan, moving)
exscan, exscan_alone = both(nodes.Exscan, moving)
scatter, scatter_alone = both(nodes.Scatter, moving)
gather, gather_alone = both(nodes.Gather, moving)
allgather, allgather_alone = both(nodes.Allgather, moving)
alltoall, alltoall_alone = both(nodes.Alltoall, moving)
reduce_scatter, reduce_scatter_alone = both(nodes.ReduceScatter, moving)
