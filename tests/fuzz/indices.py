"""Random index expressions: every mix of slices, new axes, an ellipsis, integers, index arrays and masks of all ranks.

A `Case` is some lines that read or write ``x[keys]``, and the arguments that they need. Its names end in its number, so
that the lines of many cases are one program.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SIZES = (1, 2, 3, 4, 2, 3, 4, 2, 3, 0)
RANKS = (0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 5)
DTYPES = ("float64",) * 5 + ("int64", "int32", "float32", "uint8", "complex128", "bool")
INDEX_DTYPES = ("int64",) * 5 + ("int32", "uint8", "int16", "uint64")
OPERATIONS = (
    "load", "load", "load", "view", "number", "array", "array", "in place", "in place", "at", "at", "along", "put along"
)  # fmt: skip
IN_PLACE = ("+=", "+=", "+=", "-=", "*=")
UFUNCS = ("add", "add", "add", "subtract", "multiply", "maximum", "negative")


@dataclass
class Case:
    """Lines that leave something in ``r<number>``, and their arguments."""

    number: int
    lines: list[str] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The case as a program."""
        return source_of([self])


def source_of(cases: list[Case]) -> str:
    """One function that does all cases, and returns what each of them leaves."""
    names = [name for case in cases for name in case.arguments]
    lines = [line for case in cases for line in case.lines]
    results = ", ".join(f"r{case.number}" for case in cases)
    return f"def f({', '.join(names)}):\n" + "".join(f"    {line}\n" for line in (*lines, f"return {results}"))


def drawn(seed: int) -> Case:
    """The case of a seed; always the same."""
    return _Draw(seed).case


class _Draw:
    """Draws one case."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.case = Case(seed)
        self.calls = False  # slices are written `slice(...)`
        self.faults = 1 if self.chance(0.1) else 0  # which of two exceptions comes first is not compared
        self.texts: list[str] = []  # the keys
        self.shape = tuple(self.one(SIZES) for _ in range(self.one(RANKS)))
        #: what index arrays are broadcast to
        self.chosen = tuple(self.random.randint(1, 3) for _ in range(self.random.choice((0, 1, 1, 1, 2, 2, 3))))
        self.dtype = self.one(DTYPES)
        self.base = self.argument("a", self.elements(self.shape, self.dtype))
        self.operation = self.one(OPERATIONS)
        if self.operation in ("along", "put along"):
            self.along()
        else:
            self.keys()
            self.lines()

    def one(self, options: Any) -> Any:
        return self.random.choice(options)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def fails(self) -> bool:
        """Whether something is wrong here: once in a case, in few of them."""
        if self.faults and self.chance(0.3):
            self.faults = 0
            return True
        return False

    def argument(self, stem: str, value: Any) -> str:
        """A new argument; its name."""
        name = f"{stem}{self.case.number}_{len(self.case.arguments)}"
        self.case.arguments[name] = value
        return name

    def elements(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Small numbers, in some memory order."""
        values = self.numbers.integers(0, 2 if dtype == "bool" else 50, shape)
        order = "F" if self.chance(0.15) else "C"
        return np.asarray(np.asarray(values) * (1 + 1j if dtype.startswith("c") else 1), order=order).astype(dtype)

    # -- keys --------------------------------------------------------------------------------------------------------

    def keys(self) -> None:
        """As many keys as fit, or fewer; now and then one too many."""
        self.calls = self.operation == "at"
        left = list(self.shape)
        count = self.random.randint(0 if not left else 1, len(left) + 2)
        dots = self.random.randint(0, count - 1) if count and self.chance(0.45) else -1
        behind = 0  # dimensions that keys behind the ellipsis may take: counted from the end
        for place in range(count):
            if place == dots:
                self.texts.append("..." if self.chance(0.95) else "Ellipsis")
                behind = self.random.randint(0, len(left))  # what it stands for
                left = left[behind:]
                continue
            self.texts.append(self.key(left))
        if not self.texts:
            self.texts.append(self.one(("()", "...")))

    def key(self, left: list[int]) -> str:
        """A key, which takes dimensions from the front of what is left."""
        if self.chance(0.15) or (not left and not self.fails()):
            return self.one(("None", "None", "np.newaxis", self.flag()))
        if not left:
            return self.one((self.slice(1), "0"))  # one too many
        if self.chance(0.2):
            rank = self.random.randint(1, len(left))
            sizes = tuple(left[:rank])
            del left[:rank]
            return self.mask(sizes)
        size = left.pop(0)
        if not size and not self.fails():
            return self.slice(size)
        return self.one((self.slice, self.slice, self.slice, self.integer, self.integer, self.array, self.array))(size)

    def flag(self) -> str:
        """A truth value: known, or an argument."""
        value = self.chance(0.7)
        if self.chance(0.5):
            return str(value)
        return self.argument("b", self.one((value, np.bool_(value), np.array(value))))

    def index(self, size: int) -> int:
        """An index in range; rarely not."""
        if not size or self.fails():
            return self.one((size, -size - 1))
        return self.random.randint(-size, size - 1)

    def integer(self, size: int) -> str:
        """A literal, a Python or NumPy number that run time knows, an array without dimensions."""
        value = self.index(size)
        if self.chance(0.4):
            return str(value)
        kind = self.one((int, int, np.int64, np.int32, np.array, lambda one: np.array(one, np.int32)))
        return self.argument("k", kind(value))

    def slice(self, size: int) -> str:
        """A slice with bounds that are left out, known, or arguments."""
        bounds = [self.bound(self.random.randint(-size - 1, size + 1)) for _ in range(2)]
        step = self.bound(self.one((1, 2, -1, -2, 3))) if self.chance(0.3) else ""
        if self.calls:
            return f"slice({bounds[0] or None}, {bounds[1] or None}, {step or None})"
        return f"{bounds[0]}:{bounds[1]}" + (f":{step}" if step else "")

    def bound(self, value: int) -> str:
        kind = self.random.random()
        return "" if kind < 0.5 else str(value) if kind < 0.8 else self.argument("p", value)

    def array(self, size: int) -> str:
        """An index array of one to three dimensions: a part of the shape that all are broadcast to."""
        shape = tuple(1 if self.chance(0.2) else one for one in self.chosen)[self.random.randint(0, len(self.chosen)) :]
        if self.fails():
            shape = (*shape[:-1], 5)
        if not shape:
            shape = (self.one(self.chosen[-1:] or (1, 2, 3)),)
        dtype = self.one(INDEX_DTYPES)
        values = np.array([self.index(size) for _ in range(int(np.prod(shape)))], np.int64)
        if dtype.startswith("u"):
            values = np.abs(values) % max(size, 1)
        values = values.reshape(shape)
        return str(values.tolist()) if self.chance(0.15) else self.argument("i", values.astype(dtype))

    def mask(self, sizes: tuple[int, ...]) -> str:
        """A mask for these sizes, which selects as many as index arrays have, mostly; rarely of another size."""
        if self.fails():
            sizes = (*sizes[:-1], sizes[-1] + 1)
        values = np.zeros(sizes, np.bool_)
        counts = bool(self.chosen) and not self.fails() and not self.chance(0.1)
        wanted = self.chosen[-1] if counts else self.random.randint(0, 3)
        for place in self.random.sample(range(values.size), min(wanted, values.size)):
            values.flat[place] = True
        literal = len(sizes) == 1 and sizes[0] and self.chance(0.15)
        return str(values.tolist()) if literal else self.argument("m", values)

    # -- what is done with them --------------------------------------------------------------------------------------

    def lines(self) -> None:
        """The lines of an operation with the keys."""
        x, r = f"x{self.case.number}", f"r{self.case.number}"
        keys = ", ".join(self.texts)
        if self.operation == "at" or self.chance(0.05):
            self.at(x, r, keys)
            return
        if self.chance(0.1) and self.texts != ["()"]:  # a subscript that has a name
            self.write(f"s{self.case.number} = np.s_[{keys}]")
            keys = f"s{self.case.number}"
        if self.operation == "load":
            self.write(f"{r} = {self.base}[{keys}]")
            return
        self.write(f"{x} = {self.base}.copy()")
        match self.operation:
            case "view":
                self.write(f"y{self.case.number} = {x}[{keys}]", f"y{self.case.number}[...] = {self.number()}")
            case "number":
                self.write(f"{x}[{keys}] = {self.number()}")
            case "array":
                self.write(f"{x}[{keys}] = {self.values(keys)}")
            case "in place":
                value = self.number() if self.chance(0.4) else self.values(keys)
                self.write(f"{x}[{keys}] {self.one(IN_PLACE)} {value}")
        self.write(f"{r} = {x}")

    def at(self, x: str, r: str, keys: str) -> None:
        """A call of ``at``, which takes slices as `slice`."""
        if not self.calls:
            keys = f"np.s_[{keys}]" if keys != "()" else keys
        elif len(self.texts) > 1:
            keys = f"({keys})"
        ufunc = self.one(UFUNCS)
        plain = keys[6:-1] if keys.startswith("np.s_[") else keys
        value = "" if ufunc == "negative" else ", " + (self.number() if self.chance(0.4) else self.values(plain))
        self.write(f"{x} = {self.base}.copy()", f"np.{ufunc}.at({x}, {keys}{value})", f"{r} = {x}")

    def write(self, *lines: str) -> None:
        self.case.lines += lines

    def number(self) -> str:
        return str(self.random.randint(1, 9)) if self.chance(0.5) else self.argument("v", self.random.randint(1, 9))

    def values(self, keys: str) -> str:
        """An array that can be broadcast to what the keys name; rarely one that cannot. A number for wrong keys."""
        shape = _selected(self.case, self.base, keys)
        if shape is None:
            return self.number()
        shape = tuple(1 if self.chance(0.15) else size for size in shape)
        if self.chance(0.25):
            shape = shape[self.random.randint(0, len(shape)) :]
        if self.fails():
            shape = (*shape[:-1], 7)
        dtype = self.dtype if self.chance(0.8) else self.one(("float64", "int64", "uint8"))
        return self.argument("v", self.elements(shape, dtype))

    def along(self) -> None:
        """`take_along_axis` and `put_along_axis`."""
        shape, x, r = self.shape or (3,), f"x{self.case.number}", f"r{self.case.number}"
        if not self.shape:
            self.case.arguments[self.base] = self.elements(shape, self.dtype)
        axis = self.random.randint(-len(shape), len(shape) - 1)
        size = shape[axis]
        sizes = [1 if self.chance(0.15) else one for one in shape]
        sizes[axis] = self.random.randint(1, 4)
        values = np.array([self.index(size) for _ in range(int(np.prod(sizes)))], np.int64).reshape(sizes)
        indices = self.argument("i", values)
        if self.operation == "along":
            self.write(f"{r} = np.take_along_axis({self.base}, {indices}, {axis})")
            return
        value = self.number() if self.chance(0.5) else self.argument("v", self.elements(tuple(sizes), self.dtype))
        self.write(f"{x} = {self.base}.copy()", f"np.put_along_axis({x}, {indices}, {value}, {axis})", f"{r} = {x}")


def _selected(case: Case, base: str, keys: str) -> tuple[int, ...] | None:
    """The shape of what keys name; None where NumPy refuses them."""
    text = "\n".join([*case.lines, f"shape = np.shape({base}[{keys}])"])
    names = {"np": np, **case.arguments}
    try:
        exec(text, names)
    except (IndexError, ValueError, TypeError):
        return None
    return tuple(names["shape"])
