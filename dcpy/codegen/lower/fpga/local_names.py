"""Local names of processes' own variables, and the variables that are never written.

A variable `i` of three processes has three names, because a program is one scope. In the text of hardware
each process is a function, so ``i_2`` is ``i`` there again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Item, Name
from dcpy.codegen.lir.traversal import expressions, names_in, parts, statements
from dcpy.codegen.lir.types import LirType, Pointer

Changes = dict[str, tuple[str, Pointer | None]]  #: by name: another one, and another type


class Locals:
    """The names in a function that consists of a body."""

    def __init__(self, body: tree.Body) -> None:
        self.outer = names_in(body)
        self.own = dict.fromkeys(_declared(body))
        self.taken = {*self.outer, *self.own}

    def fresh(self, stem: str) -> str:
        """A name that nothing has in the function."""
        name, number = stem, 0
        while name in self.taken:
            number += 1
            name = f"{stem}_{number}"
        self.taken.add(name)
        return name

    def shortened(self, body: tree.Body, stem_of: Callable[[str], str]) -> tree.Body:
        """The body, in which variables have the least number behind their stems that makes names distinct."""
        self.taken = {*self.outer}
        changed: Changes = {name: (self.fresh(stem_of(name)), None) for name in self.own}
        changed |= {name: (name, kind) for name, kind in _read_only(body, self.outer)}
        renamed: tree.Body = _changed(body, changed)
        return renamed


def _declared(body: tree.Body) -> Iterator[str]:
    for statement in statements(body):
        match statement:
            case tree.Declare(name=name) | tree.StackBuffer(name=name) | tree.Loop(var=name):
                yield name


def _read_only(body: tree.Body, outer: Mapping[str, LirType]) -> Iterator[tuple[str, Pointer]]:
    """The arrays of others whose elements are read alone, with the type of a pointer that says so."""
    indexed, otherwise = set(), set()
    for statement in statements(body):
        target = getattr(statement, "target", None)
        for expr in expressions(statement):
            places = [part for part in parts(expr) if isinstance(part, Item)]
            indexed |= {part.base.name for part in places if isinstance(part.base, Name) and part is not target}
            bases = {id(part.base) for part in places if part is not target}
            otherwise |= {part.name for part in parts(expr) if isinstance(part, Name) and id(part) not in bases}
    for name in sorted(indexed - otherwise):
        kind = outer.get(name)
        if isinstance(kind, Pointer):
            yield name, replace(kind, const=True)


def _changed(part: Any, changes: Changes) -> Any:
    """Statements, expressions and marks with other names of variables, or other types."""
    match part:
        case tuple():
            return tuple(_changed(item, changes) for item in part)
        case str():  # of what is declared, and in marks
            return changes[part][0] if part in changes else part
        case Name(name=name, type=kind):
            return Name(changes[name][0], changes[name][1] or kind) if name in changes else part
        case tree.Loop() | tree.Pipelined() | tree.Declare() | tree.StackBuffer():
            return _with_fields(part, changes, {"style", "bound"})
    return _with_fields(part, changes, _words(part)) if hasattr(part, "__match_args__") else part


def _words(part: Any) -> set[str]:
    """The fields of other statements and expressions that are words, such as operators."""
    return {field.name for field in fields(part) if isinstance(getattr(part, field.name), str)}


def _with_fields(part: Any, changes: Changes, leave: set[str]) -> Any:
    values = {field.name: getattr(part, field.name) for field in fields(part) if field.name not in {*leave, "span"}}
    new = {name: _changed(value, changes) for name, value in values.items()}
    return part if all(new[name] is value for name, value in values.items()) else replace(part, **new)
