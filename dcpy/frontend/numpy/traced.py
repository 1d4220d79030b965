"""NumPy functions whose implementation is a Python function: the frontend lowers its body like a user's.

What is written so is a program of dcpy's own: it uses what programs may use, decides by dtypes and ranks (which are
known), and is read best beside NumPy's documentation. The bodies live in the modules of their groups.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.implements import implements, method
from dcpy.frontend.lower.builder import Builder
from dcpy.frontend.numpy.defaults import NONE
from dcpy.frontend.numpy.outputs import into
from dcpy.frontend.values import Static, Value

Body = Callable[..., Any]

_BODIES = Path(__file__).parent


def written_in_python(*functions: Any, methods: tuple[str, ...] = ()) -> Callable[[Body], Body]:
    """Registers the body as the implementation of functions of the same signature, and of methods of arrays.

    A parameter ``out`` is for the caller only: the body always sees None, and its result goes into that array.
    """

    def register(body: Body) -> Body:
        call = _implementation(body)
        implements(*functions)(call)
        if methods:
            method(*methods)(call)
        return body

    return register


def _implementation(body: Body) -> Callable[..., Value]:
    signature = inspect.signature(body)
    place = list(signature.parameters).index("out") if "out" in signature.parameters else None

    def call(b: Builder, *args: Value, **keywords: Value) -> Value:
        if place is None:
            return call_body(b, body, *args, **keywords)
        if "out" in keywords:
            out, keywords["out"] = keywords["out"], NONE
        else:
            out, args = args[place], (*args[:place], NONE, *args[place + 1 :])
        return into(b, out, call_body(b, body, *args, **keywords), body.__name__, casting="unsafe")

    first = inspect.Parameter("_builder", inspect.Parameter.POSITIONAL_ONLY)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    call.__signature__ = signature.replace(parameters=[first, *plain])  # type: ignore[attr-defined]
    return call


def call_body(b: Builder, body: Body, *args: Value, **keywords: Value) -> Value:
    """Calls a Python function of dcpy's own. What it refuses is shown at the user's call, not in the body."""
    try:
        return b.call(Static(body), *args, **keywords)
    except FrontendError as error:
        if error.span is not None and Path(error.span.file).parent == _BODIES:
            error.span = None
        raise
