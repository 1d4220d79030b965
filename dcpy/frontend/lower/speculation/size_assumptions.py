"""Guards of speculation: facts about the sizes of one call that the program is lowered under.

Lowering asks for what would make the program simpler: a slice that stays inside its array, two sizes that are equal, a
size that does not broadcast. What cannot be proved, but holds in the call that is compiled, is assumed: it becomes a
guard at the entry, and a call that fails it gets a version of its own. What does not hold is remembered, too: a call in
which all of it holds deserves a better version than this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dcpy.base.assumptions import LARGEST
from dcpy.ir.symbolic import Expr, Ranges, sym

MOST = 24  # guards of one program
Equality = tuple[Expr, Expr]


@dataclass
class Assumptions:
    """Assumptions about free symbols, each ``fact >= 0``. `sample` has their values in the call."""

    sample: Mapping[str, int]
    assumed_facts: dict[Expr, None] = field(default_factory=dict)
    refuted_facts: dict[Expr, None] = field(default_factory=dict)
    equal: dict[Equality, None] = field(default_factory=dict)

    @property
    def facts(self) -> tuple[Expr, ...]:
        """All requested assumptions, whether they hold or not."""
        return (*self.assumed_facts, *self.refuted_facts)

    def value(self, expr: Expr) -> int | None:
        """The value of an expression in the call that is compiled; None where that is not known."""
        known = all(name in self.sample for name in expr.symbols)
        return expr.evaluate(self.sample) if known else None

    def take(self, fact: Expr) -> bool:
        """Assume ``fact >= 0`` where that holds in the call, and a guard can test it."""
        if fact in self.assumed_facts:
            return True
        if not fact.is_linear:
            return False
        value = self.value(fact)
        if value is None or (value >= 0 and len(self.assumed_facts) >= MOST) or not self._is_testable(fact):
            return False
        (self.assumed_facts if value >= 0 else self.refuted_facts)[fact] = None
        return value >= 0

    def _is_testable(self, fact: Expr) -> bool:
        """Return whether 64 bits hold each step of testing a fact, as they do not for integers near their limits."""
        terms = (Expr((term,)).evaluate(self.sample) for term in fact.terms)
        return sum(map(abs, terms)) <= LARGEST

    def take_equal(self, left: Expr, right: Expr) -> bool:
        """Assume that two sizes are equal, which makes them one symbol the next time that the program is lowered.

        Symbols of sizes are not negative: no integer that is negative in the call becomes one.
        """
        if any(self.sample.get(name, 0) < 0 for name in (left - right).symbols):
            return False
        if not (self.take(left - right) and self.take(right - left)):
            return False
        self.equal[left, right] = None
        return True


@dataclass
class ForwardedAssumptions:
    """The assumptions of a function that is called: facts about what is passed, which the caller has to know.

    `symbols` says what the callee's symbols stand for there.
    """

    symbols: Mapping[str, Expr]
    holds: Callable[[Expr], bool]
    same: Callable[[Expr, Expr], bool]
    sample: Callable[[Expr], int | None]
    assumed_facts: dict[Expr, None] = field(default_factory=dict)

    def value(self, expr: Expr) -> int | None:
        """The value as `Assumptions.value` has it."""
        return self.sample(expr.subs(self.symbols)) if self._is_passed(expr) else None

    def take(self, fact: Expr) -> bool:
        """Assume as `Assumptions.take` does."""
        if fact in self.assumed_facts:
            return True
        if not self._is_passed(fact) or not self.holds(fact.subs(self.symbols)):
            return False
        self.assumed_facts[fact] = None
        return True

    def take_equal(self, left: Expr, right: Expr) -> bool:
        """Assume as `Assumptions.take_equal` does."""
        if not (self._is_passed(left - right) and self.same(left.subs(self.symbols), right.subs(self.symbols))):
            return False
        self.assumed_facts[left - right] = self.assumed_facts[right - left] = None
        return True

    def _is_passed(self, expr: Expr) -> bool:
        return all(name in self.symbols for name in expr.symbols)


def needed(facts: Mapping[Expr, None], known: Ranges) -> tuple[Expr, ...]:
    """The facts that do not follow from the others and what is known, in the order in which they came up."""
    kept = list(facts)
    for fact in facts:
        others = [other for other in kept if other is not fact]
        if known.assuming(*others).proves_nonneg(fact):
            kept = others
    return tuple(kept)


def substitution_for(equal: Mapping[Equality, None], fixed: set[str], sizes: set[str]) -> dict[str, Expr]:
    """Sizes to replace so that what is equal is the same expression: each by a number, or another symbol and a number.

    `fixed` symbols (integer arguments) stand for others, but nothing stands for them.
    """
    found: dict[str, Expr] = {}
    for left, right in equal:
        difference = (left - right).subs(found)
        for name in difference.symbols:
            form = difference.linear_in(name)
            if name in fixed or name not in sizes or form is None or form[0].constant not in (1, -1):
                continue
            value = form[1] * -form[0].constant
            offset = value.subs(dict.fromkeys(value.symbols, 0))
            if value.constant is None and (value - offset).name is None:
                continue
            found = {known: old.subs({name: value}) for known, old in found.items()} | {name: value}
            break
    return {name: value for name, value in found.items() if value is not sym(name)}
