"""Types from a call: equal sizes share a symbol ("duck shaping"), a size of 1 is the constant 1.

Sizes that differ by a few share a symbol too where `earlier` calls are known: 64 and 68 are ``N`` and ``N + 4``. A
stencil with a halo is then proved to stay inside its arrays. A short axis beside a long one is a number: of 1000 points
with 3 coordinates, 3 is what the program is about. What is known of sizes is kept as long as it held in all calls.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dcpy.base.assumptions import too_long
from dcpy.base.bit_generators import is_generator, words_of
from dcpy.base.errors import ArgumentError
from dcpy.base.foreign_arrays import foreign_array
from dcpy.frontend.specialize.argument_types import (
    ArgType,
    ArrayType,
    ConstantType,
    GeneratorType,
    OpaqueType,
    ScalarType,
)
from dcpy.ir import types
from dcpy.ir.symbolic import Expr, const, sym

_WEAK = {int: types.int64, float: types.float64, complex: types.complex128}
_NAMES = "NMKLPQRS"
_FARTHEST = 4  # sizes that differ by more are not related
_SMALLEST = 8  # small sizes (channels, components) are close by accident
_SHORT = 16  # sizes up to this one are numbers, where some axis of the call is LONGER times as long, or more
_LONGER = 3

Shapes = Mapping[str, tuple[int, ...]]  # of the arrays of one call, by argument
_Sequence = tuple[int, ...]  # one size in all calls, the one that is compiled last


def types_from_call(
    values: Mapping[str, Any],
    known: Mapping[str, ArgType] | None = None,
    *,
    earlier: Sequence[Shapes] | None = None,
    fields: Container[str] = (),
    taken: Iterable[str] = (),
) -> dict[str, ArgType]:
    """The type of each argument; those in `known` (annotated) are taken as they are. Names in `taken` are no sizes.

    Relations between sizes are those that held in all `earlier` calls, too; None: only equal sizes are related. Arrays
    that share memory get a common alias group. Raises `ArgumentError` for what cannot be an argument; among the
    `fields` of objects, that matters only where the program reads it.
    """
    known = known or {}
    annotated = (dim for kind in known.values() if isinstance(kind, ArrayType) for dim in kind.dims)
    taken = {*taken, *values, *(name for dim in annotated for name in dim.symbols)}
    sizes = _Sizes(taken, shapes_of(values, known), earlier)
    aliases = alias_groups(values)
    found: dict[str, ArgType] = {}
    for name, value in values.items():
        if name in fields and name not in known:
            found[name] = _type_of_field(name, value, sizes, aliases.get(name, ""))
            continue
        try:
            if name in known:
                require_no_foreign_array(name, value)
            found[name] = known.get(name) or type_of(name, value, sizes, aliases.get(name, ""))
        except ArgumentError as error:
            error.argument = name
            raise
    return found


def type_of(name: str, value: Any, sizes: _Sizes, alias: str = "") -> ArgType:
    """The type of one argument."""
    if isinstance(value, np.ndarray):
        dims = sizes.dims(name, value.shape)
        not_one = tuple(dict.fromkeys(name for dim in dims for name in dim.symbols))
        if (error := too_long(name, value.shape)) is not None:
            raise error
        kind = ArrayType(_dtype(name, value.dtype), dims, alias=alias, not_one=not_one)
        return laid_out(kind, value)
    if is_generator(value):
        return GeneratorType(alias)
    if isinstance(value, np.generic):
        return ScalarType(_dtype(name, value.dtype))
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise ArgumentError(
            f"argument {name!r} is {value}, which int64 cannot hold",
            notes=("Python integers have 64 bits in a compiled program",),
            help=f"pass float({name})",
        )
    if type(value) in _WEAK:
        return ScalarType(_WEAK[type(value)], weak=True)
    if isinstance(value, list):
        raise _list_error(name, value)
    require_no_foreign_array(name, value)
    return ConstantType(value)


def require_no_foreign_array(name: str, value: Any) -> None:
    """`ArgumentError` for an array of another library, on a device or not."""
    found = foreign_array(value)
    if found is not None:
        message = f"argument {name!r} is {found.message}"
        raise ArgumentError(message, notes=(found.note,), help=found.help(name))


def _list_error(name: str, value: list[Any]) -> ArgumentError:
    message = f"argument {name!r} is a list, but an array is needed"
    lengths = {len(item) if isinstance(item, list | tuple) else -1 for item in value}
    if len(lengths) > 1:
        note = "its items have different lengths, so NumPy makes no array of it"
        return ArgumentError(message, notes=(note,), help="pass one flat array and the lengths, or rows of one length")
    if not value:
        note = "it is empty, so the type of its items is unknown"
        return ArgumentError(message, notes=(note,), help=f"pass np.array({name}, dtype=np.float64)")
    note = "a program accepts lists of numbers, None, texts and tuples of a few kinds, and of rows of one length; "\
           "no other list is converted, because your list would not see what the program writes"
    return ArgumentError(message, notes=(note,), help=_instead_of_list(name, value))


def _instead_of_list(name: str, value: list[Any]) -> str:
    """Return what to pass instead of a list that NumPy makes an array of numbers of, of strings, or of objects."""
    if any(foreign_array(item) is not None for item in value):
        return f"pass a tuple: tuple({name})"
    try:
        dtype = np.asarray(value).dtype
    except ValueError:  # arrays of several shapes
        dtype = np.dtype(object)
    if dtype.kind in "SU" and all(isinstance(item, str | bytes) for item in value):
        return _instead_of(name, dtype)
    return f"pass np.array({name})" if dtype.kind in "biufc" else f"pass a tuple: tuple({name})"


def _type_of_field(name: str, value: Any, sizes: _Sizes, alias: str) -> ArgType:
    """The type of a field of an object. A program may never read it."""
    if isinstance(value, dict | set | frozenset):
        kind = type(value).__name__
        return OpaqueType(f"the field {name!r} is a {kind}, which a program cannot read", _INSTEAD)
    try:
        return type_of(name, value, sizes, alias)
    except ArgumentError as error:
        return OpaqueType(error.message.replace("argument", "the field", 1), error.help)


_INSTEAD = "hold the values in arrays, or in fields of their own"


def laid_out(kind: ArrayType, array: np.ndarray[Any, Any]) -> ArrayType:
    """The type in the layout of an array: packed in an order of its axes, else strided, with that order."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return replace(kind, layout="C" if array.flags.c_contiguous else "F")
    steps = array.strides
    outwards = tuple(sorted(range(array.ndim), key=lambda axis: -steps[axis]))
    if array.transpose(outwards).flags.c_contiguous:
        return replace(kind, layout="axes", axes=outwards)
    axes = [axis for axis, size in enumerate(array.shape) if size != 1 and steps[axis] != 0]
    tied = ((axis, next(other for other in axes if steps[other] == steps[axis])) for axis in axes)
    by_stride = tuple(sorted(axes, key=lambda axis: -abs(steps[axis])))
    return replace(
        kind, layout="strided", axes=by_stride, equal_stride_axes=tuple(pair for pair in tied if pair[0] != pair[1])
    )


def alias_groups(values: Mapping[str, Any]) -> dict[str, str]:
    """The name of the first of each group of arrays, and generators, that share memory."""
    groups: dict[str, str] = {}
    arrays = {name: words_of(value) if is_generator(value) else value for name, value in values.items()}
    names = [name for name, array in arrays.items() if isinstance(array, np.ndarray)]
    for position, name in enumerate(names):
        for other in names[:position]:
            if np.may_share_memory(arrays[name], arrays[other]):
                group = groups.setdefault(other, other)
                for member in [n for n, g in groups.items() if g == groups.get(name)] if name in groups else [name]:
                    groups[member] = group
    return groups


def shapes_of(values: Mapping[str, Any], known: Container[str] = ()) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays among the arguments whose types are not `known`."""
    return {name: value.shape for name, value in values.items() if isinstance(value, np.ndarray) and name not in known}


def _relations(sizes: set[_Sequence]) -> dict[_Sequence, _Sequence]:
    """The size by which each one is expressed: the smallest of a chain of sizes, each close to the next.

    In 60 levels of 64 by 64 points with a halo, 68 and 64 are related whatever 64 and 60 are. After another call in
    which 60 has stayed and 64 has not, those two are not related any more.
    """
    bases: dict[_Sequence, _Sequence] = {}
    open_chains: list[tuple[_Sequence, _Sequence]] = []  # its smallest, and its largest so far
    for size in sorted((size for size in sizes if min(size) >= _SMALLEST), key=lambda size: (size[-1], size)):
        chain = next((k for k, (_, last) in enumerate(open_chains) if 0 < _distance(last, size) <= _FARTHEST), None)
        if chain is None:
            open_chains.append((size, size))
            bases[size] = size
        else:
            base = open_chains[chain][0]
            open_chains[chain] = base, size
            bases[size] = base
    return bases


def _distance(left: _Sequence, right: _Sequence) -> int:
    """Return how much larger one size is than another in all calls; 0 where that varies."""
    found = {b - a for a, b in zip(left, right, strict=True)}
    return found.pop() if len(found) == 1 else 0


def _is_short(size: _Sequence, longest: int) -> bool:
    """Return whether a size has been the same small number in all calls, in the last one beside a long axis."""
    return 1 < size[-1] <= _SHORT and size[-1] * _LONGER <= longest and len({*size}) == 1


class _Sizes:
    """One symbol per distinct size, but for those that others are expressed by. Sizes that differed once stay apart."""

    def __init__(self, taken: set[str], shapes: Shapes, earlier: Sequence[Shapes] | None) -> None:
        self._symbols: dict[_Sequence, Expr] = {}
        self._earlier = earlier or ()
        every = {size for name, shape in shapes.items() for size in self._in_all_calls(name, shape)}
        longest = max((size for shape in shapes.values() for size in shape), default=0)
        self._short = set() if earlier is None else {size for size in every if _is_short(size, longest)}
        self._bases = {} if earlier is None else _relations(every - self._short)
        self._fresh: Iterator[str] = (name for name in _candidates() if name not in taken)

    def dims(self, name: str, shape: tuple[int, ...]) -> tuple[Expr, ...]:
        """The sizes of an argument; 1 is the constant, and what is short."""
        return tuple(self._dim(size) for size in self._in_all_calls(name, shape))

    def _dim(self, size: _Sequence) -> Expr:
        return const(size[-1]) if size[-1] == 1 or size in self._short else self._symbol(size)

    def _in_all_calls(self, name: str, shape: tuple[int, ...]) -> list[_Sequence]:
        return list(zip(*(call[name] for call in self._earlier), shape, strict=True))

    def _symbol(self, size: _Sequence) -> Expr:
        base = self._bases.get(size, size)
        if base not in self._symbols:
            self._symbols[base] = sym(next(self._fresh))
        return self._symbols[base] + (size[-1] - base[-1])


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
            f"argument {name!r} has the dtype {dtype}, which dcpy does not support",
            notes=("dcpy supports bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 and complex128",),
            help=_instead_of(name, dtype),
        ) from None


def _instead_of(name: str, dtype: np.dtype[Any]) -> str:
    """Return what to pass instead of an array of a dtype that no program takes."""
    if dtype.names:
        return f"pass its fields as arrays of their own: {name}[{dtype.names[0]!r}].copy()"
    match dtype.kind:
        case "M" | "m":
            unit = dtype.name.partition("[")[2].rstrip("]") or "time"
            return f"pass {name}.astype(np.int64), which counts units of {unit}"
        case "O":
            return f"give the elements one type: {name}.astype(np.float64), or np.concatenate({name}) if it holds rows"
        case "S" | "U":
            return "pass numbers, and look the strings up later: np.unique(..., return_inverse=True) numbers them"
    return f"pass {name}.astype(np.float64)"
