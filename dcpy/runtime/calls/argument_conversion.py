"""Argument conversion: what dcpy converts for a call, so that the program sees what NumPy would read and write.

Byte-swapped and misaligned arrays are copied in, and copied back when the program has changed them; for a program of
one signature also arrays of another memory order. Everything else is refused (arguments.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_not
from typing import Any

import numpy as np

from dcpy.base.bit_generators import is_generator, words_of
from dcpy.base.errors import ArgumentError
from dcpy.codegen.artifact import Arg, ArrayArg, Signature
from dcpy.runtime.calls.argument_errors import is_packed

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Prepared:
    """Arguments that compiled code can take, and the copies among them; `finish` after the call."""

    values: tuple[Any, ...]
    copies: tuple[tuple[Array, Array], ...]  # (the caller's array, its copy)
    lists: tuple[tuple[list[Any], Any], ...] = ()  # (the caller's list, what is passed for it)

    def finish(self, result: Any) -> Any:
        """Write changed copies back to the caller's arrays; `result` with the caller's arrays for their copies."""
        for original, copy in self.copies:
            if original.flags.writeable and not _same_bits(original, copy):
                original[...] = copy
        return self._restore(result)

    def _restore(self, result: Any) -> Any:
        if type(result) is tuple:
            return tuple(self._restore(item) for item in result)
        if not isinstance(result, np.ndarray):
            return next((original for original, passed in self.lists if result is passed), result)
        for original, copy in self.copies:
            if result is copy:
                return original
            if np.may_share_memory(result, copy):
                raise ArgumentError(
                    "the program returns a view of an argument that had to be copied (byte-swapped or misaligned)",
                    help="pass an array in native byte order: a.astype(a.dtype.newbyteorder('='))",
                )
        return result


def prepare(
    values: Sequence[Any], signature: Signature | None = None, *, lists: Sequence[Any] = ()
) -> Prepared | None:  # fmt: skip
    """Copies for the arrays that compiled code cannot take as they are; None where there are none, or it is not safe.

    Byte-swapped and misaligned arrays are copied; with a `signature` also those that are not packed as it asks. Not
    safe: an array to copy that overlaps another argument. `lists`: the values with what is passed for lists, which are
    never written.
    """
    orders = [_order_of(arg) for arg in signature.args] if signature else [""] * len(values)
    prepared = list(lists or values)
    copies = []
    for i, value in enumerate(values):
        if signature and is_generator(value) and _is_only_read(signature.args[i]):
            prepared[i] = words_of(value)  # nothing draws from it
        if type(value) is not np.ndarray or value.dtype.hasobject:
            continue
        order = orders[i]
        if value.dtype.isnative and value.flags.aligned and (not order or is_packed(value, order)):
            continue
        others = (o for j, o in enumerate(values) if j != i and isinstance(o, np.ndarray))
        if any(np.may_share_memory(value, other) for other in others):
            return None
        copy = value.astype(value.dtype.newbyteorder("="), order="F" if order == "F" else "C")
        copy.flags.writeable = value.flags.writeable
        prepared[i] = copy
        copies.append((value, copy))
    passed = tuple((value, made) for value, made in zip(values, prepared, strict=True)
                   if type(value) is list and made is not value)  # fmt: skip
    return Prepared(tuple(prepared), tuple(copies), passed) if any(map(is_not, prepared, values)) else None


def _is_only_read(arg: Arg) -> bool:
    return isinstance(arg, ArrayArg) and not arg.written


def _order_of(arg: Arg) -> str:
    return arg.order if isinstance(arg, ArrayArg) and not arg.strides else ""


def _same_bits(original: Array, copy: Array) -> bool:
    """Equal to the last bit, NaN included."""
    return original.astype(copy.dtype, order="C").tobytes() == copy.tobytes()
