"""Dataclass objects: fields that are read and assigned, methods. How programs make objects: `constructors`. How
programs make objects: `constructors`.

An object that may change is a reference (`ObjectValue`). What its fields stand for is kept among the names of a frame,
as ``key.field``: branches merge fields and loops carry them as they do names, and functions that are evaluated in
place are handed the fields, and hand them back. A frozen object is a value (`RecordValue`).
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
import types as python_types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.dynamic_arrays import VARYING
from dcpy.frontend.abstract_values.list_values import ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    BoundMethod,
    DictValue,
    ObjectValue,
    RecordValue,
    Scalar,
    SliceValue,
    Static,
    TupleValue,
    Value,
    is_number,
    kind_of,
    parts_of,
)
from dcpy.frontend.lower import name_binding
from dcpy.frontend.lower.arrays import stores
from dcpy.frontend.lower.frame import IdentityMatters, is_field
from dcpy.frontend.lower.sequences import list_references
from dcpy.frontend.scipy.sparse_matrices import CLASSES
from dcpy.frontend.specialize.list_arguments import is_kept_class, is_list_class
from dcpy.frontend.specialize.record_arguments import Record, field_names, is_frozen, is_plain_class, is_sparse
from dcpy.ir.symbolic import as_expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import ExitPoint, Frame

_NEW = " is new"  # behind the name of a field of an argument: whether it has been given another object
_ABSENT = object()


# -- fields ----------------------------------------------------------------------------------------------------------


def fields(env: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of the fields of all objects."""
    return {name: value for name, value in env.items() if is_field(name)}


def bind_records(frame: Frame, records: Mapping[str, Record], leaves: Mapping[str, Value]) -> dict[str, Value]:
    """The values of arguments by path. The fields of objects that may change become names of the frame."""
    found = dict(leaves)
    for path, record in reversed(list(records.items())):  # what is inside comes first
        found[path] = _record_value(frame, record, found)
    for path, record in records.items():
        if not record.changes or record.same_as:
            continue
        for member in record.members:
            name = f"{path}.{member.step}"
            frame.env[name] = found[member.path]
            if not is_number(found[member.path]):
                frame.env[name + _NEW] = Static(False)
    frame.program.objects.initial_fields = fields(frame.env)
    frame.program.objects.passed_values = {path: found[path] for path, record in records.items() if not record.changes}
    return found


def _record_value(frame: Frame, record: Record, found: Mapping[str, Value]) -> Value:
    if record.changes:
        return ObjectValue(record.same_as or record.path, record.cls)
    items = tuple(found[member.path] for member in record.members)
    if is_list_class(record.cls):
        return _list_value(frame, record, [item for item in items if isinstance(item, ArrayValue)])
    if is_kept_class(record.cls):
        is_list = bool(record.cls.kept_as_list)  # type: ignore[attr-defined]
        return TupleValue(items, is_list=is_list, token=_of_the_caller(record) if is_list else None)
    if not record.is_tuple:
        cls = CLASSES[record.cls.__name__] if is_sparse(record.cls) else record.cls
        return RecordValue(cls, tuple(str(member.step) for member in record.members), items)
    steps = getattr(record.cls, "_fields", ())
    return TupleValue(items, names=steps, cls=record.cls if steps else None)


def _list_value(frame: Frame, record: Record, columns: Sequence[ArrayValue]) -> Value:
    """A list that was passed: the array is a copy, and so takes no changes."""
    items, b = columns[0], frame.b
    if len(record.cls.list_levels) > items.rank:  # type: ignore[attr-defined]
        items = b.empty([b.exact(items.shape[0]), as_expr(len(columns))], items.dtype, name="list")
        for position, column in enumerate(columns):
            target = b.subscript(items, [SliceValue(*[Static(None)] * 3), Static(position)])
            assert isinstance(target, ArrayValue)
            stores.write(b, target, column)
    cls: Any = record.cls
    return ListValue(items, cls.list_weak, levels=cls.list_levels, token=_of_the_caller(record))


def _of_the_caller(record: Record) -> list_references.Frozen:
    return list_references.Frozen(f"it is the caller's list {record.path!r}, of which the program has a copy")


def changed_fields(env: Mapping[str, Value], paths: Sequence[ExitPoint]) -> list[str]:
    """The fields that have another value at the end of some path; an object that one path has made is its own."""
    first, *others = (fields(path.env) for path in paths)
    common = [name for name in first if all(name in other for other in others)]
    return [name for name in common if any(path.env[name] != env.get(name) for path in paths)]


def changed_arguments(frame: Frame, paths: Sequence[ExitPoint]) -> list[str]:
    """The fields of objects of the caller that are something else when the function returns."""
    start = frame.program.objects.initial_fields
    changed = [
        name
        for name, value in start.items()
        if not name.endswith(_NEW) and any(path.env[name] != value or _is_set(path.env, name) for path in paths)
    ]
    for name in changed:  # its former value matters where paths meet; elements are in the graph
        frame.program.objects.used_fields[name] = not isinstance(start[name], Scalar | ArrayValue)
    return changed


def _is_set(env: Mapping[str, Value], name: str) -> bool:
    return env.get(name + _NEW, Static(False)) != Static(False)


def is_new(env: Mapping[str, Value], name: str) -> Value:
    """Return whether a field has been given another object; True for numbers, which are always replaced."""
    return env.get(name + _NEW, Static(True))


def is_argument(value: ObjectValue) -> bool:
    """Return whether the caller has passed the object."""
    return "#" not in value.key


def fields_of(env: Mapping[str, Value], value: ObjectValue) -> dict[str, Value]:
    """The fields of one object, in the order in which its class declares them."""
    declared = field_names(value.cls)
    return {name: env[f"{value.key}.{name}"] for name in declared if f"{value.key}.{name}" in env}


def with_shown_lists(frame: Frame, value: Value) -> dict[str, Value]:
    """The names of a frame that returns a value; fields of objects in it that are lists show what is in them."""
    env, pending, seen = dict(frame.env), [value], {""}
    while pending:
        one = pending.pop()
        if isinstance(one, ObjectValue) and one.key not in seen and not is_argument(one):
            seen.add(one.key)
            for name, part in fields_of(frame.env, one).items():
                env[f"{one.key}.{name}"] = list_references.shown(frame, part)
                pending.append(env[f"{one.key}.{name}"])
        elif isinstance(one, TupleValue | RecordValue | DictValue):
            pending += parts_of(one)
    return env


def materialize_sizes(frame: Frame) -> None:
    """Show arrays whose sizes depend on the path as they are, before the function returns."""
    for name in frame.program.objects.initial_fields:
        if isinstance(frame.env[name], VARYING):
            frame.env[name] = name_binding.usable(frame, name)


def made_inside(env: Mapping[str, Value], exits: Sequence[ExitPoint], wanted: Sequence[str]) -> list[str]:
    """The fields of objects that a loop has made, and that the names `wanted` after it stand for."""
    found: dict[str, bool] = {}
    for path in exits:
        pending = [path.env[name] for name in wanted if name in path.env]
        while pending:
            match pending.pop():
                case ObjectValue() as made:
                    keys = [f"{made.key}.{name}" for name in fields_of(path.env, made)]
                    new = [key for key in keys if key not in env and key not in found]
                    found |= dict.fromkeys(new, True)
                    pending += [path.env[key] for key in new]
                case TupleValue(items=items) | RecordValue(items=items):
                    pending += items
    return list(found)


def fields_set_inside(env: Mapping[str, Value], exits: Sequence[ExitPoint]) -> list[str]:
    """The fields that objects from before a loop get in it, whichever way it is left."""
    found: dict[str, bool] = {}
    for made in env.values():
        if isinstance(made, ObjectValue):
            keys = (f"{made.key}.{name}" for name in field_names(made.cls))
            found |= {key: True for key in keys if key not in env and exits and all(key in one.env for one in exits)}
    return list(found)


def require_same_fields(before: Mapping[str, Value], env: Mapping[str, Value]) -> None:
    """Refuse what a condition inside an expression has changed."""
    for name, value in fields(env).items():
        if name in before and before[name] != value:
            raise FrontendError(
                f"{_shown(name)!r} is assigned in a part of an expression that is evaluated under a condition only",
                help="use an `if` statement",
            )


def assign_field(frame: Frame, owner: Value, name: str, value: Value) -> None:
    """``owner.name = value``."""
    require_assignable(owner, name)
    assert isinstance(owner, ObjectValue)
    if owner.key not in frame.program.objects.under_construction:
        _changes(frame, owner.cls)
    setter = inspect.getattr_static(owner.cls, name, None)
    if isinstance(setter, property) and setter.fset is not None:
        _call(frame, setter.fset, owner, [value])
        return
    known = field_names(owner.cls)
    if name not in known:
        raise FrontendError(
            f"{owner.cls.__name__} has no field {name!r}",
            help=_near(name, known) or "a program does not add fields: declare it in the class",
        )
    maps = frame.map_scopes()
    if maps and frame.program.objects.creating_maps.get(owner.key) is not maps[-1]:
        raise FrontendError(
            f"iterations of a parallel map cannot assign the field {name!r}, which they share",
            help="store into an array, assign the field after the map, or use a plain for loop",
        )
    key = f"{owner.key}.{name}"
    name_binding.bind_name(frame, key, value)
    if key + _NEW in frame.env and not is_number(value):
        frame.env[key + _NEW] = Static(True)
    frame.program.objects.used_fields[owner.key] = True


def _changes(frame: Frame, cls: type) -> None:
    """A field of an object of this class is assigned: its objects are references."""
    if cls in frame.program.objects.identity.values:
        raise IdentityMatters(cls)
    frame.program.objects.identity.changing.add(cls)


def require_assignable(owner: Value, name: str, *, in_place: bool = False) -> None:
    """Refuse assignments to attributes of anything but objects that may change.

    `in_place`: an array is changed, and assigned to where it is already: then global objects are taken as well.
    """
    if in_place and isinstance(owner, Static) and not (is_dataclass(owner.value) and is_frozen(type(owner.value))):
        return
    if isinstance(owner, RecordValue) and not is_frozen(owner.cls):
        raise IdentityMatters(owner.cls)
    if not isinstance(owner, ObjectValue):
        raise _not_assignable(owner, name)


def as_values(frame: Frame, objects: Sequence[Value]) -> list[RecordValue] | None:
    """Objects of one class as values, where no program that is compiled with this one assigns to their fields."""
    known = [v for v in objects if isinstance(v, RecordValue) or (isinstance(v, ObjectValue) and is_argument(v))]
    cls, identity = known[0].cls if known else None, frame.program.objects.identity
    if cls is None or len(known) < len(objects) or any(value.cls is not cls for value in known):
        return None
    if cls in identity.changing and not is_frozen(cls):
        return None
    identity.values.add(cls)
    return [as_value(frame, value) for value in known]


def as_value(frame: Frame, value: ObjectValue | RecordValue) -> RecordValue:
    """An object of the caller, no field of which is ever assigned, as a value."""
    if isinstance(value, RecordValue):
        return value
    start = frame.program.objects.initial_fields
    fields_ = fields_of(start, value)
    frame.program.objects.used_fields |= {f"{value.key}.{name}": True for name in fields_}
    return RecordValue(value.cls, tuple(fields_), tuple(fields_.values()))


def like(frame: Frame, target: Value, source: Value) -> Value:
    """`source` as it is assigned to `target`: as a value, where that is one."""
    if not isinstance(target, TupleValue | RecordValue):
        return source
    if isinstance(source, ObjectValue):
        source = as_value(frame, source)
    if not isinstance(source, TupleValue | RecordValue):
        return source
    items = (like(frame, mine, other) for mine, other in zip(target.items, source.items, strict=True))
    return replace(source, items=tuple(items))


def only_read(value: RecordValue) -> str:
    """Return the words for an object of NumPy's of which programs may only read fields; "" for others."""
    return str(getattr(value.cls, "only_read", "")) if value.cls.__module__.startswith("dcpy.frontend.") else ""


def _not_assignable(owner: Value, name: str) -> FrontendError:
    if isinstance(owner, RecordValue) and (stands_for := only_read(owner)):
        return FrontendError(f"{stands_for} are only read by a program", help="make an array of this layout")
    if isinstance(owner, RecordValue):
        return FrontendError(
            f"cannot assign to field {name!r}",
            notes=(f"{owner.cls.__name__} is a frozen dataclass: Python raises FrozenInstanceError here",),
            help=f"make a changed copy: `dataclasses.replace(obj, {name}=...)`",
        )
    if isinstance(owner, TupleValue):
        return FrontendError(
            "items of a tuple are never assigned",
            notes=("Python raises AttributeError here",),
            help="make a new tuple, or use a dataclass",
        )
    notes: tuple[str, ...] = ()
    if isinstance(owner, Static) and not isinstance(owner.value, type | python_types.ModuleType):
        is_object = dataclasses.is_dataclass(owner.value)
        notes = ("it is a global object, which a program only reads",) if is_object else (
            f"{type(owner.value).__name__} is not a dataclass, so its objects from outside the program are constants",
        )  # fmt: skip
        help = "pass the object as an argument" if is_object else (
            "make the class a dataclass (@dataclasses.dataclass), or create the object in the program"
        )
        return FrontendError(f"the attribute {name!r} cannot be assigned here", notes=notes, help=help)
    return FrontendError("a program cannot assign this attribute", help="return the value instead")


def read_field(frame: Frame, owner: ObjectValue | RecordValue | TupleValue, name: str) -> Value:
    """``owner.name``: a field, a property, a method, or an attribute of the class."""
    if not isinstance(owner, ObjectValue):
        if name in owner.names:
            item = owner.items[owner.names.index(name)]
            return list_references.shown(frame, name_binding.as_usable(frame, f"{kind_of(owner)}.{name}", item))
    else:
        key = f"{owner.key}.{name}"
        if key in frame.env:
            frame.program.objects.used_fields[key] = True
            return list_references.shown(frame, name_binding.usable(frame, key))
    cls = owner.cls
    found = inspect.getattr_static(cls, name, _ABSENT)
    if cls is None or found is _ABSENT or name in _declared(cls):
        raise _no_attribute(owner, name)
    return _of_class(frame, owner, cls, name, found)


def _of_class(frame: Frame, owner: Value, cls: type, name: str, found: Any) -> Value:
    """An attribute of the class as an object has it: functions are bound, properties are evaluated."""
    if isinstance(found, classmethod):
        return BoundMethod(Static(cls), found.__func__)
    known, value = frame.closure.attribute(cls, name)
    function = getattr(found, "__wrapped__", found)  # a program stands for its function
    if isinstance(found, property | functools.cached_property):
        getter = found.fget if isinstance(found, property) else found.func
        assert getter is not None
        return _call(frame, getter, owner, [])
    if isinstance(found, staticmethod) or not isinstance(function, python_types.FunctionType):
        return (
            name_binding.from_python(frame, value, frame.closure.dependences_of(name, cls)) if known else Static(value)
        )
    return BoundMethod(owner, function)


def method_of_super(frame: Frame, name: str) -> BoundMethod:
    """``super().name`` in a method: that of the next class, for the same object."""
    known, cls = frame.closure.lookup("__class__")
    parameters = [*frame.define.args.posonlyargs, *frame.define.args.args]
    owner = frame.env.get(parameters[0].arg) if parameters else None
    of = type(owner.value) if isinstance(owner, Static) else getattr(owner, "cls", None)
    if not known or owner is None or of is None or cls not in of.__mro__:
        raise FrontendError("super() is known in methods of objects only", help="name the class: `Base.method(self)`")
    order = of.__mro__
    for base in order[order.index(cls) + 1 :]:
        function = vars(base).get(name)
        function = getattr(function, "__wrapped__", function)
        if isinstance(function, python_types.FunctionType):
            frame.closure.attribute(base, name)
            return BoundMethod(owner, function)
    if name == "__init__":
        return BoundMethod(owner, _init_of_object)
    raise FrontendError(f"no class above {cls.__name__} has a method {name!r}")


def _init_of_object(self: object) -> None:
    """Do nothing, as ``object.__init__`` does."""


def method_of(frame: Frame, owner: Static, name: str) -> BoundMethod | None:
    """A method of a class, of a global object, or of one that is a constant; None where it is something else."""
    if isinstance(owner.value, type):
        found = inspect.getattr_static(owner.value, name, None)
        function = found.__func__ if isinstance(found, classmethod) else None
        return BoundMethod(owner, function) if isinstance(function, python_types.FunctionType) else None
    if isinstance(owner.value, python_types.ModuleType) or name in getattr(owner.value, "__dict__", {}):
        return None
    found = inspect.getattr_static(type(owner.value), name, None)
    function = getattr(found, "__wrapped__", found)
    if isinstance(found, staticmethod) or not isinstance(function, python_types.FunctionType):
        return None
    frame.closure.attribute(type(owner.value), name)
    return BoundMethod(owner, function)


def _no_attribute(owner: ObjectValue | RecordValue | TupleValue, name: str) -> FrontendError:
    cls = owner.cls
    if cls is None or not owner.cls:
        return FrontendError(f"{kind_of(owner)} has no attribute {name!r}")
    declared = _declared(cls)
    if name in declared:
        return FrontendError(
            f"the field {name!r} of {kind_of(owner)} has no value here",
            notes=("the object was made in a loop or branch that has ended, or the field was never set",),
            help="assign it first",
        )
    visible = [*declared, *(known for known in dir(cls) if not known.startswith("_"))]
    return FrontendError(f"{cls.__name__} object has no attribute {name!r}", help=_near(name, visible))


def _declared(cls: type) -> list[str]:
    return field_names(cls) if dataclasses.is_dataclass(cls) or is_plain_class(cls) else []


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def _shown(name: str) -> str:
    return name.removesuffix(_NEW)


def _call(frame: Frame, function: Any, owner: Value, args: Sequence[Value]) -> Value:
    return frame.b.call(Static(function), owner, *args)
