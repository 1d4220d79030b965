"""A random program: its text, and how the arguments for it are made, again and again the same.

The text is complete, so that a failing program can be read and pasted into a regression test.
"""

from __future__ import annotations

import linecache
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dcpy
from tests.fuzz.functions import PRELUDE

SHAPES: dict[str, tuple[str, ...]] = {
    "a": ("n",), "b": ("n",), "c": ("n", "m"), "d": ("m",), "e": ("2", "n", "m"), "z": (),
}  # fmt: skip
ARGUMENTS = (*SHAPES, "k", "s")
HEAD = f"def f({', '.join(ARGUMENTS)}):\n"
DTYPES = (
    "float64", "int64", "float32", "int32", "bool", "uint8", "int8", "int16", "uint16", "uint32", "uint64",
    "float16", "complex128", "complex64",
)  # fmt: skip
LAYOUTS = ("C", "F", "strided", "reversed")
ALIASES = ("", "b is a", "b overlaps a", "d is a row of c", "d is in a")
RAISED = (IndexError, ZeroDivisionError, KeyError, AssertionError)  # what programs raise on purpose
SCALARS: tuple[Any, ...] = (
    2, 1.5, True, -3, 0, 2 + 1j, np.float64(0.5), np.float32(1.5), np.int8(-3), np.int64(2), np.uint8(200),
    np.uint64(3), np.bool_(True), np.complex64(1j), np.float16(0.5),
)  # fmt: skip


@dataclass(frozen=True)
class Program:
    """The source of a function ``f(a, b, c, d, e, z, k, s)``, and how its arguments are made."""

    source: str
    dtypes: tuple[str, ...] = ("float64",) * len(SHAPES)
    sizes: tuple[int, int] = (3, 2)
    layouts: tuple[str, ...] = ("C",) * len(SHAPES)
    alias: str = ""
    scalar: int = 0
    seed: int = 0

    def function(self) -> Callable[..., Any]:
        """The function, with a source that can be read (as one in a file has)."""
        return define(self.source)

    def arguments(self, sizes: tuple[int, int] | None = None) -> tuple[Any, ...]:
        """Arrays of small numbers in the layouts asked for, the integer k, and the scalar s."""
        rng = np.random.default_rng(self.seed)
        n, m = sizes or self.sizes
        made: dict[str, Any] = {}
        for (name, dims), dtype, layout in zip(SHAPES.items(), self.dtypes, self.layouts, strict=True):
            shape = tuple({"n": n, "m": m}.get(dim, 2) for dim in dims)
            made[name] = _laid_out(_numbers(rng, [2 * size for size in shape], dtype), shape, layout)
        match self.alias:
            case "b is a":
                made["b"] = made["a"]
            case "b overlaps a":
                whole = _numbers(rng, [n + 1], self.dtypes[0])
                made["a"], made["b"] = whole[:-1], whole[1:]
            case "d is a row of c" if n:
                made["d"] = made["c"][-1]
            case "d is in a" if m <= n:
                made["d"] = made["a"][:m]
        return (*made.values(), int(rng.integers(-2, 3)), SCALARS[self.scalar])

    def __repr__(self) -> str:
        how = f"{self.dtypes!r}, {self.sizes!r}, {self.layouts!r}, {self.alias!r}, {self.scalar!r}, {self.seed!r}"
        return f'Program("""{self.source}""", {how})'


def define(source: str) -> Callable[..., Any]:
    """The function ``f`` of a module with this source."""
    source = PRELUDE + source
    file = f"<fuzz {zlib.crc32(source.encode()):08x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "dcpy": dcpy}
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


def _numbers(rng: np.random.Generator, shape: list[int], dtype: str) -> Any:
    values = rng.integers(-3, 4, size=shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.integers(-2, 3, size=shape)
    elif dtype.startswith("uint"):
        values = np.abs(values)
    elif dtype.startswith("float"):
        values = values / 2
    return np.asarray(values).astype(dtype)


def _laid_out(values: Any, shape: tuple[int, ...], layout: str) -> Any:
    if not shape:
        return values
    part = values[tuple(slice(0, size) for size in shape)]
    match layout:
        case "strided":
            return values[tuple(slice(None, None, 2) for _ in shape)]
        case "reversed":
            return np.ascontiguousarray(part)[::-1]
        case "F":
            return np.asfortranarray(part)
    return np.ascontiguousarray(part)
