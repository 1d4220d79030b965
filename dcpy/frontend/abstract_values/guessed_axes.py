"""Guessed axes: the order in memory of arrays whose order in NumPy is known at run time only."""

from __future__ import annotations


class GuessedAxes(tuple[int, ...]):
    """Axes in the order in which an array lies here, where its order in NumPy is known at run time only."""

    __slots__ = ()
