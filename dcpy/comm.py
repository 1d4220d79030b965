"""The local view: ranks that send arrays to each other, ``dcpy.comm.Isend``, ``Bcast``, ``Allreduce``.

The same functions work in programs, where they become library nodes that call MPI directly, and undecorated, through
mpi4py where a launcher of MPI has started this process. Without MPI there is one rank. Slices of any stride are sent
without a copy, as derived datatypes. How much a rank gives and gets follows from the shapes of its arrays, along the
first dimension: what MPI calls ``Scatterv`` is `Scatter`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dcpy.base.errors import CommunicationError
from dcpy.base.rank_grids import coordinates, fitted
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.frontend.comm.constants import ANY_SOURCE, ANY_TAG, OF_PAIRS, PROC_NULL, InPlace, ReduceOperation, Request
from dcpy.runtime.distributed import block_arrays, mpi_datatypes, self_messages
from dcpy.runtime.distributed.array_placement import DistributedAxis, Grid, Placement
from dcpy.runtime.distributed.block_arrays import BlockArray, BlockScattering
from dcpy.runtime.distributed.subgrids import SubGrid, axes_of, rank_at
from dcpy.runtime.distributed.world import current_world

__all__ = [
    "ANY_SOURCE", "ANY_TAG", "BAND", "BOR", "IN_PLACE", "LAND", "LOR", "MAX", "MAXLOC", "MIN", "MINLOC",
    "PROC_NULL", "PROD", "SUM", "Allgather", "Allreduce", "Alltoall", "BCGather", "BCScatter", "Barrier", "Bcast",
    "BlockGather", "BlockScatter", "Cart_create", "Cart_shift", "Cart_sub", "Exscan", "Gather", "Irecv", "Isend",
    "MPI_Request", "Recv", "Redistribute", "Reduce", "ReduceScatter", "Request", "Scan", "Scatter", "Send",
    "Sendrecv", "Subarray", "Wait", "Waitall", "coords", "rank", "size",
]  # fmt: skip

NDArray = np.ndarray[Any, Any]
SUM, PROD, MIN, MAX = ReduceOperation.SUM, ReduceOperation.PROD, ReduceOperation.MIN, ReduceOperation.MAX
LAND, LOR, BAND, BOR = ReduceOperation.LAND, ReduceOperation.LOR, ReduceOperation.BAND, ReduceOperation.BOR
MINLOC, MAXLOC = ReduceOperation.MINLOC, ReduceOperation.MAXLOC
IN_PLACE = InPlace.IN_PLACE
MPI_Request = Request


def rank() -> int:
    """The number of this rank."""
    return current_world().rank


def size() -> int:
    """Return the number of ranks."""
    return current_world().size


# -- messages --------------------------------------------------------------------------------------------------------


@own_frames_hidden
def Send(buffer: NDArray, dest: int, tag: int = 0) -> None:
    """Send an array, or a slice of one, to the rank `dest`; it may wait until that one receives."""
    if _is_itself(dest):
        self_messages.send(buffer, tag)
    elif _there_is(dest):
        current_world().comm.Send(mpi_datatypes.message(np.asarray(buffer)), dest, tag)


@own_frames_hidden
def Recv(buffer: NDArray, source: int, tag: int = 0) -> None:
    """Wait for a message of the rank `source`, which becomes `buffer`. Nothing comes from PROC_NULL."""
    if _is_itself(source):
        self_messages.receive(buffer, tag)
    elif _there_is(source):
        current_world().comm.Recv(mpi_datatypes.message(buffer), mpi_datatypes.source(source), mpi_datatypes.tag(tag))


@own_frames_hidden
def Sendrecv(
    sendbuf: NDArray, dest: int, recvbuf: NDArray, source: int, tag: int = 0
) -> None:
    """Send `sendbuf` to `dest` and receive `recvbuf` from `source`, at the same time."""
    world = current_world()
    if _is_itself(dest) or _is_itself(source):
        requests = [Isend(sendbuf, dest, tag), Irecv(recvbuf, source, tag)]
        Waitall(requests)
    elif _there_is(dest) | _there_is(source):
        given, taken = mpi_datatypes.message(np.asarray(sendbuf)), mpi_datatypes.message(recvbuf)
        world.comm.Sendrecv(
            given, mpi_datatypes.peer(dest), tag, taken, mpi_datatypes.source(source), mpi_datatypes.tag(tag)
        )


@own_frames_hidden
def Isend(buffer: NDArray, dest: int, tag: int = 0, request: Any = None) -> Any:
    """Start to send: `buffer` may not be written before `Wait`. Returns the request, also where one is passed."""
    started = None
    if _is_itself(dest):
        started = (self_messages.start_send(buffer, tag), buffer)
    elif _there_is(dest):
        started = (current_world().comm.Isend(mpi_datatypes.message(np.asarray(buffer)), dest, tag), buffer)
    return _enter(started, request)


@own_frames_hidden
def Irecv(buffer: NDArray, source: int, tag: int = 0, request: Any = None) -> Any:
    """Start to receive: `buffer` may not be touched before `Wait`."""
    started = None
    if _is_itself(source):
        started = (self_messages.start_receive(buffer, tag), buffer)
    elif _there_is(source):
        comm, what = current_world().comm, mpi_datatypes.message(buffer)
        started = (comm.Irecv(what, mpi_datatypes.source(source), mpi_datatypes.tag(tag)), buffer)
    return _enter(started, request)


@own_frames_hidden
def Wait(request: Any) -> None:
    """Wait for one message."""
    Waitall(request[None] if isinstance(request, np.ndarray) and not request.ndim else [request])


@own_frames_hidden
def Waitall(requests: Iterable[Any]) -> None:
    """Wait for all messages of an array of requests."""
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


def _is_itself(peer: int) -> bool:
    """Return whether a rank alone sends to itself, for which there need be no MPI."""
    return peer in (0, ANY_SOURCE) and current_world().size == 1


def _there_is(peer: int) -> bool:
    """Return whether a rank is not `PROC_NULL`. `CommunicationError` for ranks that do not exist."""
    ranks = current_world().size
    if peer == PROC_NULL:
        return False
    if 0 <= peer < ranks or peer == ANY_SOURCE:
        return True
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
    """Copy `buffer` of the rank `root` to all ranks."""
    _root(root)
    if current_world().comm is not None:
        current_world().comm.Bcast(mpi_datatypes.message(buffer), root)


@own_frames_hidden
def Reduce(*operands: Any, op: ReduceOperation = SUM, root: int | None = None) -> None:
    """``Reduce(buffer, op, root)`` or ``Reduce(x, out, op, root)``: at the root, what all are together.

    Elsewhere `out` stays as it is.
    """
    x, out, op, root = _combining("Reduce", operands, op, root)
    _root(root)
    _combine("Reduce", x, out, op, root, gets=current_world().rank == root)


@own_frames_hidden
def Allreduce(*operands: Any, op: ReduceOperation = SUM) -> None:
    """``Allreduce(buffer, op)`` or ``Allreduce(x, out, op)``: on each rank, what all are together."""
    x, out, op, _ = _combining("Allreduce", operands, op, 0)
    _combine("Allreduce", x, out, op)


@own_frames_hidden
def Scan(*operands: Any, op: ReduceOperation = SUM) -> None:
    """``Scan(x, out, op)``: what the ranks up to this one have together."""
    x, out, op, _ = _combining("Scan", operands, op, 0)
    _combine("Scan", x, out, op)


@own_frames_hidden
def Exscan(*operands: Any, op: ReduceOperation = SUM) -> None:
    """``Exscan(x, out, op)``: what the ranks before this one have together; that of the first stays as it is."""
    x, out, op, _ = _combining("Exscan", operands, op, 0)
    _combine("Exscan", x, out, op, gets=current_world().rank > 0)


@own_frames_hidden
def Scatter(x: NDArray, out: NDArray, root: int = 0) -> None:
    """The rows of `x` at the root go to the ranks in turn: to each as many as its `out` has."""
    _root(root)
    mpi_datatypes.move("Scatter", current_world(), np.asarray(x), out, root)


@own_frames_hidden
def Gather(x: NDArray, out: NDArray, root: int = 0) -> None:
    """Put the rows of all `x` into `out` at the root, in the order of the ranks; elsewhere it stays as it is."""
    _root(root)
    mpi_datatypes.move("Gather", current_world(), np.asarray(x), out, root)


@own_frames_hidden
def Allgather(x: NDArray, out: NDArray) -> None:
    """Put the rows of all `x` into `out` on each rank, in the order of the ranks."""
    mpi_datatypes.move("Allgather", current_world(), np.asarray(x), out)


@own_frames_hidden
def Alltoall(x: NDArray, out: NDArray) -> None:
    """The rows of `x` in equal pieces, one for each rank: `out` has those for it, in the order of the senders."""
    mpi_datatypes.move("Alltoall", current_world(), np.asarray(x), out)


@own_frames_hidden
def ReduceScatter(x: NDArray, out: NDArray, op: ReduceOperation = SUM) -> None:
    """Combine all `x`; the rows of the result go to the ranks in turn, to each as many as its `out` has."""
    total = np.empty_like(x, order="C")
    _combine("Allreduce", np.asarray(x), total, op)
    counts = current_world().all(len(out))
    if sum(counts) != len(total):
        raise CommunicationError(f"a ReduceScatter moves {len(total)} rows, and the ranks have {sum(counts)}")
    first = sum(counts[: current_world().rank])
    out[...] = total[first : first + len(out)]


def _combining(
    name: str, operands: tuple[Any, ...], op: ReduceOperation, root: int | None
) -> tuple[Any, Any, ReduceOperation, int]:
    rest = list(operands)
    source = rest.pop(0) if rest else None
    target = rest.pop(0) if rest and not isinstance(rest[0], ReduceOperation) else source
    if rest and isinstance(rest[0], ReduceOperation):
        op = rest.pop(0)
    if rest and root is None:
        root = rest.pop(0)
    if rest or not isinstance(op, ReduceOperation) or not isinstance(target, np.ndarray):
        raise TypeError(f"comm.{name} takes (buffer, op), or (x, out, op)")
    return target if source is IN_PLACE else np.asarray(source), target, op, root or 0


def _combine(name: str, x: NDArray, out: NDArray, op: ReduceOperation, *root: int, gets: bool = True) -> None:
    if x.dtype != out.dtype or x.shape != out.shape:
        raise CommunicationError(f"a {name} moves {x.dtype}{list(x.shape)} into {out.dtype}{list(out.shape)}")
    if op in OF_PAIRS and (x.shape[-1:] != (2,) or x.dtype.kind not in "iuf"):
        raise CommunicationError(f"comm.{op.name} combines pairs (value, index) along the last axis, not {x.shape}")
    world, given = current_world(), np.array(x, order="C")
    found = given
    if world.comm is not None:
        found = np.empty_like(given)
        if op in OF_PAIRS:
            kind, combines = mpi_datatypes.of_pairs(op.value, given.dtype)
            getattr(world.comm, name)([given, kind], [found, kind], combines, *root)
        else:
            getattr(world.comm, name)(given, found, mpi_datatypes.operation(op.name, given.dtype), *root)
    if gets:
        out[...] = found


def _root(root: int) -> None:
    if not 0 <= root < current_world().size:
        raise CommunicationError(f"there is no rank {root}: there are {current_world().size}")


# -- grids, and arrays in blocks -------------------------------------------------------------------------------------


@own_frames_hidden
def Cart_create(dims: Sequence[int] | int, periods: Sequence[bool] | None = None) -> Grid:
    """A grid of ranks in rows and columns, the last axis fastest: the first ones of all.

    A size of 0 stands for what the others leave; axes of size 0 are about equally long. `periods` says of each axis
    whether its last rank is followed by the first one. `GridError` where there are not so many ranks.
    """
    everyone, sizes = current_world(), (dims,) if isinstance(dims, int) else tuple(dims)
    return Grid(fitted(sizes, everyone.size), everyone, tuple(map(bool, periods or ())))


@own_frames_hidden
def Cart_sub(grid: Grid | SubGrid, remain_dims: Sequence[bool], exact_grid: int | None = None) -> SubGrid:
    """Rows or columns of a grid: the axes that remain, for each rank the part that has it.

    With `exact_grid`, a rank, the part that has this rank is the only one.
    """
    remain, has = iter(remain_dims), axes_of(grid)
    if len(remain_dims) != len(has):
        raise ValueError(f"remain_dims says yes or no to each of {len(has)} axes")
    whole = grid.grid if isinstance(grid, SubGrid) else grid
    keep = tuple(axis in has and bool(next(remain)) for axis in range(len(grid.keep)))
    return SubGrid(whole, keep, grid.exact if exact_grid is None else exact_grid)


@own_frames_hidden
def Cart_shift(grid: Grid | SubGrid, direction: int, disp: int = 1) -> tuple[int, int]:
    """The ranks from which and to which this one shifts along an axis: ``(source, dest)``, PROC_NULL beyond its ends.

    They are numbers among all ranks, also on a part of a grid.
    """
    axis, sizes, here = axes_of(grid)[direction], grid.all_sizes, coordinates(grid.world.rank, grid.all_sizes)
    found = []
    for by in (-disp, disp):
        at = here[axis] + by
        at = at % sizes[axis] if grid.periods[axis] else at
        there = here != sizes and 0 <= at < sizes[axis]
        found.append(rank_at([*here[:axis], at, *here[axis + 1 :]], sizes) if there else PROC_NULL)
    return found[0], found[1]


@own_frames_hidden
def coords(grid: Grid | SubGrid, rank: int | None = None) -> tuple[int, ...]:
    """Return the coordinates of a rank on a grid, by default this rank; one outside has the grid's sizes."""
    whole = grid.grid if isinstance(grid, SubGrid) else grid
    if rank is not None and not 0 <= rank < whole.ranks:
        raise ValueError(f"rank {rank} is not on the grid, which has {whole.ranks}")
    found = coordinates(whole.world.rank if rank is None else rank, whole.sizes)
    return tuple(found[axis] for axis in axes_of(grid))


@own_frames_hidden
def BlockScatter(
    x: NDArray, out: NDArray | None = None, scatter_grid: Grid | SubGrid | None = None,
    bcast_grid: Grid | SubGrid | None = None, correspondence: Sequence[int | None] | None = None,
) -> NDArray | None:  # fmt: skip
    """Blocks of `x` at the first rank of a grid go to its ranks; without `out`, each gets its block as a new array.

    All ranks pass an array of one shape. Blocks are balanced, the elements by the ranks, rounded up: the last ones are
    short. The grid has all ranks, if none is said. Dimension k is dealt out along axis k, or along the axis that
    `correspondence` names, None for none; ranks along axes that no dimension has, and along those of `bcast_grid`, get
    copies. On ranks outside of the grid, `out` stays as it is. `ValueError` on all ranks for shapes that do not fit.
    """
    x = np.asarray(x)
    grid = scatter_grid or block_arrays.default_grid(current_world(), x.ndim)
    return _scattering("BlockScatter", grid, bcast_grid, x, out, correspondence, None).scatter(x, out)


@own_frames_hidden
def BlockGather(
    x: NDArray, out: NDArray | None = None, gather_grid: Grid | SubGrid | None = None,
    reduce_grid: Grid | SubGrid | None = None, correspondence: Sequence[int | None] | None = None,
) -> NDArray | None:  # fmt: skip
    """Blocks of the ranks of a grid become `out` at its first rank; without `out`, a new array on all ranks.

    The reverse of `BlockScatter`. Blocks are summed over the ranks of `reduce_grid`, another part of the same grid.
    """
    x = np.asarray(x)
    grid = gather_grid or block_arrays.default_grid(current_world(), x.ndim)
    task = _scattering("BlockGather", grid, reduce_grid, x, out, correspondence, None)
    if out is None:
        if len(task.along) < len(task.sizes) or grid.exact is not None:
            raise ValueError("BlockGather on a part of a grid writes into an array")
        return task.gather_everywhere(x, reduce_grid)
    task.gather(x, out, reduce_grid)
    return None


@own_frames_hidden
def BCScatter(
    x: NDArray, out: NDArray | None = None, block_sizes: Sequence[int] | int = (),
    process_grid: Grid | SubGrid | None = None,
) -> NDArray | None:  # fmt: skip
    """Distribute as `BlockScatter` does, in blocks of these sizes that go round the ranks."""
    x = np.asarray(x)
    grid = process_grid or block_arrays.default_grid(current_world(), x.ndim)
    return _scattering("BCScatter", grid, None, x, out, None, block_sizes).scatter(x, out)


@own_frames_hidden
def BCGather(
    x: NDArray, out: NDArray, block_sizes: Sequence[int] | int, process_grid: Grid | SubGrid | None = None
) -> None:
    """Collect as `BlockGather` does into `out`, from blocks of these sizes that go round the ranks."""
    x = np.asarray(x)
    grid = process_grid or block_arrays.default_grid(current_world(), x.ndim)
    _scattering("BCGather", grid, None, x, out, None, block_sizes).gather(x, out, None)


@own_frames_hidden
def Subarray(
    array: NDArray | Sequence[int], subarray: NDArray | Sequence[int], process_grid: Grid | SubGrid | None = None,
    correspondence: Sequence[int | None] | None = None,
) -> BlockArray:  # fmt: skip
    """Describe an array in blocks by its shape (or the array), that of blocks (or this rank's block), and the grid.

    Blocks are balanced where this rank's own is passed. Ranks along axes that no dimension has have copies.
    """
    shape = tuple(np.shape(array)) if isinstance(array, np.ndarray) else tuple(array)
    grid = process_grid or block_arrays.default_grid(current_world(), len(shape))
    if grid.exact is not None:
        raise ValueError("Subarray takes a grid all of whose parts count")
    axes = block_arrays.axes_for(grid, len(shape), correspondence)
    sizes = (None,) * len(shape) if isinstance(subarray, np.ndarray) else tuple(subarray)
    if len(sizes if not isinstance(subarray, np.ndarray) else subarray.shape) != len(shape):
        raise ValueError("Subarray has blocks of other dimensions than the array")
    for size, block, axis in zip(shape, sizes, axes, strict=True):
        ranks = 1 if axis is None else grid.all_sizes[axis]
        if block is not None and block * ranks < size:
            raise ValueError(f"{ranks} blocks of {block} elements do not hold {size} elements")
    dealt = tuple(None if axis is None else DistributedAxis(axis, size) for axis, size in zip(axes, sizes, strict=True))
    return BlockArray(shape, Placement(grid.grid if isinstance(grid, SubGrid) else grid, dealt))


@own_frames_hidden
def Redistribute(x: NDArray, x_subarray: BlockArray, out: NDArray, out_subarray: BlockArray) -> None:
    """The blocks `x` of an array become the blocks `out` of the same array, dealt out in another way."""
    _require_same_dtype("Redistribute", x, out)
    block_arrays.redistribute(np.asarray(x), x_subarray, out, out_subarray)


def _scattering(
    name: str, grid: Grid | SubGrid, other: Grid | SubGrid | None, x: NDArray, out: NDArray | None,
    correspondence: Sequence[int | None] | None, block_sizes: Sequence[int] | int | None,
) -> BlockScattering:  # fmt: skip
    if out is not None:
        _require_same_dtype(name, x, out)
        if out.ndim != x.ndim:
            raise ValueError(f"comm.{name} moves an array of {x.ndim} dimensions into one of {out.ndim}")
    sizes = (block_sizes,) if isinstance(block_sizes, int) else block_sizes
    if sizes is not None and (len(sizes) != x.ndim or min(sizes) < 1):
        raise ValueError(f"comm.{name} takes the sizes of blocks, one for each of {x.ndim} dimensions")
    axes = block_arrays.axes_for(grid, x.ndim, correspondence)
    return BlockScattering(grid, other, axes, (None,) * x.ndim if sizes is None else sizes, f"comm.{name}")


def _require_same_dtype(name: str, x: NDArray, out: NDArray) -> None:
    if x.dtype != out.dtype:
        raise CommunicationError(f"comm.{name} moves {x.dtype} into an array of {out.dtype}")
