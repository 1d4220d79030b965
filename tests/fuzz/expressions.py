"""Random expressions over values that are at hand.

Each part is evaluated as it is made, by NumPy: what NumPy does not take (or what C leaves undefined: conversions of
NaN to integers) is replaced by one of its operands. So an expression fits by construction, and the generator needs no
rules on shapes and dtypes of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.fuzz import bounds, containers, functions
from tests.fuzz.choice import RandomSource, chance, pick
from tests.fuzz.program import DTYPES

LITERALS = ("1", "2", "0", "-1", "3", "1.5", "-0.5", "True", "2j", "np.int8(3)", "np.float32(0.5)", "np.uint8(7)")
ARITHMETIC = ("+", "-", "*", "+", "-", "*", "/", "//", "%")
INTEGER = ("&", "|", "^", "<<", ">>", "//", "%", "**")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
BINARY_CALLS = (
    "np.minimum({}, {})", "np.maximum({}, {})", "np.fmin({}, {})", "np.fmod({}, {})", "np.logical_and({}, {})",
    "np.power({}, {})", "np.add({}, {})", "np.where({0} > 0, {0}, {1})", "np.where({1} == {0}, {1}, 2)",
    "({} @ {})", "np.dot({}, {})", "np.outer({}, {})", "np.floor_divide({}, {})", "np.copysign({}, {})",
    "scaled({}, {})", "np.add.outer({}, {})", "({0} if k > 0 else {0} * 2)", "({0}, {1})[0]",
)  # fmt: skip
UNARY = (
    "np.abs({})", "(-{})", "(~{})", "np.sqrt(np.abs({}))", "np.floor({})", "np.ceil({})", "np.rint({})",
    "np.trunc({})", "np.sign({})", "np.square({})", "np.isnan({})", "np.logical_not({})", "np.conj({})", "{}.real",
    "{}.imag", "np.clip({}, -1, 2)", "np.clip({}, None, 1)", "({} ** 2)", "({} ** 3)", "({} ** 0)", "scaled({})",
    "np.zeros_like({})", "np.ones_like({}, dtype=np.int16)", "np.full_like({}, 2)", "{}.size", "{}.ndim",
    "{}.shape[0]", "np.reciprocal({})", "np.positive({})", "abs({})", "np.diff({})", "np.cumsum({})",
)  # fmt: skip
VIEWS = (
    "{}.T", "{}[::-1]", "{}.reshape(-1)", "{}[np.newaxis]", "{}[..., np.newaxis]", "np.transpose({})", "{}.ravel()",
    "{}[:, np.newaxis]", "np.flip({})", "{}[1:]", "{}[:-1]", "{}[::2]", "np.swapaxes({}, 0, -1)", "{}.copy()",
    "np.expand_dims({}, 0)", "{}.flatten()", "{}[...]", "{}[-1:0:-1]", "{}[k:]", "{}.reshape(1, -1)",
    "np.squeeze({})", "{}.reshape({}.shape[::-1])", "{}[5:2]", "{}[:100]", "np.atleast_2d({})",
)  # fmt: skip
REDUCTIONS = ("sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax")
CREATIONS = (
    "np.arange({0})", "np.zeros({0})", "np.ones(({0}, {1}))", "np.full({0}, 3, dtype=np.{2})", "np.eye({0})",
    "np.linspace(0, 1, {0})", "np.zeros(({0}, {1}), dtype=np.{2})", "np.arange({0}, dtype=np.{2})",
    "np.arange({0}, 0, -1)", "np.arange(0, 2, 0.5)", "np.array([{0}, {1}])", "np.ones({0}, dtype=np.{2})",
    "np.eye({0}, {1}, k=1, dtype=np.{2})", "np.linspace(-1.0, 1.0, {0}, endpoint=False)", "np.arange(1, {0})",
)  # fmt: skip
FUNCTIONS = (
    functions.ORDER, functions.SHAPE, functions.LINEAR, functions.SETS, functions.PARTS, functions.VALUES,
    functions.METHODS, functions.PAIRS, bounds.POWERS, containers.CONSUMED,
)  # fmt: skip
SIZES = ("a.shape[0]", "len(d)", "2", "3", "c.shape[1]", "a.size", "0", "1")
SCALAR_UNARY = (
    "int({})",
    "float({})",
    "abs({})",
    "bool({})",
    "round({})",
    "np.int32({})",
    "np.float64({})",
    "(not {})",
)
SCALAR_BINARY = ("min({}, {})", "max({}, {})", "({} and {})", "({} or {})", "({} + {})", "({} * {})", "({} - {})")


class Unsuitable(Exception):
    """An expression that NumPy, or the comparison with it, does not take."""


class Expressions:
    """Makes expressions over the names of `known`; `evaluate` says what a text is there."""

    def __init__(self, choice: RandomSource, known: Mapping[str, Any], scope: dict[str, Any]) -> None:
        self.choice = choice
        self.known = known
        self.scope = scope

    def evaluate(self, text: str) -> Any:
        """The value of a text. Raises `Unsuitable`."""
        try:
            with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
                warnings.simplefilter("always")
                value = eval(text, self.scope, dict(self.known))
        except Exception as error:
            raise Unsuitable(str(error)) from error
        if any(undefined(str(warning.message)) for warning in caught) or not suitable(value):
            raise Unsuitable(text)
        return value

    def arrays(self, accept: Callable[[Any], object] = lambda value: True) -> list[str]:
        """The names of arrays."""
        return [name for name, value in self.known.items() if isinstance(value, np.ndarray) and accept(value)]

    def expression(self, depth: int) -> str:
        """Any expression: an array, a scalar of NumPy or Python."""
        if depth <= 0 or chance(self.choice, 15):
            return self.leaf()
        makers = [
            self.arithmetic, self.arithmetic, self.arithmetic, self.unary, self.view, self.reduction, self.call,
            self.comparison, self.cast, self.integer, self.scalar, self.creation, self.function, self.function,
            self.gather,
        ]  # fmt: skip
        return pick(self.choice, makers)(depth)

    def leaf(self) -> str:
        """A name, a part of an array, or a literal."""
        match self.choice.number(0, 9):
            case 0 | 1:
                return pick(self.choice, LITERALS)
            case 2 | 3 | 4:
                return self.part(pick(self.choice, self.arrays()))
        return pick(self.choice, list(self.known))

    def part(self, name: str) -> str:
        """A part of an array by basic indices; the array itself where these do not fit."""
        rank = self.known[name].ndim
        indices = [self.index(axis, name) for axis in range(self.choice.number(0, rank) if rank else 0)]
        if chance(self.choice, 10):
            indices.insert(self.choice.number(0, len(indices)), pick(self.choice, ["np.newaxis", "..."]))
        return self.first(f"{name}[{', '.join(indices)}]" if indices else name, name)

    def index(self, axis: int, name: str) -> str:
        """An index or a slice."""
        integers = [other for other, value in self.known.items() if is_integer(value)]
        size = f"{name}.shape[{axis}]"
        options = [
            "0",
            "-1",
            ":",
            "1:",
            ":-1",
            "::-1",
            "::2",
            "-2:",
            "1:3",
            "::-2",
            "k::-1",
            "-1:0:-1",
            "5:-9:-3",
            f"k % max({size}, 1)",
            f"k - k:{size}",
        ]
        options += [f"{integer}" for integer in integers] + [f"{integer} - 1" for integer in integers]
        return pick(self.choice, options)

    def first(self, *texts: str) -> str:
        """The first text that can be evaluated."""
        for text in texts[:-1]:
            try:
                self.evaluate(text)
            except Unsuitable:
                continue
            return text
        return texts[-1]

    # -- kinds of expressions ----------------------------------------------------------------------------------

    def arithmetic(self, depth: int) -> str:
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        return self.first(f"({left} {pick(self.choice, ARITHMETIC)} {right})", f"({left} + {right})", left)

    def integer(self, depth: int) -> str:
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        return self.first(f"({left} {pick(self.choice, INTEGER)} {right})", f"({left} * {right})", left)

    def comparison(self, depth: int) -> str:
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        return self.first(f"({left} {pick(self.choice, COMPARISONS)} {right})", left)

    def call(self, depth: int) -> str:
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        return self.first(pick(self.choice, BINARY_CALLS).format(left, right), f"({left} - {right})", left)

    def unary(self, depth: int) -> str:
        operand = self.expression(depth - 1)
        return self.first(pick(self.choice, UNARY).format(operand), operand)

    def function(self, depth: int) -> str:
        """A function of NumPy's, or one of the program's own."""
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        group = pick(self.choice, (*FUNCTIONS, functions.BINARY, functions.CALLS))
        return self.first(pick(self.choice, group).format(left, right), f"np.sort({left})", left)

    def gather(self, depth: int) -> str:
        """Elements chosen by arrays of integers or of truth values."""
        if not self.arrays(np.ndim):
            return self.leaf()
        left, right = pick(self.choice, self.arrays(np.ndim)), self.expression(depth - 1)
        texts = [pick(self.choice, functions.GATHERS).format(left, right) for _ in range(2)]
        return self.first(*texts, f"{left}[{left} > 0]", left)

    def view(self, depth: int) -> str:
        operand = self.expression(depth - 1)
        return self.first(pick(self.choice, VIEWS).format(operand, operand), operand)

    def scalar(self, depth: int) -> str:
        left, right = self.number(), self.number()
        if chance(self.choice, 50):
            return self.first(pick(self.choice, SCALAR_UNARY).format(left), left)
        if self.kind(left) != self.kind(right):
            return self.first(f"({left} + {right})", left)
        return self.first(pick(self.choice, SCALAR_BINARY).format(left, right), left)

    def kind(self, text: str) -> Any:
        """The Python type of what a text stands for: where paths meet, values have one."""
        try:
            return type(self.evaluate(text))
        except Unsuitable:
            return None

    def creation(self, depth: int) -> str:
        n, m = pick(self.choice, SIZES), pick(self.choice, SIZES)
        return self.first(
            pick(self.choice, CREATIONS).format(n, m, pick(self.choice, DTYPES).replace("bool", "bool_")), "1"
        )

    def cast(self, depth: int) -> str:
        operand = self.expression(depth - 1)
        return self.casted(operand, pick(self.choice, DTYPES))

    def casted(self, operand: str, dtype: str) -> str:
        """Converted, through a range that every dtype has."""
        name = dtype.replace("bool", "bool_")
        try:
            value = self.evaluate(operand)
        except Unsuitable:
            return operand
        kind = np.result_type(value).kind
        if kind == "c" and np.dtype(dtype).kind not in "cb":
            operand = f"({operand}).real"
        if kind in "fc" and np.dtype(dtype).kind in "iu":
            operand = f"np.clip(np.nan_to_num({operand}), {0 if dtype.startswith('u') else -100}, 100)"
        converted = (
            f"{operand}.astype(np.{name})" if operand[-1] in ")]" or operand.isidentifier() else f"np.{name}({operand})"
        )
        return self.first(converted, f"np.{name}({operand})", operand)

    def reduction(self, depth: int) -> str:
        operand = self.expression(depth - 1)
        try:
            value = np.asarray(self.evaluate(operand))
        except Unsuitable:
            return operand
        name = pick(self.choice, REDUCTIONS)
        if value.dtype.kind in "fc" and name in ("sum", "prod", "mean") and not is_exact(value):
            name = "max"  # sums of inexact numbers depend on their order
        keywords = []
        axes = [str(axis) for axis in range(-value.ndim, value.ndim)]
        if axes and chance(self.choice, 60):
            keywords.append(
                f"axis={pick(self.choice, axes + (['(0, 1)', '(0, -1)', '()'] if value.ndim > 1 else ['(0,)']))}"
            )
        if chance(self.choice, 20):
            keywords.append("keepdims=True")
        if name in ("sum", "prod", "mean") and chance(self.choice, 20):
            keywords.append(f"dtype=np.{pick(self.choice, ('float64', 'float32', 'int64', 'int32', 'complex128'))}")
        method = f"{operand}.{name}({', '.join(keywords)})"
        function = f"np.{name}({', '.join([operand, *keywords])})"
        plain = f"np.max({operand})"
        return self.first(*([method, function] if chance(self.choice, 40) else [function, method]), plain, operand)

    def number(self) -> str:
        """A scalar."""
        scalars = [name for name, value in self.known.items() if np.ndim(value) == 0]
        match self.choice.number(0, 4):
            case 0:
                return pick(self.choice, ("1", "0", "-2", "0.5", "3"))
            case 1 | 2 if self.arrays(lambda value: value.ndim > 0 and value.size > 0):
                name = pick(self.choice, self.arrays(lambda value: value.ndim > 0 and value.size > 0))
                index = ", ".join(
                    pick(self.choice, ("0", "-1", "k % 1", "k % 2 - 1")) for _ in range(self.known[name].ndim)
                )
                return self.first(f"{name}[{index}]", f"np.max({name})", "k")
            case 3 if self.arrays():
                return self.first(
                    f"np.{pick(self.choice, ('max', 'min', 'any', 'argmax'))}({pick(self.choice, self.arrays())})", "k"
                )
        return pick(self.choice, scalars or ["1"])

    def condition(self) -> str:
        """What an ``if`` can ask for."""
        bound = pick(self.choice, ("0", "1", "-1", "2", self.number()))
        one = f"{self.number()} {pick(self.choice, COMPARISONS)} {bound}"
        other = f"{self.number()} > {self.number()}"
        two = f"{one} {pick(self.choice, ('and', 'or', 'and not'))} {other}"
        texts = [one, one, one, two, f"not {one}", f"-2 < {self.number()} <= {self.number()}", f"{self.number()}"]
        return self.first(pick(self.choice, texts), one, "k > 0")


def undefined(warning: str) -> bool:
    """Whether a warning of NumPy's is about what C leaves undefined (or what loses part of a complex number)."""
    return "cast" in warning or "discards the imaginary" in warning


def suitable(value: Any) -> bool:
    """Whether a value is small, of a dtype that dcpy has, and far from the limits of its dtype."""
    if isinstance(value, bool | int | float | complex):
        return abs(value) < 2**30 or value != value
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.name not in DTYPES:
        return False
    if value.size > 80 or value.ndim > 4:
        return False
    if value.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            finite = np.abs(value[np.isfinite(value)])
        return bool(np.all(finite < (1e2 if value.dtype.itemsize == 2 else 1e6)))
    return True


def is_exact(value: Any) -> bool:
    """Whether floating-point numbers are small multiples of 1/16: their sums are the same in any order."""
    parts = np.asarray(value).astype(np.complex128)
    scaled = np.stack([parts.real, parts.imag]) * 16
    with np.errstate(all="ignore"):
        return bool(np.all((scaled == np.rint(scaled)) & (np.abs(scaled) < 400)))


def is_integer(value: Any) -> bool:
    """Whether a value can be an index."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_value(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | bool | int | float | complex)


def same_type(one: Any, other: Any) -> bool:
    """Whether two values can be those of one variable of a compiled program."""
    if type(one) is not type(other) or np.shape(one) != np.shape(other):
        return False
    return not isinstance(one, np.ndarray) or one.dtype == other.dtype
