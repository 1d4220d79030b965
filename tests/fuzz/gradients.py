"""Random programs differentiated: `python -m tests.fuzz.gradients N [first seed] [compiled every]`.

Loops (also with no trips, backwards, with steps, nested and triangular), branches on values, updates in place, views
that share memory, temporaries, recurrences, products, gathers, sizes from 0. Gradients, by the interpreter, are those
of complex step through the plain function, and where that has kinks of `dcpy.jvp` along a direction; some are compiled.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dcpy
from tests.fuzz.program import define
from tests.support.derivatives import TINY

HEAD = "def f(x, y, A, s, idx, T):\n    n = x.shape[0]\n"
TAIL = "    return np.sum(x * y + 0.5 * x) + 0.3 * np.sum(A * A) + s * s\n"
SMALL = (0, 1, 2, 3, 4, 5)
SHIFTS = {-1: ":-2", 0: "1:-1", 1: "2:"}
TOLERANCE = 1e-9
LARGEST = 1e12


class Source:
    """Draws the statements of a program."""

    def __init__(self, seed: int) -> None:
        self.rnd = random.Random(seed)
        self.kinks = False
        self.temporaries = 0
        self.loops = 0

    def text(self) -> str:
        """The program, complete."""
        body: list[str] = []
        for _ in range(self.rnd.choice((1, 2, 3, 4))):
            body += self.statement(0)
        return HEAD + "".join(f"    {line}\n" for line in body) + TAIL

    def number(self) -> str:
        return str(round(self.rnd.uniform(0.2, 1.2), 2))

    def value(self, leaves: list[str], depth: int = 2) -> str:
        """An expression over texts of equal shape, of moderate size."""
        if depth == 0:
            return self.rnd.choice([*leaves, *leaves, self.number()])
        a, b = self.value(leaves, depth - 1), self.value(leaves, depth - 1)
        match self.rnd.randrange(9):
            case 0 | 1:
                return f"({a} + {b})"
            case 2:
                return f"({a} - {b})"
            case 3 | 4:
                return f"({a} * {b})"
            case 5:
                return f"({a} / (1.5 + {b} * {b}))"
            case 6:
                return f"np.{self.rnd.choice(('sin', 'tanh', 'cos'))}({a})"
            case 7:
                return f"np.sqrt(1.0 + {a} * {a})"
            case _:
                if self.rnd.random() < 0.6:
                    return f"({a} * s)"
                self.kinks = True
                return f"np.where({a} > 0.4, {b}, {a})" if self.rnd.random() < 0.5 else f"np.maximum({a}, {b} * 1.1)"

    def statement(self, level: int) -> list[str]:
        """Lines of one statement; loops have a body."""
        makers: list[Callable[[], list[str]]] = [
            self.stencil, self.stencil, self.whole, self.whole, self.temporary, self.view, self.scalar, self.columns,
            self.elements, self.product, self.gathered, self.rows,
        ]  # fmt: skip
        if level < 2:
            makers += [lambda: self.loop(level)] * 6
            makers += [lambda: self.branch(level), self.chosen]
        return self.rnd.choice(makers)()

    def stencil(self) -> list[str]:
        arrays = [f"{self.rnd.choice('xy')}[{SHIFTS[self.rnd.choice((-1, 0, 1))]}]" for _ in range(3)]
        op = self.rnd.choice(("=", "=", "+="))
        return [f"{self.rnd.choice('xy')}[1:-1] {op} 0.5 * {self.value(arrays)}"]

    def whole(self) -> list[str]:
        target = self.rnd.choice(("x[:] = ", "y[:] = ", "x += ", "y *= ", "x -= "))
        return [f"{target}0.4 * {self.value(['x', 'y'])}"]

    def temporary(self) -> list[str]:
        self.temporaries += 1
        name = f"u{self.temporaries}"
        made = [f"{name} = {self.value(['x', 'y'])}"]
        if self.rnd.random() < 0.4:
            made.append(f"{name}[1:] = {name}[1:] * {self.value([f'{name}[:-1]', 'x[1:]'], 1)}")
        if self.rnd.random() < 0.3:
            made.append(f"y += 0.2 * {name} * x")
        return [*made, f"{self.rnd.choice('xy')}[:] = 0.5 * {self.value([name, 'x', 'y'], 1)}"]

    def view(self) -> list[str]:
        self.temporaries += 1
        name = f"v{self.temporaries}"
        kind = self.rnd.randrange(5)
        if kind == 0:
            return [f"{name} = x[1:]", f"{name} *= 0.5 + 0.3 * {self.value(['x[:-1]', 'y[1:]'], 1)}"]
        if kind == 1:
            return [f"{name} = x[::-1]", f"y += 0.3 * {name} * x", f"{name}[:] = {self.value([name, 'y'], 1)}"]
        if kind == 2:
            return [f"{name} = A.T", f"{name}[:] = 0.5 * {self.value([name, 'A'], 1)}"]
        if kind == 3:
            return [f"{name} = A.reshape(-1)", f"{name} *= {name}", "A *= 0.5"]
        return [f"{name} = x[::2]", f"{name} *= {name}", f"y[::2] += 0.1 * {name}"]

    def scalar(self) -> list[str]:
        return [self.rnd.choice(("s = s * 0.5 + 0.1 * np.sum(x * y)", "s = np.tanh(s) + np.sum(A) * 0.05",
                                 "s = 0.5 * s + np.dot(x, y) * 0.1", "s += 0.1 * np.sum(x * x * s)"))]  # fmt: skip

    def columns(self) -> list[str]:
        if self.rnd.random() < 0.5:
            return ["for j in range(1, n):", f"    A[:, j] = 0.5 * {self.value(['A[:, j]', 'A[:, j - 1]', 'x'], 1)}"]
        return ["for j in range(n - 2, -1, -1):", f"    A[j] += 0.3 * {self.value(['A[j + 1]', 'y', 'A[j]'], 1)}"]

    def rows(self) -> list[str]:
        return [self.rnd.choice(("x += 0.2 * np.sum(A, axis=0)", "y[:] = 0.3 * np.sum(A * x, axis=1)",
                                 "A *= 0.5 + 0.1 * x", "A += 0.1 * np.outer(x, y)"))]  # fmt: skip

    def elements(self) -> list[str]:
        """A loop over elements."""
        self.loops += 1
        i, j = f"i{self.loops}", f"j{self.loops}"
        match self.rnd.randrange(5):
            case 0:
                return [f"for {i} in range(1, n):",
                        f"    x[{i}] = 0.6 * {self.value([f'x[{i}]', f'x[{i} - 1]', 's'], 1)}"]  # fmt: skip
            case 1:
                return [f"for {i} in range(n - 2, -1, -1):",
                        f"    y[{i}] += 0.3 * {self.value([f'y[{i} + 1]', f'x[{i}]'], 1)}"]  # fmt: skip
            case 2:
                return [f"for {i} in range(n):", f"    for {j} in range({i}):",
                        f"        x[{i}] -= 0.1 * {self.value([f'x[{j}]', f'A[{i}, {j}]', f'x[{i}]'], 1)}"]  # fmt: skip
            case 3:
                return [f"for {i} in range(0, n, 2):", f"    s = 0.5 * s + 0.2 * {self.value([f'x[{i}]', 's'], 1)}",
                        f"    x[{i}] = s"]  # fmt: skip
        return [f"for {i} in range(n):", f"    y[{i}] = 0.5 * {self.value([f'x[idx[{i}]]', f'y[{i}]'], 1)}",
                f"    x[idx[{i}]] += 0.2 * y[{i}]"]  # fmt: skip

    def product(self) -> list[str]:
        return [self.rnd.choice(("y[:] = 0.3 * (A @ x)", "A[:] = 0.3 * (A @ A)", "x += 0.1 * (x @ A)",
                                 "A += 0.1 * (A @ A.T)", "s = s + 0.1 * (x @ y)"))]  # fmt: skip

    def gathered(self) -> list[str]:
        return [self.rnd.choice(("x[:] = 0.5 * x[idx] * y", "y += 0.2 * x[idx]", "s += 0.1 * np.sum(x[idx] * y)"))]

    def loop(self, level: int) -> list[str]:
        self.loops += 1
        name = f"t{self.loops}"
        trips = self.rnd.choice(("T", "T", "T + 1", "1, T", "T, 0, -1", "0, T, 2"))
        body: list[str] = []
        for _ in range(self.rnd.choice((1, 1, 2, 3))):
            body += self.statement(level + 1)
        return [f"for {name} in range({trips}):", *(f"    {line}" for line in body)]


    def branch(self, level: int) -> list[str]:
        """A branch on a value, or on a number of iterations."""
        self.kinks = True  # complex numbers have no order
        condition = self.rnd.choice(("s > 0.6", "T % 2 == 1", "n > 1 and x[1] > y[0]", "np.sum(x) < 0.4 * n", "T < n"))
        lines = [f"if {condition}:", *self.indented(level)]
        if self.rnd.random() < 0.4:
            lines += ["elif n > 2 and A[1, 2] < 0.3:", *self.indented(level)]
        return [*lines, "else:", *self.indented(level)] if self.rnd.random() < 0.6 else lines

    def indented(self, level: int) -> list[str]:
        return [f"    {line}" for _ in range(self.rnd.choice((1, 1, 2))) for line in self.statement(level + 1)]

    def chosen(self) -> list[str]:
        """A loop over elements, of which each takes its own path."""
        self.kinks = True
        self.loops += 1
        i = f"i{self.loops}"
        tests = (f"x[{i}] > 0.5", f"x[{i}] * s < y[{i}]", f"{i} % 2 == 0", f"{i} > 0 and x[{i} - 1] > 0.2")
        others = (f"y[{i}] *= x[{i}]", f"s = 0.9 * s + 0.1 * x[{i}] * x[{i}]", f"x[{i}] = np.sin(x[{i}])")
        return [
            f"for {i} in range(n):", f"    if {self.rnd.choice(tests)}:",
            f"        x[{i}] = 0.6 * {self.value([f'x[{i}]', f'y[{i}]', 's'], 1)}",
            *(["    else:", f"        {self.rnd.choice(others)}"] if self.rnd.random() < 0.7 else []),
            f"    y[{i}] += 0.3 * x[{i}] * x[{i}]",
        ]  # fmt: skip


@dataclass
class GradientFindings:
    """What became of some programs."""

    checked: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[int, str, str]] = field(default_factory=list)  # seed, what, the program


def arguments(seed: int) -> tuple[Any, ...]:
    """The arguments of a program; every third one is small, and has few trips."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice(SMALL)) if seed % 3 == 0 else int(rng.integers(4, 8))
    trips = int(rng.integers(-2, 4)) if seed % 3 == 0 else int(rng.integers(1, 4))
    idx = rng.integers(0, max(n, 1), n)
    return rng.random(n), rng.random(n), rng.random((n, n)), 0.7, idx, trips


def copies(given: tuple[Any, ...]) -> list[Any]:
    return [np.array(value) if isinstance(value, np.ndarray) else value for value in given]


def check(seed: int, found: GradientFindings, *, compiled: bool = False) -> None:
    """Check one program."""
    source = Source(seed)
    text = source.text()
    function, given = define(text), arguments(seed)
    with np.errstate(all="ignore"):
        try:
            value = function(*copies(given))
        except (ValueError, IndexError, TypeError):
            found.refused["NumPy raises"] += 1
            return
    if not abs(value) < LARGEST:
        found.refused["too large"] += 1
        return
    wrt = ("x", "y", "A", "s")
    try:
        program = dcpy.value_and_grad(function, wrt=wrt)
        sdfg = program.to_sdfg(*copies(given))
        sdfg.validate()
        mine = copies(given)
        got, gradients = program(*mine) if compiled else sdfg.interpret(*mine)
    except dcpy.DcpyError as error:
        found.refused[error.message] += 1
        if isinstance(error, dcpy.InvalidSdfg | dcpy.OutOfBounds | dcpy.CompilerFault):
            found.wrong.append((seed, repr(error), text))
        return
    found.checked["compiled" if compiled else "interpreted"] += 1
    if not np.allclose(got, value, rtol=1e-10, equal_nan=True):
        found.wrong.append((seed, f"the value is {got}, not {value}", text))
    worst = by_direction(function, given, gradients, seed) if source.kinks else by_elements(function, given, gradients)
    if not worst < TOLERANCE:
        found.wrong.append((seed, f"gradient is off by {worst}", text))


def by_elements(function: Callable[..., Any], given: tuple[Any, ...], gradients: tuple[Any, ...]) -> float:
    """The largest error of gradients against complex step, relative to the largest element of all."""
    expected = [complex_step(function, given, which) for which in range(4)]
    size = max(1e-3, *(float(np.max(np.abs(one), initial=0.0)) for one in expected))
    gaps = [float(np.max(np.abs(g - e), initial=0.0)) for g, e in zip(gradients, expected, strict=True)]
    return float(np.max(gaps)) / size  # NaN where one is


def is_float_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def complex_step(function: Callable[..., Any], given: tuple[Any, ...], which: int) -> Any:
    found = np.zeros(np.shape(given[which]))
    for place in np.ndindex(found.shape):
        moved = [np.array(v, complex) if is_float_array(v) else v for v in copies(given)]
        if found.shape:
            moved[which][place] += 1j * TINY
        else:
            moved[which] += 1j * TINY
        with np.errstate(all="ignore"):
            found[place] = complex(function(*moved)).imag / TINY
    return found


def by_direction(function: Callable[..., Any], given: tuple[Any, ...], gradients: tuple[Any, ...], seed: int) -> float:
    """The error of the derivative along a direction, against forward mode."""
    rng = np.random.default_rng(seed + 1)
    along = [rng.random(np.shape(value)) for value in given[:4]]
    sdfg = dcpy.jvp(function, wrt=("x", "y", "A", "s")).to_sdfg(*copies(given))
    names = [name for name in sdfg.arguments if "_dot" in name]
    tangents = dict(zip(names, [*along[:3], float(along[3])], strict=True))
    _, (expected, _) = sdfg.interpret(*copies(given), **tangents)
    products = [g * v for g, v in zip(gradients, along, strict=True)]
    size = max(1.0, sum(float(np.sum(np.abs(one))) for one in products))
    return abs(sum(float(np.sum(one)) for one in products) - float(expected)) / size


def check_all(seeds: range, compiled_every: int = 0) -> GradientFindings:
    """Check programs; some of them as machine code."""
    found = GradientFindings()
    for seed in seeds:
        check(seed, found, compiled=bool(compiled_every) and seed % compiled_every == 0)
    return found


def main(arguments: list[str]) -> int:
    """Print what was found; return how many were wrong."""
    count, first, every = (int(text) for text in [*arguments, "0", "0"][:3])
    found = GradientFindings()
    for seed in range(first, first + count):
        check(seed, found, compiled=bool(every) and seed % every == 0)
        for one, what, text in found.wrong if found.wrong and found.wrong[-1][0] == seed else ():
            if one == seed:
                print(f"seed {one}: {what}\n{text}", flush=True)
        if seed % 500 == 499:
            print(f"until {seed}: {dict(found.checked)}, {len(found.wrong)} wrong", flush=True)
    print(dict(found.checked))
    for reason, number in found.refused.most_common():
        print(f"{number:5} {reason}")
    print(f"{len(found.wrong)} wrong")
    return len(found.wrong)


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
