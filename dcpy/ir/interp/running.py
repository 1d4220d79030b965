"""Running an SDFG on Python values: binds arguments and symbols, allocates results, returns what Python gets back.

Sizes that the caller does not state follow from the shapes and strides of the arrays.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dcpy.base.assumptions import refusal, too_long
from dcpy.base.bit_generators import are_words, is_generator, words_of
from dcpy.base.errors import ArgumentError, ArgumentShapeError
from dcpy.ir.analysis.dataflow.def_use import desc_symbols
from dcpy.ir.analysis.dataflow.opaque_handles import handles_of
from dcpy.ir.data import Array, Data, Scalar, View
from dcpy.ir.distribution import ProcessGrid, coordinate_names
from dcpy.ir.interp.argument_strides import fitting
from dcpy.ir.interp.frame import DeclaredContainer, InterpreterFrame
from dcpy.ir.interp.machine import Machine
from dcpy.ir.interp.memory import Buffer, NDArray, allocate, show
from dcpy.ir.interp.scalars import quiet, wrap_integer
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.symbolic import Expr


def interpret(
    sdfg: Sdfg,
    arguments: Mapping[str, Any],
    symbols: Mapping[str, int] | None = None,
    *,
    strict: bool = False,
    seed: int = 0,
) -> None:
    """Run an SDFG on arrays and scalars, by name; results are written into the arrays given (``__return`` too).

    Integer symbols may be among `arguments` or in `symbols`; sizes that are in neither are taken from the shapes. An
    array may have other strides than its descriptor: then the program works on a copy that is copied back.

    `strict` runs the iterations of maps in an order shuffled by `seed`, and raises `DataRace` where two of them depend
    on each other. `OutOfBounds` names a memlet that leaves its container; exceptions of the program (`IndexError`,
    failed checks) pass through with the place as a note. `ArgumentError` where an argument is missing or does not fit.
    """
    _Activation(sdfg, arguments, symbols or {}).run(strict, seed)


def run(
    sdfg: Sdfg,
    arguments: Mapping[str, Any],
    symbols: Mapping[str, int] | None = None,
    *,
    strict: bool = False,
    seed: int = 0,
) -> Any:
    """`interpret`, with results allocated here; returns what the Python function returns (``sdfg.structure``)."""
    given = dict(arguments)
    values = symbols_of(sdfg, given, symbols or {})
    for result in sdfg.results:
        desc = sdfg.containers.get(result.container)
        if (
            result.kind in ("array", "scalar", "python")
            and isinstance(desc, Array)
            and result.container not in given
            and values.keys() >= {*desc_symbols(desc)}
        ):
            given[result.container] = allocate(desc, values)
    activation = _Activation(sdfg, given, values)
    activation.run(strict, seed)
    found = [activation.result(result) for result in sdfg.results]
    return _structured(sdfg.structure, found)


def symbols_of(sdfg: Sdfg, arguments: Mapping[str, Any], symbols: Mapping[str, int]) -> dict[str, int]:
    """The values of an SDFG's free symbols: given, or solved from shapes and strides of the arrays.

    `ArgumentError` for a symbol that has no value.
    """
    values = {}
    for name, dtype in sdfg.symbols.items():
        given = symbols.get(name, arguments.get(name))
        if given is not None:
            values[name] = wrap_integer(int(given), dtype)
    for name, desc in sdfg.containers.items():
        data = arguments.get(name)
        if isinstance(desc, Array) and isinstance(data, np.ndarray) and data.ndim == len(desc.shape):
            if (error := too_long(name, data.shape)) is not None:
                raise error
            strides = tuple(stride // max(data.itemsize, 1) for stride in data.strides)
            for expr, number in zip((*desc.shape, *desc.strides), (*data.shape, *strides), strict=True):
                _solve(expr, number, values)
    alone = _alone_on(sdfg.grids) if sdfg.grids else {}
    values |= {name: alone[name] for name in sdfg.symbols if name in alone and name not in values}
    missing = [name for name in sdfg.symbols if name not in values]
    if missing:
        raise ArgumentError(f"the value of {', '.join(map(repr, missing))} follows from no argument of {sdfg.name!r}")
    return values


def _alone_on(grids: Mapping[str, ProcessGrid]) -> dict[str, int]:
    """The default symbols of grids: one rank, which has all, at coordinate 0."""
    sizes = {symbol: 1 for grid in grids.values() for symbol in grid.symbols}
    return sizes | {at: 0 for name, grid in grids.items() for at in coordinate_names(name, len(grid.sizes))}


def _require_assumed(sdfg: Sdfg, values: Mapping[str, int]) -> None:
    """`ArgumentShapeError` where the value of a symbol is not what the program assumes."""
    for name, assumed in sdfg.assumed.items():
        value = values[name]
        error = refusal(name, value, assumed, *_told(sdfg, name, value))
        if error is not None:
            raise error
    for fact in sdfg.assumptions:
        if fact.evaluate(values) < 0:
            told = ", ".join(f"{name} is {values[name]}" for name in fact.symbols)
            raise ArgumentShapeError(f"{sdfg.name!r} assumes that {fact} is not negative, but {told}")


def _told(sdfg: Sdfg, symbol: str, value: int) -> tuple[str, str]:
    """Return the argument that implies the value of a symbol, in words and by name."""
    for name, desc in sdfg.containers.items():
        for axis, size in enumerate(desc.shape if isinstance(desc, Array) and name in sdfg.arguments else ()):
            if symbol in size.symbols:
                wanted = "" if size.name == symbol else f", which is {size} with {symbol} = {value}"
                return f"argument {name!r} has the size {size.subs({symbol: value})} along axis {axis}{wanted}", name
    return f"{symbol} is {value}", symbol if symbol in sdfg.arguments else ""


def _solve(expr: Expr, number: int, values: dict[str, int]) -> None:
    """Learn the one unknown symbol of ``expr == number``, where that is linear."""
    unknown = [name for name in expr.symbols if name not in values]
    form = expr.linear_in(unknown[0]) if len(unknown) == 1 else None
    if form is None:
        return
    slope, rest = (part.evaluate(values) for part in form)
    if slope and (number - rest) % slope == 0:
        values[unknown[0]] = (number - rest) // slope


class _Activation:
    """One call from Python: a frame over the caller's values, and what must be copied back to them."""

    def __init__(self, sdfg: Sdfg, arguments: Mapping[str, Any], symbols: Mapping[str, int]) -> None:
        self.sdfg = sdfg
        self.arguments = arguments
        self.frame = InterpreterFrame(sdfg, symbols_of(sdfg, arguments, symbols))
        _require_assumed(sdfg, self.frame.symbols)
        self.copies: list[tuple[NDArray, NDArray]] = []
        self.made = _made_by_the_program(sdfg)
        self._refuse_unknown_names()
        handles = handles_of(sdfg)
        for name, desc in self._passed():
            given = arguments.get(name)
            if given is None and name in self.made:
                self.frame.containers[name] = DeclaredContainer(desc, 0)
                continue
            if given is None:
                raise ArgumentError(f"{sdfg.name!r} needs the argument {name!r}")
            data = _as_scalar(name, desc, given) if isinstance(desc, Scalar) else _as_array(name, given)
            if name in handles and not (is_generator(given) or are_words(data)):
                raise ArgumentError(f"{name!r} must be a numpy.random.Generator, not an array of numbers")
            memory = fitting(name, desc, data, self.frame.symbols)
            if memory is not data:
                self.copies.append((data, memory))
            self.frame.bind(name, memory, depth=0)

    def run(self, strict: bool, seed: int) -> None:
        """Run the program, then copy back to arrays whose strides did not fit."""
        shuffle = random.Random(seed) if strict else None
        with quiet():
            Machine(self.frame, [], shuffle).run_region(self.sdfg.body)
        for data, memory in self.copies:
            if data.flags.writeable:
                data[...] = memory

    def result(self, result: Result) -> Any:
        """Return the Python object for one result."""
        match result.kind:
            case "constant":
                return result.value
            case "argument":
                return self.arguments.get(result.container)
            case "view":
                return self._shown(result.container)
            case "readonly":
                found = self._shown(result.container).view()
                found.flags.writeable = False
                return found
        given = self.arguments.get(result.container)
        if given is None and any(name not in self.frame.symbols for name in self._sizes(result.container)):
            return None  # the path taken returns something else
        data = np.asarray(self.frame.buffer(result.container).data if given is None else given)
        if result.kind == "array":
            return data
        return data[()] if result.kind == "scalar" else data.item()

    def _sizes(self, name: str) -> list[str]:
        return list(desc_symbols(self.sdfg.containers[name]))

    def _shown(self, name: str) -> NDArray:
        """A view of an argument, over the memory of the array that the caller passed, or of a new array."""
        return self._shown_buffer(name).data

    def _shown_buffer(self, name: str) -> Buffer:
        desc = self.sdfg.containers[name]
        if isinstance(desc, View):
            base = self._shown_buffer(desc.of)
            return show(base, self.sdfg.containers[desc.of], desc, self.frame.symbols)
        data = _as_array(name, self.arguments.get(name))
        return Buffer(data, data, 0)

    def _passed(self) -> Iterator[tuple[str, Data]]:
        """The containers that the caller passes."""
        for name, desc in self.sdfg.containers.items():
            if name not in self.sdfg.constants and not desc.transient:
                yield name, desc

    def _refuse_unknown_names(self) -> None:
        known = {*self.sdfg.containers, *self.sdfg.symbols}
        unknown = [name for name in self.arguments if name not in known]
        if unknown:
            raise ArgumentError(f"{self.sdfg.name!r} has no argument {unknown[0]!r}")


def _made_by_the_program(sdfg: Sdfg) -> tuple[str, ...]:
    """Results whose sizes are known only while the program runs: it makes them itself."""
    arrays = (result.container for result in sdfg.results if result.kind == "array")
    return tuple(name for name in arrays if any(s in sdfg.assigned_symbols for s in desc_symbols(sdfg.desc(name))))


def _as_array(name: str, given: Any) -> NDArray:
    if is_generator(given):
        return words_of(given)
    if not isinstance(given, np.ndarray):
        raise ArgumentError(f"{name!r} must be a NumPy array, not {type(given).__name__}")
    return given


def _as_scalar(name: str, desc: Scalar, given: Any) -> NDArray:
    """A Python or NumPy scalar as a 0-d array of the descriptor's dtype; safe conversions only."""
    value = np.asarray(given)
    exact = isinstance(given, bool | int | float | complex)  # Python numbers take the dtype that is asked for
    if value.shape != () or not np.can_cast(value.dtype, desc.dtype.numpy, "same_kind" if exact else "safe"):
        raise ArgumentError(f"{name!r} must be a {desc.dtype.numpy} scalar, not {given!r}")
    return value.astype(desc.dtype.numpy)


def _structured(structure: Any, found: list[Any]) -> Any:
    """The results nested as the function returns them."""
    if isinstance(structure, tuple | list):
        return type(structure)(_structured(part, found) for part in structure)
    return None if structure is None else found[structure]
