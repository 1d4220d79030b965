"""Special methods of the user's classes: operators, comparisons, subscripts, iteration and calls of objects.

Python's rules: the left operand's method comes first, then the reflected method of the right one; ``+=`` is
``__iadd__`` or ``+``. Methods that `dataclass_objects` writes (``__eq__``, ``__lt__``) have no source, and are not
taken.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import (
    BoundMethod,
    MapValue,
    ObjectValue,
    RecordValue,
    Static,
    TextValue,
    TupleValue,
    Value,
    is_weak,
)
from dcpy.frontend.dataflow.storage_and_schedules import schedule_of
from dcpy.frontend.lower.objects.constructors import GENERATED
from dcpy.frontend.lower.sequences import characters
from dcpy.frontend.numpy.python_implementations import shown_at_the_call
from dcpy.ir.schedules import Unrolled

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

_BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
_UNARY = {"-": "neg", "+": "pos", "~": "invert"}
_FUNCTIONS = {abs: "__abs__", len: "__len__", float: "__float__", int: "__int__", round: "__round__"}
_ITERATING = (list, tuple, set, frozenset, sum, min, max, sorted, any, all, enumerate, zip, reversed, map, filter)
_COMPARED = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_MIRRORED = {"==": "eq", "!=": "ne", "<": "gt", "<=": "ge", ">": "lt", ">=": "le"}


def binary(frame: Frame, symbol: str, left: Value, right: Value, *, in_place: bool = False) -> Value | None:
    """``left symbol right`` where a class says what that is; None where none does."""
    if symbol == "@" and isinstance(left, MapValue):
        schedule = schedule_of(frame.b.static(right, "a schedule"))
        if isinstance(schedule, Unrolled) and any(part.size.constant is None for part in left.ranges):
            raise FrontendError(
                "how often the map is unrolled is not known at compile time",
                help="use a number, a compile-time argument (`n: dcpy.compiletime`), or leave the schedule out",
            )
        return replace(left, schedule=schedule)
    if symbol in _COMPARED:
        names = [(left, f"__{_COMPARED[symbol]}__", right), (right, f"__{_MIRRORED[symbol]}__", left)]
    elif symbol in _BINARY:
        names = [(left, f"__{_BINARY[symbol]}__", right)]
        if in_place:
            names.insert(0, (left, f"__i{_BINARY[symbol]}__", right))
        if is_weak(left) or _class_of(left) is not _class_of(right):
            names.append((right, f"__r{_BINARY[symbol]}__", left))
    else:
        return None
    if not is_weak(left) and _class_of(left) is None:
        return None  # NumPy's own operators decide
    for owner, name, other in names:
        found = call(frame, owner, name, [other])
        if found is not None and found != Static(NotImplemented):
            return found
    return None


def unary(frame: Frame, symbol: str, operand: Value) -> Value | None:
    """``symbol operand`` where a class says what that is."""
    return call(frame, operand, f"__{_UNARY[symbol]}__", []) if symbol in _UNARY else None


def builtin(frame: Frame, function: object, args: Sequence[Value]) -> Value | None:
    """``abs(x)`` and the like where the class of `x` says what that is."""
    name = next((name for known, name in _FUNCTIONS.items() if known is function), None)
    return None if name is None or len(args) != 1 else call(frame, args[0], name, [])


def iterated(frame: Frame, value: Value) -> Value:
    """The iterator of an object whose class says what that is; any other value as it is."""
    if isinstance(value, TextValue):
        return characters.of_text(frame.b, value)
    found = call(frame, value, "__iter__", [])
    return value if found is None else found


def iterated_arguments(frame: Frame, function: Any, args: Sequence[Value]) -> Sequence[Value]:
    """The arguments of a function, with iterators in place of objects where it asks for their items."""
    if function not in _ITERATING:
        return args
    return [iterated(frame, arg) if isinstance(arg, ObjectValue | RecordValue | TextValue) else arg for arg in args]


def call(
    frame: Frame, owner: Value, name: str, args: Sequence[Value], kwargs: Mapping[str, Value] | None = None
) -> Value | None:
    """``owner.name(*args)`` where the user's class has such a method; None where it has none."""
    cls = _class_of(owner)
    found = None if cls is None else inspect.getattr_static(cls, name, None)
    if not isinstance(found, FunctionType) or found.__code__.co_filename == GENERATED:
        return None
    if cls is not None and issubclass(cls, tuple) and found.__module__ != cls.__module__:
        return None  # a method of the named tuple's own
    frame.closure.attribute(cls, name)
    with shown_at_the_call():
        return frame.b.call(BoundMethod(owner, found), *args, **(kwargs or {}))


def _class_of(value: Value) -> type | None:
    return value.cls if isinstance(value, ObjectValue | RecordValue | TupleValue) else None
