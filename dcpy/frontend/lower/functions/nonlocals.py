"""``nonlocal``: nested functions that assign variables of the functions around them.

A nested function is evaluated where it is called. The variables that it shares with its caller are handed in, are its
own meanwhile, and are handed back: what it calls itself gets them the same way. So branches and loops, of the caller
too, carry them as they carry other names; the statement that calls counts as one that assigns them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import Value, is_number
from dcpy.frontend.desugar.bound_and_free_names import parameter_names
from dcpy.frontend.lower.control.expression_splitting import path_dependent_value
from dcpy.frontend.lower.name_binding import bind_name

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def bind_shared_variables(caller: Frame, scope: Frame, inner: Frame) -> dict[str, Value]:
    """Give a nested function, defined in `scope`, the variables that it shares; return them."""
    given: dict[str, Value] = {}
    for name in sorted(inner.define.outer):
        owner = _owner(scope, name)
        if owner is None:
            continue
        if _owner(caller, name) is not owner:
            raise FrontendError(
                f"{inner.define.name}() assigns {name!r} of the function around it, and is called by another function",
                notes=("a variable is handed to nested functions by the functions that share it",),
                help="call it where the variable is, or return the value, and assign it there",
            )
        if name in caller.env:
            inner.env[name] = given[name] = caller.env[name]
    return given


def return_shared_variables(caller: Frame, inner: Frame, given: dict[str, Value]) -> None:
    """Assign the shared variables in the caller's frame after the call.

    Where a choice decides whether the call runs, that choice becomes a statement (`expression_splitting`).
    """
    changed = {name: inner.env[name] for name in sorted(inner.define.outer)
               if name in inner.env and inner.env[name] is not given.get(name)}  # fmt: skip
    if changed and caller.emit.region is not caller.scope.region:
        name, place = next(iter(changed)), caller.emit.place
        error = FrontendError(
            f"{inner.define.name}() assigns {name!r} of the function around it, inside of an expression",
            notes=("that part of the expression may run several times, or not at all",),
            help="call it in a statement of its own: an `if` statement instead of `a if c else b`, `break` instead of "
            "a loop's condition",
        )
        if place is None or place[0] is not caller or not isinstance(place[1], ast.Call):
            raise error
        raise path_dependent_value(caller, place[1], error)
    for name, value in changed.items():
        if is_number(value):
            bind_name(caller, name, value)
        else:
            caller.env[name] = value


def _owner(frame: Frame | None, name: str) -> Frame | None:
    """The activation that the variable belongs to."""
    while frame is not None:
        mine = name in frame.locals or name in parameter_names(frame.define.args)
        if name not in frame.define.outer and mine:
            return frame
        frame = frame.outer
    return None
