"""Branch facts: what a condition implies about symbols where it holds, or where it does not; facts, each at least 0."""

from __future__ import annotations

from functools import reduce

from dcpy.ir.expressions.scalar import Op, ScalarExpr, as_symbolic
from dcpy.ir.region import Branch, Region
from dcpy.ir.symbolic import ZERO, Expr, Ranges
from dcpy.ir.symbolic.function_terms import arguments_of, functions_in

#: what a comparison says where it does not hold
OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def facts_of(test: ScalarExpr, *, holds: bool) -> tuple[Expr, ...]:
    """Expressions that are not negative where `test` is true (or false): ``i > 0`` implies ``i - 1 >= 0``."""
    if not isinstance(test, Op):
        return ()
    if test.name == "not":
        return facts_of(test.args[0], holds=not holds)
    if test.name == ("and" if holds else "or"):
        return tuple(fact for part in test.args for fact in facts_of(part, holds=holds))
    if test.name not in OPPOSITE:
        return ()
    left, right = (as_symbolic(arg) for arg in test.args)
    if left is None or right is None:
        return ()
    return comparison_facts(test.name if holds else OPPOSITE[test.name], left, right)


def refine_ranges(ranges: Ranges, test: ScalarExpr, *, holds: bool) -> Ranges:
    """`ranges` and what follows from `test` being true (or false): ``if i > 0:`` makes ``a[i - 1]`` safe."""
    return reduce(Ranges.narrowed, facts_of(test, holds=holds), ranges)


def tells_all(test: ScalarExpr, *, holds: bool) -> bool:
    """Return whether `test` is true (or false) exactly where the facts of `facts_of` hold."""
    if not isinstance(test, Op):
        return False
    if test.name == "not":
        return tells_all(test.args[0], holds=not holds)
    if test.name == ("and" if holds else "or"):
        return all(tells_all(part, holds=holds) for part in test.args)
    return bool(facts_of(test, holds=holds))


def comparison_facts(name: str, left: Expr, right: Expr) -> tuple[Expr, ...]:
    """Expressions that are at least 0 where a comparison, ``lt`` for instance, holds; none for ``ne``."""
    match name:
        case "lt":
            return (right - left - 1,)
        case "le":
            return (right - left,)
        case "gt":
            return (left - right - 1,)
        case "ge":
            return (left - right,)
        case "eq":
            return (right - left, left - right)
    return ()


def divisors_of(test: ScalarExpr) -> tuple[tuple[str, int], ...]:
    """Numbers that divide symbols where `test` is true: ``n % 8 == 0`` means that 8 divides n."""
    if not isinstance(test, Op):
        return ()
    if test.name == "and":
        return tuple(found for part in test.args for found in divisors_of(part))
    if test.name != "eq":
        return ()
    left, right = (as_symbolic(arg) for arg in test.args)
    remainder = None if left is None or right is None else right if left is ZERO else left if right is ZERO else None
    for part in () if remainder is None else functions_in(remainder, "mod"):
        value, divisor = arguments_of(part)
        if part is remainder and value.name is not None and divisor.constant:
            return ((value.name, abs(divisor.constant)),)
    return ()


def divisors_inside(region: Region) -> tuple[tuple[str, int], ...]:
    """Return the symbols and divisors that a branch has tested when it runs this region, one of its sides."""
    branch = region.owner
    cases = branch.cases if isinstance(branch, Branch) else ()
    return next((divisors_of(test) for test, body in cases if body is region), ())


def exact_facts_inside(region: Region) -> tuple[Expr, ...] | None:
    """Facts of `facts_inside`, where a branch runs this region exactly if all hold; None: it may run less often."""
    branch = region.owner
    if not isinstance(branch, Branch):
        return None
    for test, body in branch.cases:
        if not tells_all(test, holds=body is region):
            return None
        if body is region:
            break
    return facts_inside(region)


def facts_inside(region: Region) -> tuple[Expr, ...]:
    """Return the facts that a branch has tested when it runs this region, one of its sides."""
    branch = region.owner
    if not isinstance(branch, Branch):
        return ()
    facts: list[Expr] = []
    for test, body in branch.cases:
        facts += facts_of(test, holds=body is region)
        if body is region:
            break
    return tuple(facts)
