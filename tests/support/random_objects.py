"""Random programs with objects: aliases, fields that are assigned and rebound, methods, loops, objects of their own.

A program is a function ``program(p, q, o, f, k, m)`` of the classes here, as text. `arguments` makes some for it:
objects may be one object, arrays may be one array.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass
class Body:
    x: np.ndarray
    v: np.ndarray
    t: float = 1.0
    n: int = 2

    def bump(self, k):
        self.t = self.t * 0.5 + k
        return self.t

    def rebind(self):
        self.v = self.v * 0.5 + self.x
        return self.v.sum()

    def maybe(self, k):
        if k > 1.0:
            self.t += 1.0
        else:
            self.x = self.x + 1.0
        return self.n

    def swap(self):
        self.x, self.v = self.v, self.x
        return 0.5


@dataclass(frozen=True)
class Frame:
    a: float
    p: Body
    w: np.ndarray

    def after(self):
        return replace(self, a=self.a + 1.0, w=self.w * 0.5)


@dataclass
class Two:
    p: Body
    q: Body


def helper(p, k):
    p.t += k
    for i in range(2):
        p.n += i
    return p.t


PREAMBLE = "from tests.support.random_objects import Body, Frame, Two, helper\n\n\n"
OBJECTS = ("p", "q", "o.p", "o.q", "f.p")
SCALARS = ("{o}.t", "{o}.n", "s", "k", "1.5", "2", "{o}.x[1]", "{o}.v.sum()", "f.a", "c.t")
ARRAYS = ("{o}.x", "{o}.v", "f.w", "c.x", "({o}.x * 0.5)", "({o}.v + {s})", "{o}.x.copy()")
STATEMENTS = (
    "{o}.t = {s} * 1.0", "{o}.t += {s} * 0.25", "{o}.x = {a} * 0.5", "{o}.v = {a} + 1.0", "{o}.x += {s}",
    "{o}.v[2] = {s}", "{o}.n += 2", "s = {o}.bump({s}) + {s}", "s += {o}.rebind()", "s += {o}.maybe({s})",
    "s += {o}.swap()", "s += helper({o}, {s}) * 0.125", "f = f.after()", "c = Body({a} * 1.0, {a} + 0.0, {s} * 1.0)",
    "s = s + {o}.t * {o}.bump(1.0)", "c.t += {s}", "{o}.x, {o}.v = {a} + 0.0, {a} * 1.0", "o.p = {p}", "o.q = {p}",
    "s = {s} + 0.5",
)  # fmt: skip
HEADS = ("if {s} > {s}:", "for i{d} in range(2):", "for i{d} in range(m):")
RETURNS = ("s, p, o.q", "s", "p.x, s", "f, s", "c, s", "(p.t, (q, p.v)), f.w")


class Writer:
    """One program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        """The module."""
        lines = ["s = 0.0", "c = Body(p.x * 1.0, q.v * 1.0)"]
        for _ in range(self.random.randrange(3, 8)):
            lines += self.statement(0, loop=False)
        lines.append(f"return {self.random.choice(RETURNS)}")
        return PREAMBLE + "def program(p, q, o, f, k, m):\n" + "".join(f"    {line}\n" for line in lines)

    def fill(self, template: str, depth: int = 0) -> str:
        """A template with its holes filled, each by a choice of its own."""
        choices = {"{o}": OBJECTS, "{s}": SCALARS, "{a}": ARRAYS, "{p}": ("p", "q", "c", "o.p", "Body(c.x, c.v)")}
        while "{" in template:
            hole = template[template.index("{") : template.index("}") + 1]
            found = str(depth) if hole == "{d}" else self.random.choice(choices[hole])
            template = template.replace(hole, found, 1)
        return template

    def statement(self, depth: int, *, loop: bool) -> list[str]:
        """One statement, nested ones indented."""
        if depth < 3 and self.random.random() < 0.2:
            head = self.fill(self.random.choice(HEADS), depth)
            lines = [head, *self.block(depth + 1, loop=loop or head.startswith("for"))]
            if head.startswith("if") and self.random.random() < 0.6:
                lines += ["else:", *self.block(depth + 1, loop=loop)]
            return lines
        if loop and self.random.random() < 0.05:
            return [self.fill("if {s} > {s}:"), "    " + self.random.choice(["break", "continue"])]
        return [self.fill(self.random.choice(STATEMENTS))]

    def block(self, depth: int, *, loop: bool) -> list[str]:
        """Some statements, indented."""
        found = [self.statement(depth, loop=loop) for _ in range(self.random.randrange(1, 4))]
        return [f"    {line}" for lines in found for line in lines]


def arguments(seed: int) -> tuple[Any, ...]:
    """Objects and numbers; sometimes two are one."""
    draw = random.Random(seed)

    def body(s: float) -> Body:
        return Body(np.arange(3.0) + s, np.ones(3) * s, 0.5 * s, int(s))

    p, q = body(1), body(2)
    q = p if draw.random() < 0.2 else q
    o = Two(p if draw.random() < 0.3 else body(3), q if draw.random() < 0.2 else body(4))
    o.q = o.p if draw.random() < 0.1 else o.q
    q.x = p.x if draw.random() < 0.1 else q.x
    return (
        p,
        q,
        o,
        Frame(0.5, draw.choice([p, body(5)]), np.ones(3) * 7),
        draw.choice([0.5, 3.0]),
        draw.choice([0, 1, 3]),
    )
