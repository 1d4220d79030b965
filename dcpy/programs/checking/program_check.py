"""The search for the first statement behind which Python and a compiled program differ.

Both run the same function, which stops behind a statement (`cut_functions`). Between a statement behind which nothing
differs and one behind which something does, half of the rest is looked at; inside of a loop, half of its iterations.
"""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import numpy as np

from dcpy.base.errors import DcpyError
from dcpy.base.options import IntOverflow, Options, resolve_options
from dcpy.base.source import SrcSpan
from dcpy.base.tracebacks import is_marked
from dcpy.frontend.introspection.function_source import Source, read_source
from dcpy.programs.checking.cut_functions import (
    ENTERED,
    RETURNED,
    TEST,
    Cut,
    Way,
    WayStep,
    blocks_of,
    length_of,
    loops_on,
    own_names,
    shown_name,
    statement_at,
)
from dcpy.programs.checking.value_comparison import ValueDifference, difference

NEVER = 2**62  # an iteration that no loop reaches
Make = Callable[[FunctionType, Options], Callable[..., Any]]  # a program of a function
#: options that may be the reason, and what to compare with; where they are set so, they are not
SUSPECTS: tuple[tuple[str, Any, str], ...] = (
    ("cpu.fast_math", False, "cpu_fast_math=False"),
    ("int_overflow", IntOverflow.RAISE, 'int_overflow="raise"'),
    ("auto_optimize", False, "auto_optimize=False"),
    ("cpu.openmp", False, "cpu_openmp=False"),
    ("cpu.flags", ("-O1",), 'cpu_flags="-O1"'),
)


@dataclass(frozen=True)
class ProgramCheck:
    """The result of a check: true where the program agrees with its function in Python; printed, the difference.

    Attributes
    ----------
    difference
        The first value that differs, or None.
    place
        The statement behind which it does; None where it is no single one.
    iterations
        The loops around it, and in which iterations it does, from 1.
    without
        The option without which the program agrees; empty: none that was tried.
    """

    name: str
    target: str
    difference: ValueDifference | None = None
    place: SrcSpan | None = None
    iterations: tuple[tuple[SrcSpan, int], ...] = ()
    without: str = ""

    def __bool__(self) -> bool:
        return self.difference is None

    def __str__(self) -> str:
        if self.difference is None:
            return f"{self.name}() on the target {self.target} agrees with Python"
        lines = [f"{self.name}() on the target {self.target} differs from Python: {self.difference}"]
        if self.place is not None:
            lines.append(self.place.render())
        lines += [f"  = note: in iteration {count} of the loop at {place}" for place, count in self.iterations]
        if self.difference.extent:
            lines.append(f"  = note: {self.difference.extent}")
        if self.place is None:
            lines.append("  = note: no single statement shows it: programs that stop earlier agree")
        if self.without:
            lines.append(f"  = help: with {self.without} the program agrees")
        return "\n".join(lines)


@dataclass(frozen=True)
class RunOutcome:
    """The outcome of a call: the values of names, or the exception that it raised; the `line` in which it returned."""

    values: Mapping[str, Any]
    error: BaseException | None = None
    line: int = 0


@dataclass(frozen=True)
class FoundPlace:
    """A statement behind which values differ, and the iterations of the loops on the way."""

    way: Way
    stops: tuple[int, ...]
    difference: ValueDifference


def check_program(
    function: FunctionType, options: Options, make: Make, arguments: Mapping[str, Any], rtol: float | None = None
) -> ProgramCheck:
    """Compare a program with its function, for copies of these arguments.

    `make` gives the program of a function with options. Raises what the compiler raises for the program itself.
    """
    name, target = function.__name__, options.device.value
    compiled = _outcome(make(function, options), arguments)  # first: what is refused does not run
    expected = _outcome(function, arguments)
    found = _compare(expected, compiled, rtol)
    if found is None:
        return ProgramCheck(name, target)
    without = _suspect(function, options, make, arguments, expected, rtol)
    source = read_source(function)
    search = PlaceSearch(source, options, make, arguments, rtol)
    place = search.find()
    if place is None:
        return ProgramCheck(name, target, found, without=without)
    assert isinstance(source.node, ast.FunctionDef)
    way = place.way
    loops = [source.span(loop) for loop in loops_on(source.node, (*way, WayStep(0)) if way[-1].block else way)]
    span = source.span(statement_at(source.node, way))
    around = tuple(zip(loops, place.stops, strict=False))
    return ProgramCheck(name, target, place.difference, span, around, without)


def _outcome(
    function: Callable[..., Any], arguments: Mapping[str, Any], names: tuple[str, ...] | None = ()
) -> RunOutcome:
    """The outcome of a call with copies of arguments: its result, and what is in the arguments then.

    With `names`, the values of these, which it returns; None: all of a dictionary that it returns.
    """
    given = copy.deepcopy(dict(arguments))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = function(**given)
        except DcpyError as error:
            if not is_marked(error):
                raise
            return RunOutcome({}, error)
        except Exception as error:
            return _raised(function, error) if names is None else RunOutcome({}, error)
    if names is None:
        return RunOutcome(result)
    if names:
        return RunOutcome(dict(zip(names, result, strict=True)))
    return RunOutcome({"the result": result, **{name: value for name, value in given.items() if _is_shown(value)}})


def _raised(function: Callable[..., Any], error: Exception) -> RunOutcome:
    """The outcome of a function in Python that raised, with the variables that it had."""
    part = error.__traceback__
    while part is not None and part.tb_frame.f_code is not getattr(function, "__code__", None):
        part = part.tb_next
    is_return = isinstance(error, RuntimeError) and str(error) == RETURNED
    found = {} if part is None else dict(part.tb_frame.f_locals)
    return RunOutcome(found, error, part.tb_lineno if part is not None and is_return else 0)


def _is_shown(value: Any) -> bool:
    """Return whether a value can be returned and compared: a number, or an array of numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, bool | int | float | complex | np.number | np.bool_)


def _compare(python: RunOutcome, compiled: RunOutcome, rtol: float | None) -> ValueDifference | None:
    if python.error is not None or compiled.error is not None:
        if type(python.error) is type(compiled.error):
            return None
        left, right = ("returns" if e is None else f"raises {type(e).__name__}" for e in (python.error, compiled.error))
        return ValueDifference("it", sentence=f"{left} in Python, and {right} in the program")
    for name, value in python.values.items():
        if name in compiled.values:
            found = difference(shown_name(name), value, compiled.values[name], rtol)
            if found is not None:
                return found
    return None


def _suspect(
    function: FunctionType, options: Options, make: Make, arguments: Mapping[str, Any], expected: RunOutcome,
    rtol: float | None,
) -> str:  # fmt: skip
    """The first option without which the program agrees."""
    for name, value, words in SUSPECTS:
        changed = resolve_options({name: value}, base=options)
        if changed == options:
            continue
        try:
            if _compare(expected, _outcome(make(function, changed), arguments), rtol) is None:
                return words
        except DcpyError:
            continue
    return ""


class PlaceSearch:
    """The search in one function. Programs are kept: those of all iterations are one."""

    def __init__(
        self, source: Source, options: Options, make: Make, arguments: Mapping[str, Any], rtol: float | None
    ) -> None:
        self.source, self.options, self.make = source, options, make
        self.arguments, self.rtol = arguments, rtol
        self._programs: dict[tuple[Cut, tuple[str, ...]], Callable[..., Any]] = {}

    def find(self) -> FoundPlace | None:
        """The first statement behind which values differ; None where none shows it."""
        node = self.source.node
        if not isinstance(node, ast.FunctionDef) or node.args.vararg or node.args.kwarg:
            return None
        return self._in_block((), len(node.body), ())

    def _in_block(self, before: Way, length: int, stops: tuple[int, ...]) -> FoundPlace | None:
        """The first one of a block; None where nothing differs at its end."""

        def differs(position: int) -> ValueDifference | None:
            return self._difference(Cut(self.source, (*before, WayStep(position))), stops)

        found = differs(length - 1)
        if found is None:
            position = self._returning(before, length, stops)
            if position is None:
                return None
            found = differs(position - 1) if position else None
            if found is None:
                found, way = differs(position), (*before, WayStep(position))
                return FoundPlace(way, stops, found) if found is not None else self._inside(way, stops)
            length = position
        position, found = _first(-1, length - 1, found, differs)
        way = (*before, WayStep(position))
        return self._inside(way, stops) or FoundPlace(way, stops, found)

    def _returning(self, before: Way, length: int, stops: tuple[int, ...]) -> int | None:
        """The statement of a block in which the function returns in Python, if it does."""
        line = self._in_python(Cut(self.source, (*before, WayStep(length - 1))), stops).line
        assert isinstance(self.source.node, ast.FunctionDef)
        for position in range(length):
            found = statement_at(self.source.node, (*before, WayStep(position)))
            if found.lineno <= line <= (found.end_lineno or found.lineno):
                return position
        return None

    def _inside(self, way: Way, stops: tuple[int, ...]) -> FoundPlace | None:
        """The first one of the statements in a loop or an `if`; None where they do not show it."""
        assert isinstance(self.source.node, ast.FunctionDef)
        statement = statement_at(self.source.node, way)
        if isinstance(statement, ast.If):
            test = (*way[:-1], WayStep(way[-1].position, TEST))
            found = self._difference(Cut(self.source, test), stops)
            if found is not None:
                return FoundPlace(way, stops, found)
        for block in blocks_of(statement):
            length = length_of(self.source.node, way, block)
            into = (*way[:-1], WayStep(way[-1].position, block))
            if isinstance(statement, ast.If):
                if length and self._enters((*into, WayStep(length - 1)), stops):
                    return self._in_block(into, length, stops)
            else:
                return self._in_loop(way, into, length, stops)
        return None

    def _enters(self, way: Way, stops: tuple[int, ...]) -> bool:
        return self._in_python(Cut(self.source, way), stops).values.get(ENTERED) == stops

    def _in_loop(self, way: Way, into: Way, length: int, stops: tuple[int, ...]) -> FoundPlace | None:
        whole = Cut(self.source, (*into, WayStep(0)), whole=True)
        run = self._in_python(whole, (*stops, NEVER))
        total = run.values.get(whole.counts[-1], 0)

        def differs(count: int) -> ValueDifference | None:
            return self._difference(whole, (*stops, count))

        found = differs(total) if total else None
        if found is None and run.line:
            found = differs(total - 1) if total > 1 else None
            if found is None:
                return self._in_block(into, length, (*stops, total))
            total -= 1
        if found is None:
            return None
        count, found = _first(0, total, found, differs)
        inner = self._in_block(into, length, (*stops, count))
        return inner or FoundPlace(way, (*stops, count), found)

    def _difference(self, cut: Cut, stops: tuple[int, ...]) -> ValueDifference | None:
        """The first value that differs behind a cut; None where nothing does, or it cannot be compiled."""
        expected = self._in_python(cut, stops)
        names = tuple(name for name, value in own_names(expected.values).items() if _is_shown(value))
        arguments = {**self.arguments, **dict(zip(cut.stops, stops, strict=True))}
        try:
            found = _outcome(self._program(cut, names), arguments, names)
        except DcpyError:  # a function that stops there is none that dcpy takes
            return None
        kept = replace(found, values={name: value for name, value in found.values.items() if name in names})
        return _compare(replace(expected, values=own_names(expected.values)), kept, self.rtol)

    def _in_python(self, cut: Cut, stops: tuple[int, ...]) -> RunOutcome:
        arguments = {**self.arguments, **dict(zip(cut.stops, stops, strict=True))}
        return _outcome(cut.function(None), arguments, None)

    def _program(self, cut: Cut, names: tuple[str, ...]) -> Callable[..., Any]:
        key = cut, names
        if key not in self._programs:
            self._programs[key] = self.make(cut.function(names), self.options)
        return self._programs[key]


def _first(
    agrees: int, differs: int, found: ValueDifference, look: Callable[[int], ValueDifference | None]
) -> tuple[int, ValueDifference]:
    """A place where values differ, in front of which they agree, and what differs there."""
    while differs - agrees > 1:
        middle = (agrees + differs) // 2
        there = look(middle)
        if there is None:
            agrees = middle
        else:
            differs, found = middle, there
    return differs, found
