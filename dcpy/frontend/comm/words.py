"""The constants of ``dcpy.comm``: operations that combine values of ranks, nobody's rank, and the dtype of requests."""

from __future__ import annotations

from enum import Enum

import numpy as np

PROC_NULL = -1  #: the rank of nobody: what is sent there is gone, and nothing comes from there
ANY_SOURCE = -(2**20)  #: whoever sends first: outside of programs only, as results would depend on who that is

#: The dtype of requests: ``np.empty((8,), dtype=comm.Request)``, each of which is that of nothing at first.
Request = np.dtype([("request", object)])


class Operation(Enum):
    """How values of ranks are combined; the value is its name in the IR."""

    SUM = "add"
    PROD = "mul"
    MIN = "min"
    MAX = "max"
    LAND = "and"
    LOR = "or"
    BAND = "bitand"
    BOR = "bitor"


class InPlace(Enum):
    """What stands for the operand of a collective whose result takes its place."""

    IN_PLACE = "in place"
