"""Closures: the Python objects that free names stand for, and a record of each for the next call.

A program depends on what it read: `NameRead.holds` tells, before each call, whether the name still stands for the
object it was compiled with. Where it does not, the driver compiles the function again.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_MISSING = object()
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


@dataclass(frozen=True, eq=False)
class NameRead:
    """One name that was read: in a namespace (a module's globals, an object's attributes) or a cell of a closure."""

    kind: str  # "global", "attribute", "cell"
    owner: Any
    name: str
    value: Any

    def current(self) -> Any:
        """Return the current value of the name; a private marker where it has none."""
        match self.kind:
            case "global":
                return self.owner.get(self.name, getattr(builtins, self.name, _MISSING))
            case "attribute":
                return getattr(self.owner, self.name, _MISSING)
            case _:
                try:
                    return self.owner.cell_contents
                except ValueError:
                    return _MISSING

    def holds(self) -> bool:
        """Return whether the name still stands for the same object (for numbers and strings: an equal one)."""
        now = self.current()
        if now is self.value:
            return True
        return type(now) is type(self.value) and isinstance(now, _PLAIN) and repr(now) == repr(self.value)


class Closure:
    """Looks names up for one function and records what it found in `dependences`, which callees share."""

    def __init__(self, function: Callable[..., Any], dependences: dict[tuple[int, str], NameRead]) -> None:
        self.dependences = dependences
        code = function.__code__
        self._globals: dict[str, Any] = function.__globals__
        self._cells: dict[str, types.CellType] = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))

    def lookup(self, name: str) -> tuple[bool, Any]:
        """Return whether the name is known, and the object."""
        if name in self._cells:
            return self._record(NameRead("cell", self._cells[name], name, None))
        return self._record(NameRead("global", self._globals, name, None))

    def attribute(self, owner: Any, name: str) -> tuple[bool, Any]:
        """The same for an attribute of a module or another object that is known at compile time."""
        return self._record(NameRead("attribute", owner, name, None))

    def peek(self, name: str) -> tuple[bool, Any]:
        """Look a name up as `lookup` does, without a record: for decisions about code, not for its meaning."""
        kind, owner = ("cell", self._cells[name]) if name in self._cells else ("global", self._globals)
        value = NameRead(kind, owner, name, None).current()
        return (False, None) if value is _MISSING else (True, value)

    def dependences_of(self, name: str, owner: Any = None) -> NameRead | None:
        """The record made when the name was looked up."""
        namespace = owner if owner is not None else self._cells.get(name, self._globals)
        return self.dependences.get((id(namespace), name))

    def names(self) -> tuple[str, ...]:
        """All names that can be seen, for suggestions."""
        return (*self._cells, *self._globals, *dir(builtins))

    def _record(self, question: NameRead) -> tuple[bool, Any]:
        key = (id(question.owner), question.name)
        known = self.dependences.get(key)
        if known is not None:
            return True, known.value
        value = question.current()
        if value is _MISSING:
            return False, None
        if question.kind == "global" and question.name not in self._globals:
            return True, value  # a builtin: nothing that a module assigns
        self.dependences[key] = NameRead(question.kind, question.owner, question.name, value)
        return True, value
