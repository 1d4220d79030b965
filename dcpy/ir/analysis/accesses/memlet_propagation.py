"""Memlet propagation: what all iterations of a scope touch together, as one box, and what a part touches in all.

``A[2*i, j]`` over ``i = 0:N, j = 0:M`` is ``A[0:2*N - 1:2, 0:M]``. The box always holds everything that is touched;
it is called exact where it holds nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import swept_index
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, Ranges
from dcpy.ir.symbolic.expr import Atom

MOST_PARTS = 8  # subsets kept apart per container and mode; more are rounded up to one box
Key = tuple[str, Mode, str, Subset | None]


@dataclass(frozen=True, slots=True)
class SymbolValues:
    """All values of one symbol: from `low` to `high`, before `stop`, `step` apart; None where not known."""

    symbol: str
    low: Expr | None = None
    high: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None
    nonempty: bool = False

    @classmethod
    def of(cls, symbol: str, values: Range, ranges: Ranges) -> SymbolValues:
        """The values of a parameter with this range."""
        nonempty = ranges.proves_nonneg(values.size - 1)
        direction = values.direction(ranges)
        if not direction:
            return cls(symbol, nonempty=nonempty)
        low, high = values.hull(ranges)
        if direction < 0:
            return cls(symbol, low, high, high + 1, -values.step, nonempty)
        return cls(symbol, low, high, values.stop, values.step, nonempty)


def unknown(symbol: str) -> SymbolValues:
    """A symbol that has some value, of which nothing is known."""
    return SymbolValues(symbol, nonempty=True)


def swept(subset: Subset, sweeps: Sequence[SymbolValues], shape: Sequence[Expr], ranges: Ranges) -> tuple[Subset, bool]:
    """The box of what `subset` is over all values of symbols (outermost first), and whether it is exact.

    `shape` is the container's: what a dimension becomes of which nothing is known.
    """
    exact = True
    for sweep in reversed(sweeps):
        users = [axis for axis, dim in enumerate(subset.dims) if sweep.symbol in dim.symbols]
        if not users:
            exact = exact and sweep.nonempty
            continue
        exact = exact and len(users) == 1  # A[i, i] is a diagonal: the box holds more
        dims = list(subset.dims)
        for axis in users:
            found = _swept_index(dims[axis], sweep, ranges)
            dims[axis], whole = found if found is not None else (Range(ZERO, shape[axis]), False)
            exact = exact and whole
        subset = Subset(tuple(dims))
    return subset, exact


def propagated(accesses: Iterable[MemoryAccess], uses: Uses) -> tuple[MemoryAccess, ...]:
    """Return the union of accesses, seen from outside of their scopes: each distinct one once, in full.

    One that is certain touches exactly its `subset`, each time; another one at most that.
    """
    kept: dict[Key, MemoryAccess] = {}
    parts: dict[tuple[str, Mode, str], int] = {}
    for access in accesses:
        seen = _seen(access, uses)
        what = (seen.root, seen.mode, seen.wcr, seen.subset)
        if what not in kept:
            kept[what] = seen
            parts[what[:3]] = parts.get(what[:3], 0) + 1
        elif seen.certain and not kept[what].certain:
            kept[what] = replace(kept[what], certain=True)
    if all(count <= MOST_PARTS for count in parts.values()):
        return tuple(kept.values())
    return _rounded(kept, parts)


def _seen(access: MemoryAccess, uses: Uses) -> MemoryAccess:
    """An access with the boxes over all values of the axes around it, and no scopes."""
    subset, exact = access.subset, access.subset is not None
    shape = uses.desc(access.root).shape
    for sweeps, ranges in _sweeps(access, uses):
        if subset is not None:
            subset, whole = swept(subset, sweeps, shape, ranges)
            exact = exact and whole
    return replace(access, subset=subset, scopes=(), varying_symbols=(), certain=exact and access.is_sure())


def _sweeps(access: MemoryAccess, uses: Uses) -> Iterable[tuple[list[SymbolValues], Ranges]]:
    """The axes around an access, innermost first, with what is known around each."""
    if access.varying_symbols:
        yield [unknown(name) for name in access.varying_symbols], Ranges()
    for scope in reversed(access.scopes):
        if scope.variables:
            ranges = uses.ranges_at(scope.region.owner or scope.region)
            sweeps = [unknown(n) if dim is None else SymbolValues.of(n, dim, ranges) for n, dim in scope.variables]
            yield sweeps, ranges


def _rounded(accesses: dict[Key, MemoryAccess], parts: dict[tuple[str, Mode, str], int]) -> tuple[MemoryAccess, ...]:
    """The accesses with all subsets of a container that has too many replaced by one box around them."""
    result: dict[tuple[object, ...], MemoryAccess] = {}
    for what, access in accesses.items():
        if parts[what[:3]] <= MOST_PARTS:
            result[what] = access
        elif (known := result.get(what[:3])) is None:
            result[what[:3]] = replace(access, certain=False)
        else:
            result[what[:3]] = replace(known, subset=_hull(known.subset, access.subset))
    return tuple(result.values())


def _hull(left: Subset | None, right: Subset | None) -> Subset | None:
    return None if left is None or right is None else left.hull_with(right)


def _swept_index(dim: DimSubset, sweep: SymbolValues, ranges: Ranges) -> tuple[Range, bool] | None:
    """The values of one dimension; None where they are not known."""
    if isinstance(dim, Range):
        return _swept_range(dim, sweep, ranges)
    if sweep.low is not None and sweep.stop is not None and sweep.step is not None:
        exact = swept_index(dim, sweep.symbol, Range(sweep.low, sweep.stop, sweep.step))
        if exact is not None and (exact.step.constant or 0) > 0:
            return exact, True
    ends = _ends(dim, sweep, ranges)
    if ends is None:
        return None
    low, high, slope = ends
    if slope is None or sweep.step is None or not ranges.proves_nonneg(slope - 1):
        return Range(low, high + 1), False  # a step is never 0
    return Range(low, high + 1, slope * sweep.step), True


def _swept_range(dim: Range, sweep: SymbolValues, ranges: Ranges) -> tuple[Range, bool] | None:
    number = dim.step.constant
    if number is None or number < 0 or sweep.symbol in dim.step.symbols:
        return None
    starts, stops = _ends(dim.start, sweep, ranges), _ends(dim.stop, sweep, ranges)
    if starts is None or stops is None:
        return None
    low, high = starts[0], stops[1]
    if dim.start is dim.stop - dim.size and number == 1 and _accessing(dim, starts[2], sweep):
        return Range(low, high), True
    one_sided = sweep.symbol not in dim.start.symbols or sweep.symbol not in dim.stop.symbols
    return Range(low, high), one_sided and number == 1 and sweep.nonempty


def _accessing(dim: Range, slope: Expr | None, sweep: SymbolValues) -> bool:
    """Return whether consecutive ranges meet end to end: ``T*i : T*i + T``."""
    return slope is not None and sweep.step is not None and slope * sweep.step is dim.size


def _ends(value: Expr, sweep: SymbolValues, ranges: Ranges) -> tuple[Expr, Expr, Expr | None] | None:
    """Smallest and largest value of an expression over a sweep, and by how much it grows per step of the symbol.

    The last is None where the expression does not grow evenly; the whole is None where it is not monotone.
    """
    if sweep.symbol not in value.symbols:
        return value, value, None
    form = value.linear_in(sweep.symbol)
    if form is not None:
        slope, rest = form
        sign = _sign(slope, ranges)
        low, high = (sweep.low, sweep.high) if sign > 0 else (sweep.high, sweep.low)
        if sign == 0 or low is None or high is None:
            return None
        return slope * low + rest, slope * high + rest, slope * sign
    sign = _direction(value, sweep.symbol, ranges) or 0
    low, high = (sweep.low, sweep.high) if sign > 0 else (sweep.high, sweep.low)
    if sign == 0 or low is None or high is None:
        return None
    low, high = (ranges.simplify(value.subs({sweep.symbol: end})) for end in (low, high))
    return low, high, None


def _sign(value: Expr, ranges: Ranges) -> int:
    """1 where `value` is never negative, -1 where it is never positive, 0 where neither is proved."""
    if value.constant is not None:
        return 1 if value.constant > 0 else -1
    if ranges.proves_nonneg(value):
        return 1
    return -1 if ranges.proves_nonneg(-value) else 0


def _direction(value: Expr, symbol: str, ranges: Ranges) -> int | None:
    """1 where `value` never falls as the symbol grows, -1 where it never rises, None where neither is proved."""
    found: set[int] = set()
    for monomial, factor in value.terms:
        inside = [(atom, power) for atom, power in monomial if _mentions(atom, symbol)]
        if not inside:
            continue
        if len(inside) > 1 or inside[0][1] != 1:
            return None
        others = Expr(((tuple(item for item in monomial if item != inside[0]), factor),))
        found.add(_sign(others, ranges) * (_atom_direction(inside[0][0], symbol, ranges) or 0))
    return found.pop() if len(found) == 1 and 0 not in found else None


def _atom_direction(atom: Atom, symbol: str, ranges: Ranges) -> int | None:
    if atom.kind == "sym":
        return 1
    if atom.kind == "mod" or (atom.kind == "floordiv" and _sign(atom.args[1], ranges) < 1):
        return None
    if atom.kind == "floordiv" and symbol in atom.args[1].symbols:
        return None
    directions = {_direction(arg, symbol, ranges) for arg in atom.args if symbol in arg.symbols}
    return directions.pop() if len(directions) == 1 else None


def _mentions(atom: Atom, symbol: str) -> bool:
    return symbol in Expr(((((atom, 1),), 1),)).symbols
