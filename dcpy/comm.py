"""The local view: ranks that send arrays to each other, ``dcpy.comm.Isend``, ``Bcast``, ``Allreduce``.

The same functions work in programs, where they become library nodes that call MPI directly, and undecorated, through
mpi4py where a launcher of MPI has started this process. Without MPI there is one rank. Slices of any stride are sent
without a copy, as derived datatypes. How much a rank gives and gets follows from the shapes of its arrays, along the
first dimension: what MPI calls ``Scatterv`` is `Scatter`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dcpy.base.errors import CommunicationError
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.frontend.comm.words import ANY_SOURCE, PROC_NULL, InPlace, Operation, Request
from dcpy.runtime.distributed import sections
from dcpy.runtime.distributed.world import current_world

__all__ = [
    "ANY_SOURCE", "BAND", "BOR", "IN_PLACE", "LAND", "LOR", "MAX", "MIN", "PROC_NULL", "PROD", "SUM", "Allgather",
    "Allreduce", "Alltoall", "Barrier", "Bcast", "Exscan", "Gather", "Irecv", "Isend", "MPI_Request", "Recv", "Reduce",
    "ReduceScatter", "Request", "Scan", "Scatter", "Send", "Sendrecv", "Wait", "Waitall", "rank", "size",
]  # fmt: skip

NDArray = np.ndarray[Any, Any]
SUM, PROD, MIN, MAX = Operation.SUM, Operation.PROD, Operation.MIN, Operation.MAX
LAND, LOR, BAND, BOR = Operation.LAND, Operation.LOR, Operation.BAND, Operation.BOR
IN_PLACE = InPlace.IN_PLACE
MPI_Request = Request


def rank() -> int:
    """The number of this rank."""
    return current_world().rank


def size() -> int:
    """How many ranks there are."""
    return current_world().size


# -- messages --------------------------------------------------------------------------------------------------------


@own_frames_hidden
def Send(buffer: NDArray, dest: int, tag: int = 0) -> None:
    """Sends an array, or a slice of one, to the rank `dest`; it may wait until that one receives."""
    if _there_is(dest):
        current_world().comm.Send(sections.message(np.asarray(buffer)), dest, tag)


@own_frames_hidden
def Recv(buffer: NDArray, source: int, tag: int = 0) -> None:
    """Waits for a message of the rank `source`, which becomes `buffer`. Nothing comes from PROC_NULL."""
    if _there_is(source):
        current_world().comm.Recv(sections.message(buffer), sections.source(source), tag)


@own_frames_hidden
def Sendrecv(
    sendbuf: NDArray, dest: int, recvbuf: NDArray, source: int, tag: int = 0
) -> None:
    """Sends `sendbuf` to `dest` and receives `recvbuf` from `source`, at the same time."""
    world = current_world()
    if world.size == 1 and dest == source == 0:
        recvbuf[...] = np.array(sendbuf).reshape(recvbuf.shape)
    elif _there_is(dest) | _there_is(source):
        given, taken = sections.message(np.asarray(sendbuf)), sections.message(recvbuf)
        world.comm.Sendrecv(given, sections.peer(dest), tag, taken, sections.source(source), tag)


@own_frames_hidden
def Isend(buffer: NDArray, dest: int, tag: int = 0, request: Any = None) -> Any:
    """Starts to send: `buffer` may not be written before `Wait`. Returns the request, also where one is passed."""
    started = None
    if _there_is(dest):
        started = (current_world().comm.Isend(sections.message(np.asarray(buffer)), dest, tag), buffer)
    return _enter(started, request)


@own_frames_hidden
def Irecv(buffer: NDArray, source: int, tag: int = 0, request: Any = None) -> Any:
    """Starts to receive: `buffer` may not be touched before `Wait`."""
    started = None
    if _there_is(source):
        started = (current_world().comm.Irecv(sections.message(buffer), sections.source(source), tag), buffer)
    return _enter(started, request)


@own_frames_hidden
def Wait(request: Any) -> None:
    """Waits for one message."""
    Waitall(request[None] if isinstance(request, np.ndarray) and not request.ndim else [request])


@own_frames_hidden
def Waitall(requests: Iterable[Any]) -> None:
    """Waits for all messages of an array of requests."""
    for request in requests:
        if request["request"] is not None:
            request["request"][0].Wait()
            request["request"] = None


def _enter(started: Any, request: Any) -> Any:
    if request is None:
        request = np.empty((1,), Request)[0]
    elif request["request"] is not None:
        raise RuntimeError("a request is started again that was not waited for")
    request["request"] = started
    return request


def _there_is(peer: int) -> bool:
    """Whether a rank is somebody. `CommunicationError` for others than there are."""
    ranks = current_world().size
    if peer == PROC_NULL:
        return False
    if ranks > 1 and (0 <= peer < ranks or peer == ANY_SOURCE):
        return True
    if ranks == 1 and peer == 0:
        raise CommunicationError("a rank alone sends to nobody, and receives from nobody")
    raise CommunicationError(f"there is no rank {peer}: there are {ranks}")


# -- collectives -----------------------------------------------------------------------------------------------------


@own_frames_hidden
def Barrier() -> None:
    """No rank goes on before all are there."""
    world = current_world()
    if world.comm is not None:
        world.comm.Barrier()


@own_frames_hidden
def Bcast(buffer: NDArray, root: int = 0) -> None:
    """What `buffer` is on the rank `root`, it is on all."""
    _root(root)
    if current_world().comm is not None:
        current_world().comm.Bcast(sections.message(buffer), root)


@own_frames_hidden
def Reduce(*operands: Any, op: Operation = SUM, root: int | None = None) -> None:
    """``Reduce(buffer, op, root)`` or ``Reduce(x, out, op, root)``: at the root, what all are together.

    Elsewhere `out` stays as it is.
    """
    x, out, op, root = _combining("Reduce", operands, op, root)
    _root(root)
    _combine("Reduce", x, out, op, root, gets=current_world().rank == root)


@own_frames_hidden
def Allreduce(*operands: Any, op: Operation = SUM) -> None:
    """``Allreduce(buffer, op)`` or ``Allreduce(x, out, op)``: on each rank, what all are together."""
    x, out, op, _ = _combining("Allreduce", operands, op, 0)
    _combine("Allreduce", x, out, op)


@own_frames_hidden
def Scan(*operands: Any, op: Operation = SUM) -> None:
    """``Scan(x, out, op)``: what the ranks up to this one have together."""
    x, out, op, _ = _combining("Scan", operands, op, 0)
    _combine("Scan", x, out, op)


@own_frames_hidden
def Exscan(*operands: Any, op: Operation = SUM) -> None:
    """``Exscan(x, out, op)``: what the ranks before this one have together; that of the first stays as it is."""
    x, out, op, _ = _combining("Exscan", operands, op, 0)
    _combine("Exscan", x, out, op, gets=current_world().rank > 0)


@own_frames_hidden
def Scatter(x: NDArray, out: NDArray, root: int = 0) -> None:
    """The rows of `x` at the root go to the ranks in turn: to each as many as its `out` has."""
    _root(root)
    sections.move("Scatter", current_world(), np.asarray(x), out, root)


@own_frames_hidden
def Gather(x: NDArray, out: NDArray, root: int = 0) -> None:
    """At the root, `out` are the rows of all `x`, in the order of the ranks; elsewhere it stays as it is."""
    _root(root)
    sections.move("Gather", current_world(), np.asarray(x), out, root)


@own_frames_hidden
def Allgather(x: NDArray, out: NDArray) -> None:
    """On each rank, `out` are the rows of all `x`, in the order of the ranks."""
    sections.move("Allgather", current_world(), np.asarray(x), out)


@own_frames_hidden
def Alltoall(x: NDArray, out: NDArray) -> None:
    """The rows of `x` in equal pieces, one for each rank: `out` has those for it, in the order of the senders."""
    sections.move("Alltoall", current_world(), np.asarray(x), out)


@own_frames_hidden
def ReduceScatter(x: NDArray, out: NDArray, op: Operation = SUM) -> None:
    """What all `x` are together; its rows go to the ranks in turn, to each as many as its `out` has."""
    total = np.empty_like(x, order="C")
    _combine("Allreduce", np.asarray(x), total, op)
    counts = current_world().all(len(out))
    if sum(counts) != len(total):
        raise CommunicationError(f"a ReduceScatter moves {len(total)} rows, and the ranks have {sum(counts)}")
    first = sum(counts[: current_world().rank])
    out[...] = total[first : first + len(out)]


def _combining(
    name: str, operands: tuple[Any, ...], op: Operation, root: int | None
) -> tuple[Any, Any, Operation, int]:
    rest = list(operands)
    source = rest.pop(0) if rest else None
    target = rest.pop(0) if rest and not isinstance(rest[0], Operation) else source
    if rest and isinstance(rest[0], Operation):
        op = rest.pop(0)
    if rest and root is None:
        root = rest.pop(0)
    if rest or not isinstance(op, Operation) or not isinstance(target, np.ndarray):
        raise TypeError(f"comm.{name} takes (buffer, op), or (x, out, op)")
    return target if source is IN_PLACE else np.asarray(source), target, op, root or 0


def _combine(name: str, x: NDArray, out: NDArray, op: Operation, *root: int, gets: bool = True) -> None:
    if x.dtype != out.dtype or x.shape != out.shape:
        raise CommunicationError(f"a {name} moves {x.dtype}{list(x.shape)} into {out.dtype}{list(out.shape)}")
    world, given = current_world(), np.array(x, order="C")
    found = given
    if world.comm is not None:
        found = np.empty_like(given)
        getattr(world.comm, name)(given, found, sections.operation(op.name, given.dtype), *root)
    if gets:
        out[...] = found


def _root(root: int) -> None:
    if not 0 <= root < current_world().size:
        raise CommunicationError(f"there is no rank {root}: there are {current_world().size}")
