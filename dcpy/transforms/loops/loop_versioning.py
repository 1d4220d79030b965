"""LoopVersioning: a version of a loop without checks runs if all of them will hold, else the original loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dataflow.path_values import wanted_on_all_paths
from dcpy.ir.analysis.dataflow.value_ranges import Bounds, owner_bounds
from dcpy.ir.editing.cloning import clone
from dcpy.ir.editing.index_simplification import simplify_indices
from dcpy.ir.expressions.scalar import Const, Index, Op, ScalarExpr, WrapIndex, as_symbolic, cast, loads_of, op
from dcpy.ir.region import Block, Branch, Check, Loop, Region, SymbolAssign
from dcpy.ir.symbolic import ZERO, Expr, Ranges, const, sym
from dcpy.ir.symbolic.expr import Monomial
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one

_MOST = 8  # conditions that one check may become
_LARGE = 1 << 20  # constants from here on are limits that guards bring along
_FITS = {"add_fits": 60, "sub_fits": 60, "mul_fits": 30}  # bits of operands with which a result has room


@dataclass(frozen=True)
class LoopVersioning(Transformation["Versions"]):
    """Make two versions of a loop, without and with its checks, and choose before the loop starts.

    before   loop i = 0:n { check N - i - 1 >= 0 else ...   after   if N - n >= 0 { loop i_1 = 0:n { A[i_1] = ... } }
                            A[i] = ... }                            else { loop i = 0:n { check ...; A[i] = ... } }

    A check can be decided before the loop where its condition is ``expr >= 0`` (or another comparison of integers),
    linear in the parameters around it, over symbols that the loop does not change: then the smallest value of `expr`
    over all iterations is known. So can an index that is wrapped around, where none is negative or too large, and an
    operation that may overflow, where its operands are small. The guard is sufficient, not necessary; a loop that
    raises does so in the version that has all checks, after the same writes. The outermost loop of at most `largest`
    blocks and nodes is versioned.
    """

    name: ClassVar[str] = "loop-versioning"
    optional: ClassVar[bool] = True
    loop = capture(Loop)
    pattern = one(loop)
    largest: int = 100

    def plan(self, m: Match) -> Versions | Refusal:
        loop = m[self.loop]
        if not self._is_small(loop):
            return Refusal(f"it has more than {self.largest} blocks and nodes")
        guards = _decidable(loop, m.uses)
        if not guards:
            return Refusal("no check inside can be decided before it")
        around = (owner for owner in owners_around(loop) if isinstance(owner, Loop))
        if any(self._is_small(outer) and _decidable(outer, m.uses) for outer in around):
            return Refusal("a loop around it has two versions, or may have")
        condition = all_hold(guards.values(), m.sdfg.sizes)
        if is_the_rest(loop, condition):
            return Refusal("this version is for the runs in which a check may fail")
        return Versions(condition, frozenset(guards))

    def apply(self, m: Match, plan: Versions, rw: Rewriter) -> Loop:
        """Return the loop without the checks."""
        loop = m[self.loop]
        fast = clone(loop, rw)
        pairs = zip(loop.body.walk_blocks(), list(fast.body.walk_blocks()), strict=True)
        for original, copied in pairs:
            if original in plan.decided and copied.region is not None:
                _without_check(copied, copied.region)
        rest = Region()
        rw.insert_before(loop, Branch([(plan.condition, Region([fast]))], rest, span=loop.span))
        rw.move_blocks([loop], rest)
        simplify_indices([fast], rw)
        return fast

    def _is_small(self, loop: Loop) -> bool:
        size = 0
        for region in loop.body.walk_regions():
            size += sum(1 + len(getattr(block, "nodes", ())) for block in region.blocks)
            if size > self.largest:
                return False
        return True


@dataclass(frozen=True, slots=True)
class Versions:
    """The guard before the loop, and the checks that it implies."""

    condition: ScalarExpr
    decided: frozenset[Block]


Guard = tuple[Expr, ...]  # each is to be at least 0


def _without_check(block: Block, region: Region) -> None:
    """Remove a check, or the wrapping of an index."""
    if isinstance(block, SymbolAssign) and isinstance(block.value, WrapIndex):
        block.value = cast(block.value.arg, types.int64)
    else:
        region.remove(block)


def _condition_of(block: Block) -> ScalarExpr | None:
    """The condition that a block needs: that of a check, or that an index is in range."""
    match block:
        case Check(condition=condition):
            return condition
        case SymbolAssign(value=WrapIndex(arg=arg, size=size)):
            index = cast(arg, types.int64)
            return op("and", op("ge", index, Const(0, types.int64)), op("lt", index, Index(size)))
    return None


def _decidable(loop: Loop, uses: Uses) -> dict[Block, Guard]:
    """The checks inside that can be decided before the loop, each with its guard."""
    found: dict[Block, Guard] = {}
    changed = frozenset(symbols_assigned_in(loop.body))
    for block in loop.body.walk_blocks():
        condition = _condition_of(block)
        if condition is not None:
            values = least_values(condition, block, loop, changed, uses)
            if not values and loads_of(condition):
                values = _wanted(condition, block, loop, changed, uses)
            if values:
                found[block] = values
    return found


def _wanted(condition: ScalarExpr, at: Block, loop: Loop, changed: frozenset[str], uses: Uses) -> Guard:
    """Return what symbols have to be for a condition on scalars to hold in all iterations; () if they do not tell."""
    inside = {name for name, _, _ in _variables(at, loop)} | changed
    around = {name for owner in owners_around(loop) for name, _ in owner.iteration_space()}
    known = (set(uses.sdfg.symbols) | around) - inside
    values = wanted_on_all_paths(condition, at, uses, known)
    if not values or len(values) > _MOST or any(_is_bad(value, changed) for value in values):
        return ()
    return values


def least_values(condition: ScalarExpr, at: Block, loop: Loop, changed: frozenset[str], uses: Uses) -> Guard:
    """Lower bounds over all iterations of the values that a condition needs to be at least 0; () if unknown."""
    ranges = uses.ranges_at(at)
    values = _at_least_zero(condition)
    known: tuple[Expr, ...] = ()  # at least 0, because the iteration space is not empty where the check is made
    for name, lower, upper in _variables(at, loop):
        if lower is None or upper is None:
            return ()
        known = (*known, upper - lower)
        forms = [value.linear_in(name) for value in values]
        if None in forms:
            return ()
        pairs = [_ends(form[0], lower, upper, known, ranges) for form in forms if form is not None]
        values = tuple(form[0] * end + form[1] for form, ends in zip(forms, pairs, strict=True) if form for end in ends)
    if len(values) > _MOST or any(_is_bad(value, changed) for value in values):
        return ()
    outside = uses.ranges_at(loop)
    kept = tuple(value for value in values if not outside.proves_nonneg(value)) or values[:1]
    return tuple(dict.fromkeys(kept))


def _is_bad(value: Expr, changed: frozenset[str]) -> bool:
    """Return whether a value cannot be computed before the loop, or is unsuited to a guard."""
    never = value.constant is not None and value.constant < 0
    return never or not changed.isdisjoint(value.symbols) or not all(_is_plain(*term) for term in value.terms)


def _is_plain(monomial: Monomial, factor: int) -> bool:
    """Return whether a term is a product of symbols, or a small multiple of a function of sums of few symbols.

    Divisors must be numbers: a guard may not divide by zero before a loop that may not run.
    """
    functions = [atom for atom, _ in monomial if atom.kind != "sym"]
    if not functions:
        return True
    (atom, power), *others = monomial
    if others or power > 1 or abs(factor) >= _LARGE:
        return False
    if atom.kind in ("floordiv", "mod") and not atom.args[1].constant:
        return False
    inner = [term for arg in atom.args for term in arg.terms]
    return all(sum(power for _, power in part) <= 1 and abs(by) < _LARGE and _is_plain(part, by) for part, by in inner)


def _variables(at: Block, loop: Loop) -> Iterator[Bounds]:
    """The parameters of the loops and maps around a place, innermost first, up to those of the loop itself."""
    for owner in owners_around(at):
        yield from reversed(owner_bounds(owner))
        if owner is loop:
            return


def _ends(slope: Expr, lower: Expr, upper: Expr, known: tuple[Expr, ...], ranges: Ranges) -> tuple[Expr, ...]:
    """The ends of a range at which a linear function can be smallest: both, if the sign of its slope is unknown."""
    if slope.constant == 0:
        return (lower,)
    if any(ranges.proves_nonneg(slope - fact) for fact in (ZERO, *known)):
        return (lower,)
    if any(ranges.proves_nonneg(-slope - fact) for fact in (ZERO, *known)):
        return (upper,)
    return (lower, upper)


def _at_least_zero(condition: ScalarExpr) -> tuple[Expr, ...]:
    """Expressions that are at least 0 only if a condition holds; () if it is no condition on integers."""
    match condition:
        case Op(name=name, args=(left, right)) if name in _FITS:
            return _with_room(name, as_symbolic(left), as_symbolic(right))
        case Op(name="and", args=(left, right)):
            first, second = _at_least_zero(left), _at_least_zero(right)
            return (*first, *second) if first and second else ()
        case Op(name="lt" | "le" | "gt" | "ge" | "eq" as name, args=(left, right)):
            a, b = as_symbolic(left), as_symbolic(right)
            if a is None or b is None:
                return ()
            match name:
                case "eq":
                    return (a - b, b - a)
                case "ge" | "gt":
                    return (a - b - (1 if name == "gt" else 0),)
                case _:
                    return (b - a - (1 if name == "lt" else 0),)
    return ()


def _with_room(name: str, left: Expr | None, right: Expr | None) -> tuple[Expr, ...]:
    """Expressions that are at least 0 only if two operands are so small that their result fits into int64."""
    if left is None or right is None:
        return ()
    limits = {operand: const(1 << _FITS[name]) for operand in (left, right) if operand.constant is None}
    numbers = [abs(operand.constant) for operand in (left, right) if operand.constant is not None]
    if any(number >= _LARGE for number in numbers):
        return ()
    if name == "mul_fits" and numbers:
        limits = dict.fromkeys(limits, const(1 << 60 - _LARGE.bit_length()))
    return tuple(value for operand, most in limits.items() for value in (most - operand, operand + most))


def all_hold(guards: Iterable[Guard], sizes: Iterable[str]) -> ScalarExpr:
    """The condition that all guards hold, and that they are computed without overflow."""
    values = dict.fromkeys(value for guard in guards for value in guard)
    zero = Const(0, types.int64)
    conditions = [op("ge", Index(value), zero) for value in (*_no_overflow(values, sizes), *values)]
    return reduce(lambda first, second: op("and", first, second), conditions)


def _no_overflow(values: Iterable[Expr], sizes: Iterable[str]) -> Iterator[Expr]:
    """Expressions, at least 0 each, with which 64 bits hold all parts of `values`. Sums of few sizes always fit."""
    largest: dict[str, int] = {}
    for value in values:
        factors = [abs(factor) for monomial, factor in value.terms if monomial or abs(factor) < _LARGE]
        room = 62 - sum(factors).bit_length() - (len(factors) < len(value.terms))
        for monomial, _ in value.terms:
            degree = sum(power for _, power in monomial)
            for atom, _ in monomial if degree > 1 else ():
                largest[atom.name] = min(largest.get(atom.name, 1 << room), 1 << (room // degree))
        for name in value.symbols:
            if name not in sizes:
                largest.setdefault(name, 1 << room)
    for name, bound in largest.items():
        yield const(bound) - sym(name)
        if name not in sizes:
            yield sym(name) + bound


def is_the_rest(block: Block, condition: ScalarExpr) -> bool:
    """Return whether a block runs only where `condition` does not hold."""
    region = block.region
    owner = None if region is None else region.owner
    return isinstance(owner, Branch) and owner.otherwise is region and owner.cases[0][0] == condition
