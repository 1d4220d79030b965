"""Foreign arrays: arrays of other libraries as NumPy's over the same memory for a call, and results in kind.

An `np.memmap` is borrowed always: its arithmetic is that of arrays, and what shares its memory is made one again. So
are arrays of libraries that take results back by DLPack (`array_kinds`). All others only with the option ``convert``:
operators of theirs may mean something else, and results are NumPy's then. Nothing is copied: what the program writes
goes to the caller's memory, and what cannot be written is read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.base.errors import ArgumentError, ReadOnlyArgument
from dcpy.base.foreign_arrays import ForeignArray, foreign_array
from dcpy.runtime.calls.array_kinds import ArrayKind, exchanges_memory, kind_of

Array = np.ndarray[Any, Any]
_PLAIN = (np.ndarray, np.generic, bool, int, float, complex, str, bytes, tuple, list, type(None))


@dataclass(frozen=True)
class BorrowedArrays:
    """The values of a call, with arrays of NumPy's for those of others; `finish` after the call.

    `pairs` are the caller's arrays, and what is passed for them; `kind` is that of results, if they are not NumPy's.
    """

    values: tuple[Any, ...]
    pairs: tuple[tuple[Any, Array], ...]
    names: Callable[[], Sequence[str]]
    kind: ArrayKind | None = None

    def call(self, function: Callable[[tuple[Any, ...]], Any]) -> Any:
        """Call a function of the values; return its result in kind."""
        try:
            return self.finish(function(self.values))
        except ReadOnlyArgument as error:
            names = [name for name, value in zip(self.names(), self.values, strict=False)
                     if any(value is passed for _, passed in self.pairs)]  # fmt: skip
            if error.argument in names:  # a copy by its own library may be read-only, too
                error.help = f"pass np.array({error.argument}), and copy back what is written"
            raise

    def finish(self, result: Any) -> Any:
        """The result, with the caller's kind of array over memory of a file, or of the kind of the arguments."""
        if type(result) is tuple:
            return tuple(self.finish(item) for item in result)
        if type(result) is not np.ndarray:
            return result
        for original, passed in self.pairs:
            is_map = type(original) is np.memmap
            if result is passed and (is_map or self.kind is not None):
                return original
            if is_map and np.may_share_memory(result, passed):
                found = result.view(np.memmap)
                found.__array_finalize__(original)  # which knows the file
                return found
        return result if self.kind is None else self.kind.made_of(result)


def borrowed(values: Sequence[Any], names: Callable[[], Sequence[str]], *, convert: bool) -> BorrowedArrays | None:
    """Return the arguments of a call for `values`; None where it gets them as they are.

    `names` are computed for messages only. Raises `ArgumentError` for an array of others whose memory
    NumPy cannot read as it is, and for arrays of two libraries.
    """
    if not any(_may_be_borrowed(value, convert) for value in values):
        return None
    kinds = [None if convert else kind_of(value) for value in values]
    found = tuple(
        _passed_for(value, convert or kind is not None, names, place)
        for place, (value, kind) in enumerate(zip(values, kinds, strict=True))
    )
    pairs = tuple((value, passed) for value, passed in zip(values, found, strict=True) if value is not passed)
    return BorrowedArrays(found, pairs, names, _kind_of_results(kinds, names)) if pairs else None


def _kind_of_results(kinds: Sequence[ArrayKind | None], names: Callable[[], Sequence[str]]) -> ArrayKind | None:
    first = next((place for place, kind in enumerate(kinds) if kind is not None), None)
    if first is None:
        return None
    for place, kind in enumerate(kinds):
        if kind is not None and kind != kinds[first]:
            one, other = names()[first], names()[place]
            wrong = ArgumentError(
                f"arguments {one!r} and {other!r} are arrays of two libraries",
                notes=(f"it is not known whether results are {_name(kinds[first])} or {_name(kind)}",),
                help=f"pass np.from_dlpack({other}), or let results be NumPy's: @dcpy.program(convert=True)",
            )
            wrong.argument = other
            raise wrong
    return kinds[first]


def _name(kind: ArrayKind | None) -> str:
    return "" if kind is None else f"{kind.cls.__module__}.{kind.cls.__qualname__}"


def _may_be_borrowed(value: Any, convert: bool) -> bool:
    kind = type(value)
    return kind is np.memmap or (kind not in _PLAIN and (convert or exchanges_memory(kind)))


def _passed_for(value: Any, reads: bool, names: Callable[[], Sequence[str]], place: int) -> Any:
    is_map = type(value) is np.memmap
    if not (is_map or (reads and type(value) not in _PLAIN)) or isinstance(value, np.ma.MaskedArray):
        return value
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    foreign = foreign_array(value) or _buffer(value)
    if foreign is None or foreign.device or foreign.is_partitioned or foreign.is_lazy:
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
