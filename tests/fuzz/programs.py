"""Random small NumPy programs: typed enough to run, wild enough to surprise.

A program is text, so that a failing one can be read, shrunk by hypothesis, and pasted into a regression test. The
generator tracks shapes (as names: n, m, and n - 1) and lets NumPy decide dtypes. Numbers are small and exact, so that
reductions give the same value in any order.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

Shape = tuple[str, ...]  # symbolic sizes: "n", "m", "n-1"
DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")
ARGUMENTS: dict[str, Shape] = {"a": ("n",), "b": ("n",), "c": ("n", "m"), "d": ("m",)}
BINARY = ("+", "-", "*")
UNARY = ("np.abs({})", "np.minimum({}, 3)", "np.maximum({}, -2)", "({} + 0)", "np.where({0} > 1, {0}, 2)")
COMPARE = ("<", "<=", ">", ">=", "==", "!=")


@dataclass
class Scope:
    """Names that are bound for sure, with their shapes; () is a scalar."""

    names: dict[str, Shape] = field(default_factory=lambda: dict(ARGUMENTS))
    counter: int = 0
    loops: tuple[str, ...] = ()

    def fresh(self) -> str:
        self.counter += 1
        return f"t{self.counter}"

    def with_shape(self, shape: Shape) -> list[str]:
        return [name for name, known in self.names.items() if known == shape]


@dataclass(frozen=True)
class Program:
    """The source of a function ``f(a, b, c, d, k)``, and how its arguments are made."""

    source: str
    dtypes: tuple[str, ...]
    sizes: tuple[int, int]
    layouts: tuple[str, ...]
    seed: int

    def function(self) -> Callable[..., Any]:
        """The function, with a source that can be read (as one in a file has)."""
        file = f"<fuzz {abs(hash(self.source))}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(keepends=True), file)
        namespace: dict[str, Any] = {"np": np}
        exec(compile(self.source, file, "exec"), namespace)
        return namespace["f"]

    def arguments(self) -> list[Any]:
        """Arrays of small numbers in the layouts asked for, and the integer k."""
        rng = np.random.default_rng(self.seed)
        n, m = self.sizes
        shapes = {"n": n, "m": m}
        made: list[Any] = []
        for name, dtype, layout in zip(ARGUMENTS, self.dtypes, self.layouts, strict=True):
            shape = tuple(shapes[size] for size in ARGUMENTS[name])
            values = rng.integers(-3, 4, size=[2 * s for s in shape]).astype(dtype)
            made.append(_laid_out(values, shape, layout))
        return [*made, int(rng.integers(-2, 3))]

    def __repr__(self) -> str:
        return f"{self.source}\n# dtypes {self.dtypes}, sizes {self.sizes}, layouts {self.layouts}, seed {self.seed}"


def _laid_out(values: np.ndarray, shape: tuple[int, ...], layout: str) -> np.ndarray:
    match layout:
        case "strided":
            return values[tuple(slice(None, None, 2) for _ in shape)]
        case "reversed":
            return np.ascontiguousarray(values[tuple(slice(0, s) for s in shape)])[::-1]
        case "F":
            return np.asfortranarray(values[tuple(slice(0, s) for s in shape)])
    return np.ascontiguousarray(values[tuple(slice(0, s) for s in shape)])


@st.composite
def programs(draw: st.DrawFn, statements: int = 6) -> Program:
    """Programs of a few statements, with branches and loops."""
    scope = Scope()
    lines = ["def f(a, b, c, d, k):"]
    for _ in range(draw(st.integers(1, statements))):
        lines += _indented(draw(_statement(scope, depth=2)))
    result = ", ".join(draw(st.lists(st.sampled_from(sorted(scope.names)), min_size=1, max_size=3, unique=True)))
    lines.append(f"    return {result}")
    return Program(
        "\n".join(lines) + "\n",
        tuple(draw(st.sampled_from(DTYPES)) for _ in ARGUMENTS),
        (draw(st.integers(1, 4)), draw(st.integers(1, 4))),
        tuple(draw(st.sampled_from(("C", "C", "strided", "reversed", "F"))) for _ in ARGUMENTS),
        draw(st.integers(0, 1000)),
    )


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@st.composite
def _statement(draw: st.DrawFn, scope: Scope, depth: int) -> list[str]:
    kinds = ["bind", "bind", "store", "augment", "alias"]
    if depth:
        kinds += ["if", "for"]
    match draw(st.sampled_from(kinds)):
        case "bind":
            shape = draw(st.sampled_from([("n",), ("m",), ("n", "m"), ("n-1",), ()]))
            text = draw(_expression(scope, shape, 2))
            name = scope.fresh()
            scope.names[name] = shape
            return [f"{name} = {text}"]
        case "alias":
            source = draw(st.sampled_from(scope.with_shape(("n",))))
            name = scope.fresh()
            scope.names[name] = ("n",)
            return [f"{name} = {source}{draw(st.sampled_from(['', '[::-1]', '[:]', '.copy()']))}"]
        case "store":
            target, shape = draw(_target(scope))
            return [f"{target} = {draw(_castable(scope, shape, target))}"]
        case "augment":
            target, shape = draw(_target(scope))
            return [f"{target} {draw(st.sampled_from(['+=', '-=', '*=']))} {draw(_castable(scope, shape, target))}"]
        case "if":
            return draw(_branch(scope, depth))
        case _:
            return draw(_loop(scope, depth))


@st.composite
def _target(draw: st.DrawFn, scope: Scope) -> tuple[str, Shape]:
    """A part of an array that can be stored to, and its shape."""
    arrays = [(name, shape) for name, shape in scope.names.items() if shape and shape[0] != "n-1"]
    name, shape = draw(st.sampled_from(arrays))
    if len(shape) == 2:
        parts = [("[:]", shape), ("[0]", ("m",)), ("[:, -1]", ("n",)), ("[k % 2 - 1, 0]", ())]
        part, rest = draw(st.sampled_from(parts))
        return name + part, rest
    options = [("[:]", shape), ("[0]", ()), ("[-1]", ()), ("[::-1]", shape)]
    if shape == ("n",):
        options += [("[1:]", ("n-1",)), ("[:-1]", ("n-1",))]
        options += [(f"[{loop}]", ()) for loop in scope.loops]
    part, rest = draw(st.sampled_from(options))
    return name + part, rest


@st.composite
def _castable(draw: st.DrawFn, scope: Scope, shape: Shape, target: str) -> str:
    """An expression that may be stored into `target` whatever its dtype."""
    name = target.partition("[")[0]
    if shape:
        return f"({draw(_expression(scope, shape, 2))}).astype({name}.dtype)"
    element = f"{name}[0]" if len(scope.names[name]) == 1 else f"{name}[0, 0]"
    return draw(st.sampled_from(["1", "k % 2", element]))


@st.composite
def _branch(draw: st.DrawFn, scope: Scope, depth: int) -> list[str]:
    condition = draw(_condition(scope))
    before = dict(scope.names)
    lines = [f"if {condition}:", *_indented(draw(_statement(scope, depth - 1)))]
    scope.names = dict(before)  # what one branch binds may be missing afterwards
    if draw(st.booleans()):
        lines += ["else:", *_indented(draw(_statement(scope, depth - 1)))]
        scope.names = dict(before)
    return lines


@st.composite
def _loop(draw: st.DrawFn, scope: Scope, depth: int) -> list[str]:
    before = dict(scope.names)
    variable = f"i{len(scope.loops)}"
    bounds = draw(st.sampled_from(["a.shape[0]", "1, b.shape[0]", "b.shape[0] - 1, -1, -1", "len(a)"]))
    scope.loops += (variable,)
    body = [line for _ in range(draw(st.integers(1, 2))) for line in draw(_statement(scope, depth - 1))]
    scope.loops = scope.loops[:-1]
    scope.names = before
    return [f"for {variable} in range({bounds}):", *_indented(body)]


@st.composite
def _condition(draw: st.DrawFn, scope: Scope) -> str:
    left = draw(st.sampled_from(["k", "a[0]", "c[0, -1]", "np.sum(b)", *(f"a[{loop}]" for loop in scope.loops)]))
    return f"{left} {draw(st.sampled_from(COMPARE))} {draw(st.integers(-2, 2))}"


@st.composite
def _expression(draw: st.DrawFn, scope: Scope, shape: Shape, depth: int) -> str:
    leaves = list(scope.with_shape(shape))
    match shape:
        case ("n-1",):
            leaves += [f"{name}{part}" for name in scope.with_shape(("n",)) for part in ("[1:]", "[:-1]", "[:0:-1]")]
        case ("n",):
            leaves += ["c[:, 0]", "c[:, -1]", "np.sum(c, axis=1)", "np.max(c, axis=1)", "c.T[0]", "c @ d"]
        case ("m",):
            leaves += ["c[0]", "c[-1, :]", "np.sum(c, axis=0)", "np.min(c, axis=0)", "a @ c"]
        case ("n", "m"):
            leaves += ["c[::-1]", "np.outer(a, d)", "(a[:, np.newaxis] + d)"]
        case ():
            leaves += ["k", "a[0]", "b[-1]", "c[0, 0]", "np.sum(a)", "np.max(c)", "2", "1.5", "a[k % 2 - 1]"]
            leaves += [f"b[{loop}]" for loop in scope.loops]
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(leaves))
    left = draw(_expression(scope, shape, depth - 1))
    if draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(UNARY)).format(left)
    right = draw(_expression(scope, draw(st.sampled_from([shape, shape, ()])), depth - 1))
    return f"({left} {draw(st.sampled_from(BINARY))} {right})"
