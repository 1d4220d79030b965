"""Tiled footprints without their tiles: two variables that count tiles and points in them become one again.

Geometry and turns of threads are nested maps; what they touch in all is easier to say, and to count, without them.
"""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr, max_of, min_of, sym


def without_tiles(footprint: Footprint) -> Footprint:
    """The same elements with fewer variables.

    ``t in 0:N:8, i in t:min(N, t + 8)`` and ``t in 0:8, i in t:N:8`` are ``i in 0:N``.
    """
    over = dict(footprint.over)
    for name in reversed(footprint.variables):
        outer = over[name]
        if outer is None or name in footprint.subset.symbols:
            continue
        inner = [(other, values) for other, values in over.items() if values is not None and name in values.symbols]
        if len(inner) != 1:
            continue
        other, values = inner[0]
        merged = _of_tiles(name, outer, values) or _of_turns(name, outer, values)
        if merged is not None:
            over[other] = merged
            del over[name]
    return Footprint(footprint.subset, tuple(over.items()))


def _of_tiles(name: str, tiles: Range, within: Range) -> Range | None:
    """``t:min(N, t + 8)`` over ``t in 0:N:8``; more bounds on either side may stand beside."""
    step, size = within.step.constant, tiles.step.constant
    if step is None or size is None or step <= 0 or size % step:
        return None
    first, last = sym(name), sym(name) + size
    starts, stops = list(_operands(within.start, "max")), list(_operands(within.stop, "min"))
    if first not in starts or last not in stops:
        return None
    rest = [*(start for start in starts if start != first), *(stop for stop in stops if stop != last)]
    if any(name in bound.symbols for bound in rest) or (step > 1 and len(starts) > 1):
        return None
    start = max_of(tiles.start, *(start for start in starts if start != first))
    return Range(start, min_of(tiles.stop, *(stop for stop in stops if stop != last)), within.step)


def _of_turns(name: str, turns: Range, mine: Range) -> Range | None:
    """``t:N:8`` over ``t in 0:8``; in steps of 3, ``3*t:N:24``."""
    form = mine.start.linear_in(name)
    count, step = turns.size.constant, mine.step.constant
    if form is None or count is None or not step or turns.step.constant != 1 or name in mine.stop.symbols:
        return None
    slope = form[0].constant
    if slope is None or slope <= 0 or slope * count != step:
        return None
    return Range(form[1] + turns.start * slope, mine.stop, form[0])


def _operands(value: Expr, kind: str) -> Iterator[Expr]:
    """Yield the operands of a minimum or maximum; the expression itself where it is none."""
    if len(value.terms) == 1:
        ((monomial, factor),) = value.terms
        if factor == 1 and len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].kind == kind:
            for operand in monomial[0][0].args:
                yield from _operands(operand, kind)
            return
    yield value
