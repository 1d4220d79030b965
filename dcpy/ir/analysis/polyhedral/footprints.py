"""Footprints: which elements an access touches over many iterations, as values.

A `Footprint` is a subset that sweeps over the ranges of loop and map parameters. Here is what can be said of it
without integer sets: its box, renamings, samples. Questions about two of them are in `integer_sets`, and where the
footprints of a program come from is in `ir.analysis.accesses.access_relations`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from dcpy.ir.field_roles import Axes
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, Expr, ExprLike, Ranges, sym

Variable = tuple[str, Range | None]  # None: a value that only the run knows


@dataclass(frozen=True, slots=True)
class Footprint:
    """All elements that `subset` names while each variable of `over` (outermost first) runs through its range.

    A range may mention variables before it. A variable without a range is a run-time value: it may be anything.
    """

    subset: Subset
    over: tuple[Variable, ...] = ()

    @property
    def is_run_time(self) -> bool:
        """Return whether the elements depend on a value that only the run knows."""
        return any(values is None for _, values in self.over)

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables, outermost first."""
        return tuple(name for name, _ in self.over)

    def subs(self, values: Mapping[str, ExprLike]) -> Footprint:
        """The footprint with free symbols replaced; its own variables are not free."""
        free = {name: value for name, value in values.items() if name not in self.variables}
        over = tuple((name, None if dim is None else dim.subs(free)) for name, dim in self.over)
        return Footprint(self.subset.subs(free), over)

    def primed(self, mark: str) -> Footprint:
        """The same footprint with its variables renamed, to stand beside another that has the same ones."""
        if not self.over:
            return self
        names: dict[str, ExprLike] = {name: sym(name + mark) for name, _ in self.over}
        over = tuple((name + mark, None if dim is None else dim.subs(names)) for name, dim in self.over)
        return Footprint(self.subset.subs(names), over)

    def known(self, ranges: Ranges) -> Ranges:
        """`ranges`, and what holds of the variables wherever the footprint is not empty."""
        for name, values in self.over:
            ranges = ranges.bind(name, *_bounds(values), _divisor(values, ranges))
        return ranges

    def box(self) -> Footprint:
        """The same elements with fewer variables: those that run straight along one dimension become its range."""
        return _boxed(self)

    def sample(self, known: Mapping[str, int], limit: int) -> Iterator[Box]:
        """Some of its boxes in numbers, where `known` has a value for every free symbol."""
        yield from _sample(self.subset, self.over, dict(known), limit)

    def __str__(self) -> str:
        sweep = "".join(f" for {name} in {'?' if dim is None else dim}" for name, dim in self.over)
        return f"[{self.subset}]{sweep}"


Box = tuple[range, ...]


def _bounds(values: Range | None) -> tuple[Expr | None, Expr | None]:
    step = None if values is None else values.step.constant
    if values is None or step is None:
        return None, None
    if step < 0:
        return values.stop + 1, values.start
    return values.start, values.stop - 1


def _divisor(values: Range | None, ranges: Ranges) -> int:
    """A number that divides all values of a range."""
    step = 1 if values is None or values.step is ONE else abs(values.step.constant or 1)
    return 1 if values is None or step == 1 else math.gcd(step, ranges.multiple_of(values.start))


@lru_cache(maxsize=4096)
def _boxed(footprint: Footprint) -> Footprint:
    subset, over = footprint.subset, list(footprint.over)
    for name, values in reversed(footprint.over):
        if values is None or any(dim is not None and name in dim.symbols for _, dim in over):
            continue
        users = [axis for axis, dim in enumerate(subset.dims) if name in dim.symbols]
        swept = swept_index(subset.dims[users[0]], name, values) if len(users) == 1 else None
        if swept is not None:
            subset = Subset((*subset.dims[: users[0]], swept, *subset.dims[users[0] + 1 :]))
            over.remove((name, values))
    return Footprint(subset, tuple(over))


def swept_index(index: DimSubset, name: str, values: Range) -> Range | None:
    """The range that an index ``a * name + b`` runs through, in the order of `values`; None for other forms."""
    form = index.linear_in(name) if isinstance(index, Expr) else None
    slope = None if form is None else form[0].constant
    if form is None or not slope or values.step.constant is None:
        return None
    rest = form[1]
    if slope == 1:
        return Range(values.start + rest, values.stop + rest, values.step)
    step = values.step.constant * slope
    unit = 1 if step > 0 else -1
    last = values.stop - ONE if values.step.constant > 0 else values.stop + ONE
    return Range(values.start * slope + rest, last * slope + rest + unit, values.step * slope)


class AlignedBox(NamedTuple):
    """Subset over an iteration space; `params` count along the kept dimensions, in this order."""

    subset: Subset
    params: tuple[str, ...]


def aligned_box(subset: Subset, space: Axes) -> AlignedBox | None:
    """The box of a subset where each parameter counts along a dimension of its own; None elsewhere."""
    if any(name in values.symbols for name, _ in space for _, values in space):
        return None
    dims: list[DimSubset] = []
    order: list[str] = []
    for dim in subset.dims:
        used = [(name, values) for name, values in space if name in dim.symbols]
        if not used:
            dims.append(dim)
            continue
        (name, values), *others = used
        swept = swept_index(dim, name, values)
        if others or swept is None or swept.step != values.step or name in order:
            return None
        dims.append(swept)
        order.append(name)
    return AlignedBox(Subset(tuple(dims)), tuple(order))


def _sample(subset: Subset, over: tuple[Variable, ...], known: dict[str, int], limit: int) -> Iterator[Box]:
    if not over:
        box = tuple(number_range(dim, known) for dim in subset.dims)
        if all(box):
            yield box
        return
    (name, values), rest = over[0], over[1:]
    for value in range(limit) if values is None else number_range(values, known)[:limit]:
        yield from _sample(subset, rest, {**known, name: value}, limit)


def number_range(dim: DimSubset, known: Mapping[str, int]) -> range:
    """The indices in numbers."""
    if isinstance(dim, Expr):
        index = dim.evaluate(known)
        return range(index, index + 1)
    return range(dim.start.evaluate(known), dim.stop.evaluate(known), dim.step.evaluate(known))
