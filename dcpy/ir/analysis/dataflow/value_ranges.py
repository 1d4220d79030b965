"""Value ranges of symbols at one place: sizes, the parameters around it, indices that were checked.

The bounds come from the structure, outermost scope first, and from what is assumed of symbols; the guards of the SDFG
and the conditions of branches are facts beside them. What divides symbols is assumed, tested by a branch around the
place, or follows from the steps of loops. Equal knowledge is one `Ranges` object, so what one place has proved the next
one need not prove again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from dcpy.base.assumptions import NOTHING, Assumption
from dcpy.ir.analysis.dataflow.branch_facts import divisors_inside, facts_inside
from dcpy.ir.expressions.scalar import WrapIndex, as_symbolic
from dcpy.ir.field_roles import Written
from dcpy.ir.region import Branch, Region, SymbolAssign
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, Ranges, const
from dcpy.ir.tree import TreeNode, is_inside, owners_around, regions_around, sdfg_of

Bounds = tuple[str, Expr | None, Expr | None]  # a symbol, its smallest and its largest value where known


def ranges_at(place: TreeNode) -> Ranges:
    """Bounds of symbols at a place: sizes, parameters of the maps and loops around it, checked indices.

    For many questions about one SDFG build `KnownRanges` once.
    """
    return KnownRanges(sdfg_of(place)).at(place)


class KnownRanges:
    """`ranges_at` for many places of one SDFG, whose symbol assignments are looked at only once."""

    def __init__(self, sdfg: Sdfg) -> None:
        self._sizes = set(sdfg.sizes)
        self._assumed = tuple(fact for fact in sdfg.assumptions if _least_of(fact) is None)
        self._blocks = _assignments(sdfg)
        self._outer = (*_free_bounds(sdfg), *_assigned_bounds(sdfg, self._blocks))
        self._multiples = _assumed_multiples(sdfg)

    def at(self, place: TreeNode) -> Ranges:
        """Bounds of symbols at a place of the SDFG."""
        owners = list(owners_around(place))
        axes = [axis for owner in reversed(owners) for axis in owner.iteration_space()]
        inner = [_param_bounds(*axis) for axis in axes]
        least = self._least_sizes(inner)
        outer = self._outer
        if least:
            outer = tuple((name, _later(low, least.get(name)), high) for name, low, high in outer)
        tested = [region for region in regions_around(place) if isinstance(region.owner, Branch)]
        facts = (*self._assumed, *self._tested(tested))
        return _interned((*outer, *inner), facts, self._divisors(tested, axes))

    def _divisors(self, tested: Iterable[Region], axes: Iterable[tuple[str, Range]]) -> tuple[tuple[str, int], ...]:
        """Numbers that divide symbols at a place inside of sides of branches, and of loops over axes."""
        found = dict(self._multiples)
        for region in tested:
            for name, number in divisors_inside(region):
                if self._is_steady(name, region):
                    found[name] = math.lcm(found.get(name, 1), number)
        for name, values in axes:
            found.pop(name, None)
            step = 1 if values.step is ONE else abs(values.step.constant or 1)
            number = math.gcd(step, Ranges(None, (), found).multiple_of(values.start)) if step > 1 else 1
            found |= {name: number} if number > 1 else {}
        return tuple(found.items())

    def _tested(self, tested: Iterable[Region]) -> list[Expr]:
        """Return the facts tested by branches around a place, about symbols whose values have not changed since."""
        return [
            fact
            for region in tested
            for fact in facts_inside(region)
            if fact.is_linear and all(self._is_steady(name, region) for name in fact.symbols)
        ]

    def _is_steady(self, name: str, region: Region) -> bool:
        """Return whether a symbol has one value while a region runs once: none of its assignments is inside."""
        return not any(is_inside(block, region) for block in self._blocks.get(name, ()))

    def _least_sizes(self, params: list[Bounds]) -> dict[str, Expr]:
        """Sizes that are larger than 0 because a range around the place has an element: ``i = 1:N`` needs N > 1."""
        least: dict[str, int] = {}
        for _, low, high in params:
            room = None if low is None or high is None else high - low
            names = () if room is None else room.symbols
            if room is None or len(names) != 1 or names[0] not in self._sizes:
                continue
            form = room.linear_in(names[0])
            if form is not None and form[0] is ONE and form[1].constant is not None:
                least[names[0]] = max(least.get(names[0], 0), -form[1].constant)
        return {name: const(number) for name, number in least.items() if number > 0}


def free_ranges(sdfg: Sdfg) -> Ranges:
    """Return the ranges of the free symbols of an SDFG, valid anywhere in it."""
    bounds = {name: (low, high) for name, low, high in _free_bounds(sdfg)}
    return Ranges(bounds, sdfg.assumptions, dict(_assumed_multiples(sdfg)))


def assumed_bounds(assumed: Assumption, *, size: bool) -> tuple[Expr | None, Expr | None]:
    """The smallest and the largest value of a symbol; sizes are never negative."""
    least = assumed.least if not size else max(assumed.least or 0, 0)
    return (None if least is None else const(least), None if assumed.most is None else const(assumed.most))


def _free_bounds(sdfg: Sdfg) -> list[Bounds]:
    least = dict(sorted(found for fact in sdfg.assumptions if (found := _least_of(fact)) is not None))
    names = dict.fromkeys((*sdfg.sizes, *sdfg.assumed, *least))
    bounds = [(name, *assumed_bounds(sdfg.assumed.get(name, NOTHING), size=name in sdfg.sizes)) for name in names]
    return [(name, _later(low, const(least[name]) if name in least else None), high) for name, low, high in bounds]


def _least_of(fact: Expr) -> tuple[str, int] | None:
    """The symbol and the number that it is at least, where a fact says no more than that: ``N - 4 >= 0``."""
    form = fact.linear_in(fact.symbols[0]) if len(fact.symbols) == 1 else None
    if form is None or form[0] is not ONE or form[1].constant is None:
        return None
    return fact.symbols[0], -form[1].constant


def _assumed_multiples(sdfg: Sdfg) -> tuple[tuple[str, int], ...]:
    return tuple((name, found.multiple_of) for name, found in sdfg.assumed.items() if found.multiple_of > 1)


def _later(low: Expr | None, least: Expr | None) -> Expr | None:
    """The larger one of two smallest values of a size, both numbers."""
    if low is None or least is None:
        return low if least is None else least
    return max((low, least), key=lambda bound: bound.constant or 0)


def owner_bounds(owner: Written) -> list[Bounds]:
    """Bounds of the parameters of what owns a region, as they hold inside it."""
    return [_param_bounds(name, values) for name, values in owner.iteration_space()]


def bind_parameter(ranges: Ranges, name: str, values: Range) -> Ranges:
    """`ranges` inside a loop or map that runs: the bounds of its parameter, and that its range is not empty."""
    step = values.step.constant
    if not step:
        return ranges.bind(name)
    room = values.stop - values.start if step > 0 else values.start - values.stop
    return ranges.narrowed(room - 1).bind(*_param_bounds(name, values))


def _param_bounds(name: str, values: Range) -> Bounds:
    step = values.step.constant
    if step is None or step == 0:
        return name, None, None
    last = _last(values, step)
    return (name, values.start, last) if step > 0 else (name, last, values.start)


def _last(values: Range, step: int) -> Expr:
    """A bound for the last value: exact where it is a polynomial, else the end of the range."""
    edge = values.stop - 1 if step > 0 else values.stop + 1
    if abs(step) == 1:
        return edge
    exact = values.last
    return exact if all(atom.kind == "sym" for term, _ in exact.terms for atom, _ in term) else edge


def _assignments(sdfg: Sdfg) -> dict[str, list[SymbolAssign]]:
    """The blocks that assign each symbol."""
    blocks: dict[str, list[SymbolAssign]] = {}
    for block in sdfg.body.walk_blocks() if sdfg.assigned_symbols else ():
        if isinstance(block, SymbolAssign):
            blocks.setdefault(block.symbol, []).append(block)
    return blocks


def _assigned_bounds(sdfg: Sdfg, blocks: dict[str, list[SymbolAssign]]) -> list[Bounds]:
    """Bounds of symbols that are assigned once, in terms of free symbols: these hold wherever the symbol is bound."""
    known = [_value_bounds(name, found[0]) for name, found in blocks.items() if len(found) == 1]
    free = set(sdfg.symbols)
    return [
        bounds
        for bounds in known
        if bounds is not None and all(free.issuperset(edge.symbols) for edge in bounds[1:] if edge is not None)
    ]


def _value_bounds(name: str, block: SymbolAssign) -> Bounds | None:
    if isinstance(block.value, WrapIndex):
        return name, ZERO, block.value.size - ONE
    exact = as_symbolic(block.value)
    return None if exact is None else (name, exact, exact)


@lru_cache(maxsize=4096)
def _interned(bounds: tuple[Bounds, ...], facts: tuple[Expr, ...], multiples: tuple[tuple[str, int], ...]) -> Ranges:
    return Ranges({name: (lower, upper) for name, lower, upper in bounds}, facts, dict(multiples))
