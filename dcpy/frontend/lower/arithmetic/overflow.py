"""Interval analysis: which integers of Python's own surely fit into 64 bits. The others are checked where they arise.

Python's integers grow, those of a program have 64 bits: what does not fit raises `OverflowError`, unless the option
``int_overflow`` says ``wrap``. Sizes, loop counters and what is near to them are proved to fit. NumPy's integers wrap
around, as they do in NumPy.

Two things are taken for granted: a size is below ``LARGEST_SIZE`` (no memory has so many bytes), and nothing is counted
up to ``AGES`` in steps of one (that takes years).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dcpy.base.assumptions import LARGEST_SIZE
from dcpy.base.errors import FrontendError
from dcpy.base.options import IntOverflow
from dcpy.frontend.abstract_values.values import Static, Value, as_integer, dtype_of, is_weak, scalar_expr
from dcpy.ir import types
from dcpy.ir.expressions.integer_ops import fits
from dcpy.ir.expressions.scalar import Cast, Const, Index, Load, Op, ScalarExpr, WrapIndex, op
from dcpy.ir.symbolic import Expr, Ranges, sym
from dcpy.ir.symbolic.expr import Atom
from dcpy.ir.symbolic.intervals import (
    LIMITS,
    Interval,
    hull,
    is_within,
    joined,
    of_atom,
    polynomial,
    product,
    quotient,
    remainder,
)
from dcpy.ir.types import DType

if TYPE_CHECKING:
    from dcpy.frontend.lower.emitter import Emitter
    from dcpy.frontend.lower.typed_emitter import TypedEmitter

AGES = 2**56
COMPARISONS = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip
CHECKED = {"+": "add", "-": "sub", "*": "mul", "**": "pow", "<<": "lshift"}
BEYOND_64_BITS = "does not fit into the 64 bits that integers have in a program"


def require_fit(b: TypedEmitter, symbol: str, left: Value, right: Value, dtype: DType = types.int64) -> None:
    """`OverflowError` at run time unless ``left symbol right``, of Python's ints, fits; free where that is proved.

    `dtype` is that of the result: others than int64 are not looked at.
    """
    emit = b.emit
    if dtype != types.int64 or emit.options.int_overflow is IntOverflow.WRAP or emit.wraps_integers:
        return
    x, y = _as_int64(left), _as_int64(right)
    if symbol == "//":
        _require_quotient(b, x, y)
        return
    if symbol not in CHECKED:
        return
    known = ValueIntervals(emit)
    if is_within(_result(symbol, known.of(x), known.of(y)), LIMITS) or _is_bounded(emit.ranges, symbol, left, right):
        return
    require_bits(b, op(f"{CHECKED[symbol]}_fits", x, y), f"{{0}} {symbol} {{1}}", [x, y])


def require_bits(b: TypedEmitter, holds: ScalarExpr, what: str, values: Sequence[ScalarExpr]) -> None:
    """`OverflowError` at run time unless an expression `holds`; ``{0}`` in `what` stands for ``values[0]``."""
    if b.emit.options.int_overflow is not IntOverflow.WRAP and not b.emit.wraps_integers:
        b.check(holds, "OverflowError", f"{what} {BEYOND_64_BITS}", values)


def require_negative_fits(b: TypedEmitter, value: Value) -> None:
    """The same for ``-value`` and ``abs(value)``: the smallest integer has no negative."""
    require_fit(b, "-", Static(0), value)


def _require_quotient(b: TypedEmitter, x: ScalarExpr, y: ScalarExpr) -> None:
    """Require that the quotient fits: only that of the smallest integer by -1 does not."""
    known = ValueIntervals(b.emit)
    (low, _), (smallest, largest) = known.of(x), known.of(y)
    if low > LIMITS[0] or not smallest <= -1 <= largest:
        return
    differ = [op("ne", expr, Const(value, types.int64)) for expr, value in ((x, LIMITS[0]), (y, -1))]
    require_bits(b, op("or", *differ), "{0} // {1}", [x, y])


def is_wide(value: Value) -> bool:
    """Return whether a value is a known int that 64 bits do not hold."""
    return isinstance(value, Static) and type(value.value) is int and not is_within((value.value,) * 2, LIMITS)


def with_wide(b: TypedEmitter, symbol: str, left: Value, right: Value) -> Value:
    """``left symbol right`` where one is a known int that is too wide: a float beside floats; comparisons are known.

    `FrontendError` where there is no such meaning.
    """
    wide, other = (left, right) if is_wide(left) else (right, left)
    assert isinstance(wide, Static)
    if dtype_of(other).is_inexact:
        number = Static(float(wide.value))
        return b.operator(symbol, *((number, right) if wide is left else (left, number)))
    if symbol in COMPARISONS:
        small = 0  # any number that 64 bits hold compares with it as 0 does
        known = COMPARISONS[symbol](*((wide.value, small) if wide is left else (small, wide.value)))
        return Static(bool(known) if is_weak(other) else np.bool_(known))
    raise FrontendError(
        f"the integer {wide.value} {BEYOND_64_BITS}",
        notes=("Python's ints grow, but those of a program have 64 bits",),
        help="compute with np.uint64 where it is to wrap around, with floats, or outside of the program",
    )


def _as_int64(value: Value) -> ScalarExpr:
    expr = scalar_expr(value)
    return expr if expr.dtype == types.int64 else Cast(expr, types.int64)


def _is_bounded(ranges: Ranges, symbol: str, left: Value, right: Value) -> bool:
    """Return whether a sum or difference lies between symbols, which fit: ``i + 1`` is at most `n` where ``i < n``."""
    x, y = as_integer(left), as_integer(right)
    if symbol not in ("+", "-") or x is None or y is None:
        return False
    total = x + y if symbol == "+" else x - y
    near = [bound for name in total.symbols for bound in ranges.bounds(name) if bound is not None]
    names = dict.fromkeys(name for expr in (total, *near) for name in expr.symbols)
    limits = [sym(name) for name in names]
    floor = ranges.proves_nonneg(total) or any(ranges.proves_le(limit, total) for limit in limits)
    return floor and any(ranges.proves_le(total, limit) for limit in limits)


def _result(symbol: str, x: Interval, y: Interval) -> Interval:
    """Return the interval of ``x symbol y``."""
    match symbol:
        case "+":
            return x[0] + y[0], x[1] + y[1]
        case "-":
            return x[0] - y[1], x[1] - y[0]
        case "*":
            return product(x, y)
    ends = [(a, b) for a in (*x, 0) for b in (max(y[0], 0), max(y[1], 0)) if x[0] <= a <= x[1]]
    if symbol == "**":
        ends += [(a, y[1] - 1) for a in x if y[1] > 0]  # of an odd power if the largest is even
        return hull([a**b for a, b in ends]) if all(fits("pow", a, b) for a, b in ends) else (LIMITS[0] - 1, 0)
    return hull([a << b for a, b in ends]) if all(fits("lshift", a, b) for a, b in ends) else (LIMITS[0] - 1, 0)


class ValueIntervals:
    """Intervals of expressions at the place of writing. An integer that is read is somewhere in its dtype."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self._symbols: dict[str, Interval] = {}

    def of(self, expr: ScalarExpr) -> Interval:
        """Return the interval of an integer expression."""
        low, high = self._of(expr)
        smallest, largest = LIMITS if expr.dtype == types.int64 else limits_of(expr.dtype)
        return (low, high) if smallest <= low and high <= largest else (smallest, largest)

    def _of(self, expr: ScalarExpr) -> Interval:
        match expr:
            case Const(value=value):
                return int(value.real), int(value.real)
            case Index(value=value):
                return self.exactly(value)
            case Load(container=container):
                return self.emit.integer_intervals.get(container, limits_of(expr.dtype))
            case Op(name=name, args=args):
                return self._operation(name, args, limits_of(expr.dtype))
            case Cast(arg=arg) if arg.dtype.is_integer or arg.dtype == types.bool_:
                return self.of(arg)
            case WrapIndex():
                return 0, LARGEST_SIZE
        return limits_of(expr.dtype)

    def _operation(self, name: str, args: tuple[ScalarExpr, ...], unknown: Interval) -> Interval:
        symbols = {"add": "+", "sub": "-", "mul": "*"}
        if name in symbols:
            return _result(symbols[name], self.of(args[0]), self.of(args[1]))
        match name:
            case "mod":
                return remainder(self.of(args[0]), self.of(args[1]), unknown)
            case "bitand":
                return _common_bits([self.of(arg) for arg in args], unknown)
            case "floordiv":
                return quotient(self.of(args[0]), self.of(args[1]))
            case "rshift":
                least, most = (min(max(count, 0), 63) for count in self.of(args[1]))
                return quotient(self.of(args[0]), (1 << least, 1 << most))
            case "select":
                return joined([self.of(arg) for arg in args[1:]])
            case "min" | "max":
                pick = min if name == "min" else max
                lows, highs = zip(*map(self.of, args), strict=True)
                return pick(lows), pick(highs)
            case "neg":
                low, high = self.of(args[0])
                return -high, -low
            case "abs":
                low, high = self.of(args[0])
                return 0, max(abs(low), abs(high))
        return unknown

    def exactly(self, value: Expr) -> Interval:
        """Return the interval of an expression whose operands do not wrap around; it may itself leave 64 bits."""
        return polynomial(value, self._atom)

    def _atom(self, atom: Atom) -> Interval:
        if atom.kind == "sym":
            if atom.name not in self._symbols:
                self._symbols[atom.name] = LIMITS  # meanwhile, where bounds mention one another
                self._symbols[atom.name] = self._symbol(atom.name)
            return self._symbols[atom.name]
        return of_atom(atom, self.exactly)

    def _is_a_size(self, name: str) -> bool:
        """Return whether the caller's arrays say that an integer of the caller's is the size of one."""
        return any(sym(name) in desc.shape for desc in self.emit.descs.values() if not desc.transient)

    def _symbol(self, name: str) -> Interval:
        emit = self.emit
        low, high = (0, LARGEST_SIZE) if name in emit.sdfg.sizes or self._is_a_size(name) else LIMITS
        lower, upper = emit.ranges.bounds(name)
        low = low if lower is None else max(low, self.exactly(lower)[0])
        high = high if upper is None else min(high, self.exactly(upper)[1])
        extent = emit.loop_ranges.get(name)
        step = 0 if extent is None else extent.step.constant or 0
        if extent is not None and step:
            first = self.exactly(extent.start)
            farthest = step * AGES
            return (low, min(high, first[1] + farthest)) if step > 0 else (max(low, first[0] + farthest), high)
        return low, high


def _common_bits(parts: list[Interval], unknown: Interval) -> Interval:
    """The interval of ``a & b`` where one of them is not negative."""
    highs = [high for low, high in parts if low >= 0]
    return (0, min(highs)) if highs else unknown


def limits_of(dtype: DType) -> Interval:
    """Return the smallest and the largest integer of a dtype; those of int64 for numbers that are no integers."""
    if not dtype.is_integer:
        return (0, 1) if dtype == types.bool_ else LIMITS
    bits = 8 * dtype.itemsize
    return (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def both_are_python_ints(left: Value, right: Value) -> bool:
    """Return whether an operation on two values is one of Python's ints (truth values among them)."""
    whole = (types.int64, types.bool_)
    return is_weak(left) and is_weak(right) and dtype_of(left) in whole and dtype_of(right) in whole

