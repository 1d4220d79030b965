"""MPI datatypes: slices as derived datatypes, made once, and the rows of collectives."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dcpy.base.errors import CommunicationError
from dcpy.base.minloc_maxloc import located
from dcpy.runtime.distributed.world import World

NDArray = np.ndarray[Any, Any]


def message(array: NDArray) -> list[Any]:
    """An array of any strides, as mpi4py takes it: its memory, and how many of which datatype."""
    from mpi4py import MPI

    if not isinstance(array, np.ndarray) or array.dtype.hasobject:
        raise CommunicationError("what is sent and received are arrays of numbers")
    place = array.__array_interface__["data"][0]
    reach = sum((count - 1) * stride for count, stride in zip(array.shape, array.strides, strict=True) if count)
    if any(stride < 0 for stride in array.strides):
        raise CommunicationError("slices that run backwards are not sent", help="copy it first")
    memory = MPI.memory.fromaddress(place, (reach + array.itemsize) * (array.size > 0))
    return [memory, int(array.size > 0), _type_of(array.itemsize, array.shape, array.strides)]


@functools.cache
def _type_of(size: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    from mpi4py import MPI

    made = MPI.BYTE.Create_contiguous(size)
    for count, stride in zip(reversed(shape), reversed(strides), strict=True):
        inner, made = made, made.Create_hvector(count, 1, stride)
        inner.Free()
    return made.Commit()


def peer(rank: int) -> int:
    """A rank as MPI numbers it; MPI_PROC_NULL for those below 0."""
    from mpi4py import MPI

    return rank if rank >= 0 else int(MPI.PROC_NULL)


def source(rank: int) -> int:
    """The source of a message: a rank, none (-1), or any (any other number below 0)."""
    from mpi4py import MPI

    return rank if rank >= 0 else int(MPI.PROC_NULL) if rank == -1 else int(MPI.ANY_SOURCE)


def tag(number: int) -> int:
    """The tag of a receive: any, for ANY_TAG, which MPI numbers otherwise."""
    from mpi4py import MPI

    return number if number >= 0 else int(MPI.ANY_TAG)


def operation(name: str, dtype: np.dtype[Any]) -> Any:
    """An operation of MPI's. Truth values are added by "or" and multiplied by "and", as NumPy does."""
    from mpi4py import MPI

    of_truth = {"SUM": "LOR", "MAX": "LOR", "BOR": "LOR", "PROD": "LAND", "MIN": "LAND", "BAND": "LAND"}
    return getattr(MPI, of_truth.get(name, name) if dtype.kind == "b" else name)


@functools.cache
def of_pairs(name: str, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """A datatype of MPI for pairs of a dtype, and the operation that finds the extremum of the first elements."""
    from mpi4py import MPI
    from mpi4py.util.dtlib import from_numpy_dtype

    def combine(lower_ranks: Any, values: Any, _: Any) -> None:
        first, second = (np.frombuffer(buffer, dtype).reshape(-1, 2) for buffer in (lower_ranks, values))
        second[...] = located(name, first, second)

    return from_numpy_dtype(dtype).Create_contiguous(2).Commit(), MPI.Op.Create(combine, commute=False)


def move(name: str, world: World, x: NDArray, out: NDArray, root: int | None = None) -> None:
    """A collective of rows. Raises `CommunicationError` where ranks have not as many as are moved."""
    if x.dtype != out.dtype:
        raise CommunicationError(f"a {name} moves {x.dtype} into an array of {out.dtype}")
    given, taken = np.ascontiguousarray(x), np.empty(out.shape, out.dtype)
    if world.comm is None:
        _require(name, len(given), len(taken))
        out[...] = given
        return
    counts = world.all([x.size, out.size])
    given_by, taken_by = ([pair[k] for pair in counts] for k in range(2))
    if name == "Alltoall":
        for count in (*given_by, *taken_by):
            if count % world.size:
                raise CommunicationError(f"{count} elements of an Alltoall are not in {world.size} equal pieces")
        world.comm.Alltoall(given, taken)
    elif name == "Allgather":
        for count in taken_by:
            _require(name, sum(given_by), count)
        world.comm.Allgatherv(given, [taken, given_by])
    elif name == "Gather":
        assert root is not None
        _require(name, sum(given_by), taken_by[root])
        world.comm.Gatherv(given, [taken, given_by] if world.rank == root else None, root)
    else:
        assert root is not None
        _require(name, given_by[root], sum(taken_by))
        world.comm.Scatterv([given, taken_by] if world.rank == root else None, taken, root)
    if name != "Gather" or world.rank == root:
        out[...] = taken


def _require(name: str, moved: int, there: int) -> None:
    if moved != there:
        raise CommunicationError(f"a {name} moves {moved} elements, and there is room for {there}")
