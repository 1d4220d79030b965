"""Copies of the arguments of a call, laid out in memory as they are: strides stay, and what overlaps overlaps.

A program that is called many times on the same arguments may change them; here each call finds them as they were.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.frontend.specialize.record_arguments import take_apart

ALIGNMENT = 64  # bytes: of a cache line, as NumPy aligns large arrays at least to a part of it


@dataclass(frozen=True)
class _SharedMemory:
    """Memory that one or several arrays share: as it was, and a copy that programs may write."""

    first: int  # the address of its first byte
    original: np.ndarray[Any, Any]
    working: np.ndarray[Any, Any]


class ArgumentCopies:
    """The values of a call, copied; `renewed` gives them as they were before any call."""

    def __init__(self, values: Sequence[Any]) -> None:
        """Copy all arrays among the values, inside of records, too. Objects are copied as `copy.deepcopy` does."""
        self._values = tuple(values)
        leaves = take_apart({str(place): value for place, value in enumerate(values)}).leaves.values()
        arrays = {id(leaf): leaf for leaf in leaves if isinstance(leaf, np.ndarray)}
        self._spans = _spans(list(arrays.values()))
        self._copies = {key: self._copied(array) for key, array in arrays.items()}
        self._objects = copy.deepcopy(self._values, dict(self._copies))  # as they are now, whatever the caller does

    def renewed(self) -> tuple[Any, ...]:
        """The values as they were: the same arrays each time, and new objects."""
        for span in self._spans:
            np.copyto(span.working, span.original)
        return copy.deepcopy(self._objects, {id(array): array for array in self._copies.values()})

    def written(self) -> tuple[bytes, ...]:
        """The memory of all arrays as the latest call has left it."""
        return tuple(span.working.tobytes() for span in self._spans)

    def _copied(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        address = array.__array_interface__["data"][0]
        if array.size == 0:
            return array.copy()
        span = next(s for s in self._spans if s.first <= address < s.first + s.working.nbytes)
        found = np.ndarray(array.shape, array.dtype, span.working.data, address - span.first, array.strides)
        found.flags.writeable = array.flags.writeable
        return found


def _spans(arrays: Sequence[np.ndarray[Any, Any]]) -> list[_SharedMemory]:
    """The memory of arrays, that of overlapping ones together."""
    bounds = sorted(np.lib.array_utils.byte_bounds(array) for array in arrays if array.size)
    joined: list[tuple[int, int]] = []
    for first, behind in bounds:
        if joined and first < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], behind))
        else:
            joined.append((first, behind))
    return [_span_of(first, behind, arrays) for first, behind in joined]


def _span_of(first: int, behind: int, arrays: Sequence[np.ndarray[Any, Any]]) -> _SharedMemory:
    """Bytes that no array covers (between the rows of a slice) stay zero: nothing may read them here."""
    original = np.zeros(behind - first, np.uint8)
    working = _aligned_as(first, behind - first)
    for array in arrays:
        address = array.__array_interface__["data"][0]
        if array.size and first <= address < behind:
            inside = np.ndarray(array.shape, array.dtype, original.data, address - first, array.strides)
            np.copyto(inside, array)
    return _SharedMemory(first, original, working)


def _aligned_as(address: int, size: int) -> np.ndarray[Any, Any]:
    """Memory at the same distance from the beginning of a cache line: alignment decides how quick a program is."""
    room = np.zeros(size + ALIGNMENT, np.uint8)
    start = (address - room.__array_interface__["data"][0]) % ALIGNMENT
    return room[start : start + size]
