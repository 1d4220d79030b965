"""Synthesized functions: Python functions that dcpy makes from a syntax tree instead of a text.

Their code is compiled and never run: names, parameters and cells are found in it as in that of any other function.
"""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
from collections.abc import Mapping, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any

from dcpy.frontend.introspection.function_source import Source, read_source

_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def derived(
    source: Source, node: ast.FunctionDef, *, sees: Mapping[str, Any] | None = None, same_parameters: bool = False
) -> FunctionType:  # fmt: skip
    """A function with this tree, in the module and with the cells of another one; `sees`: what else it knows."""
    function = source.function
    assert isinstance(function, FunctionType)
    more = sees or {}
    free = (*function.__code__.co_freevars, *more)
    around: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in free]
    if node.name not in free:  # a function that mentions its own name means that of its module
        around.append(ast.Global([node.name]))
    outer = ast.FunctionDef("outer", ast.arguments([], [], None, [], [], None, []), [*around, node], [], None)
    tree = ast.fix_missing_locations(ast.Module([outer], []))
    flags = function.__code__.co_flags & _FUTURES
    code = _inside(_inside(compile(tree, source.file, "exec", flags, dont_inherit=True)))
    cells = dict(zip(free, (*(function.__closure__ or ()), *map(CellType, more.values())), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, None, closure)
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    made.__dict__["written_as"] = node
    if same_parameters:
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        made.__annotations__ = {key: kind for key, kind in function.__annotations__.items() if key != "return"}
    return made


def with_keywords(function: FunctionType, names: Sequence[str]) -> FunctionType:
    """A function with ``**kwargs`` as one with these keywords: it begins with ``kwargs = {"name": name, ...}``."""
    source = read_source(function)
    node = _as_definition(copy.deepcopy(source.node))
    assert node.args.kwarg is not None
    kwargs, node.args.kwarg = node.args.kwarg, None
    node.args.kwonlyargs += [ast.copy_location(ast.arg(name), kwargs) for name in names]
    node.args.kw_defaults += [None] * len(names)
    given = ast.Dict([ast.Constant(name) for name in names], [ast.Name(name, ast.Load()) for name in names])
    node.body.insert(0, ast.Assign([ast.Name(kwargs.arg, ast.Store())], given))
    for part in ast.walk(node.body[0]):
        ast.copy_location(part, kwargs)
    node.decorator_list = []
    made = derived(source, node, same_parameters=True)
    made.__annotations__.pop(kwargs.arg, None)
    return made


def takes_keywords(function: FunctionType) -> bool:
    """Return whether a function has ``**kwargs``."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())


def _as_definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> ast.FunctionDef:
    """A lambda as a function that returns its expression; any other function as it is."""
    if isinstance(node, ast.Lambda):
        body = ast.copy_location(ast.Return(node.body), node.body)
        return ast.copy_location(ast.FunctionDef("anonymous", node.args, [body], [], None, None), node)
    assert isinstance(node, ast.FunctionDef)
    return node


def _inside(code: CodeType) -> CodeType:
    """The code of the last function that is defined inside."""
    return [part for part in code.co_consts if isinstance(part, CodeType)][-1]
