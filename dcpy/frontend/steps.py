"""Steps of a generator as Python functions: what a program is made of, with a tree instead of a text.

Their code is compiled and never run: names, parameters and cells are found in it as in that of any other function.
"""

from __future__ import annotations
import __future__

import ast
import inspect
from collections.abc import Sequence
from types import CellType, CodeType, FunctionType

from dcpy.frontend.desugar.resuming import COUNT_ITEMS, START, Resuming, Shape
from dcpy.frontend.desugar.statements import generated
from dcpy.frontend.python.resumed import count_items
from dcpy.frontend.source import read_source

_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def is_generator(function: FunctionType) -> bool:
    """Whether calls of a Python function give iterators."""
    return bool(function.__code__.co_flags & inspect.CO_GENERATOR)


def resuming(function: FunctionType) -> Resuming:
    """The steps of a generator. Raises `FrontendError` for what is sent to it, and for ``with`` around a ``yield``."""
    source = read_source(function)
    assert isinstance(source.node, ast.FunctionDef)
    generated(source, source.node)
    return Resuming(source)


def step_function(steps: Resuming, place: int, shapes: Sequence[Shape] = ()) -> FunctionType:
    """The function that goes on behind a place, in the module and with the cells of the generator."""
    function, node = steps.source.function, steps.step(place, shapes)
    assert isinstance(function, FunctionType)
    free = (*function.__code__.co_freevars, COUNT_ITEMS)
    outer = ast.FunctionDef("outer", ast.arguments([], [], None, [], [], None, []),
                            [*(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in free), node],
                            [], None)  # fmt: skip
    tree = ast.fix_missing_locations(ast.Module([outer], []))
    flags = function.__code__.co_flags & _FUTURES
    code = _inside(_inside(compile(tree, steps.source.file, "exec", flags, dont_inherit=True)))
    cells = dict(zip(free, (*(function.__closure__ or ()), CellType(count_items)), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, None, closure)
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    if place == START:
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        made.__annotations__ = {key: kind for key, kind in function.__annotations__.items() if key != "return"}
    made.__dict__["written_as"] = node
    return made


def _inside(code: CodeType) -> CodeType:
    """The code of the last function that is defined inside."""
    return [part for part in code.co_consts if isinstance(part, CodeType)][-1]
