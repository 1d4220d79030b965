"""Python implementations: bodies of NumPy functions that the frontend lowers like a user's.

What is written so is a program of dcpy's own: it uses what programs may use, decides by dtypes and ranks (which are
known), and is read best beside NumPy's documentation. The bodies live in the modules of their groups.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import Static, Value
from dcpy.frontend.implements import implements, method
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.numpy.parameter_defaults import NONE
from dcpy.frontend.numpy.ufuncs.out_and_where import into

Body = Callable[..., Any]

_BODIES = Path(__file__).parents[1]  # of NumPy's functions, Python's and SciPy's


def written_in_python(*functions: Any, methods: tuple[str, ...] = ()) -> Callable[[Body], Body]:
    """Register the body as the implementation of functions of the same signature, and of methods of arrays.

    A parameter ``out`` is for the caller only: the body always sees None, and its result goes into that array.
    """

    def register(body: Body) -> Body:
        implements(*functions)(_PythonImplementation(body))
        if methods:
            method(*methods)(_PythonImplementation(body))
        return body

    return register


class _PythonImplementation:
    """A body as an implementation. Its signature is worked out when it is needed first: there are hundreds."""

    def __init__(self, body: Body) -> None:
        self.body = body

    @cached_property
    def __signature__(self) -> inspect.Signature:
        own = inspect.signature(self.body)
        first = inspect.Parameter("_builder", inspect.Parameter.POSITIONAL_ONLY)
        plain = [p.replace(annotation=inspect.Parameter.empty) for p in own.parameters.values()]
        return own.replace(parameters=[first, *plain])

    def __call__(self, b: OpBuilder, *args: Value, **keywords: Value) -> Value:
        names = list(self.__signature__.parameters)[1:]
        if "out" not in names:
            return call_body(b, self.body, *args, **keywords)
        if "out" in keywords:
            out, keywords["out"] = keywords["out"], NONE
        else:
            place = names.index("out")
            out, args = args[place], (*args[:place], NONE, *args[place + 1 :])
        result = call_body(b, self.body, *args, **keywords)
        return into(b, out, result, self.body.__name__, casting="unsafe")


def computes_with_integers(body: Body) -> Body:
    """Mark a body whose integers are the user's: what does not fit into 64 bits raises `OverflowError`."""
    body.computes_with_integers = True  # type: ignore[attr-defined]
    return body


def call_body(b: OpBuilder, body: Body, *args: Value, **keywords: Value) -> Value:
    """Call a Python function of dcpy's own. What it refuses is shown at the user's call, not in the body."""
    with shown_at_the_call():
        return b.call(Static(body), *args, **keywords)


@contextmanager
def shown_at_the_call() -> Iterator[None]:
    """Give errors in bodies of dcpy's own the place of the call."""
    try:
        yield
    except FrontendError as error:
        if error.span is not None and _BODIES in Path(error.span.file).parents:
            error.span = None
        raise
