"""Functions that stop behind one of their statements, and return what their variables are there.

before   def f(x):               behind `y = ..` in one iteration   def f(x, *, stop_0):
             s = 0                                                   s = 0
             for k in range(3):                                      count_0 = 0
                 y = x[k]                                            for k in range(3):
                 s += y                                                  count_0 += 1
             return s                                                    if count_0 > stop_0: break
                                                                         y = x[k]
                                                                         if count_0 == stop_0: break
                                                                         s += y
                                                                     return s, y

Arrays without contents are zeros in it.

A way leads to a statement: positions in blocks, and the blocks. All iterations of a loop are one function.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from dcpy.frontend.introspection.function_source import Source
from dcpy.frontend.introspection.synthesized_functions import derived

SHOWN = {"dcpy_result": "the result", "dcpy_test": "the condition"}  # variables that the user knows otherwise
TEST = "test"  # in place of a block: the condition of an `if`
RETURNED = "returned"  # the message of what is raised where the function returns earlier
_PREFIX = "dcpy_"
#: names of functions in cut functions: what each stands for, and what it is
_EMPTY = {
    "dcpy_zeros": (np.empty, np.zeros),
    "dcpy_zeros_like": (np.empty_like, np.zeros_like),
    "dcpy_zeros_of_class": (np.ndarray, np.zeros),
}
ENTERED = f"{_PREFIX}entered"  # the iterations of the loops around a branch, when it was last entered


@dataclass(frozen=True)
class WayStep:
    """A statement of a block, by position, and the block in it that is entered ("": itself, `TEST`: its test)."""

    position: int
    block: str = ""


Way = tuple[WayStep, ...]


def statement_at(node: ast.FunctionDef, way: Way) -> ast.stmt:
    """The statement that a way leads to."""
    block: list[ast.stmt] = node.body
    for step in way[:-1]:
        block = getattr(block[step.position], step.block)
    return block[way[-1].position]


def blocks_of(statement: ast.stmt) -> tuple[str, ...]:
    """The blocks of a statement that can be entered: of a loop the body, of an `if` its branches."""
    if isinstance(statement, ast.For | ast.While):
        return ("body",)
    return ("body", "orelse") if isinstance(statement, ast.If) else ()


def length_of(node: ast.FunctionDef, way: Way, block: str) -> int:
    """The number of statements in a block of the statement at a way."""
    return len(getattr(statement_at(node, way), block))


def loops_on(node: ast.FunctionDef, way: Way) -> list[ast.For | ast.While]:
    """The loops around the statement at a way, from the outermost inwards."""
    around = (statement_at(node, (*way[:k], WayStep(way[k].position))) for k in range(len(way) - 1))
    return [found for found in around if isinstance(found, ast.For | ast.While)]


@dataclass(frozen=True)
class Cut:
    """A function that stops at the end of a way. `whole`: in its last loop, only after whole iterations."""

    source: Source
    way: Way
    whole: bool = False

    @property
    def counts(self) -> tuple[str, ...]:
        """The names of the counters of loops, from the outermost inwards."""
        return tuple(f"{_PREFIX}count_{k}" for k in range(len(loops_on(self._node, self.way))))

    @property
    def stops(self) -> tuple[str, ...]:
        """The parameters that say in which iterations it stops, as the counters."""
        return tuple(name.replace("count", "stop") for name in self.counts)

    @property
    def _node(self) -> ast.FunctionDef:
        assert isinstance(self.source.node, ast.FunctionDef)
        return self.source.node

    def function(self, names: Sequence[str] | None) -> FunctionType:
        """The function, which returns these names as a tuple; None: all local variables as a dictionary."""
        filled = FilledArrays(self.source.function)
        node = filled.visit(copy.deepcopy(self._node))
        node.decorator_list, node.returns = [], None
        place = statement_at(node, self.way)
        node.body = list(_Cutter(self.whole, marks=names is None).cut(node.body, self.way))
        for parameter in self.stops:
            node.args.kwonlyargs.append(ast.arg(parameter))
            node.args.kw_defaults.append(None)
        node.body = [_ReturnsAsResults().visit(statement) for statement in node.body]
        ending = "locals()" if names is None else f"({''.join(f'{name}, ' for name in names)})"
        node.body += ast.parse(f"return {ending}").body
        for part in ast.walk(node):
            if not hasattr(part, "lineno") and isinstance(part, ast.stmt | ast.expr | ast.arg):
                ast.copy_location(part, place)
        for part in ast.walk(node.body[-1]):
            ast.copy_location(part, place)
        made = derived(self.source, node, sees=filled.used, same_parameters=True)
        given = made.__kwdefaults__ or {}
        made.__kwdefaults__ = {name: value for name, value in given.items() if name not in self.stops} or None
        return made


def own_names(found: Mapping[str, Any]) -> dict[str, Any]:
    """The variables of the user among those of a cut function."""
    return {name: value for name, value in found.items() if not name.startswith(_PREFIX) or name in SHOWN}


def shown_name(name: str) -> str:
    """The name of a variable, as the user knows it."""
    return SHOWN.get(name, name)


class FilledArrays(ast.NodeTransformer):
    """Zeros in place of arrays without contents (``np.empty``): what is in these differs between any two runs."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.used: dict[str, Any] = {}

    def visit_Call(self, call: ast.Call) -> ast.expr:
        self.generic_visit(call)
        named = next((name for name, (empty, _) in _EMPTY.items() if self._is(call.func, empty)), "")
        if named and all(keyword.arg in ("shape", "dtype", "order", "prototype") for keyword in call.keywords):
            self.used[named] = _EMPTY[named][1]
            call.func = ast.copy_location(ast.Name(named, ast.Load()), call.func)
        return call

    def _is(self, function: ast.expr, wanted: Any) -> bool:
        """Return whether an expression is a function of NumPy's, by its name or that of a module."""
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return getattr(self._known(function.value.id), function.attr, None) is wanted
        return isinstance(function, ast.Name) and self._known(function.id) is wanted

    def _known(self, name: str) -> Any:
        free = self._function.__code__.co_freevars
        if name in free:
            return self._function.__closure__[free.index(name)].cell_contents
        return None if name in self._function.__code__.co_varnames else self._function.__globals__.get(name)


class _ReturnsAsResults(ast.NodeTransformer):
    """``return x`` at the end of the way binds the result; others leave by an exception, alike in both runs."""

    def visit_Return(self, statement: ast.Return) -> ast.stmt:
        if hasattr(statement, "is_last"):
            value = statement.value or ast.Constant(None)
            return ast.copy_location(ast.Assign([ast.Name("dcpy_result", ast.Store())], value), statement)
        return ast.copy_location(ast.parse(f"raise RuntimeError({RETURNED!r})").body[0], statement)

    def visit_FunctionDef(self, statement: ast.FunctionDef) -> ast.stmt:
        return statement

    def visit_Lambda(self, expression: ast.Lambda) -> ast.expr:
        return expression


@dataclass(frozen=True)
class _Cutter:
    """The statements up to the end of a way. With `marks` they say where the last `if` on it is entered."""

    whole: bool
    marks: bool

    def cut(self, block: list[ast.stmt], way: Way) -> Iterator[ast.stmt]:
        """The statements of a block that is in no loop."""
        step, rest = way[0], way[1:]
        yield from block[: step.position]
        last = block[step.position]
        if not rest:
            yield _ended(last, step)
        elif isinstance(last, ast.For | ast.While):
            yield from self._loop(last, rest, 0)
        else:
            inner = list(self.cut(getattr(last, step.block), rest))
            setattr(last, step.block, [*self._mark(rest, 0), *inner])
            yield last

    def _loop(self, loop: ast.For | ast.While, way: Way, depth: int) -> Iterator[ast.stmt]:
        """A loop that stops behind the statement at a way, in the iterations that the parameters say."""
        count = f"{_PREFIX}count_{depth}"
        yield from ast.parse(f"{count} = 0").body
        test = " and ".join((*_reached(depth), f"{count} > {_PREFIX}stop_{depth}"))
        head = ast.parse(f"{count} += 1\nif {test}:\n    break").body
        is_whole = self.whole and len(way) == 1
        loop.body = [*head, *(loop.body if is_whole else self._guarded(loop.body, way, depth + 1))]
        loop.orelse = []
        yield loop

    def _guarded(self, block: list[ast.stmt], way: Way, depth: int) -> Iterator[ast.stmt]:
        """The statements of a block in so many loops, with a way out behind the one at the end of a way."""
        step, rest = way[0], way[1:]
        yield from block[: step.position]
        last = block[step.position]
        is_loop = isinstance(last, ast.For | ast.While)
        if rest and isinstance(last, ast.For | ast.While):
            yield from self._loop(last, rest, depth)
        else:
            if rest:
                inner = list(self._guarded(getattr(last, step.block), rest, depth))
                setattr(last, step.block, [*self._mark(rest, depth), *inner])
            yield last if rest else _ended(last, step)
        if not rest or is_loop:
            yield from ast.parse(f"if {' and '.join(_reached(depth))}:\n    break").body
        yield from block[step.position + (step.block != TEST or bool(rest)) :]

    def _mark(self, rest: Way, depth: int) -> list[ast.stmt]:
        if not self.marks or len(rest) > 1:
            return []
        counts = "".join(f"{_PREFIX}count_{k}, " for k in range(depth))
        return list(ast.parse(f"{ENTERED} = ({counts})").body)


def _ended(last: ast.stmt, step: WayStep) -> ast.stmt:
    """The statement at the end of a way: itself, or the test of an `if` as a variable."""
    if step.block == TEST:
        assert isinstance(last, ast.If)
        test = ast.IfExp(last.test, ast.Constant(True), ast.Constant(False))
        return ast.copy_location(ast.Assign([ast.Name("dcpy_test", ast.Store())], test), last)
    last.is_last = True  # type: ignore[attr-defined]
    return last


def _reached(depth: int) -> list[str]:
    """The tests that so many loops are in the iterations in which they stop."""
    return [f"{_PREFIX}count_{k} == {_PREFIX}stop_{k}" for k in range(depth)]
