"""Python's ``getattr`` and ``hasattr`` with names that are known when the program is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import ObjectValue, RecordValue, Static, Value, kind_of
from dcpy.frontend.lower.objects.dataclass_objects import fields_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def call_attribute_function(frame: Frame, found: Any, args: Sequence[Value]) -> Value | None:
    """``getattr(owner, name[, default])`` and ``hasattr(owner, name)``; None where another function is called."""
    if found is getattr and len(args) in (2, 3):
        name = _known_name(args[1])
        if len(args) == 3 and not _has(frame, args[0], name):
            return args[2]
        return frame.program.evaluator.attribute(frame, args[0], name)
    if found is hasattr and len(args) == 2:
        return Static(_has(frame, args[0], _known_name(args[1])))
    return None


def _known_name(name: Value) -> str:
    if isinstance(name, Static) and isinstance(name.value, str):
        return name.value
    raise FrontendError(
        f"the name of an attribute must be a string that is known at compile time, but is {kind_of(name)}",
        help="branch on the condition, and write the attribute in each branch: `y = x.max() if largest else x.min()`",
    )


def _has(frame: Frame, owner: Value, name: str) -> bool:
    """Return whether Python's object has the attribute."""
    if isinstance(owner, Static):
        return frame.closure.attribute(owner.value, name)[0]
    if isinstance(owner, ObjectValue) and name in fields_of(frame.env, owner):
        return True
    if isinstance(owner, RecordValue) and name in owner.names:
        return True
    return hasattr(_class_of(frame, owner), name)


def _class_of(frame: Frame, owner: Value) -> type:
    """Return the type of an object, as ``type(owner)`` does."""
    known: type = frame.b.static(frame.b.call(Static(type), owner))
    return known
