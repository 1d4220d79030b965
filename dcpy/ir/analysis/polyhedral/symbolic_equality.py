"""Symbolic equality: whether two expressions have the same value, for all values of symbols.

Expressions in normal form are one object if they are equal as polynomials; what ``min``, ``max``, ``//`` and ``%`` make
of them is a question for isl: ``min(N, max(0, N))`` is ``N`` for a size N.
"""

from __future__ import annotations

from collections.abc import Iterable

from dcpy.ir.analysis.polyhedral.isl_sets import NotAffineError, System, is_empty
from dcpy.ir.symbolic import ZERO, Expr, Ranges
from dcpy.ir.symbolic.expr import Monomial


def always_equal(left: Expr, right: Expr, ranges: Ranges) -> bool:
    """Return whether it is proved that both have the same value, for all values of the symbols that `ranges` allows.

    A difference whose terms have a factor in common is zero where what is left of them is: ``M*max(0, N) - M*N``.
    """
    difference = left - right
    return difference is ZERO or all(_is_zero(part, ranges) for part in _parts(difference))


def _is_zero(value: Expr, ranges: Ranges) -> bool:
    system = System(ranges)
    try:
        differs = system.set_of([], [[f"{system.expr(value)} != 0"]])
    except NotAffineError:
        return False
    return bool(is_empty(differs))


def _parts(difference: Expr) -> Iterable[Expr]:
    """Return sums of terms that must be zero, each without the symbols in front of a product with a function."""
    factors = [symbols for monomial, _ in difference.terms if (symbols := _symbols_of(monomial)) not in ((), monomial)]
    found: dict[Monomial, Expr] = {}
    for monomial, number in difference.terms:
        quotients = ((factor, _divided(monomial, factor)) for factor in factors)
        factor, rest = next(((one, quotient) for one, quotient in quotients if quotient is not None), ((), monomial))
        found[factor] = found.get(factor, ZERO) + Expr(((rest, number),))
    return found.values()


def _divided(monomial: Monomial, factor: Monomial) -> Monomial | None:
    """The quotient; None where there is none."""
    powers = dict(monomial)
    for atom, power in factor:
        powers[atom] = powers.get(atom, 0) - power
    if min(powers.values(), default=0) < 0:
        return None
    return tuple((atom, power) for atom, power in powers.items() if power)


def _symbols_of(monomial: Monomial) -> Monomial:
    return tuple((atom, power) for atom, power in monomial if atom.kind == "sym")
