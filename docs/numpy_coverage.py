"""Which of NumPy's public callables dcpy compiles: the count, and how the parameters compare with NumPy's own.

The rule of the count: the functions that the public namespaces in `NAMESPACES` name, and the methods of
`numpy.random.Generator`, by the object (``np.abs`` and ``np.absolute`` are one). Classes, modules and constants do not
count; neither do methods of ufuncs (``np.add.reduce``), nor those of arrays, which are listed on their own.
What does not compile has a reason in `dcpy.frontend.numpy.unsupported_functions`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.frontend.abstract_values.values import Static
from dcpy.frontend.implements import RegisteredFunction, find, find_method, is_default, original_parameters
from dcpy.frontend.numpy.unsupported_functions import Reason, keyword_reason, refusal

NAMESPACES: dict[str, Any] = {
    "numpy": np,
    "numpy.linalg": np.linalg,
    "numpy.fft": np.fft,
    "numpy.lib.stride_tricks": np.lib.stride_tricks,
}


@dataclass(frozen=True)
class Coverage:
    """One public callable: all its names, what implements it, and what speaks against it where nothing does."""

    names: tuple[str, ...]
    function: Callable[..., Any]
    entry: RegisteredFunction | None
    refusal: Reason | None

    @property
    def name(self) -> str:
        """The name by which the page lists it: the one that the object itself has, else the first."""
        own = getattr(self.function, "__name__", "")
        return next((name for name in self.names if name.endswith(f".{own}")), self.names[0])

    @property
    def makes_sense(self) -> bool:
        """Whether a compiled program could have it: it works on numbers."""
        return self.entry is not None or (self.refusal is not None and self.refusal.makes_sense)

    def lacking(self) -> dict[str, str]:
        """NumPy's parameters that dcpy takes with their defaults only, and why."""
        mine, known = self._signatures()
        if self.entry is None or any(p.kind is p.VAR_POSITIONAL for p in mine):
            return {}
        places = [p for p in mine if p.kind in _PLACES]
        by_name = {p.name for p in mine}
        named = [p for k, p in enumerate(known) if not (p.kind is p.POSITIONAL_ONLY and k < len(places))]
        plain = (p.name for p in named if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL))
        return {name: keyword_reason(self.name, name) for name in plain if name not in by_name}

    def differences(self) -> list[str]:
        """Where the signature is not a part of NumPy's. It may take by name or place what NumPy takes one way only."""
        mine, known = self._signatures()
        if self.entry is None or not known:
            return []
        places = [p for p in mine if p.kind in _PLACES]
        theirs = [p for p in known if p.kind in _PLACES]
        named = {p.name: p for p in known}
        takes_any = any(p.kind is p.VAR_KEYWORD for p in known)
        found = [
            f"{left.name} stands where NumPy has {right.name}"
            for left, right in zip(places, theirs, strict=False)
            if right.kind is not right.POSITIONAL_ONLY and left.name != right.name
        ]
        pairs = list(zip(places, theirs, strict=False))
        for parameter in [*places[len(theirs) :], *(p for p in mine if p.kind is p.KEYWORD_ONLY)]:
            if parameter.name in named:
                pairs.append((parameter, named[parameter.name]))
            elif not takes_any and not any(p.kind is p.VAR_POSITIONAL for p in known):
                found.append(f"{parameter.name} is not NumPy's")
        return found + [f"{p.name}={p.default!r}" for p, q in pairs if not _same_default(q.default, p.default)]

    def _signatures(self) -> tuple[list[inspect.Parameter], list[inspect.Parameter]]:
        """Both lists of parameters, without the owner of a method."""
        known = list(original_parameters(self.function).values())
        mine = [] if self.entry is None else list(self.entry.signature.parameters.values())
        if self.is_method:
            mine, known = mine[1:], [p for p in known if p.name != "self"]
        return mine, known

    @property
    def is_method(self) -> bool:
        """Whether it belongs to arrays, or to `numpy.random.Generator`."""
        return self.names[0].startswith(("numpy.ndarray.", "numpy.random.Generator."))


_PLACES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _same_default(theirs: Any, mine: Any) -> bool:
    """NumPy marks some parameters as not given by an object of its own, for which dcpy has a default that it names."""
    is_marked = theirs is np._NoValue or repr(theirs) == "<no value>"
    return theirs is mine or (is_marked and mine is not inspect.Parameter.empty) or is_default(theirs, Static(mine))


def public_callables() -> list[Coverage]:
    """All that the count is about, by name."""
    names: dict[int, list[str]] = {}
    functions: dict[int, Any] = {}
    for name, function in _public():
        names.setdefault(id(function), []).append(name)
        functions[id(function)] = function
    found = [
        Coverage(tuple(names[key]), function, find(function), refusal(function)) for key, function in functions.items()
    ]
    return sorted(found, key=lambda coverage: coverage.name)


def _public() -> Iterator[tuple[str, Any]]:
    for prefix, namespace in NAMESPACES.items():
        for name in sorted(getattr(namespace, "__all__", ("as_strided", "sliding_window_view"))):
            found = getattr(namespace, name)
            if callable(found) and not inspect.isclass(found) and not inspect.ismodule(found):
                yield f"{prefix}.{name}", found
    for name in dir(np.random.Generator):
        if not name.startswith("_") and callable(getattr(np.random.Generator, name)):
            yield f"numpy.random.Generator.{name}", getattr(np.random.Generator, name)


def array_methods() -> list[Coverage]:
    """Public methods of arrays."""
    found = [(name, getattr(np.ndarray, name)) for name in dir(np.ndarray) if not name.startswith("_")]
    return [
        Coverage((f"numpy.ndarray.{name}",), function, find_method(name), refusal(function))
        for name, function in found
        if callable(function)
    ]
