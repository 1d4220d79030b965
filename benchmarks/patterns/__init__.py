"""Small loops, one pattern of dependences each: what a compiler has to see, or to change, before they are parallel.

The classes are those that suites for vectorizing compilers have (Callahan, Dongarra, Levine, Vectorizing Compilers: A
Test Suite and Results, 1988); the programs are written for dcpy, in plain Python, from the patterns' descriptions.
Nothing of dcpy is imported here: peers read the programs, too.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

CLASSES = (
    "independence", "induction", "reordering", "interchange", "splitting", "expansion", "control_flow", "reductions",
    "recurrences", "packing", "indirect", "unrolled", "basics",
)  # fmt: skip


@dataclass(frozen=True)
class Pattern:
    """A program, and the module that tells of its class."""

    family: str
    function: Callable[..., Any]

    def arguments(self, length: int) -> tuple[Any, ...]:
        """By the names of parameters: small letters are vectors, numbers or indices, large ones square matrices.

        Where there is a matrix, vectors have as many elements as it has rows, and all elements are `length` or fewer.
        """
        names = list(inspect.signature(self.function).parameters)
        rng = np.random.default_rng(0)
        side = int(length**0.5)
        size = side if any(name.isupper() for name in names) else length
        return tuple(_argument(name, size, side, rng) for name in names)


def _argument(name: str, size: int, side: int, rng: np.random.Generator) -> Any:
    if name.isupper():
        return rng.random((side, side))
    special: dict[str, Callable[[], Any]] = {
        "line": lambda: rng.random(side * side),  # as many elements as a matrix
        "p": lambda: rng.permutation(size),
        "q": lambda: rng.integers(0, size, size),
        "r": lambda: np.arange(size + 1) * (size // 4) // size * 4,  # where rows begin
        "h": lambda: np.zeros(64, np.int64),
        "s": lambda: 0.75,
        "k": lambda: max(size // 3, 1),
        "z": lambda: 3,
        "m": lambda: max(int((2 * size) ** 0.5) - 1, 1),
        "n": lambda: size,
    }
    return special[name]() if name in special else rng.random(size)


def _patterns() -> dict[str, Pattern]:
    found = {}
    for family in CLASSES:
        module = importlib.import_module(f"{__name__}.{family}")
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_"):
                found[name] = Pattern(family, function)
    return found


PATTERNS = _patterns()
