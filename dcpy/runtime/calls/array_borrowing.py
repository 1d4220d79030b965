"""Foreign arrays: arrays of other libraries as NumPy's over the same memory for a call, and results in kind.

An `np.memmap` is borrowed always: its arithmetic is that of arrays, and what shares its memory is made one again. All
others only with the option ``convert``: operators of theirs may mean something else, and results are NumPy's then.
Nothing is copied: what the program writes goes to the caller's memory, and what cannot be written is read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.base.errors import ArgumentError
from dcpy.base.foreign_arrays import ForeignArray, foreign_array

Array = np.ndarray[Any, Any]
_PLAIN = (np.ndarray, np.generic, bool, int, float, complex, str, bytes, tuple, list, type(None))


@dataclass(frozen=True)
class BorrowedArrays:
    """The values of a call, with arrays of NumPy's for those of others; `finish` after the call."""

    values: tuple[Any, ...]
    maps: tuple[tuple[np.memmap[Any, Any], Array], ...]  # (the caller's, what is passed for it)

    def finish(self, result: Any) -> Any:
        """The result, with the caller's kind of array over memory of a file."""
        if type(result) is tuple:
            return tuple(self.finish(item) for item in result)
        if type(result) is not np.ndarray:
            return result
        for original, passed in self.maps:
            if result is passed:
                return original
            if np.may_share_memory(result, passed):
                found = result.view(np.memmap)
                found.__array_finalize__(original)  # which knows the file
                return found
        return result


def borrowed(values: Sequence[Any], names: Callable[[], Sequence[str]], *, convert: bool) -> BorrowedArrays | None:
    """Return the arguments of a call for `values`; None where it gets them as they are.

    `names` are computed for messages only. Raises `ArgumentError` for an array of others whose memory
    NumPy cannot read as it is.
    """
    if not any(_may_be_borrowed(value, convert) for value in values):
        return None
    found = [_passed_for(value, convert, names, place) for place, value in enumerate(values)]
    maps = tuple((value, passed) for value, passed in zip(values, found, strict=True) if type(value) is np.memmap)
    return BorrowedArrays(tuple(found), maps) if any(a is not b for a, b in zip(values, found, strict=True)) else None


def _may_be_borrowed(value: Any, convert: bool) -> bool:
    return type(value) is np.memmap or (convert and type(value) not in _PLAIN)


def _passed_for(value: Any, convert: bool, names: Callable[[], Sequence[str]], place: int) -> Any:
    if not _may_be_borrowed(value, convert) or isinstance(value, np.ma.MaskedArray):
        return value
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    foreign = foreign_array(value) or _buffer(value)
    if foreign is None or foreign.device or foreign.is_partitioned:
        return value
    try:
        found = _over_its_memory(value)
        reason = "NumPy would make a copy of it: what the program writes to it would be lost"
    except Exception as error:  # a tensor that keeps gradients, elements that NumPy has not
        found, reason = None, f"its library says: {error}"
    if found is None:
        if foreign.columns:
            return value  # a table is refused with words of its own
        name = names()[place]
        message = f"argument {name!r} is {foreign.kind}, whose memory NumPy cannot read as it is"
        wrong = ArgumentError(message, notes=(reason,), help=f"pass np.array({name}), and copy back what is written")
        wrong.argument = name
        raise wrong
    return found


def _buffer(value: Any) -> ForeignArray | None:
    """An object that shows its memory by the buffer protocol alone: an array of ctypes', a mapped file."""
    try:
        shown = memoryview(value)
    except TypeError:
        return None
    return ForeignArray(f"a {type(value).__qualname__}", "", "np.asarray({0})") if shown.ndim else None


def _over_its_memory(value: Any) -> Array | None:
    """NumPy's array over the memory of another's; None where it is a copy."""
    if not hasattr(type(value), "__array__"):
        only_dlpack = hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__")
        return np.from_dlpack(value) if only_dlpack else np.asarray(value, copy=False)
    first, again = _asked(value), _asked(value)
    is_same = first.size == 0 or np.may_share_memory(first, again)  # two copies are not at the same place
    return first.view(np.ndarray) if is_same else None


def _asked(value: Any) -> Array:
    try:
        found = value.__array__(copy=False)
    except TypeError:  # older than NumPy 2
        found = value.__array__()
    if not isinstance(found, np.ndarray):
        raise TypeError(f"__array__ gives a {type(found).__name__}")
    return found
