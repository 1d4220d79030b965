"""Constructors of dataclasses, named tuples and enumerations, and changed copies.

An object of a class no field of which is assigned is a value (`RecordValue`), any other a reference (see `objects`).
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.dynamic_arrays import VARYING
from dcpy.frontend.abstract_values.values import (
    BoundMethod,
    DictValue,
    Maybe,
    Missing,
    ObjectValue,
    RecordValue,
    Static,
    TupleValue,
    Value,
    VariantValue,
    kind_of,
    parts_of,
)
from dcpy.frontend.lower import name_binding
from dcpy.frontend.lower.frame import IdentityMatters
from dcpy.frontend.lower.lowering_signals import raised_by
from dcpy.frontend.lower.objects.dataclass_objects import fields_of
from dcpy.frontend.lower.sequences import list_references
from dcpy.frontend.specialize.record_arguments import is_frozen

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

_BY_PATH = (Maybe, Missing, VariantValue, *VARYING)  # what a field is that depends on the path through the constructor
GENERATED = "<string>"  # the file of functions that `dataclasses` writes


def construct(frame: Frame, cls: type, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """``cls(*args, **kwargs)`` of a dataclass, or of a plain class: the fields as its constructor sets them."""
    if dataclasses.is_dataclass(cls):
        _require_plain_constructor(cls)
    if inspect.getattr_static(cls, "__init__").__code__.co_filename != GENERATED:
        return _initialized(frame, cls, args, kwargs)
    with raised_by("Python", f"{cls.__name__}(): "):
        given = inspect.signature(cls).bind(*args, **kwargs).arguments
    values: dict[str, Value] = {}
    for field in dataclasses.fields(cls):
        if field.name in given:
            values[field.name] = given[field.name]
        elif field.default is not dataclasses.MISSING:
            values[field.name] = name_binding.from_python(frame, field.default)
        elif field.default_factory is not dataclasses.MISSING:
            values[field.name] = frame.b.call(Static(field.default_factory))
    return _made(frame, cls, values)


def _initialized(frame: Frame, cls: type, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """Return the object of a constructor that the user wrote; until it returns, the object may change."""
    made, objects = _fresh(frame, cls), frame.program.objects
    objects.under_construction[made.key] = True
    try:
        frame.b.call(BoundMethod(made, inspect.getattr_static(cls, "__init__")), *args, **kwargs)
    finally:
        del objects.under_construction[made.key]
    if cls in objects.identity.changing:
        return made
    values = fields_of(frame.env, made)
    for name in values:
        del frame.env[f"{made.key}.{name}"]
    by_path = any(isinstance(value, _BY_PATH) for value in values.values())
    if by_path or any(map(functools.partial(_holds, made), frame.env.values())):
        raise IdentityMatters(cls)
    objects.identity.values.add(cls)
    items = tuple(list_references.kept(frame, name_binding.bound_item(frame, value)) for value in values.values())
    return RecordValue(cls, tuple(values), items)


def _holds(made: ObjectValue, value: Value) -> bool:
    """Return whether an object is in a value: its constructor has handed itself on."""
    match value:
        case ObjectValue(key=key):
            return key == made.key
        case Maybe(value=inner):
            return _holds(made, inner)
        case VariantValue(options=options):
            return any(_holds(made, option) for _, option in options)
        case TupleValue() | RecordValue() | DictValue():
            return any(_holds(made, part) for part in parts_of(value))
    return False


def _require_plain_constructor(cls: type) -> None:
    pseudo = [name for name, field in cls.__dataclass_fields__.items()  # type: ignore[attr-defined]
              if isinstance(field.type, dataclasses.InitVar) or str(field.type).startswith("InitVar")]  # fmt: skip
    written = inspect.getattr_static(cls, "__init__").__code__.co_filename != GENERATED
    if getattr(cls, "__new__") is object.__new__ and not pseudo and not (written and is_frozen(cls)):  # noqa: B009
        return
    raise FrontendError(
        f"a program cannot make an object of {cls.__name__}",
        notes=("its constructor does more than set fields",),
        help="make the object outside of the program, and pass it as an argument",
    )


def _made(frame: Frame, cls: type, values: Mapping[str, Value]) -> Value:
    ready = {name: list_references.kept(frame, name_binding.bound_item(frame, value)) for name, value in values.items()}
    made: Value
    identity = frame.program.objects.identity
    if is_frozen(cls) or cls not in identity.changing:
        identity.values.add(cls)
        made = RecordValue(cls, tuple(ready), tuple(ready.values()))
    else:
        made = _fresh(frame, cls)
        frame.env |= {f"{made.key}.{name}": value for name, value in ready.items()}
    finish = inspect.getattr_static(cls, "__post_init__", None)
    if finish is not None:
        frame.b.call(Static(finish), made)
    return made


def _fresh(frame: Frame, cls: type) -> ObjectValue:
    """A new object, no field of which is set yet."""
    program, maps = frame.program, frame.map_scopes()
    program.objects.count += 1
    made = ObjectValue(f"{cls.__name__}#{program.objects.count}", cls)
    if maps:
        program.objects.creating_maps[made.key] = maps[-1]
    return made


def replaced(frame: Frame, owner: Value, changes: Mapping[str, Value]) -> Value:
    """``dataclasses.replace(owner, **changes)``."""
    if isinstance(owner, Static) and dataclasses.is_dataclass(owner.value) and not isinstance(owner.value, type):
        cls = type(owner.value)
    elif isinstance(owner, ObjectValue | RecordValue):
        cls = owner.cls
    else:
        raise FrontendError(f"dataclasses.replace() takes a dataclass object, not {kind_of(owner)}")
    attribute = frame.program.evaluator.attribute
    kept = [field.name for field in dataclasses.fields(cls) if field.init and field.name not in changes]
    return construct(frame, cls, [], {name: attribute(frame, owner, name) for name in kept} | dict(changes))


def named_value(frame: Frame, cls: object, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value | None:
    """``cls(*args, **kwargs)`` of a named tuple, ``cls(value)`` of an enumeration; None of anything else."""
    if isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return named_tuple(frame, cls, args, kwargs)
    if isinstance(cls, enum.EnumMeta) and len(args) == 1 and not kwargs:
        return _member(frame, cls, args[0])
    return None


def _member(frame: Frame, cls: enum.EnumMeta, value: Value) -> Value:
    """The member of an enumeration with this value."""
    if not isinstance(value, Static):
        raise FrontendError(
            f"the member of {cls.__name__} is known at run time only",
            notes=("the members of an enumeration are constants of the compiled code",),
            help=f"compare the number with `{cls.__name__}.{next(iter(cls.__members__), 'NAME')}.value`",
        )
    with raised_by("Python"):
        member: enum.Enum = cls(value.value)
    return name_binding.from_python(frame, member)


def named_tuple(frame: Frame, cls: type, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """``cls(*args, **kwargs)`` of a named tuple."""
    names_ = cls._fields  # type: ignore[attr-defined]
    defaults = cls._field_defaults  # type: ignore[attr-defined]
    given = dict(zip(names_, args, strict=False)) | dict(kwargs)
    found = {name: name_binding.from_python(frame, value) for name, value in defaults.items()} | given
    if len(args) > len(names_) or set(found) != set(names_):
        message = f"{cls.__name__} has the fields {', '.join(names_)}"
        raise FrontendError(message, notes=("Python raises TypeError here",))
    return TupleValue(tuple(found[name] for name in names_), names=names_, cls=cls)
