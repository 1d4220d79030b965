"""Object slots: the key that an object gets with its name, so that objects of one name meet field by field.

    if x > 0:                               counter = Counter#1, or Counter#2:   one of two objects, which no
        counter = Counter(0)                                                     statement behind the branch can use
    else:
        counter = Counter(5)                counter = Counter#counter:           its fields meet as names do

An object is a reference, and its fields are names of the frame, ``key.field``. Where nothing but the one name stands
for an object that the program has made, it cannot be distinguished from the object that the name has stood for before,
or stands for on another path: it takes over the key, the old fields are gone, and branches and loops join the fields.
Names that are not read again do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import fields as parts_of_dataclass
from dataclasses import is_dataclass, replace
from typing import Any

from dcpy.frontend.abstract_values.values import VALUES, ObjectValue, TupleValue, Value
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.frame import Frame, is_field
from dcpy.frontend.lower.objects.dataclass_objects import fields_of, is_argument


def in_slot(frame: Frame, node: core.Assign, value: Value) -> Value:
    """Return what is assigned to a name, or to a tuple of names: objects, with their fields, under keys of these."""
    target = node.targets[0]
    if len(node.targets) > 1 or frame.map_scopes():
        return value
    if isinstance(target, ast.Name):
        return _in_slot(frame, node, target.id, value)
    names = [part.id for part in target.elts if isinstance(part, ast.Name)] if isinstance(target, ast.Tuple) else []
    if not isinstance(value, TupleValue) or value.token is not None or len(names) != len(value.items):
        return value
    items = list(value.items)
    for place, name in enumerate(names):
        frame.program.pending_operands.append([*items[:place], *items[place + 1 :]])
        items[place] = _in_slot(frame, node, name, items[place])
        frame.program.pending_operands.pop()
    return replace(value, items=tuple(items))


def _in_slot(frame: Frame, node: core.Assign, name: str, value: Value) -> Value:
    if not isinstance(value, ObjectValue) or is_argument(value) or name in frame.define.outer:
        return value
    slot = ObjectValue(f"{value.cls.__name__}#{name}{_number(frame)}", value.cls)
    unread = _unread(frame, node, value)
    old = frame.env.get(name)
    if slot == value or _is_held(frame, value, unread) or not _gives_way(frame, slot, old, [name, *unread]):
        return value
    _move(frame, value, slot)
    frame.env |= dict.fromkeys(unread, slot)
    return slot


def _number(frame: Frame) -> str:
    """Return the ending that distinguishes activations of a function that are evaluated in place."""
    if frame.caller is None:
        return ""
    if not frame.number:
        frame.program.objects.count += 1
        frame.number = frame.program.objects.count
    return f"#{frame.number}"


def _unread(frame: Frame, node: core.Assign, value: ObjectValue) -> list[str]:
    """The names of the object that are not read behind the statement."""
    live = frame.liveness.after.get(node)
    if live is None:
        return []
    return [name for name, other in frame.env.items() if other == value and not is_field(name) and name not in live]


def _gives_way(frame: Frame, slot: ObjectValue, old: Value | None, names: Iterable[str]) -> bool:
    """Return whether no object has the key, or only the `old` one that these names alone stand for."""
    if not _fields(frame, slot):
        return True
    return old == slot and not _is_held(frame, slot, names) and not _is_repeated(frame)


def _fields(frame: Frame, owner: ObjectValue) -> list[str]:
    return [name for name in frame.env if is_field(name) and name.rpartition(".")[0] == owner.key]


def _move(frame: Frame, value: ObjectValue, slot: ObjectValue) -> None:
    """Give an object another key, and the objects in its fields keys behind that one."""
    old = {name: frame.env.pop(name) for name in _fields(frame, slot)}
    for field, part in fields_of(frame.env, value).items():
        del frame.env[f"{value.key}.{field}"]
        name = f"{slot.key}.{field}"
        frame.env[name] = part
        if not isinstance(part, ObjectValue) or is_argument(part) or _is_held(frame, part, [name]):
            continue
        inner = ObjectValue(name, part.cls)
        if _gives_way(frame, inner, old.get(name), [name]):
            _move(frame, part, inner)
            frame.env[name] = inner


def _is_held(frame: Frame, value: ObjectValue, but: Iterable[str]) -> bool:
    """Return whether a name but these, or an operand that waits, stands for the object, or for something with it."""
    names = {name: other for name, other in frame.env.items() if name not in but}
    return _holds(value.key, [names, frame.caller, frame.outer, *frame.program.pending_operands], {id(frame)})


def _is_repeated(frame: Frame) -> bool:
    """Return whether a loop around is written once for each item: no name holds its items."""
    around = any(loop.kind == "unrolled" for loop in frame.loops)
    return around or (frame.caller is not None and _is_repeated(frame.caller))


def _holds(key: str, value: Any, seen: set[int]) -> bool:
    """Return whether an object is in a value; of functions and generators, in what they see."""
    if isinstance(value, ObjectValue):
        return value.key == key
    parts: Iterable[Any] = ()
    if isinstance(value, tuple | list):
        parts = value
    elif isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, Frame) and id(value) not in seen:
        seen.add(id(value))
        parts = (value.env, value.caller, value.outer)
    elif isinstance(value, VALUES) and is_dataclass(value):
        parts = [getattr(value, part.name) for part in parts_of_dataclass(value)]
    return any(_holds(key, part, seen) for part in parts)
