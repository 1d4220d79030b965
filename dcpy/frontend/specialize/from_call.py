"""Types from the values of a call: equal sizes share a symbol ("duck shaping"), a size of 1 is the constant 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dcpy.base.errors import ArgumentError
from dcpy.frontend.specialize.types import ArgType, ArrayType, ConstantType, ScalarType
from dcpy.ir import types
from dcpy.ir.symbolic import ONE, Expr, sym

_WEAK = {int: types.int64, float: types.float64, complex: types.complex128}
_NAMES = "NMKLPQRS"


def types_from_call(values: Mapping[str, Any], known: Mapping[str, ArgType] | None = None) -> dict[str, ArgType]:
    """The type of each argument; those in `known` (annotated) are taken as they are.

    Arrays that share memory get a common alias group. Raises `ArgumentError` for what cannot be an argument.
    """
    known = known or {}
    taken = {*values, *(name for t in known.values() if isinstance(t, ArrayType) for d in t.dims for name in d.symbols)}
    sizes = _Sizes(taken)
    aliases = alias_groups({name: value for name, value in values.items() if isinstance(value, np.ndarray)})
    found: dict[str, ArgType] = {}
    for name, value in values.items():
        if name in known:
            found[name] = known[name]
        else:
            found[name] = type_of(name, value, sizes, aliases.get(name, ""))
    return found


def type_of(name: str, value: Any, sizes: _Sizes, alias: str = "") -> ArgType:
    """The type of one argument."""
    if isinstance(value, np.ndarray):
        dims = tuple(sizes.symbol(size) for size in value.shape)
        not_one = tuple(dict.fromkeys(dim.name for dim in dims if dim.name))
        return ArrayType(_dtype(name, value.dtype), dims, layout_of(value), alias, not_one)
    if isinstance(value, np.generic):
        return ScalarType(_dtype(name, value.dtype))
    if type(value) in _WEAK:
        return ScalarType(_WEAK[type(value)], weak=True)
    if isinstance(value, list):
        raise ArgumentError(f"argument {name!r} is a list, but an array is needed", help=f"pass np.array({name})")
    return ConstantType(value)


def layout_of(array: np.ndarray[Any, Any]) -> str:
    """``C`` or ``F`` where the elements are packed so, else ``strided``."""
    if array.flags.c_contiguous:
        return "C"
    return "F" if array.flags.f_contiguous else "strided"


def alias_groups(arrays: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, str]:
    """For arrays that share memory, the name of the first of the group."""
    groups: dict[str, str] = {}
    names = list(arrays)
    for position, name in enumerate(names):
        for other in names[:position]:
            if np.may_share_memory(arrays[name], arrays[other]):
                group = groups.setdefault(other, other)
                for member in [n for n, g in groups.items() if g == groups.get(name)] if name in groups else [name]:
                    groups[member] = group
    return groups


class _Sizes:
    """One symbol per distinct size."""

    def __init__(self, taken: set[str]) -> None:
        self._symbols: dict[int, Expr] = {}
        self._fresh: Iterator[str] = (name for name in _candidates() if name not in taken)

    def symbol(self, size: int) -> Expr:
        """The symbol of a size; 1 is the constant."""
        if size == 1:
            return ONE
        if size not in self._symbols:
            self._symbols[size] = sym(next(self._fresh))
        return self._symbols[size]


def _candidates() -> Iterator[str]:
    yield from _NAMES
    number = 1
    while True:
        yield f"N{number}"
        number += 1


def _dtype(name: str, dtype: np.dtype[Any]) -> types.DType:
    try:
        return types.from_numpy(dtype)
    except KeyError:
        raise ArgumentError(
            f"argument {name!r} has the dtype {dtype}, which dcpy does not take",
            help="dcpy takes bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 and complex128",
        ) from None
