"""Functions that call themselves: specialized for the numbers that decide where the recursion ends.

A function is lowered once for the types of its arguments, and integers that are known are types of their own. Where
sizes and integer arguments are those of one call, each level of a recursion is another function, ``fft`` of 8, of 4, of
2, and a test of the size is decided: there are as many functions as there are levels, however often each is called.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.specialize.argument_sizes import sample_of, sizes_of, with_sizes
from dcpy.frontend.specialize.argument_types import ArgType, ConstantType, ScalarType
from dcpy.ir.symbolic import as_expr
from dcpy.ir.types import int64

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import LoweringState

MAX_CLOSURES = 20  # functions of one definition with variables of their own (closures) that call one another
MAX_LEVELS = 64  # of a recursion
FRAMES = 120  # of Python's, for each of them
MAX_CALLS = 256  # of recursive functions that are evaluated in place
MAX_VERSIONS = 100  # of one program, each for other sizes and integers
_DATA = (
    "a recursion is compiled for known sizes and integers: what is known at run time only cannot decide where it ends"
)
_LOOP = "write a loop that keeps the open work in a list: `todo = [...]`, `while todo: part = todo.pop()`"


class CallsItself(FrontendError):
    """A function calls itself: lowering begins anew, for the sizes and integers of the call."""


def enter(program: LoweringState, name: str, function: object, code: object) -> None:
    """A function is about to be lowered: what there is on the way to it must not go on for ever."""
    alike = [known for known, known_code in program.callees.stack if known_code is code]
    if function not in alike:
        if len(alike) >= MAX_CLOSURES:
            raise _endless(name, f"there are more than {MAX_CLOSURES} calls of functions of one definition")
        return
    if getattr(function, "goes_into_parts", False):
        return
    program.callees.recursive[function] = program.callees.recursive.get(function, 0) + 1
    if not program.callees.by_value:
        raise CallsItself(f"{name!r} calls itself", notes=(_DATA,), help=_LOOP)
    if len(alike) >= MAX_LEVELS:
        raise _endless(name, f"the recursion is deeper than {MAX_LEVELS} calls")
    if program.callees.recursive[function] > MAX_CALLS:
        raise _endless(name, f"it is evaluated in place for more than {MAX_CALLS} calls")


def again(name: str) -> FrontendError:
    """The error of a call with the very types that the function is being lowered for."""
    return _endless(name, "the inner call has the same types and known values, so only data could end the recursion")


def require_few_versions(name: str, count: int) -> None:
    """Refuse a program that calls itself with yet other sizes and integers: no version is ever given up."""
    if count >= MAX_VERSIONS:
        raise FrontendError(
            f"{name!r} calls itself, and was called with more than {MAX_VERSIONS} combinations of sizes and integers",
            notes=("a recursive program is compiled for each combination",),
            help=f"{_LOOP}; or call it with few different values",
        )


def _endless(name: str, reason: str) -> FrontendError:
    return FrontendError(f"{name!r} calls itself", notes=(reason, _DATA), help=_LOOP)


@contextmanager
def deep_enough(by_value: bool) -> Iterator[None]:
    """Each level takes some fifty frames of Python's while it is lowered."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES * MAX_LEVELS) if by_value else limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def for_values(types: Mapping[str, ArgType], examples: Mapping[str, Any] | None) -> dict[str, ArgType]:
    """The types with the sizes and integer arguments of one call, if there is one, for constants."""
    if examples is None:
        return dict(types)
    values = sample_of(types, examples)
    sizes = {name: as_expr(values[name]) for name in sorted(sizes_of(types)) if name in values}
    integers = {path: int(examples[path]) for path, kind in types.items()
                if isinstance(kind, ScalarType) and kind.dtype == int64 and path in examples}  # fmt: skip
    return {
        path: _constant(kind, integers[path]) if path in integers else with_sizes(kind, sizes)
        for path, kind in types.items()
    }


def _constant(kind: ArgType, value: int) -> ConstantType:
    return ConstantType(value if isinstance(kind, ScalarType) and kind.weak else np.int64(value))
