"""Integer sets: exact questions about which elements accesses touch, with three possible answers.

Affine subsets and domains (floor division and modulo by numbers included) are decided for all values of the symbols
at once. What a look at the subsets decides is decided so, which costs microseconds; the rest goes to isl, in
`isl_sets`. Where an index is not affine the answer is "unknown", with the reason: never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, permutations

from dcpy.base.errors import SymbolicError
from dcpy.ir.analysis.polyhedral.footprints import Box, Footprint, Variable, number_range
from dcpy.ir.analysis.polyhedral.isl_sets import NotAffineError, System, is_empty, is_subset
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, Ranges, sym

Values = dict[str, int]

_SAMPLE_SIZE = 9  # a value for symbols of which nothing is known, in samples
LONG = 64  # values of a range that is long enough to show what its iterations have in common
_SAMPLES = 48  # boxes compared on each side before isl is called


@dataclass(frozen=True, slots=True)
class Answer:
    """Yes, no or unknown, and why. It is not a bool: ask `is_yes`, `is_no` or `is_unknown`."""

    value: bool | None
    reason: str = ""

    @property
    def is_yes(self) -> bool:
        """Proved to hold."""
        return self.value is True

    @property
    def is_no(self) -> bool:
        """Proved not to hold."""
        return self.value is False

    @property
    def is_unknown(self) -> bool:
        """Neither proved nor disproved."""
        return self.value is None

    def __bool__(self) -> bool:
        raise TypeError("an Answer is not a bool: ask is_yes, is_no or is_unknown")


def overlap(left: Footprint, right: Footprint, ranges: Ranges) -> Answer:
    """Return whether two footprints have an element in common, for some values of the symbols that `ranges` allows."""
    return overlap_across(left, right, (), ranges)


def overlap_across(left: Footprint, right: Footprint, points: Sequence[Variable], ranges: Ranges) -> Answer:
    """Return whether `left` at one point of an iteration space and `right` at a *different* point have a common
    element.

    `points` names the parameters of that space with their ranges, outermost first; without any, both footprints are
    of one place.
    """
    if left.subset.rank != right.subset.rank:
        return Answer(None, f"[{left.subset}] and [{right.subset}] differ in rank")
    left, right = left.box(), right.box()
    loose = _points_that_can_differ(left, right, points)
    if points and not loose:
        return Answer(False, "every iteration has elements of its own")
    for name, values in points:
        if (name, values) not in loose:
            ranges = Footprint(Subset(), ((name, values),)).known(ranges)
    return _meet_at(left, right, loose, ranges)


@lru_cache(maxsize=4096)
def _meet_at(left: Footprint, right: Footprint, loose: tuple[Variable, ...], ranges: Ranges) -> Answer:
    """`overlap_across` of boxes; the maps of one program ask this of the same boxes again and again."""
    ours = Footprint(left.subset, (*loose, *left.over)).primed("'")
    theirs = Footprint(right.subset, (*loose, *right.over)).primed('"')
    if ours.subset.disjoint(theirs.subset, theirs.known(ours.known(ranges))):
        return Answer(False, f"[{left.subset}] and [{right.subset}] are disjoint")
    if not (ours.is_run_time or theirs.is_run_time) and _sample_meets(left, right, loose, ranges):
        return Answer(True, f"[{left.subset}] and [{right.subset}] overlap")
    return _ask_whether_they_meet(ours, theirs, [name for name, _ in loose], ranges)


def always_overlap(
    left: Footprint, right: Footprint, points: Sequence[Variable], ranges: Ranges, *, least: int = LONG
) -> bool:
    """Return whether two footprints meet at different points for all values of the symbols for which ranges have some
    length.

    Those of all variables have at least `least` values, as far as their bounds do not mention other variables.
    """
    if left.subset.rank != right.subset.rank or left.is_run_time or right.is_run_time or not points:
        return False
    ours, theirs = (Footprint(part.subset, (*points, *part.over)) for part in (left, right))
    one, other = ours.primed("'"), theirs.primed('"')
    system = System(ranges)
    axes = [f"x{axis}" for axis in range(left.subset.rank)]
    try:
        both = [*_element_constraints(system, axes, one), *_element_constraints(system, axes, other)]
        pairs = [(system.expr(sym(name + "'")), system.expr(sym(name + '"'))) for name, _ in points]
        long = list(dict.fromkeys(_lengths(system, (*ours.over, *theirs.over), least)))
    except NotAffineError:
        return False
    cases = [[*both, f"{mine} != {its}"] for mine, its in pairs]
    return system.exact and bool(is_subset(system.set_of([], [long]), system.set_of([], cases, axes)))


def _lengths(system: System, variables: Sequence[Variable], least: int) -> Iterator[str]:
    """Conditions that ranges have at least so many values, where their bounds mention no other variable."""
    names = {name for name, _ in variables}
    for _, values in variables:
        if values is not None and not names & set(values.symbols):
            step = values.step.constant or 1
            length = values.stop - values.start if step > 0 else values.start - values.stop
            yield f"{system.expr(length)} >= {least * abs(step)}"


def covers(outers: Sequence[Footprint], inner: Footprint, ranges: Ranges) -> Answer:
    """Return whether every element of `inner` is in at least one of `outers`, for all values of the symbols.

    A footprint with a run-time variable covers nothing for sure.
    """
    inner = inner.box()
    usable = [outer.box() for outer in outers if not outer.is_run_time and outer.subset.rank == inner.subset.rank]
    if not usable:
        return Answer(None, "no write of known extent comes first")
    known = inner.known(ranges)
    for outer in usable:
        if _covers_alone(outer, inner, known):
            return Answer(True, f"[{outer.subset}] covers [{inner.subset}]")
    system = System(ranges)
    axes = [f"x{axis}" for axis in range(inner.subset.rank)]
    try:
        inside = _element_constraints(system, axes, inner.primed("'"))
        cases = [_element_constraints(system, axes, outer.primed(f"'{n}")) for n, outer in enumerate(usable)]
    except NotAffineError as reason:
        return Answer(None, str(reason))
    verdict = is_subset(system.set_of(axes, [inside]), system.set_of(axes, cases))
    texts = " and ".join(f"[{outer.subset}]" for outer in usable)
    if verdict:
        return Answer(True, f"{texts} covers [{inner.subset}]")
    return Answer(False if verdict is False and system.exact else None, f"{texts} may not cover [{inner.subset}]")


def one_covers(outers: Sequence[Footprint], inner: Footprint, ranges: Ranges) -> bool:
    """Return whether one of `outers` alone is seen to have every element of `inner`, without asking integer sets."""
    inner = inner.box()
    known = inner.known(ranges)
    return any(_covers_alone(outer.box(), inner, known) for outer in outers if outer.subset.rank == inner.subset.rank)


def _covers_alone(outer: Footprint, inner: Footprint, known: Ranges) -> bool:
    """Return whether one footprint is seen to cover another one; both as boxes."""
    return outer == inner or (not outer.over and outer.subset.covers(inner.subset, known))


def distance(left: Subset, right: Subset, param: str) -> int | None:
    """Return how many values of `param` later `right` touches what `left` touched, where an index shows it."""
    for mine, its in zip(left.dims, right.dims, strict=False):
        a = mine.linear_in(param) if isinstance(mine, Expr) else None
        b = its.linear_in(param) if isinstance(its, Expr) else None
        slope = None if a is None else a[0].constant
        if a is None or b is None or not slope or a[0] is not b[0]:
            continue
        gap = (a[1] - b[1]).constant
        if gap is not None and gap % slope == 0:
            return gap // slope
    return None


def _points_that_can_differ(left: Footprint, right: Footprint, points: Sequence[Variable]) -> tuple[Variable, ...]:
    """The parameters that can have two values when both footprints name one element.

    An index ``2*i + j`` on both sides, with ``j`` the same for both, makes ``i`` the same for both.
    """
    loose = dict(points)
    inner = {*left.variables, *right.variables}
    pairs = zip(left.subset.dims, right.subset.dims, strict=True)
    equal = [mine for mine, its in pairs if isinstance(mine, Expr) and mine is its]
    found = True
    while found:
        found = False
        for index in equal:
            moving = [name for name in index.symbols if name in loose or name in inner]
            form = index.linear_in(moving[0]) if len(moving) == 1 and moving[0] in loose else None
            if form is not None and form[0].constant:
                del loose[moving[0]]
                found = True
    return tuple(loose.items())


def _ask_whether_they_meet(ours: Footprint, theirs: Footprint, names: Sequence[str], ranges: Ranges) -> Answer:
    system = System(ranges)
    axes = [f"x{axis}" for axis in range(ours.subset.rank)]
    try:
        both = [*_element_constraints(system, axes, ours), *_element_constraints(system, axes, theirs)]
        pairs = [(system.expr(sym(name + "'")), system.expr(sym(name + '"'))) for name in names]
    except NotAffineError as reason:
        return Answer(None, str(reason))
    cases = [[*both, f"{mine} != {its}"] for mine, its in pairs] or [both]
    verdict = is_empty(system.set_of(axes, cases))
    if verdict:
        return Answer(False, "no element is in both")
    if verdict is None:
        return Answer(None, "the question is too hard for exact analysis")
    if ours.is_run_time or theirs.is_run_time:
        return Answer(None, "an index is only known at run time")
    return Answer(True if system.exact else None, "there may be an element in both")


def _element_constraints(system: System, axes: Sequence[str], footprint: Footprint) -> list[str]:
    return [*system.sweep(footprint), *system.points(axes, footprint.subset)]


# -- samples: a quick proof that two footprints do meet ----------------------------------------------------------------


def _sample_meets(left: Footprint, right: Footprint, points: Sequence[Variable], ranges: Ranges) -> bool:
    names = dict.fromkeys(
        name
        for footprint in (Footprint(left.subset, (*points, *left.over)), Footprint(right.subset, right.over))
        for name in _free_symbols(footprint)
    )
    try:
        known = _sample_values(tuple(names), ranges)
        return known is not None and any(
            _boxes_meet(first, second)
            for here, there in _sample_points(points, known)
            for first in islice(left.sample(here, 2), _SAMPLES)
            for second in islice(right.sample(there, 2), _SAMPLES)
        )
    except SymbolicError:  # a division by zero, or a symbol without a value
        return False


def _free_symbols(footprint: Footprint) -> list[str]:
    names = dict.fromkeys(footprint.subset.symbols)
    for _, values in footprint.over:
        names |= dict.fromkeys(() if values is None else values.symbols)
    return [name for name in names if name not in footprint.variables]


def _sample_values(names: Sequence[str], ranges: Ranges) -> Values | None:
    """Values for symbols within their ranges; None where none were found."""
    values: Values = {}

    def settle(name: str) -> int:
        if name not in values:
            lower, upper = (
                None if bound is None else bound.evaluate({inner: settle(inner) for inner in bound.symbols})
                for bound in ranges.bounds(name)
            )
            low = lower if lower is not None else min(0, _SAMPLE_SIZE if upper is None else upper)
            middle, step = low + _SAMPLE_SIZE if upper is None else (low + upper) // 2, ranges.multiple_of(sym(name))
            above = -(-middle // step) * step
            values[name] = above if upper is None or above <= upper else above - step
        return values[name]

    for name in names:
        settle(name)
    for name, value in values.items():
        lower, upper = ranges.bounds(name)
        if (lower is not None and value < lower.evaluate(values)) or (
            upper is not None and value > upper.evaluate(values)
        ):
            return None
    return values


def _sample_points(points: Sequence[Variable], known: Values) -> Iterator[tuple[Values, Values]]:
    """Pairs of different points of an iteration space, or the one pair of the place without parameters."""
    places = [known]
    for name, values in points:
        limit = 3 if len(points) == 1 else 2
        if values is not None:
            places = [{**at, name: value} for at in places for value in number_range(values, at)[:limit]]
    yield from permutations(places, 2) if points else [(known, known)]


def _boxes_meet(left: Box, right: Box) -> bool:
    return all(_ranges_meet(mine, its) for mine, its in zip(left, right, strict=True))


def _ranges_meet(left: range, right: range) -> bool:
    """Return whether two ranges have a common number: computed, since they may have 2**60 numbers."""
    if not left or not right:
        return False
    left, right = (part if part.step > 0 else part[::-1] for part in (left, right))
    gap, divisor = right.start - left.start, math.gcd(left.step, right.step)
    if gap % divisor:
        return False
    period = right.step // divisor
    common = left.start + left.step * (gap // divisor * pow(left.step // divisor, -1, period) % period)
    period *= left.step
    least = max(left.start, right.start)
    return least + (common - least) % period <= min(left[-1], right[-1])
