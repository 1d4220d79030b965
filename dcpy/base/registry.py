"""One registry for everything that is found by name: library nodes, expansions, transformations, targets.

A catalog lists what exists as strings, so that looking at a name costs no import; the object is loaded on first use.
Which catalogs there are is decided in one place, `dcpy.plugins`. Nothing registers itself by being imported.
"""

from __future__ import annotations

import difflib
import importlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, TypeVar, cast

from dcpy.base.errors import DcpyError, UnknownName

T = TypeVar("T")
FEW = 20  # names, of which a message lists all beside the nearest one


def unknown_name(kind: str, name: str, known: Sequence[str]) -> UnknownName:
    """The error for a name that is none of those `known`: the nearest one, in any case of letters, or all of them."""
    there_are = f"there are {', '.join(known) or 'none'}"
    lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), lower, n=1)
    if not near:
        return UnknownName(f"no {kind} is called {name!r}", help=there_are)
    notes = (there_are,) if len(known) <= FEW else ()
    return UnknownName(f"no {kind} is called {name!r}", help=f"did you mean {lower[near[0]]}?", notes=notes)


class Registry(Generic[T]):
    """Name to object; `kind` is the word for an entry in messages (``"library node"``).

    `former_names` maps names of earlier versions to those of today: they still work, with a `DeprecationWarning`.
    """

    def __init__(
        self, kind: str, catalog: Mapping[str, str] | None = None, *, former_names: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self.former_names: Mapping[str, str] = former_names or {}
        self._paths: dict[str, str] = dict(catalog or {})
        self._items: dict[str, T] = {}

    def extend(self, catalog: Mapping[str, str]) -> None:
        """Add entries as ``"module:attribute"`` strings; `DcpyError` where a name is taken by another object."""
        for name, path in catalog.items():
            if self._paths.get(name, path) != path or (name in self._items and name not in self._paths):
                raise DcpyError(f"two entries for the {self.kind} {name!r}: {path} and {self._paths.get(name, '')}")
            self._paths[name] = path

    def add(self, name: str, item: T) -> T:
        """Add one object directly (a user's own, or a test's); return it."""
        if self._items.get(name, item) is not item or name in self._paths:
            raise DcpyError(f"the {self.kind} {name!r} exists already")
        self._items[name] = item
        return item

    def __getitem__(self, name: str) -> T:
        name = self.current(name)
        if name not in self._items:
            if name not in self._paths:
                raise self.unknown(name)
            module, _, attribute = self._paths[name].partition(":")
            self._items[name] = cast(T, getattr(importlib.import_module(module), attribute))
        return self._items[name]

    def current(self, name: str) -> str:
        """Return today's name of an entry; a name of an earlier version gets a `DeprecationWarning`."""
        if not self._is_former(name):
            return name
        now = self.former_names[name]
        message = f"the {self.kind} {name!r} is called {now!r} now; the old name goes with the next version"
        warnings.warn(message, DeprecationWarning, stacklevel=3)
        return now

    def attribute(self, name: str) -> str:
        """Return an entry's name in the module that defines it, without loading it; "" for one added directly."""
        return self._paths.get(name, "").partition(":")[2]

    def unknown(self, name: str) -> UnknownName:
        """The error for a name that has no entry, with the nearest one that has."""
        return unknown_name(self.kind, name, self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, catalog first, in the order in which they were added."""
        return tuple(dict.fromkeys((*self._paths, *self._items)))

    def __contains__(self, name: object) -> bool:
        return name in self._items or name in self._paths or self._is_former(name)

    def _is_former(self, name: object) -> bool:
        return name in self.former_names and name not in self._paths and self.former_names[str(name)] in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)
