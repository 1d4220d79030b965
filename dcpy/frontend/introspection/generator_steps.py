"""Generator steps: what a generator does from one ``yield`` to the next, as Python functions."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from types import CodeType, FunctionType

from dcpy.frontend.desugar.generator_splitting import COUNT_ITEMS, START, Resuming, Shape
from dcpy.frontend.desugar.statements import generated
from dcpy.frontend.introspection.function_source import read_source
from dcpy.frontend.introspection.synthesized_functions import derived
from dcpy.frontend.python.resumed_loops import count_items


def is_generator(function: FunctionType) -> bool:
    """Return whether calls of a Python function give iterators."""
    return bool(function.__code__.co_flags & inspect.CO_GENERATOR)


def resuming(function: FunctionType) -> Resuming:
    """The steps of a generator. Raises `FrontendError` for what is sent to it, and for ``with`` around a ``yield``."""
    source = read_source(function)
    assert isinstance(source.node, ast.FunctionDef)
    generated(source, source.node)
    inner: dict[str, CodeType] = {}

    def find(name: str) -> tuple[FunctionType, ast.FunctionDef] | None:
        found = _generator_of_the_module(function, name)
        if found is not None:
            inner[name] = found[0].__code__
        return found

    made = Resuming(source, find)
    made.inner = inner
    return made


def is_current(function: FunctionType, steps: Resuming) -> bool:
    """Return whether the generators that a generator loops over are those that its steps are made of."""
    return all(getattr(function.__globals__.get(name), "__code__", None) is code for name, code in steps.inner.items())


def _generator_of_the_module(function: FunctionType, name: str) -> tuple[FunctionType, ast.FunctionDef] | None:
    """Another generator of the same module, by its name there, and its text."""
    found = function.__globals__.get(name)
    if not isinstance(found, FunctionType) or found.__globals__ is not function.__globals__:
        return None
    if name in function.__code__.co_freevars or not is_generator(found):
        return None
    node = read_source(found).node
    return (found, node) if isinstance(node, ast.FunctionDef) and not node.decorator_list else None


def step_function(steps: Resuming, place: int, shapes: Sequence[Shape] = ()) -> FunctionType:
    """The function that goes on behind a place, in the module and with the cells of the generator."""
    node = steps.step(place, shapes)
    made = derived(steps.source, node, sees={COUNT_ITEMS: count_items}, same_parameters=place == START)
    made.__dict__["is_step"] = True
    return made
