"""Free symbols of a function: those of its annotations, and those that its code reads, through its callees.

``N = dcpy.symbol("N")`` is an integer that a call determines: the size of an argument that is annotated with it, or a
keyword of the call, ``program(A, N=5)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dcpy.base.assumptions import Assumption
from dcpy.base.errors import ArgumentError, FrontendError
from dcpy.base.library_modules import is_library
from dcpy.frontend.annotations import Symbol, assumed_together, types_from_annotations
from dcpy.frontend.specialize.argument_types import ArrayType
from dcpy.ir.data import Array
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Expr


def free_symbols(function: FunctionType) -> tuple[str, ...]:
    """The names of all symbols that a function may depend on, and that are no parameters of it."""
    found = (symbol.expr.symbols for symbol in (*_of_annotations(function), *_read_by(function, set())))
    parameters = _parameters(function)
    return tuple(name for name in dict.fromkeys(chain(*found)) if name not in parameters)


def assumed_by(function: FunctionType) -> dict[str, Assumption]:
    """Return the assumptions about symbols that a function depends on; `FrontendError` where they contradict."""
    parameters = _parameters(function)
    read = (symbol.assumed for symbol in _read_by(function, set()))
    others = (tuple(part for part in assumed if part[0] not in parameters) for assumed in read)
    found = dict(assumed_together(*(symbol.assumed for symbol in _of_annotations(function)), *others))
    for name, assumed in found.items():
        if problem := assumed.problem():
            message = f"the assumptions about the symbol {name!r} cannot hold: {problem}"
            raise FrontendError(message, notes=("two symbols of this name are one size, of which both hold",))
    return found


def _parameters(function: FunctionType) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _of_annotations(function: FunctionType) -> Iterator[Symbol]:
    try:
        types = types_from_annotations(function)
    except FrontendError:  # raised when it is compiled
        return
    for kind in types.values():
        for dim in kind.dims if isinstance(kind, ArrayType) else ():
            yield Symbol(dim, kind.assumed if isinstance(kind, ArrayType) else ())


def _read_by(function: FunctionType, seen: set[int]) -> Iterator[Symbol]:
    if id(function) in seen:
        return
    seen.add(id(function))
    names = tuple(dict.fromkeys(_names(function.__code__)))
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for _, cell in cells:
        try:
            yield from _of_value(cell.cell_contents, names, seen)
        except ValueError:  # not assigned yet
            continue
    for name in names:
        if name in function.__globals__:
            yield from _of_value(function.__globals__[name], names, seen)


def _of_value(value: Any, names: tuple[str, ...], seen: set[int]) -> Iterator[Symbol]:
    known = getattr(value, "function", value)  # a program stands for its function
    match known:
        case Symbol():
            yield known
        case FunctionType() if not is_library(known.__module__ or ""):
            yield from _read_by(known, seen)
        case ModuleType() if not is_library(known.__name__) and id(known) not in seen:
            seen.add(id(known))
            for name in names:
                if isinstance(vars(known).get(name), Symbol):
                    yield vars(known)[name]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def undetermined(
    name: str, shapes: Mapping[str, Sequence[Expr]], arguments: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, int]:
    """The given symbols that no argument determines; the others must be what shapes say.

    `shapes` are those of parameters, over symbols; `arguments` the values of parameters.
    """
    values = {symbol: _as_size(name, symbol, value) for symbol, value in given.items()}
    determined: set[str] = set()
    for parameter, dims in shapes.items():
        shape = getattr(arguments.get(parameter), "shape", ())
        if len(shape) != len(dims):
            continue
        for axis, (dim, size) in enumerate(zip(dims, shape, strict=True)):
            if len(dim.symbols) != 1 or dim.symbols[0] not in values:
                continue
            symbol = dim.symbols[0]
            determined.add(symbol)
            if dim.subs(values).constant != size:
                raise ArgumentError(
                    f"{name}() got {symbol}={values[symbol]}, but {parameter!r} has the size {size} along axis {axis}",
                    notes=(f"its size is {dim}",),
                    help=f"leave {symbol} out, it is found in the array, or pass an array of that size",
                )
    return {symbol: value for symbol, value in values.items() if symbol not in determined}


def without_symbols(sdfg: Sdfg, named: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keywords of a call of an SDFG that are arguments, and those that are symbols, which are sizes of arguments."""
    symbols = {name: value for name, value in named.items() if name in sdfg.symbols and name not in sdfg.arguments}
    return {name: value for name, value in named.items() if name not in symbols}, symbols


def require_told(sdfg: Sdfg, bound: Mapping[str, Any], symbols: Mapping[str, Any]) -> None:
    """`ArgumentError` unless symbols given by keyword are what the sizes of arguments say."""
    if symbols:
        descs = {name: sdfg.containers.get(name) for name in sdfg.arguments}
        shapes = {name: desc.shape for name, desc in descs.items() if isinstance(desc, Array)}
        undetermined(sdfg.name, shapes, bound, symbols)


def _as_size(name: str, symbol: str, value: Any) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    raise ArgumentError(
        f"{name}() got {symbol}={value!r}", notes=(f"{symbol!r} is a symbol, an integer",), help="pass an int"
    )
