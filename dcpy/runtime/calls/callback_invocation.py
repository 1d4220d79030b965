"""Callbacks: Python functions that compiled code calls, with arrays made from addresses of operands.

Arrays over memory that Python owns (arguments of the program and its results) are views that keep their owner alive.
What compiled code owns would be gone when it returns: the function works on a block that Python owns, which is copied
back, one for all operands that overlap. So an array that a callback keeps is never left without memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from dcpy.base import callback_sites
from dcpy.base.callback_sites import CallbackOperand, CallbackSite, perform, require_bound
from dcpy.runtime.calls import scalar_callbacks
from dcpy.runtime.calls.scalar_callbacks import scalar_call

NDArray = np.ndarray[Any, Any]
ALIGNMENT = 64
_libc = ctypes.CDLL(None)
_OWN_FRAMES = (__name__, callback_sites.__name__, scalar_callbacks.__name__)


class Callbacks:
    """Python functions that the native dispatcher calls when compiled code calls back."""

    def __init__(self, sites: tuple[CallbackSite, ...], table: Mapping[str, Any]) -> None:
        require_bound(sites, table)
        self.sites, self.table = sites, dict(table)
        self.scalar_calls = [scalar_call(site, table) for site in sites]

    def __call__(self, number: int, address: int, owners: tuple[Any, ...]) -> BaseException | None:
        """Call the function of a site. An exception is returned, with the function's own part of the traceback."""
        site, short = self.sites[number], self.scalar_calls[number]
        try:
            if short is not None:
                short(address)
                return None
            operands = _operands(site, address)
            arrays = _Arrays(operands, [owner for owner in owners if isinstance(owner, np.ndarray)])
            perform(site, self.table, arrays.by_name)
            arrays.write_back()
        except BaseException as error:
            return error.with_traceback(_traceback_of_user(error.__traceback__))
        return None


@dataclass(frozen=True, slots=True)
class _PlacedOperand:
    """An operand at a place in memory; strides in bytes."""

    declaration: CallbackOperand
    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.declaration.dtype)

    @property
    def bounds(self) -> tuple[int, int]:
        """The first byte, and the one behind the last; the same where there are no elements."""
        if 0 in self.shape:
            return self.pointer, self.pointer
        reach = [(size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True)]
        low, high = (sum(pick(step, 0) for step in reach) for pick in (min, max))
        return self.pointer + low, self.pointer + high + self.dtype.itemsize


def _operands(site: CallbackSite, address: int) -> list[_PlacedOperand]:
    """The operands from the numbers that compiled code wrote: a pointer, sizes, and strides in elements for each."""
    count = sum(1 + 2 * operand.rank for operand in site.operands)
    numbers = iter((ctypes.c_int64 * count).from_address(address))
    found = []
    for operand in site.operands:
        pointer = next(numbers) % 2**64
        shape = tuple(max(next(numbers), 0) for _ in range(operand.rank))
        itemsize = np.dtype(operand.dtype).itemsize
        strides = tuple(itemsize * next(numbers) for _ in range(operand.rank))
        found.append(_PlacedOperand(operand, pointer, shape, strides))
    return found


@dataclass(slots=True)
class _MemoryCopy:
    """A copy of memory of compiled code, from `low` to behind `high`, in memory of Python's."""

    low: int
    high: int
    data: NDArray

    @classmethod
    def of(cls, low: int, high: int) -> _MemoryCopy:
        room = np.empty(high - low + ALIGNMENT, np.uint8)
        start = (low - room.ctypes.data) % ALIGNMENT  # aligned as the original is
        data = room[start : start + high - low]
        ctypes.memmove(data.ctypes.data, low, high - low)
        return cls(low, high, data)

    def write_back(self) -> None:
        """Write back only what has changed: the memory may be a constant's."""
        size = ctypes.c_size_t(self.high - self.low)
        if _libc.memcmp(ctypes.c_void_p(self.data.ctypes.data), ctypes.c_void_p(self.low), size) != 0:
            ctypes.memmove(self.low, self.data.ctypes.data, self.high - self.low)


class _Arrays:
    """The arrays that a function gets, and those that take its results."""

    def __init__(self, operands: list[_PlacedOperand], owners: list[NDArray]) -> None:
        self.by_name: dict[str, NDArray] = {}
        self.blocks: list[_MemoryCopy] = []
        foreign: list[_PlacedOperand] = []
        for operand in operands:
            owner = next((owner for owner in owners if _lies_in(operand, owner)), None)
            if owner is not None or operand.declaration.result or operand.declaration.scalar:
                self._take(operand, _memory(operand.pointer, operand.shape, operand.strides, operand.dtype, owner))
            else:
                foreign.append(operand)
        self._copy(foreign)

    def write_back(self) -> None:
        """Bring what the function wrote into blocks back to compiled code."""
        for block in self.blocks:
            block.write_back()

    def _copy(self, operands: list[_PlacedOperand]) -> None:
        for low, high in _merged([operand.bounds for operand in operands]):
            self.blocks.append(_MemoryCopy.of(low, high))
        for operand in operands:
            low, high = operand.bounds
            if low == high:
                self._take(operand, np.empty(operand.shape, operand.dtype))
                continue
            block = next(block for block in self.blocks if block.low <= low and high <= block.high)
            flat = block.data[operand.pointer - block.low :]
            pointer = flat.ctypes.data
            self._take(operand, _memory(pointer, operand.shape, operand.strides, operand.dtype, block.data))

    def _take(self, operand: _PlacedOperand, array: NDArray) -> None:
        if not operand.declaration.writable:
            array.flags.writeable = False
        self.by_name[operand.declaration.name] = array


def _memory(
    pointer: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any], owner: Any = None
) -> NDArray:
    """An array over memory, which keeps `owner` alive."""
    return np.asarray(_MemoryOwner(pointer, shape, strides, dtype, owner))


class _MemoryOwner:
    """Base object of an array over memory, in NumPy's protocol."""

    def __init__(self, pointer: int, shape: Any, strides: Any, dtype: np.dtype[Any], owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "data": (pointer, False), "shape": shape, "strides": strides, "typestr": dtype.str
        }  # fmt: skip


def _lies_in(operand: _PlacedOperand, owner: NDArray) -> bool:
    low, high = operand.bounds
    first, behind = np.lib.array_utils.byte_bounds(owner)
    return low < high and first <= low and high <= behind


def _merged(bounds: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of bytes, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(bounds):
        if low == high:
            continue
        if found and low < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found


def _traceback_of_user(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame that is not dcpy's."""
    while traceback is not None and traceback.tb_frame.f_globals.get("__name__") in _OWN_FRAMES:
        traceback = traceback.tb_next
    return traceback
