"""Random programs of NumPy whose statements hand temporaries to each other: what fusions, tiles and buffers are for.

Arrays of integers have a border of two; a *window* of grow 0 is what is inside, moved by at most two.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import dcpy
from dcpy.ir.sdfg import Sdfg
from tests.fuzz.program import define

HEAD = """N, M, T = (dcpy.symbol(name) for name in "NMT")
GRID = dcpy.int64[N + 4, M + 4]
def f(A: GRID, B: GRID, C: GRID, x: dcpy.int64[N + 4], y: dcpy.int64[T]):
    n, m, steps = A.shape[0] - 4, A.shape[1] - 4, y.shape[0]
"""
ARRAYS = "ABC"


def cut(low: int, high: int) -> str:
    """The slice from `low` to `high` before the end."""
    return f"{low or ''}:{-high or ''}"


class Chains:
    """Writes random programs; `source` is the function, which NumPy runs too."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.count = 0
        self.kinds: tuple[Callable[[], list[str]], ...] = (
            self.stencil, self.stencil, self.stencil, self.twice, self.sums, self.relaxation, self.relaxation,
            self.rows, self.nest, self.update,
        )  # fmt: skip
        lines = [line for _ in range(chance.randint(1, 3)) for line in chance.choice(self.kinds)()]
        self.source = HEAD + "".join(f"    {line}\n" for line in lines)

    def program(self) -> Sdfg:
        return dcpy.program(self.function()).to_sdfg(simplify=self.chance.random() < 0.8)

    def function(self) -> Callable[..., Any]:
        return define(self.source)

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    # -- expressions -------------------------------------------------------------------------------------------

    def window(self, array: str, border: int, grow: int, reach: int = 1) -> str:
        """A part of what has a border, as large as its inside grown by `grow`."""
        rows, columns = (self.chance.randint(-reach, reach) if reach else 0 for _ in "rc")
        low = border - grow
        return f"{array}[{cut(low + rows, low - rows)}, {cut(low + columns, low - columns)}]"

    def expr(self, operands: list[str]) -> str:
        terms = [f"{self.chance.choice((1, 2, 3, 5, -1))}*{operand}" for operand in operands]
        return f"({' + '.join(terms)} + {self.chance.randint(0, 9)}) % 1009"

    def parts(self, array: str, border: int, grow: int, count: int) -> list[str]:
        return [self.window(array, border, grow) for _ in range(count)]

    def inside(self, array: str) -> str:
        return f"{array}[2:-2, 2:-2]"

    # -- statements --------------------------------------------------------------------------------------------

    def stencil(self) -> list[str]:
        """Temporaries, each read by the next one as a stencil, or where it is; the last one goes into an array."""
        lines = []
        source, border = self.chance.choice(ARRAYS), 2
        for grow in self.chance.choice(((1,), (1, 0), (0,), (1, 1), (0, 0))):
            mine = self.name("t")
            reach = border - grow
            operands = [self.window(source, border, grow, min(reach, 1)) for _ in range(self.chance.choice((1, 2)))]
            if border == 2 and self.chance.random() < 0.4:
                operands.append(self.window(self.chance.choice(ARRAYS), 2, grow))
            lines.append(f"{mine} = {self.expr(operands)}")
            source, border = mine, grow
        operands = [self.window(source, border, 0, border) for _ in range(self.chance.choice((1, 2, 3)))]
        lines.append(f"{self.inside(self.chance.choice(ARRAYS))} = {self.expr(operands)}")
        return lines

    def twice(self) -> list[str]:
        """The same computed twice, and both used."""
        first, second = self.name("t"), self.name("t")
        what = self.expr(self.parts(self.chance.choice(ARRAYS), 2, 0, 2))
        target = self.inside(self.chance.choice(ARRAYS))
        other = self.inside(self.chance.choice(ARRAYS))
        return [f"{first} = {what}", f"{other} += {first}", f"{second} = {what}", f"{target} = {second} - {first}"]

    def sums(self) -> list[str]:
        """Sums along an axis, or of all, used beside what they are of."""
        source = self.inside(self.chance.choice(ARRAYS))
        target = self.inside(self.chance.choice(ARRAYS))
        scaled, total = self.name("t"), self.name("r")
        lines = [f"{scaled} = {self.expr([source])}"]
        axis = self.chance.choice((0, 1, None))
        lines.append(f"{total} = np.sum({scaled}, axis={axis})")
        lines.append(f"{target} = ({scaled} - {total}{'[:, None]' if axis == 1 else ''}) % 1009")
        if axis == 1 and self.chance.random() < 0.5:
            lines.append(f"x[2:-2] += {total}")
        return lines

    def relaxation(self) -> list[str]:
        """A loop over time steps on grids."""
        time, source, target = self.name("s"), *self.chance.sample(ARRAYS, 2)
        there = self.expr(self.parts(source, 2, 0, self.chance.choice((1, 2, 3))))
        lines = [f"for {time} in range(steps):", f"    {self.inside(target)} = {there}"]
        if self.chance.random() < 0.7:
            lines.append(
                f"    {self.inside(source)} = {self.expr(self.parts(target, 2, 0, self.chance.choice((1, 2))))}"
            )
        if self.chance.random() < 0.3:
            lines.append(f"    {target}[1, :] = {target}[2, :] + {time}")
        return lines

    def rows(self) -> list[str]:
        """A loop that copies a row, and works on the copy."""
        row, line = self.name("i"), self.name("p")
        source, target = self.chance.sample(ARRAYS, 2)
        return [
            f"for {row} in range({self.chance.choice(('n', 'n + 2'))}):",
            f"    {line} = {source}[{row} + 1, :].copy()",
            f"    {target}[{row} + 2, 1:-1] = ({line}[:-2] + 3*{line}[2:] + {target}[{row}, 1:-1]) % 1009",
        ]

    def nest(self) -> list[str]:
        """Loops over elements, in place or not."""
        row, column = self.name("i"), self.name("j")
        target = self.chance.choice(ARRAYS)
        reads = []
        for _ in range(self.chance.choice((1, 2))):
            rows, columns = (self.chance.randint(1, 3) for _ in "rc")
            reads.append(f"{self.chance.choice(ARRAYS)}[{row} + {rows}, {column} + {columns}]")
        first, second = self.chance.sample((f"for {row} in range(n):", f"for {column} in range(m):"), 2)
        return [first, f"    {second}", f"        {target}[{row} + 2, {column} + 2] = {self.expr(reads)}"]

    def update(self) -> list[str]:
        """What loops combine in fewer elements than they have iterations."""
        row, column = self.name("i"), self.name("k")
        target = self.chance.choice((f"x[{row}]", f"C[{row} + 1, 1]", "x[2]"))
        value = f"A[{row} + 1, {column}] * {self.chance.choice(('2', f'B[{row}, {column} + 1]'))}"
        return [f"for {row} in range(n):", f"    for {column} in range(m):", f"        {target} += {value}"]


def arguments(sizes: dict[str, int], seed: int) -> dict[str, Any]:
    """Arrays of small numbers."""
    draw = np.random.default_rng(seed)
    n, m, steps = (sizes[name] for name in "NMT")
    shapes = {"A": (n + 4, m + 4), "B": (n + 4, m + 4), "C": (n + 4, m + 4), "x": (n + 4,), "y": (steps,)}
    return {name: draw.integers(-9, 10, shape) for name, shape in shapes.items()}
