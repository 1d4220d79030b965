"""Redistribution: moves the parts of an array from one placement to another, outside of programs.

Along each dimension a rank sends what it has and the receiver is to have; of ranks that have the same elements, the one
sends that is nearest on the grid, and a rank that has them itself takes its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dcpy.runtime.distributed.array_placement import Placement

NDArray = np.ndarray[Any, Any]
TAG = 2


def redistributed(local: NDArray, shape: Sequence[int], source: Placement, target: Placement) -> NDArray:
    """A rank's part under the placement `target`, of an array of which it has `local` under `source`. Collective."""
    world = source.grid.world
    found = np.empty(target.local_shape(shape, world.rank), local.dtype)
    requests, arriving, keep = [], [], []
    for other in range(world.size):
        if other == world.rank:
            continue
        here, _ = _common(source, target, shape, world.rank, other)
        if here is not None:
            keep.append(np.ascontiguousarray(local[here]))
            requests.append(world.comm.Isend([keep[-1].reshape(-1).view(np.uint8), _bytes()], other, TAG))
        _, there = _common(source, target, shape, other, world.rank)
        if there is not None:
            arrived = np.empty(tuple(math.prod(np.shape(part)) for part in there), local.dtype)
            arriving.append((there, arrived))
            requests.append(world.comm.Irecv([arrived.reshape(-1).view(np.uint8), _bytes()], other, TAG))
    own, mine = _common(source, target, shape, world.rank, world.rank)
    if own is not None and mine is not None:
        found[mine] = local[own]
    with world.limited("the move of an array between distributions"):
        for request in requests:
            request.Wait()
    for place, values in arriving:
        found[place] = values
    return found


def _bytes() -> Any:
    from mpi4py import MPI

    return MPI.BYTE


Indices = tuple[NDArray, ...]


def _common(
    source: Placement, target: Placement, shape: Sequence[int], sender: int, receiver: int
) -> tuple[Indices, Indices] | tuple[None, None]:
    """Return the elements that one rank sends to another, as places in the memories of both; None for nothing."""
    if not _serves(source, sender, receiver):
        return None, None
    has, needs = source.indices(shape, sender), target.indices(shape, receiver)
    pairs = [np.intersect1d(a, b, assume_unique=True, return_indices=True)[1:] for a, b in zip(has, needs, strict=True)]
    if any(len(first) == 0 for first, _ in pairs):
        return None, None
    if not pairs:
        return (), ()
    return np.ix_(*(first for first, _ in pairs)), np.ix_(*(second for _, second in pairs))


def _serves(source: Placement, sender: int, receiver: int) -> bool:
    if source.root is not None:
        return sender == source.root
    if sender >= source.grid.ranks:
        return False
    used = {axis.axis for axis in source.axes if axis is not None}
    sizes, at, its = source.grid.sizes, source.grid.coordinates(sender), source.grid.coordinates(receiver)
    return all(
        axis in used or at[axis] == (its[axis] if its[axis] < size else receiver % size)
        for axis, size in enumerate(sizes)
    )
