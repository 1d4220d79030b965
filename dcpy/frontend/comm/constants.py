"""Constants of ``dcpy.comm``: reduction operations, the null rank, and the dtype of requests."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

PROC_NULL = -1  #: no rank (MPI_PROC_NULL): what is sent there is gone, and nothing comes from there
ANY_TAG = -1  #: any message of a rank, in the order in which it sent them
ANY_SOURCE = -(2**20)  #: the rank that sends first: outside of programs only, as results would depend on it

#: The dtype of requests: ``np.empty((8,), dtype=comm.Request)``, each of which is that of nothing at first.
Request = np.dtype([("request", object)])


class ReduceOperation(Enum):
    """Operation that combines values of ranks; the value is its name in the IR."""

    SUM = "add"
    PROD = "mul"
    MIN = "min"
    MAX = "max"
    LAND = "and"
    LOR = "or"
    BAND = "bitand"
    BOR = "bitor"
    MINLOC = "minloc"  #: of pairs (value, index) along the last axis: the least value, with the least of its indices
    MAXLOC = "maxloc"


OF_PAIRS = (ReduceOperation.MINLOC, ReduceOperation.MAXLOC)


class InPlace(Enum):
    """Marker for the operand of a collective whose result replaces its operand."""

    IN_PLACE = "in place"


@dataclass(frozen=True)
class CartGrid:
    """A grid of ranks as programs have it: how long its axes are, and where this rank is.

    Both, and whether axes are periodic, are also known of the whole of which it has those axes that it may `keep`;
    `exact` is a rank of the one part that counts, or None.
    """

    sizes: tuple[int, ...]
    coords: tuple[int, ...]
    all_sizes: tuple[int, ...]
    all_coords: tuple[int, ...]
    periods: tuple[bool, ...]
    keep: tuple[bool, ...]
    exact: int | None


@dataclass(frozen=True)
class BlockArrayValue:
    """An array in blocks on a grid as programs have it: its shape, the grid, and how each dimension is dealt out.

    Of each dimension, `axes` has the axis of the grid or None, and `blocks` the size of blocks: 0 for balanced ones.
    """

    shape: tuple[int, ...]
    grid: CartGrid
    axes: tuple[int | None, ...]
    blocks: tuple[int, ...]
