"""Interval analysis: the least and the largest value of each integer that a kernel computes.

Bounds are expressions of what the host knows: sizes, strides. They hold for every value that is computed on the way,
not only for the result: ``b + 256`` in ``min(N, b + 256)``, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, Literal, Name, Operation, Prefix
from dcpy.codegen.lir.traversal import children
from dcpy.codegen.lir.types import INDEX
from dcpy.ir.symbolic import ONE, ZERO, Expr, Ranges, const, max_of


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, both inclusive; where `high` is less, there is no value."""

    low: Expr
    high: Expr


Known = Mapping[str, Interval]  # of variables, and of the numbers of threads and blocks


class IndexIntervals:
    """Intervals of expressions, from those of the variables in them; `ranges` compares bounds."""

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        self.values: dict[str, LirExpr] = {}  # of constants, for differences: `i - b` where i is `b + thread`

    def of(self, expr: LirExpr, known: Known) -> Interval | None:
        """The interval of an index; None where nothing is known: data decide."""
        if expr.type != INDEX:
            return None
        match expr:
            case Literal(value=int() as value):
                return Interval(const(value), const(value))
            case Name(name=name) | Intrinsic(name=name, args=()):
                return known.get(name)
        if (rest := self._difference(expr)) is not None:
            return self.of(rest, known)
        operands = [self.of(child, known) for child in children(expr)]
        found = [operand for operand in operands if operand is not None]
        if len(found) < len(operands):
            return None
        match expr, found:
            case Prefix(op="-"), [arg]:
                return Interval(-arg.high, -arg.low)
            case (Infix(op=op) | Operation(name=op)), [left, right]:
                return self._of_two(op, left, right)
        return None

    def _difference(self, expr: LirExpr) -> LirExpr | None:
        """Return `rest` for the difference ``(left + rest) - left``."""
        match expr:
            case Infix(op="-", left=Name(name=name), right=right):
                match self.values.get(name):
                    case Infix(op="+", left=left, right=rest) if left == right:
                        return rest
        return None

    def _of_two(self, op: str, left: Interval, right: Interval) -> Interval | None:
        match op:
            case "+":
                return Interval(left.low + right.low, left.high + right.high)
            case "-":
                return Interval(left.low - right.high, left.high - right.low)
            case "*":
                return self._product(left, right)
            case "/" if self._is_natural(left) and self._is_natural(right):  # divisors are not 0
                return Interval(ZERO, self._quotient(left, right))
            case "%" if self._is_natural(left) and self._is_natural(right):
                return Interval(ZERO, right.high - 1)
            case "floordiv" if right.low is right.high and (right.low.constant or 0) > 0:
                return Interval(left.low // right.low, left.high // right.low)
            case "mod" if self.ranges.proves_nonneg(right.low - 1):
                return Interval(ZERO, right.high - 1)
            case "min":
                return Interval(self._least(left.low, right.low), self.smaller(left.high, right.high))
            case "max":
                return Interval(self._larger(left.low, right.low), self._most(left.high, right.high))
        return None

    def _product(self, left: Interval, right: Interval) -> Interval:
        if self._is_natural(left) and self._is_natural(right):
            return Interval(left.low * right.low, left.high * right.high)
        for factor, other in ((left, right), (right, left)):
            if factor.low is factor.high and factor.low.constant is not None:
                ends = other.low * factor.low, other.high * factor.low
                return Interval(*(ends if factor.low.constant >= 0 else ends[::-1]))
        most = self._size(left) * self._size(right)
        return Interval(-most, most)

    def _quotient(self, left: Interval, right: Interval) -> Expr:
        """The largest one; of less than ``n*m`` and ``m`` it is less than n."""
        if right.low is not right.high:
            return left.high // right.low if self.ranges.proves_nonneg(right.low - 1) else left.high
        whole = (left.high + 1) // right.low
        return whole - 1 if whole * right.low == left.high + 1 else left.high // right.low

    def _is_natural(self, interval: Interval) -> bool:
        return self.ranges.proves_nonneg(interval.low)

    def _size(self, interval: Interval) -> Expr:
        """The largest absolute value."""
        return interval.high if self._is_natural(interval) else max_of(interval.high, -interval.low)

    def smaller(self, left: Expr, right: Expr) -> Expr:
        """One of two bounds from above: the smaller one, where that is proved."""
        return left if self.ranges.proves_le(left, right) else right

    def _larger(self, left: Expr, right: Expr) -> Expr:
        return left if self.ranges.proves_le(right, left) else right

    def _least(self, left: Expr, right: Expr) -> Expr:
        return -self._most(-left, -right)

    def _most(self, left: Expr, right: Expr) -> Expr:
        """A bound from above of both."""
        for one, other in ((left, right), (right, left)):
            if self.ranges.proves_le(other, one):
                return one
        return max_of(left, right)

    def _at_least_0(self, bound: Expr) -> Expr:
        return bound if self.ranges.proves_nonneg(bound) else max_of(bound, 0)

    def relaxed(self, bound: Expr) -> Expr:
        """A bound from above that is no smaller, and simpler: without quotients, minima and negative terms."""
        total = ZERO
        for monomial, factor in bound.terms:
            product, number = ONE, factor
            for atom, power in monomial:
                whole = Expr(((((atom, 1),), 1),))
                divisor = atom.args[1].constant if atom.kind == "floordiv" and power == 1 else None
                if divisor and divisor > 0:  # 256*((N + 255) // 256), -256*((-N) // 256)
                    top = atom.args[0] if number > 0 else divisor - 1 - atom.args[0]
                    number = abs(number) // (divisor if number % divisor == 0 else 1)
                    whole = self._at_least_0(self.relaxed(top))
                elif atom.kind == "max" and number > 0 and power == 1:
                    whole = reduce(self._most, (self._at_least_0(self.relaxed(arg * number)) for arg in atom.args))
                    number = 1
                elif atom.kind == "min" and number > 0:
                    whole = min(atom.args, key=lambda arg: arg.constant is None)
                elif not self.ranges.proves_nonneg(whole):
                    whole, number = max_of(whole, -whole), abs(number)
                product = product * whole**power
            if number > 0 or not monomial:
                total = total + product * number
        return total


def parts_of(expr: LirExpr) -> Iterator[LirExpr]:
    """An index and the indices that it is computed from."""
    if expr.type == INDEX:
        yield expr
        for child in children(expr):
            yield from parts_of(child)
