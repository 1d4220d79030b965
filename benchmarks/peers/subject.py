"""A kernel as it is handed to a framework's adaptation: text, sample arguments, and what their shapes are made of."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.npbench import Kernel


@dataclass(frozen=True)
class Subject:
    """`source` is a module that defines the function `name`; `shapes` says the sizes of array arguments with the names
    in `symbols` (such as ``N`` and ``N + 1``), each of which is an integer of the caller's."""

    source: str
    name: str
    arguments: dict[str, Any]
    shapes: dict[str, tuple[str, ...]]
    symbols: tuple[str, ...]


def subject_of(kernel: Kernel, preset: str, arguments: dict[str, Any]) -> Subject:
    """A kernel of the suite. The names of sizes come from comparing two presets: nobody had to write them down."""
    source = computing_source(Path(str(kernel.module.__file__)).read_text())
    other = "XS" if preset != "XS" else "S"
    shapes, symbols = named_shapes((arguments, kernel.sizes[preset]), (kernel.initialize(other), kernel.sizes[other]))
    return Subject(source, kernel.name, arguments, shapes, symbols)


def named_shapes(
    first: tuple[dict[str, Any], dict[str, Any]], second: tuple[dict[str, Any], dict[str, Any]]
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Shapes of arrays in terms of sizes, from two samples of (arguments, sizes); and the names that they need.

    A size is a name plus a small number where that holds in both samples (the smallest number wins, integer arguments
    before others), a number where both have the same, else a name of its own. Arguments that are sizes are among the
    names.
    """
    known = [_integers({**arguments, **sizes}) for arguments, sizes in (first, second)]
    used: dict[str, None] = dict.fromkeys(name for name in _integers(first[0]) if name in first[1])
    shapes = {}
    for array, value in first[0].items():
        if not isinstance(value, np.ndarray):
            continue
        shapes[array] = tuple(
            _named(one, two, known, used, f"{array}_{axis}")
            for axis, (one, two) in enumerate(zip(value.shape, second[0][array].shape, strict=True))
        )
    return shapes, tuple(used)


def _integers(values: dict[str, Any]) -> dict[str, int]:
    return {name: value for name, value in values.items() if type(value) is int}


def _named(one: int, two: int, known: list[dict[str, int]], used: dict[str, None], fresh: str) -> str:
    fits = [(abs(one - known[0][name]), name) for name in known[0] if one - known[0][name] == two - known[1][name]]
    if one == two:
        return str(one)
    distance, name = min(fits, key=lambda entry: entry[0], default=(99, ""))
    if distance > 8:
        used[fresh] = None
        return fresh
    used[name] = None
    shift = one - known[0][name]
    return name if not shift else f"{name} {'+' if shift > 0 else '-'} {abs(shift)}"


def computing_source(source: str) -> str:
    """A kernel's module without `initialize`, which is not measured."""
    lines = source.splitlines()
    (setup,) = (n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == "initialize")
    del lines[setup.lineno - 1 : setup.end_lineno]
    return "\n".join(lines).rstrip() + "\n"
