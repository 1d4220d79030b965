"""Steps of a generator as Python functions."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from types import FunctionType

from dcpy.frontend.derived import derived
from dcpy.frontend.desugar.resuming import COUNT_ITEMS, START, Resuming, Shape
from dcpy.frontend.desugar.statements import generated
from dcpy.frontend.python.resumed import count_items
from dcpy.frontend.source import read_source


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
    node = steps.step(place, shapes)
    made = derived(steps.source, node, sees={COUNT_ITEMS: count_items}, same_parameters=place == START)
    made.__dict__["is_step"] = True
    return made
