"""Callables other than plain functions: partial calls, methods, and objects with ``__call__``.

Each is a Python function with some of its arguments given. The program is that of the function; what was given is
passed at each call, as Python passes it, so that an array that was bound may still be changed by its owner.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.base.library_modules import is_library
from dcpy.frontend.introspection.errstate_decorators import without_errstate

Close = Callable[[Any, Callable[..., Any]], Any]


@dataclass(frozen=True)
class BoundCallable:
    """A Python function, and how its program becomes what the callable was: `close` gets it, and what binds arguments.

    `owner` is the class of the first argument, where that is an object.
    """

    function: FunctionType
    close: Close = lambda program, bind: program
    owner: type | None = None


def callable_of(found: Any) -> BoundCallable:
    """The function in a callable. Raises `FrontendError` where there is none."""
    match found:
        case FunctionType():
            return BoundCallable(without_errstate(found))
        case functools.partial(func=func, args=args, keywords=keywords):
            inner = callable_of(getattr(func, "function", func))
            return _bound(inner, args, keywords)
        case MethodType(__func__=FunctionType() as function, __self__=owner):
            return _bound(BoundCallable(function, owner=None if isinstance(owner, type) else type(owner)), (owner,), {})
        case staticmethod(__func__=FunctionType() as function):
            return BoundCallable(function, lambda program, bind: staticmethod(program))
        case classmethod(__func__=FunctionType() as function):
            return BoundCallable(function, lambda program, bind: classmethod(program))
    called = inspect.getattr_static(type(found), "__call__", None)
    called = getattr(called, "__wrapped__", called) if not isinstance(called, FunctionType) else called
    if isinstance(called, FunctionType) and not isinstance(found, type) and not is_library(called.__module__):
        return _bound(BoundCallable(called, owner=type(found)), (found,), {})
    raise _not_a_function(found)


def _bound(inner: BoundCallable, args: tuple[Any, ...], keywords: dict[str, Any]) -> BoundCallable:
    def close(program: Any, bind: Callable[..., Any]) -> Any:
        return bind(inner.close(program, bind), *args, **keywords)

    return BoundCallable(inner.function, close, inner.owner)


def _not_a_function(found: Any) -> FrontendError:
    what = f"the class {found.__name__}" if isinstance(found, type) else f"{type(found).__name__} {found!r}"
    return FrontendError(
        f"@dcpy.program takes a Python function, not {what}",
        notes=("it compiles the source of one function, and of those that it calls",),
        help="decorate its methods with @dcpy.method" if isinstance(found, type)
        else "put the cache around the program, which then finds results before it is called: "
        "`@functools.lru_cache` above `@dcpy.program`" if hasattr(found, "cache_info")
        else "wrap it in a function, made with `def` in a file",
    )  # fmt: skip
