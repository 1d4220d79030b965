"""The 54 kernels of NPBench, as plain NumPy: one module each, with the function and its `initialize`.

`catalog.json` carries the facts of each (title, domain, names of arguments and outputs, sizes); this module reads it.
Nothing here knows any compiler: who measures applies it to `Kernel.function`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

CATALOG = Path(__file__).with_name("catalog.json")


@dataclass(frozen=True)
class Kernel:
    """One program of the suite; `name` is that of its module and of its function."""

    name: str
    title: str
    id: str
    domain: str
    dwarf: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    sizes: dict[str, dict[str, int | float]]

    @property
    def module(self) -> ModuleType:
        return importlib.import_module(f"{__name__}.{self.name}")

    @property
    def function(self) -> Callable[..., Any]:
        return getattr(self.module, self.name)

    def initialize(self, preset: str) -> dict[str, Any]:
        """Fresh arguments, by name and in order, always the same for a preset (XS, S, M, L, paper)."""
        return self.module.initialize(**self.sizes[preset])

    def source(self) -> str:
        """The lines that compute: the function and those of its module that it calls, without `initialize`."""
        functions = inspect.getmembers(self.module, inspect.isfunction)
        return "\n".join(inspect.getsource(f) for name, f in functions if name != "initialize")


@functools.cache
def kernels() -> dict[str, Kernel]:
    """All kernels by name, in alphabetical order."""
    facts = json.loads(CATALOG.read_text())
    return {
        name: Kernel(name, **{**fact, "arguments": tuple(fact["arguments"]), "outputs": tuple(fact["outputs"])})
        for name, fact in facts.items()
    }
