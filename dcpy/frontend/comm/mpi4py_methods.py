"""mpi4py's methods in programs: ``COMM_WORLD.Isend(x, dest=1)`` is ``dcpy.comm.Isend``, among all ranks.

A communicator is a constant of the program; it has to have all ranks, in their order. Buffers may be
``[x, MPI.DOUBLE]``; requests are waited for by ``request.Wait()`` or ``MPI.Request.Waitall(requests)``. This module is
loaded at the first object of mpi4py's in a program, so the user has imported it.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import ArrayValue, Static, Value
from dcpy.frontend.comm import collectives, point_to_point, process_grids
from dcpy.frontend.comm.constants import ANY_SOURCE, ANY_TAG, ReduceOperation
from dcpy.frontend.comm.operands import NONE
from dcpy.frontend.implements import Implementation, implements, method
from dcpy.frontend.lower.op_builder import OpBuilder, items_of
from dcpy.ir import types
from dcpy.ir.symbolic import product_of

MPI: Any = sys.modules.get("mpi4py.MPI")
FIRST, TAG = Static(0), Static(0)
SUM = Static(ReduceOperation.SUM)
ANYBODY, ANYTHING = Static(ANY_SOURCE), Static(ANY_TAG)
NOT_REORDERED = Static(False)


@dataclass(frozen=True)
class GridOfRanks:
    """The grid of a ``Cartcomm``, as programs take it (`dcpy.base.rank_grids.RankGrid`)."""

    all_sizes: tuple[int, ...]
    periods: tuple[bool, ...]
    keep: tuple[bool, ...]
    exact: int | None = None


def stands_for(*names: str) -> Callable[[Implementation], Implementation]:
    """Register the implementation of members of mpi4py's module, where that is loaded."""
    return implements(*(operator.attrgetter(name)(MPI) for name in names if MPI is not None))


# -- communicators -----------------------------------------------------------------------------------------------------


def _all_ranks(b: OpBuilder, comm: Value) -> None:
    """`FrontendError` for a communicator of others than all ranks, in their order."""
    known = b.static(comm, "a communicator")
    if known == MPI.COMM_NULL or MPI.Comm.Compare(known, MPI.COMM_WORLD) not in (MPI.IDENT, MPI.CONGRUENT):
        raise b.error(
            "a program sends among all ranks, in their order, and this communicator has others",
            help="use MPI.COMM_WORLD; for rows and columns of ranks, dcpy.comm.Cart_sub(grid, remain_dims)",
        )


@stands_for("Comm.Get_rank", "Comm.rank")
def get_rank(b: OpBuilder, comm: Value) -> Value:
    """The number of the rank that runs this."""
    _all_ranks(b, comm)
    return collectives.rank(b)


@stands_for("Comm.Get_size", "Comm.size")
def get_size(b: OpBuilder, comm: Value) -> Value:
    """Return the number of ranks."""
    _all_ranks(b, comm)
    return collectives.size(b)


@stands_for("Comm.Barrier")
def barrier(b: OpBuilder, comm: Value) -> Value:
    """No rank goes on before all are there."""
    _all_ranks(b, comm)
    return collectives.barrier(b)


# -- messages ----------------------------------------------------------------------------------------------------------


@stands_for("Comm.Send", "Comm.Ssend")
def send(b: OpBuilder, comm: Value, buf: Value, dest: Value, tag: Value = TAG) -> Value:
    """Send an array; it may wait until the other rank receives."""
    _all_ranks(b, comm)
    return point_to_point.send(b, _buffer(b, buf), dest, tag)


@stands_for("Comm.Recv")
def recv(b: OpBuilder, comm: Value, buf: Value, source: Value = ANYBODY, tag: Value = ANYTHING) -> Value:
    """Wait for a message of a rank."""
    _all_ranks(b, comm)
    return point_to_point.recv(b, _buffer(b, buf), source, tag)


@stands_for("Comm.Isend", "Comm.Issend")
def isend(b: OpBuilder, comm: Value, buf: Value, dest: Value, tag: Value = TAG) -> Value:
    """Start to send; gives the request."""
    _all_ranks(b, comm)
    return point_to_point.isend(b, _buffer(b, buf), dest, tag)


@stands_for("Comm.Irecv")
def irecv(b: OpBuilder, comm: Value, buf: Value, source: Value = ANYBODY, tag: Value = ANYTHING) -> Value:
    """Start to receive; gives the request."""
    _all_ranks(b, comm)
    return point_to_point.irecv(b, _buffer(b, buf), source, tag)


@stands_for("Comm.Sendrecv")
def sendrecv(
    b: OpBuilder, comm: Value, sendbuf: Value, dest: Value, sendtag: Value = TAG, recvbuf: Value = NONE,
    source: Value = ANYBODY, recvtag: Value = ANYTHING,
) -> Value:  # fmt: skip
    """Send and receive at once, each with its tag."""
    _all_ranks(b, comm)
    taken = point_to_point.irecv(b, _buffer(b, recvbuf), source, recvtag)
    given = point_to_point.isend(b, _buffer(b, sendbuf), dest, sendtag)
    point_to_point.wait(b, taken)
    return point_to_point.wait(b, given)


@method("Wait")
def wait(b: OpBuilder, request: Value) -> Value:
    """Wait for one message."""
    return point_to_point.wait(b, request)


@stands_for("Request.Waitall")
def waitall(b: OpBuilder, requests: Value) -> Value:
    """Wait for all messages of a list of requests."""
    listed = items_of(requests)
    if listed is None:
        return point_to_point.waitall(b, requests)
    for request in listed:
        point_to_point.wait(b, request)
    return NONE


# -- collectives -------------------------------------------------------------------------------------------------------


@stands_for("Comm.Bcast")
def bcast(b: OpBuilder, comm: Value, buf: Value, root: Value = FIRST) -> Value:
    """Copy the array of the root to all ranks."""
    _all_ranks(b, comm)
    return collectives.bcast(b, _buffer(b, buf), root)


@stands_for("Comm.Reduce")
def reduce(
    b: OpBuilder, comm: Value, sendbuf: Value, recvbuf: Value, op: Value = SUM, root: Value = FIRST
) -> Value:
    """Combine the arrays of all ranks at the root."""
    _all_ranks(b, comm)
    return collectives.reduce(b, _buffer(b, sendbuf), _buffer(b, recvbuf), op=_operation(b, op), root=root)


@stands_for("Comm.Allreduce")
def allreduce(b: OpBuilder, comm: Value, sendbuf: Value, recvbuf: Value, op: Value = SUM) -> Value:
    """Combine the arrays of all ranks on each rank."""
    _all_ranks(b, comm)
    return collectives.allreduce(b, _buffer(b, sendbuf), _buffer(b, recvbuf), op=_operation(b, op))


@stands_for("Intracomm.Scan")
def scan(b: OpBuilder, comm: Value, sendbuf: Value, recvbuf: Value, op: Value = SUM) -> Value:
    """Combine the operands of the ranks up to this one."""
    _all_ranks(b, comm)
    return collectives.scan(b, _buffer(b, sendbuf), _buffer(b, recvbuf), op=_operation(b, op))


@stands_for("Intracomm.Exscan")
def exscan(b: OpBuilder, comm: Value, sendbuf: Value, recvbuf: Value, op: Value = SUM) -> Value:
    """Combine the operands of the ranks before this one."""
    _all_ranks(b, comm)
    return collectives.exscan(b, _buffer(b, sendbuf), _buffer(b, recvbuf), op=_operation(b, op))


@stands_for("Comm.Scatter", "Comm.Scatterv")
def scatter(b: OpBuilder, comm: Value, sendbuf: Value, recvbuf: Value, root: Value = FIRST) -> Value:
    """Elements of the root's array go to the ranks in turn."""
    _all_ranks(b, comm)
    return collectives.scatter(b, *_pieces(b, sendbuf, recvbuf), root)


@stands_for("Comm.Gather", "Comm.Gatherv")
def gather(b: OpBuilder, comm: Value, sendbuf: Value, recvbuf: Value, root: Value = FIRST) -> Value:
    """Collect the elements of all ranks at the root, in their order."""
    _all_ranks(b, comm)
    return collectives.gather(b, *_pieces(b, sendbuf, recvbuf), root)


@stands_for("Comm.Allgather", "Comm.Allgatherv")
def allgather(b: OpBuilder, comm: Value, sendbuf: Value, recvbuf: Value) -> Value:
    """Collect the elements of all ranks on each rank, in their order."""
    _all_ranks(b, comm)
    return collectives.allgather(b, *_pieces(b, sendbuf, recvbuf))


@stands_for("Comm.Alltoall")
def alltoall(b: OpBuilder, comm: Value, sendbuf: Value, recvbuf: Value) -> Value:
    """Equal pieces, one for each rank."""
    _all_ranks(b, comm)
    return collectives.alltoall(b, *_pieces(b, sendbuf, recvbuf))


@stands_for("Comm.Reduce_scatter_block")
def reduce_scatter_block(b: OpBuilder, comm: Value, sendbuf: Value, recvbuf: Value, op: Value = SUM) -> Value:
    """Combine the operands of all ranks; each rank gets a piece of the result."""
    _all_ranks(b, comm)
    return collectives.reduce_scatter(b, *_pieces(b, sendbuf, recvbuf), _operation(b, op))


@stands_for("Comm.Reduce_scatter")
def reduce_scatter(
    b: OpBuilder, comm: Value, sendbuf: Value, recvbuf: Value, recvcounts: Value = NONE, op: Value = SUM
) -> Value:
    """The same; how many elements each rank gets, its array says."""
    if recvcounts != NONE:
        raise b.error("counts follow from the arrays of the ranks", help="leave recvcounts out")
    return reduce_scatter_block(b, comm, sendbuf, recvbuf, op)


# -- grids -------------------------------------------------------------------------------------------------------------


@stands_for("Intracomm.Create_cart")
def create_cart(
    b: OpBuilder, comm: Value, dims: Value, periods: Value = NONE, reorder: Value = NOT_REORDERED
) -> Value:
    """A grid of ranks, for `dcpy.comm.Cart_shift` and its like."""
    _all_ranks(b, comm)
    if b.static(reorder, "reorder"):
        raise b.error("ranks keep their numbers", help="leave reorder=True out")
    return process_grids.cart_create(b, dims, periods)


@stands_for("Cartcomm.Shift")
def shift(b: OpBuilder, comm: Value, direction: Value, disp: Value) -> Value:
    """The ranks from which and to which this one shifts."""
    return process_grids.cart_shift(b, _grid(b, comm), direction, disp)


@stands_for("Cartcomm.Get_coords")
def get_coords(b: OpBuilder, comm: Value, rank: Value) -> Value:
    """Return the coordinates of a rank."""
    return process_grids.coords(b, _grid(b, comm), rank)


@stands_for("Cartcomm.coords")
def own_coords(b: OpBuilder, comm: Value) -> Value:
    """Return the coordinates of this rank."""
    return process_grids.coords(b, _grid(b, comm))


def _grid(b: OpBuilder, comm: Value) -> Value:
    _all_ranks(b, comm)
    known = b.static(comm)
    sizes, periods = tuple(map(int, known.dims)), tuple(map(bool, known.periods))
    return Static(GridOfRanks(sizes, periods, (True,) * len(sizes)))


# -- buffers and operations --------------------------------------------------------------------------------------------


def _buffer(b: OpBuilder, value: Value) -> Value:
    """An array, of itself or as ``[x, MPI.DOUBLE]``."""
    specified = items_of(value) if not isinstance(value, ArrayValue) else None
    if specified is None or not any(_is_datatype(item) for item in specified):
        return value
    if len(specified) != 2 or not _is_datatype(specified[1]):
        raise b.error(
            "counts and displacements follow from the array",
            help="pass a slice: [x[:count], MPI.DOUBLE], or x[:count]",
        )
    array = b.array(specified[0])
    _require_datatype(b, array.dtype, b.static(specified[1]))
    return specified[0]


def _is_datatype(value: Value) -> bool:
    return isinstance(value, Static) and isinstance(value.value, MPI.Datatype)


def _require_datatype(b: OpBuilder, dtype: types.DType, datatype: Any) -> None:
    try:
        said = np.dtype(datatype.typestr)
    except (TypeError, ValueError, AttributeError):
        said = None
    if said != dtype.numpy and not (datatype == MPI.TWOINT and dtype is types.int32):  # of (value, index)
        raise b.error(
            f"an array of {dtype.numpy_name} is said to be of {datatype.name or 'a derived datatype'}",
            help="pass the array alone: its datatype is known",
        )


def _pieces(b: OpBuilder, sendbuf: Value, recvbuf: Value) -> tuple[Value, Value]:
    """Operands of a collective that cuts and joins. Of other dimensions, they are elements one after the other."""
    given, taken = _buffer(b, sendbuf), _buffer(b, recvbuf)
    if isinstance(given, ArrayValue) and isinstance(taken, ArrayValue) and given.shape[1:] != taken.shape[1:]:
        return _flat(b, given), _flat(b, taken)
    return given, taken


def _flat(b: OpBuilder, value: ArrayValue) -> ArrayValue:
    return b.reshape(value, (product_of(*value.shape),))


def _operation(b: OpBuilder, op: Value) -> Value:
    """One of mpi4py's operations as that of programs."""
    if not isinstance(op, Static) or not isinstance(op.value, MPI.Op):
        return op
    for each in ReduceOperation:
        if op.value == getattr(MPI, each.name):
            return Static(each)
    raise b.error(
        "an operation that programs do not take",
        help=f"there are {', '.join(f'MPI.{each.name}' for each in ReduceOperation)}",
    )

