"""Signatures as the plain tuples that the native dispatcher parses, and what happens when a run-time check fails.

A specialization is (arguments, closure, number of symbols, pairs of arrays that must not overlap, results, structure,
guards, failure, entry address, results address, keepalive, priority, callbacks or None, conditions, conditions that
must not all hold, assumptions). A condition is (constant, (symbol slot, factor), ...): the sum is at least 0. An
assumption is (symbol slot, least, most, what divides the value). The last arguments come from the closure: its sources
are ("dict", namespace, name), ("cell", cell), ("attribute", object, name), or parts of earlier arguments: ("field",
position, name) and ("item", position, index). An extent (a size, or a stride in elements) is (symbol slot or -1, occurs
first, must not be 1, constant: the size, or what it has over the symbol). The C++ side is signature.cpp.

Results that are not in C order have their axes, from the slowest to the fastest, as the last item.
Arrays and results in the memory of a device have one item more. Where there are any, the last item of the
specialization is the address of ``NAME_on_stream``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Protocol, assert_never

import numpy as np

from dcpy.base.assumptions import LARGEST, LARGEST_SIZE, Assumption
from dcpy.base.errors import DeviceError, DeviceMemoryError
from dcpy.base.program_exceptions import advice_on, exception_type
from dcpy.base.tracebacks import raised_by_program
from dcpy.codegen.artifact import (
    Arg,
    ArgumentResult,
    ArrayArg,
    Built,
    Check,
    Chosen,
    ConstantArg,
    ConstantResult,
    Dim,
    FreshArray,
    GeneratorArg,
    IntegerArg,
    Linear,
    OwnedArray,
    RecordArg,
    Result,
    ScalarArg,
    ScalarResult,
    Signature,
    ViewResult,
)
from dcpy.runtime.calls.callback_invocation import Callbacks

OF_DEVICES: dict[str, type[Exception]] = {"DeviceError": DeviceError, "DeviceMemoryError": DeviceMemoryError}
NO_TYPE = 25  # NPY_NOTYPE
OF_SIZES = Assumption(most=LARGEST_SIZE)
LAYOUT = 1 << 16  # priority of one assumption on layouts, above all numbers of precedence

Extent = tuple[int, bool, bool, int]
Source = tuple[object, ...]


def encode(
    signature: Signature,
    entry: int,
    results: int,
    *,
    closure: Sequence[Source] = (),
    guards: Sequence[tuple[Source, object]] = (),
    keepalive: object = None,
    callbacks: Mapping[str, object] | None = None,
    device: Messenger | None = None,
    on_stream: int = 0,
    notes: Callable[[str], Sequence[str]] | None = None,
    precedence: int = 0,
) -> tuple[object, ...]:
    """The argument of `Dispatcher.add`. `guards` are (source, expected value): ((\"dict\", globals, \"n\"), 3).

    `closure`: where the last arguments of the signature come from at each call, those that no caller passes.
    `device`: the device of its kernels, which has the reason of a failure.
    `on_stream`: the address of ``NAME_on_stream`` where arguments are in the memory of the device.
    `notes`: what there is to add to the message of a failed check.
    `callbacks`: the Python functions that the program calls, by name. `DcpyError` where one is missing.
    `precedence`: of those whose layouts fit as many calls, the one with the highest is tried first.
    """
    symbols = _Symbols(signature.symbols)
    arguments = tuple(_encode_argument(arg, symbols) for arg in signature.args)
    symbols.check_all_bound(signature.name)
    return (
        arguments,
        tuple(closure),
        len(signature.symbols),
        _pairs_apart(signature.args),
        tuple(map(_encode_result, signature.results)),
        _encode_structure(signature),
        tuple(guards),
        failure_of(signature.checks, device, notes),
        entry,
        results,
        keepalive,
        _priority(signature.args) + precedence,
        Callbacks(signature.callbacks, callbacks or {}) if signature.callbacks else None,
        tuple(_encode_linear(condition, symbols) for condition in signature.assumes),
        tuple(_encode_linear(condition, symbols) for condition in signature.better_if),
        tuple(_encode_assumed(symbols.slots[name], assumed) for name, assumed in assumed_at_calls(signature)),
        *((on_stream,) if signature.on_device else ()),
    )


class _Symbols:
    """Slots of symbols, and which of them an earlier argument has bound."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.slots = {name: slot for slot, name in enumerate(names)}
        self.bound: dict[str, None] = {}

    def use(self, name: str) -> tuple[int, bool]:
        """The slot, and whether this is the first use, which binds."""
        first = name not in self.bound
        self.bound[name] = None
        return self.slots[name], first

    def check_all_bound(self, program: str) -> None:
        unbound = [name for name in self.slots if name not in self.bound]
        if unbound:
            raise ValueError(f"no argument of {program} binds {', '.join(unbound)}")


def _encode_argument(arg: Arg, symbols: _Symbols) -> tuple[object, ...]:
    match arg:
        case ArrayArg():
            sizes = tuple(_encode_size(dim, symbols) for dim in arg.dims)
            strides = tuple((*symbols.use(name), False, 0) if name else (-1, False, False, 0) for name in arg.strides)
            where = (arg.on_device, arg.axes) if arg.axes else (True,) if arg.on_device else ()
            return ("array", type_number(arg.dtype), sizes, "" if strides else arg.order, strides, arg.written, *where)
        case ScalarArg():
            return ("scalar", type_number(arg.dtype), arg.weak, arg.converts, -1, False)
        case IntegerArg():
            return ("scalar", type_number(arg.dtype), arg.weak, False, *symbols.use(arg.name))
        case GeneratorArg():
            return ("generator", np.random.Generator)
        case ConstantArg():
            return ("constant", arg.value)
        case RecordArg():
            return ("record", arg.cls, arg.length, arg.same_as, arg.distinct_from, arg.distinct_objects)
        case _:
            assert_never(arg)


def _encode_size(dim: Dim, symbols: _Symbols) -> Extent:
    return (*symbols.use(dim.symbol), dim.not_one, dim.offset) if dim.symbol else (-1, False, False, dim.constant)


def _encode_linear(condition: Linear, symbols: _Symbols) -> tuple[object, ...]:
    return (condition.constant, *((symbols.slots[name], factor) for name, factor in condition.terms))


def assumed_at_calls(signature: Signature) -> list[tuple[str, Assumption]]:
    """Return the assumptions about symbols, and about all sizes of arguments: no axis is longer than memory."""
    stricter = {name for name, assumed in signature.assumed if assumed.most is not None}
    sizes = [name for name in signature.sizes if name not in stricter]
    return [*signature.assumed, *((name, OF_SIZES) for name in sizes)]


def _encode_assumed(slot: int, assumed: Assumption) -> tuple[int, int, int, int]:
    least = -LARGEST - 1 if assumed.least is None else assumed.least
    return (slot, least, LARGEST if assumed.most is None else assumed.most, assumed.multiple_of)


def _encode_result(result: Result) -> tuple[object, ...]:
    match result:
        case FreshArray(dtype, rank, on_device, axes):
            placed = (on_device, axes) if axes else (True,) if on_device else ()
            return ("fresh", 0, type_number(dtype), rank, False, None, *placed)
        case OwnedArray(dtype, rank, axes):
            return ("owned", 0, type_number(dtype), rank, False, None, *((False, axes) if axes else ()))
        case ScalarResult(dtype, python):
            return ("scalar", 0, type_number(dtype), 0, python, None)
        case ArgumentResult(index):
            return ("argument", index, NO_TYPE, 0, False, None)
        case ViewResult(index, dtype, rank, of_result, read_only):
            return ("view" if not of_result else "shown", index, type_number(dtype), rank, read_only, None)
        case ConstantResult(value):
            return ("constant", 0, NO_TYPE, 0, False, value)
        case _:
            assert_never(result)


def _encode_structure(signature: Signature) -> object:
    """Tuples of indices; a list of a function and its parts (what makes an object), or of None, a number and
    what it chooses from; a dict where objects get fields.

    The same list in several places is one object.
    """
    made: dict[tuple[str, int], list[object]] = {}
    returned = _encode_part(signature.structure, made)
    if not signature.fields:
        return returned
    effects = tuple((f.index, f.field, _encode_part(f.part, made), f.when) for f in signature.fields)
    return {"returned": returned, "effects": effects}


def _encode_part(part: object, made: dict[tuple[str, int], list[object]], path: int = -1) -> object:
    """A part of what is returned on a `path`: by another one, the same list may hold something else."""
    match part:
        case tuple():
            return tuple(_encode_part(inner, made, path) for inner in part)
        case Built(make, parts, key):
            place = key, path
            if place not in made:
                made[place] = [make, *(_encode_part(inner, made, path) for inner in parts)]
            return made[place] if key else made.pop(place)
        case Chosen(which, options):
            return [None, which, *(_encode_part(inner, made, number) for number, inner in enumerate(options))]
    return part


def type_number(dtype: str) -> int:
    """NumPy's number of a dtype; int64 has one, whether C calls it long or long long."""
    return np.dtype(dtype).num


def _pairs_apart(args: tuple[Arg, ...]) -> tuple[tuple[int, int], ...]:
    memory = [(i, arg) for i, arg in enumerate(args) if isinstance(arg, ArrayArg | GeneratorArg)]
    return tuple(
        (i, j)
        for (i, a), (j, b) in combinations(memory, 2)
        if _share_memory(a, b) and (_is_written(a) or _is_written(b)) and not (a.alias and a.alias == b.alias)
    )


def _share_memory(a: ArrayArg | GeneratorArg, b: ArrayArg | GeneratorArg) -> bool:
    """Return whether two arguments are of a kind, and may overlap."""
    if isinstance(a, ArrayArg) and isinstance(b, ArrayArg):
        return a.on_device == b.on_device
    return type(a) is type(b)


def _is_written(arg: ArrayArg | GeneratorArg) -> bool:
    return isinstance(arg, GeneratorArg) or arg.written


def _priority(args: tuple[Arg, ...]) -> int:
    """Return a version's priority; those for fewer calls go first: packed over strided, separate over overlapping."""
    return -LAYOUT * sum(bool(arg.strides) + bool(arg.alias) for arg in args if isinstance(arg, ArrayArg))


class Messenger(Protocol):
    """Source of the message of the last failure."""

    check_notes: Sequence[str]  #: lines of errors of failed checks

    def failure(self, category: type[DeviceError]) -> DeviceError: ...


def _with_numbers(message: str, numbers: Sequence[int]) -> str:
    for place, number in enumerate(numbers):
        message = message.replace(f"{{{place}}}", str(number))
    return message


def failure_of(
    checks: tuple[Check, ...],
    device: Messenger | None = None,
    notes: Callable[[str], Sequence[str]] | None = None,
) -> Callable[..., None]:
    """Called with the index of a failed check and its numbers: raises, or warns and returns."""

    def fail(index: int, *numbers: int) -> None:
        if not 0 <= index < len(checks):
            raise SystemError(f"compiled code reports check {index}, which does not exist")
        check = checks[index]
        message = _with_numbers(check.message, numbers)
        category = OF_DEVICES.get(check.exception) or exception_type(check.exception)
        if category is None:
            raise SystemError(f"compiled code raises {check.exception!r}, which is no exception")
        if issubclass(category, Warning):
            warnings.warn(message, category, stacklevel=2)
            return
        if device is not None and issubclass(category, DeviceError):
            raise raised_by_program(device.failure(category).at(check.span))
        error = category(message) if message else category()
        if check.span is not None:
            error.add_note(check.span.render())
        for note in notes(message) if notes is not None else ():
            error.add_note(note)
        for note in device.check_notes if device is not None else ():
            error.add_note(note)
        if advice := advice_on(message):
            error.add_note(f"  = help: {advice}")
        raise raised_by_program(error)

    return fail
