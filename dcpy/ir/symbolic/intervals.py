"""Intervals of integers: where products and symbolic expressions lie, and whether 64 bits hold them.

`Ranges` bounds symbols by expressions, an interval by numbers: it answers whether an expression wraps around, which no
order between symbols tells. One fact is taken for granted, and tested when a program is called: no axis of an argument
has more than `LARGEST_SIZE` elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType

from dcpy.base.assumptions import LARGEST_SIZE
from dcpy.ir.symbolic.expr import Atom, Expr, Monomial, product_of, sym
from dcpy.ir.symbolic.ranges import Ranges

Interval = tuple[int, int]  # both inclusive

LIMITS: Interval = (-(2**63), 2**63 - 1)
OF_SIZES: Interval = (0, LARGEST_SIZE)
MOST_AXES = 6  # of a box whose products are looked at


def wrapped(expr: Expr) -> Expr:
    """The expression as int64 arithmetic computes it: its factors, and its number, wrap around."""
    for _, factor in expr.terms:
        if not LIMITS[0] <= factor <= LIMITS[1]:
            break
    else:
        return expr
    kept = ((monomial, (factor - LIMITS[0]) % 2**64 + LIMITS[0]) for monomial, factor in expr.terms)
    return Expr(tuple(term for term in kept if term[1]))


def is_within(inner: Interval, outer: Interval) -> bool:
    """Return whether all of an interval lies in another one."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def hull(values: list[int]) -> Interval:
    """The interval of some numbers."""
    return min(values), max(values)


def joined(parts: list[Interval]) -> Interval:
    """The interval of some intervals."""
    return min(low for low, _ in parts), max(high for _, high in parts)


def product(x: Interval, y: Interval) -> Interval:
    """The interval of ``a * b``."""
    return hull([a * b for a in x for b in y])


def power(base: Interval, exponent: int) -> Interval:
    """The interval of ``a ** n`` with a known `n`."""
    low, high = base
    ends = [low**exponent, high**exponent]
    return (0, max(ends)) if exponent % 2 == 0 and low < 0 < high else hull(ends)


def quotient(value: Interval, divisor: Interval) -> Interval:
    """The interval of ``a // b``; where `b` may not be positive, of any quotient of `a`."""
    if divisor[0] > 0:
        return hull([a // b for a in value for b in divisor])
    size = max(map(abs, value))
    return -size, size


def remainder(value: Interval, divisor: Interval, unknown: Interval) -> Interval:
    """The interval of ``a % b`` with a positive `b`; `unknown` where that is not proved."""
    (low, high), (smallest, largest) = value, divisor
    if smallest <= 0:
        return unknown
    return (low, high) if low >= 0 and high < smallest else (0, largest - 1)


def of_atom(atom: Atom, of: Callable[[Expr], Interval]) -> Interval:
    """The interval of a minimum, a maximum, a quotient or a remainder, whose operands lie in ``of(operand)``."""
    parts = [of(arg) for arg in atom.args]
    match atom.kind:
        case "min" | "max":
            pick = min if atom.kind == "min" else max
            return pick(low for low, _ in parts), pick(high for _, high in parts)
        case "mod":
            return remainder(parts[0], parts[1], LIMITS)
    return quotient(parts[0], parts[1])


def polynomial(
    value: Expr, of: Callable[[Atom], Interval], known: Mapping[Monomial, Interval] = MappingProxyType({})
) -> Interval:
    """The interval of a sum of products of atoms, exactly: it may leave 64 bits. Of some products more is `known`."""
    low = high = 0
    for monomial, factor in value.terms:
        term: Interval = (factor, factor)
        if monomial in known:
            term = product(term, known[monomial])
        else:
            for atom, exponent in monomial:
                term = product(term, power(of(atom), exponent))
        low, high = low + term[0], high + term[1]
    return low, high


class SymbolIntervals:
    """Intervals of expressions, by the bounds of their symbols; `sizes` are symbols that are sizes of arguments' axes.

    `boxes`: shapes and bytes of an element of arguments, whose bytes 64 bits count. Sizes of 0 count as 1 there, so
    some axes of one are not larger than all.
    """

    def __init__(self, ranges: Ranges, sizes: Iterable[str], boxes: Iterable[tuple[Sequence[Expr], int]] = ()) -> None:
        self.ranges, self.sizes = ranges, frozenset(sizes)
        self.boxes = [(tuple(shape), LIMITS[1] // itemsize) for shape, itemsize in boxes if len(shape) > 1]
        self._products: dict[Monomial, Interval] = {}
        for shape, most in self.boxes:
            axes = [size for size in shape if size.name in self.sizes]
            for count in range(2, len(axes) + 1) if len(axes) <= MOST_AXES else ():
                for some in combinations(axes, count):
                    monomial = product_of(*some).terms[0][0]
                    least = self._products.get(monomial, (0, most))[1]
                    self._products[monomial] = (0, min(least, most))
        self._symbols: dict[str, Interval] = {}

    def of(self, value: Expr) -> Interval:
        """Return the interval of an expression whose operands do not wrap around."""
        return polynomial(value, self._atom, self._products)

    def counts_all(self, sizes: Sequence[Expr]) -> bool:
        """Return whether 64 bits count the elements of a box whose sizes are not negative."""
        high = math.prod(max(self.of(size)[1], 1) for size in sizes)
        return high <= LIMITS[1] or any(self._lies_in(sizes, shape) for shape, _ in self.boxes)

    def _lies_in(self, sizes: Sequence[Expr], shape: Sequence[Expr]) -> bool:
        """Return whether each size is at most that of an axis of an argument, in order."""
        axes = iter(shape)
        return all(any(size == axis or self.ranges.proves_le(size, axis) for axis in axes) for size in sizes)

    def counts(self, value: Expr) -> bool:
        """Return whether 64 bits hold a number of elements, and the operands of its minima, maxima, quotients,
        remainders.

        Sums and products in between may wrap around: they wrap back. A little below what 64 bits hold is allowed, as
        in ``N - 2``: it becomes more elements than memory has, where the exact number is none.
        """
        atoms = [atom for monomial, _ in value.terms for atom, _ in monomial if atom.kind != "sym"]
        if not all(self.counts(arg) for atom in atoms for arg in atom.args):
            return False
        low, high = self.of(value)
        if (-value).name is not None:  # of the smallest number it is that number again
            return True
        if low >= LIMITS[0] - LARGEST_SIZE and high <= LIMITS[1]:
            return True
        return self._is_between_symbols(value)

    def _is_between_symbols(self, value: Expr) -> bool:
        """Return whether it lies between symbols, each of which fits: ``i + 1`` is at most `n` where ``i < n``."""
        near = [bound for name in value.symbols for bound in self.ranges.bounds(name) if bound is not None]
        limits = [sym(name) for name in dict.fromkeys(name for expr in (value, *near) for name in expr.symbols)]
        above = self.ranges.proves_nonneg(value) or any(self.ranges.proves_le(limit, value) for limit in limits)
        return above and any(self.ranges.proves_le(value, limit) for limit in limits)

    def _atom(self, atom: Atom) -> Interval:
        if atom.kind != "sym":
            return of_atom(atom, self.of)
        if atom.name not in self._symbols:
            self._symbols[atom.name] = LIMITS  # meanwhile, where bounds mention one another
            self._symbols[atom.name] = self._symbol(atom.name)
        return self._symbols[atom.name]

    def _symbol(self, name: str) -> Interval:
        low, high = OF_SIZES if name in self.sizes else LIMITS
        lower, upper = self.ranges.bounds(name)
        low = low if lower is None else max(low, self.of(lower)[0])
        return low, high if upper is None else min(high, self.of(upper)[1])
