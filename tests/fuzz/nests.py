"""Random loop nests, in the textual form: loops and maps over three arrays of integers and a sum."""

from __future__ import annotations

import random

from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import parse_sdfg

SIDE, MIDDLE = 44, 16  # arrays have room for every index that is written
ARRAYS = "ABC"


class Nests:
    """Writes random programs of loops and maps over three arrays and a sum."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.count = 0

    def program(self) -> Sdfg:
        blocks = " ".join(self.block((), 0) for _ in range(self.chance.randint(1, 2)))
        arrays = ", ".join(f"{name}: i64[{SIDE}, {SIDE}]" for name in ARRAYS)
        return parse_sdfg(f"sdfg @f({arrays}, s: i64[], n: i64[N], m: i64[M]) symbols(N: size, M: size) {{ {blocks} }}")

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def block(self, params: tuple[str, ...], depth: int) -> str:
        if depth < 3 and self.chance.random() < (1.0, 0.7, 0.4)[depth]:
            return self.loop(params, depth)
        if self.chance.random() < 0.5:
            return f"state {{ {self.tasklets(params)} }}"
        ranges = [self.range(params) for _ in range(self.chance.randint(1, 2))]
        return f"state {{ {' '.join(self.map(params, ranges) for _ in range(self.chance.choice((1, 1, 2))))} }}"

    def loop(self, params: tuple[str, ...], depth: int) -> str:
        param = self.name("i")
        inside = (*params, param)
        temporary = ""
        count = self.chance.choice((1, 1, 1, 2))
        blocks = [self.block(inside, depth + 1) for _ in range(count)]
        if self.chance.random() < 0.2:
            name = self.name("t")
            temporary = f"data {name}: i64 transient"
            blocks.append(f"state {{ {self.through(name, inside)} }}")
        return f"loop {param} = {self.range(params)} {{ {temporary} {' '.join(blocks)} }}"

    def range(self, params: tuple[str, ...]) -> str:
        plain = ["0:N", "0:M", "1:N", "N - 1:-1:-1", "0:M:2", "0:3"]
        around = [f"0:{params[-1]} + 1", f"{params[-1]}:4"] if params else []
        return self.chance.choice((*plain, *around) if self.chance.random() < 0.4 else ("0:N", "0:M"))

    def tasklets(self, params: tuple[str, ...]) -> str:
        return " ".join(self.tasklet(params) for _ in range(self.chance.choice((1, 1, 2))))

    def tasklet(self, params: tuple[str, ...]) -> str:
        reads = ", ".join(f"a{n} <- {self.element(params)}" for n in range(2))
        if self.chance.random() < 0.15:
            return f"tasklet ({reads}) -> (o -> s (add)) {{ o = a0 - a1 }}"
        return f"tasklet ({reads}) -> (o -> {self.element(params)}) {{ o = (3*a0 + 5*a1 + 7) % 1009 }}"

    def through(self, name: str, params: tuple[str, ...]) -> str:
        first = f"tasklet (a <- {self.element(params)}) -> (o -> {name}) {{ o = a + 1 }}"
        return f"{first} tasklet (a <- {name}) -> (o -> {self.element(params)}) {{ o = a % 1009 }}"

    def element(self, params: tuple[str, ...]) -> str:
        return f"{self.chance.choice(ARRAYS)}[{self.index(params)}, {self.index(params)}]"

    def index(self, params: tuple[str, ...]) -> str:
        terms = [f"{self.chance.choice((-1, 1, 1, 1, 2))}*{name}" for name in params if self.chance.random() < 0.5]
        return " + ".join([*terms[:2], str(MIDDLE + self.chance.randint(-2, 2))])

    def map(self, params: tuple[str, ...], ranges: list[str]) -> str:
        """A map whose points do not depend on each other: each has an element of one array, and reads others."""
        mine = [self.name("m") for _ in ranges]
        axes = [f"{name} = {values}" for name, values in zip(mine, ranges, strict=True)]
        written = self.chance.choice(ARRAYS)
        own = f"{written}[{mine[0]} + {MIDDLE}, {mine[-1]} + {MIDDLE}]"
        others = [name for name in ARRAYS if name != written]
        reads = [f"{self.chance.choice(others)}[{self.index((*params, *mine))}, {self.index(params)}]" for _ in "ab"]
        body = f"tasklet (a <- {reads[0]}, b <- {own}) -> (o -> {own}) {{ o = (3*a + 5*b) % 1009 }}"
        if self.chance.random() < 0.5:
            body += f" tasklet (a <- {own}, b <- {reads[1]}) -> (o -> s (add)) {{ o = a - b }}"
        if self.chance.random() < 0.3:
            body = f"loop {self.name('k')} = 0:3 {{ state {{ {body} }} }}"
        if len(axes) == 2 and self.chance.random() < 0.5:
            return f"map {axes[0]} {{ map {axes[1]} {{ {body} }} }}"
        return f"map {', '.join(axes)} {{ {body} }}"
