"""Fallbacks: a program that cannot be distributed as requested runs in a slower way, with a warning.

A pass refuses what it cannot prove. That is no reason to refuse the program: neighbours' elements can come before each
map, and each rank can have all of every array.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from enum import Enum
from typing import TypeVar

from dcpy.base.errors import TransformationRefused, warn_of_cost
from dcpy.ir.editing.container_descriptions import readable
from dcpy.ir.editing.copying import become, copy_sdfg
from dcpy.ir.sdfg import Sdfg
from dcpy.programs.ranks import sdfg_distribution

Made = TypeVar("Made")


class Fallback(Enum):
    """The ways to distribute a program, the fastest first; each says what is done instead of the one before."""

    NOT = "it is distributed as its arguments are"
    SINGLE_STEPS = "elements of neighbours are sent before each map that reads them"
    GATHERED = "each rank has all of its arrays, and computes all of it"


def distribute_with_fallback(sdfg: Sdfg, distribute: Callable[[Fallback], Made], overlap: bool) -> Made:
    """Make a program that of one rank by the first way that is not refused; return what `distribute` returns then.

    `distribute` changes the program in place. With `overlap`, halos arrive while it computes. Raises what the last way
    raises. A `PerformanceWarning` says that each rank computes all of it, and why.
    """
    before = copy_sdfg(sdfg)
    for way, slower in itertools.pairwise((*Fallback, None)):
        assert way is not None  # only the last one is
        try:
            made = distribute(way)
            sdfg_distribution.localize(sdfg, overlap and way is Fallback.NOT)
            return made
        except TransformationRefused as refused:
            if slower is None:
                raise
            become(sdfg, copy_sdfg(before))
            if slower is Fallback.GATHERED:
                reason = readable(refused.message, sdfg)
                warn_of_cost(f"{sdfg.name}(): {slower.value}: {reason}", refused.span or sdfg.span)
    raise AssertionError("the last way returns or raises")
