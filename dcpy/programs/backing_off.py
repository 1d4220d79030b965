"""Backing off: a program that cannot be distributed as it was to be runs by a slower way, and says so.

A pass refuses what it cannot prove. That is no reason to refuse the program: neighbours' elements can come before each
map, and each rank can have all of every array.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from dcpy.base.errors import TransformationRefused, warn_of_cost
from dcpy.ir.editing.copying import become, copy_sdfg
from dcpy.ir.sdfg import Sdfg


class Backoff(Enum):
    """The ways to distribute a program, the fastest first; each says what is done instead of the one before."""

    NOT = "it is distributed as its arguments are"
    SINGLE_STEPS = "elements of neighbours are sent before each map that reads them"
    GATHERED = "each rank has all of its arrays, and computes all of it"


def distribute_or_back_off(sdfg: Sdfg, distribute: Callable[[Backoff], None]) -> None:
    """Distributes a program, which `distribute` changes in place, by the first way that is not refused.

    Raises what the last way raises. A `PerformanceWarning` says why a slower way is taken, where in the program.
    """
    before = copy_sdfg(sdfg)
    ways = list(Backoff)
    for way, slower in zip(ways, (*ways[1:], None), strict=True):
        try:
            distribute(way)
            return
        except TransformationRefused as refused:
            if slower is None:
                raise
            become(sdfg, copy_sdfg(before))
            if slower is Backoff.GATHERED:
                warn_of_cost(f"{sdfg.name}(): {slower.value}: {refused.message}", refused.span or sdfg.span)
