"""Dynamic arrays: arrays whose sizes or places depend on the path taken; what is read of them is an array.

Where they come from and what they are read as: `lower.arrays.dynamic_sizes`, `lower.arrays.dynamic_views`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcpy.frontend.abstract_values.values import ArrayValue


@dataclass(frozen=True, slots=True)
class Resized:
    """An array in the front of `slot`, into which versions of it are copied.

    `sizes` names the scalar container that holds each size; None for a dimension that is always full. `grows`: the slot
    is a buffer of one dimension, which gets more room when a version needs it; all sizes are in `sizes` then.
    """

    slot: ArrayValue
    sizes: tuple[str | None, ...]
    grows: bool = False


@dataclass(frozen=True, slots=True)
class AxisWindow:
    """Window along one dimension: the scalar containers that hold its start, size and step.

    None stands for what all versions agree on.
    """

    start: str | None = None
    size: str | None = None
    step: str | None = None


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """A window of one container that moves: ``x = x[1:]`` in a loop shows the same memory in each iteration.

    `like` is one version; `places` has one entry per dimension of the container.
    """

    like: ArrayValue
    places: tuple[AxisWindow, ...]


Varying = Resized | SlidingWindow
VARYING = (Resized, SlidingWindow)
