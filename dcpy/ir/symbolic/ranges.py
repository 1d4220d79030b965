"""Ranges of symbols, and the facts that follow from them.

`Ranges` maps a symbol to bounds (both inclusive, either may be missing) and to a number that divides it, and holds
*facts*: expressions that are known not to be negative, because a guard or a check has tested them. Its questions are
answered by substituting bounds and by taking multiples of facts away until nothing but numbers is left: "yes" is a
proof, "no" means only "not proved". The order of substitutions matters, and there are exponentially many: a question
gets a number of steps, counted, so that the answer is the same on each machine.
Questions over whole index sets go to `ir.analysis.polyhedral.integer_sets`, which is exact for affine ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from dcpy.ir.symbolic.expr import ONE, ZERO, Atom, Expr, ExprLike, Monomial, as_expr, const, rebuild, sym

Bound = Expr | None
_DEPTH = 12  # substitutions in one proof; deeper nests of bounds are "not proved"
_FACTS = 4  # facts that one proof combines at most
_STEPS = 1000  # expressions that one proof looks at; those of NPBench that succeed look at 63 at most


class Ranges:
    """Known bounds of symbols, innermost scope last, and facts. Immutable: `bind`, `assuming` return extended copies.

    A symbol bound later may have bounds that mention those bound before it (``i`` in ``0 .. N - 1``). `multiples` has
    numbers above 1 that divide symbols.
    """

    __slots__ = ("_bounds", "_facts", "_left", "_multiples", "_positions", "_proved")

    def __init__(
        self,
        bounds: Mapping[str, tuple[Bound, Bound]] | None = None,
        facts: Iterable[Expr] = (),
        multiples: Mapping[str, int] | None = None,
    ) -> None:
        self._bounds: dict[str, tuple[Bound, Bound]] = dict(bounds or {})
        self._facts: tuple[Expr, ...] = tuple(facts)
        self._multiples: dict[str, int] = dict(multiples or {})
        self._positions: dict[str, int] | None = None
        self._proved: dict[Expr, bool] = {}
        self._left: int | None = None  # steps of the proof that is under way

    def bind(
        self, name: str, lower: ExprLike | None = None, upper: ExprLike | None = None, multiple_of: int = 1
    ) -> Ranges:
        """These ranges, and ``lower <= name <= upper``, where `name` is a multiple of a number."""
        bounds = dict(self._bounds)
        bounds.pop(name, None)
        bounds[name] = (
            None if lower is None else as_expr(lower),
            None if upper is None else as_expr(upper),
        )
        multiples = {known: number for known, number in self._multiples.items() if known != name}
        multiples |= {name: multiple_of} if multiple_of != 1 else {}
        return Ranges(bounds, (fact for fact in self._facts if name not in fact.symbols), multiples)

    def rebound(self, name: str, lower: ExprLike | None, upper: ExprLike | None) -> Ranges:
        """These ranges with other bounds for a symbol, at its place in the order; facts stay."""
        bounds = dict(self._bounds)
        bounds[name] = (None if lower is None else as_expr(lower), None if upper is None else as_expr(upper))
        return Ranges(bounds, self._facts, self._multiples)

    def assuming(self, *facts: Expr) -> Ranges:
        """These ranges, and ``fact >= 0`` for each of `facts` that is linear in symbols: others prove too little."""
        new = [fact for fact in dict.fromkeys(facts) if fact.is_linear and not self.proves_nonneg(fact)]
        return Ranges(self._bounds, (*self._facts, *new), self._multiples) if new else self

    def narrowed(self, fact: Expr) -> Ranges:
        """These ranges, and ``fact >= 0``: as a bound of one symbol where that can say it, else as a fact."""
        for name in reversed(self.names or fact.symbols):
            if name not in fact.symbols:
                continue
            form = fact.linear_in(name)
            if form is None or form[0].constant not in (1, -1):
                break
            slope, rest = form
            lower, upper = self.bounds(name)
            later = self.names[self.names.index(name) + 1 :] if name in self.names else ()
            if any(symbol in later or symbol not in self.names for symbol in rest.symbols):
                break
            if slope.constant == 1 and (lower is None or self.proves_le(lower, -rest)):
                return self.rebound(name, -rest, upper)
            if slope.constant == -1 and (upper is None or self.proves_le(rest, upper)):
                return self.rebound(name, lower, rest)
            break
        return self.assuming(fact)

    def bounds(self, name: str) -> tuple[Bound, Bound]:
        return self._bounds.get(name, (None, None))

    @property
    def names(self) -> tuple[str, ...]:
        """Symbols with known bounds, outermost first."""
        return tuple(self._bounds)

    @property
    def facts(self) -> tuple[Expr, ...]:
        """Expressions that are known not to be negative, beside what the bounds say."""
        return self._facts

    def multiple_of(self, value: ExprLike) -> int:
        """A number that surely divides `value`, as large as is known; 0 where that is 0 itself."""
        found = 0
        for monomial, factor in as_expr(value).terms:
            parts = (self._atom_multiple(atom) ** power for atom, power in monomial)
            found = math.gcd(found, math.prod(parts, start=abs(factor)))
        return found

    def remainder(self, value: ExprLike, divisor: int) -> int | None:
        """``value % divisor``, where that is the same in all runs."""
        moving, number = _parted(as_expr(value))
        return number % divisor if self.multiple_of(moving) % divisor == 0 else None

    def proves_nonneg(self, value: ExprLike) -> bool:
        """Return whether ``value >= 0`` follows."""
        expr = as_expr(value)
        known = self._proved.get(expr)
        if known is not None:
            return known
        if self._left is not None:
            return self._prove(expr, self._left)
        self._left = _STEPS
        try:
            return self._prove(expr, None)
        finally:
            self._left = None

    def _prove(self, expr: Expr, given: int | None) -> bool:
        """Return whether it follows; `given`: the steps left to the proof that this is a part of, if it is one."""
        self._proved[expr] = False  # while it is being proved: no proof goes in circles
        known = self._follows(expr) or self._nonneg_by_multiples(expr)
        if known or given is None or self._left:
            self._proved[expr] = known
        else:
            del self._proved[expr]  # a question of its own has more steps
        return known

    def proves_le(self, left: ExprLike, right: ExprLike) -> bool:
        """Return whether ``left <= right`` follows."""
        return self.proves_nonneg(as_expr(right) - left)

    def proves_lt(self, left: ExprLike, right: ExprLike) -> bool:
        """Return whether ``left < right`` follows."""
        return self.proves_nonneg(as_expr(right) - left - 1)

    def proves_in_range(self, indices: Iterable[object], sizes: Iterable[ExprLike]) -> bool:
        """Return whether the element at these indices exists in an array of this shape; not of indices that are ranges.
        """
        return all(
            isinstance(index, Expr) and self.proves_nonneg(index) and self.proves_lt(index, size)
            for index, size in zip(indices, sizes, strict=True)
        )

    def proves_ne(self, left: ExprLike, right: ExprLike) -> bool:
        """Return whether ``left != right`` follows."""
        return self.proves_lt(left, right) or self.proves_lt(right, left)

    def simplify(self, value: ExprLike) -> Expr:
        """`value` with ``min``, ``max``, ``//`` and ``%`` resolved where the ranges decide them."""
        expr = as_expr(value)
        if all(atom.kind == "sym" for monomial, _ in expr.terms for atom, _ in monomial):
            return expr
        total = ZERO
        for monomial, factor in expr.terms:
            product, left = ONE, factor
            for atom, power in monomial:
                if self._is_unit(atom, monomial):  # min(1, N)*N is N
                    continue
                whole = self._whole_quotient(atom)
                if whole is not None and left % whole[1] ** power == 0:  # 8*(N // 8) is N
                    product, left = product * whole[0] ** power, left // whole[1] ** power
                else:
                    product = product * self._simplify_atom(atom) ** power
            total = total + product * left
        return total

    def _is_unit(self, atom: Atom, monomial: Monomial) -> bool:
        """Return whether it is ``min(1, N)`` beside a factor N that is not negative: 1, or both are 0."""
        if atom.kind != "min" or ONE not in atom.args:
            return False
        others = [arg for arg in atom.args if arg is not ONE]
        beside = [sym(factor.name) for factor, _ in monomial if factor.kind == "sym"]
        return len(others) == 1 and others[0] in beside and self.proves_nonneg(others[0])

    def _whole_quotient(self, atom: Atom) -> tuple[Expr, int] | None:
        """Value and divisor of a floor division by a number that surely divides the value."""
        number = atom.args[1].constant if atom.kind == "floordiv" else None
        if not number or number < 0 or not self._multiples:
            return None
        value = self.simplify(atom.args[0])
        return (value, number) if self.multiple_of(value) % number == 0 else None

    def _simplify_atom(self, atom: Atom) -> Expr:
        if atom.kind == "sym":
            return sym(atom.name)
        args = tuple(self.simplify(arg) for arg in atom.args)
        if atom.kind in ("min", "max"):
            kept: list[Expr] = []
            for index, arg in enumerate(args):
                others = kept + list(args[index + 1 :])
                if not any(self._decides(atom.kind, other, arg) for other in others):
                    kept.append(arg)
            return rebuild(atom.kind, tuple(kept))
        value, divisor = args
        if self.proves_nonneg(value) and self.proves_lt(value, divisor):
            return ZERO if atom.kind == "floordiv" else value
        if divisor.constant and divisor.constant > 0 and self._multiples:
            return self._divided(atom.kind, value, divisor.constant)
        return rebuild(atom.kind, args)

    def _divided(self, kind: str, value: Expr, divisor: int) -> Expr:
        """Floor division or modulo by a number, where the multiples of symbols may determine the remainder."""
        rest = self.remainder(value, divisor)
        if rest is None:
            return rebuild(kind, (value, const(divisor)))
        if kind == "mod":
            return const(rest)
        whole = value - rest  # a multiple: -((-N) // 8) is N // 8
        negative = all(factor < 0 for _, factor in whole.terms)
        return -((-whole) // divisor) if negative else whole // divisor

    def _decides(self, kind: str, winner: Expr, loser: Expr) -> bool:
        return self.proves_le(winner, loser) if kind == "min" else self.proves_le(loser, winner)

    def _nonneg(self, expr: Expr, depth: int) -> bool:
        if expr.constant is not None:
            return expr.constant >= 0
        if not self._left:
            return False
        self._left -= 1
        if depth == 0:
            return False
        if all(factor >= 0 and self._monomial_nonneg(monomial) for monomial, factor in expr.terms):
            return True
        split = _first_function(expr)
        if split is not None:
            return self._nonneg_by_cases(expr, split, depth)
        for name in self._innermost_first(expr.symbols):
            weaker = self._weaken(expr, name, depth)
            if weaker is not None and self._nonneg(weaker, depth - 1):
                return True
        return False

    def _follows(self, expr: Expr) -> bool:
        return self._nonneg(expr, _DEPTH) or self._nonneg_by_facts(expr, _FACTS)

    def _nonneg_by_multiples(self, expr: Expr) -> bool:
        """A multiple of 8 that is more than 0 is at least 8: asks for the least that makes `expr` so large."""
        moving, number = _parted(expr)
        step = self.multiple_of(moving) if self._multiples else 1
        if step < 2:
            return False
        weaker = moving - (-number - 1) // step * step - 1
        return weaker is not expr and self._follows(weaker)

    def _innermost_first(self, symbols: Iterable[str]) -> list[str]:
        """The symbols that have bounds, the last bound first: its bounds mention the others."""
        if self._positions is None:  # of all symbols of a program, where an expression has a few
            self._positions = {name: position for position, name in enumerate(self._bounds)}
        known = [name for name in symbols if name in self._positions]
        return sorted(known, key=self._positions.__getitem__, reverse=True) if len(known) > 1 else known

    def _nonneg_by_facts(self, expr: Expr, depth: int) -> bool:
        """Fourier-Motzkin elimination: takes multiples of facts away that remove a term which stands in the way.

        A symbol may make way for its bounds: ``K - i - 1`` of i below M is ``K - M`` at least, of i below 3 ``K - 3``.
        """
        if depth == 0 or not self._facts or not self._left:
            return False
        for monomial, factor in self._in_the_way(expr):
            for fact in self._facts:
                slope = dict(fact.terms).get(monomial, 0)
                if slope * factor <= 0:
                    continue
                rest = expr * abs(slope) - fact * abs(factor)
                if self._nonneg(rest, _DEPTH // 2) or self._nonneg_by_facts(rest, depth - 1):
                    return True
        name = self._makes_way(expr)
        weaker = self._weaken(expr, name, _DEPTH // 2) if name is not None else None
        return weaker is not None and self._nonneg_by_facts(weaker, depth - 1)

    def _makes_way(self, expr: Expr) -> str | None:
        """The innermost symbol whose bounds mention others; where there is none, one that is subtracted."""
        for name in self._innermost_first(expr.symbols):
            if any(bound is not None and bound.symbols for bound in self.bounds(name)):
                return name
        subtracted = (monomial[0][0].name for monomial, factor in expr.terms if factor < 0 and len(monomial) == 1)
        return next((name for name in subtracted if name in self._bounds), None)

    def _in_the_way(self, expr: Expr) -> list[tuple[Monomial, int]]:
        """A term that may be negative, and that each proof must remove; where there is none, the terms with symbols."""
        terms = [(monomial, factor) for monomial, factor in expr.terms if monomial]
        may_be_negative = (term for term in terms if term[1] < 0 or not self._monomial_nonneg(term[0]))
        first = next(may_be_negative, None)
        return terms if first is None else [first]

    def _monomial_nonneg(self, monomial: Monomial) -> bool:
        """Return whether a product is never negative: even powers, and atoms whose lower bound is a number >= 0."""
        return all(power % 2 == 0 or self._atom_nonneg(atom) for atom, power in monomial)

    def _atom_multiple(self, atom: Atom) -> int:
        match atom.kind:
            case "sym":
                return self._multiples.get(atom.name, 1)
            case "floordiv":
                value, divisor = self.multiple_of(atom.args[0]), atom.args[1].constant
                return value // abs(divisor) if divisor and value % divisor == 0 else 1
        return math.gcd(*(self.multiple_of(arg) for arg in atom.args))  # of a remainder, too

    def _atom_nonneg(self, atom: Atom) -> bool:
        match atom.kind:
            case "sym":
                lower = self.bounds(atom.name)[0]
                return lower is not None and (lower.constant is None or lower.constant >= 0) and self._chain(lower)
            case "min":
                return all(self.proves_nonneg(arg) for arg in atom.args)
            case "max":
                return any(self.proves_nonneg(arg) for arg in atom.args)
            case "floordiv":
                return self.proves_nonneg(atom.args[0]) and self.proves_nonneg(atom.args[1] - 1)
            case _:
                return self.proves_nonneg(atom.args[1] - 1)

    def _chain(self, lower: Expr) -> bool:
        return lower.constant is not None or self.proves_nonneg(lower)

    def _weaken(self, expr: Expr, name: str, depth: int) -> Expr | None:
        """A smaller expression without `name`, by replacing it with the bound that its slope asks for."""
        form = expr.linear_in(name)
        if form is None:
            return None
        slope, rest = form
        lower, upper = self.bounds(name)
        if lower is not None and self._nonneg(slope, depth - 1):
            return slope * lower + rest
        if upper is not None and self._nonneg(-slope, depth - 1):
            return slope * upper + rest
        return None

    def _nonneg_by_cases(self, expr: Expr, atom: Atom, depth: int) -> bool:
        """Remove one ``min``/``max``/``//``/``%`` from `expr`, by what is true of its value in each case."""
        marker = sym("?")  # no user name: identifiers have no question mark
        form = _replace(expr, atom, marker).linear_in("?")
        if form is None:
            return False
        slope, rest = form
        if atom.kind in ("min", "max"):
            cases = (self._nonneg(slope * arg + rest, depth - 1) for arg in atom.args)
            one_is_enough = self._nonneg(-slope if atom.kind == "min" else slope, depth - 1)
            return any(cases) if one_is_enough else all(cases)  # a minimum is at most each of its arguments
        value, divisor = atom.args
        if not self.proves_nonneg(divisor - 1):  # by facts, too
            return False
        rises, falls = self._nonneg(slope, depth - 1), self._nonneg(-slope, depth - 1)
        if not rises and not falls:
            return False
        if atom.kind == "mod":  # 0 <= value % divisor <= divisor - 1
            return self._nonneg(rest if rises else slope * (divisor - 1) + rest, depth - 1)
        # value - divisor + 1 <= divisor * (value // divisor) <= value
        edge = value - divisor + 1 if rises else value
        return self._nonneg(slope * edge + rest * divisor, depth - 1)


def _parted(expr: Expr) -> tuple[Expr, int]:
    """The terms with symbols, and the number."""
    number = expr.terms[-1][1] if expr.terms and not expr.terms[-1][0] else 0
    return expr - number, number


def where_positive(value: Expr, sizes: Iterable[Expr]) -> Expr:
    """Return `value` where all of the sizes are positive: each ``max(0, x)`` that is a factor of one is ``x``."""
    for size in sizes:
        for atom, _ in size.terms[0][0] if len(size.terms) == 1 else ():
            if atom.kind == "max" and ZERO in atom.args:
                value = _replace(value, atom, rebuild("max", tuple(arg for arg in atom.args if arg is not ZERO)))
    return value


def _first_function(expr: Expr) -> Atom | None:
    for monomial, _ in expr.terms:
        for atom, _ in monomial:
            if atom.kind != "sym":
                return atom
    return None


def _replace(expr: Expr, target: Atom, marker: Expr) -> Expr:
    total = ZERO
    for monomial, factor in expr.terms:
        product = const(factor)
        for atom, power in monomial:
            product = product * (marker if atom == target else Expr(((((atom, 1),), 1),))) ** power
        total = total + product
    return total
