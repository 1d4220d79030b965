"""Gathered adjoints: one pass over an array that is read at several shifted places, in place of one for each read.

before   A_bar[i + 1] += 2*b[i];  A_bar[i] += 3*b[i]    for i = 0:n
after    A_bar[j] += 2*b[j - 1] + 3*b[j]                for j = 1:n         the core, where all reads meet
         A_bar[j] += 3*b[j]  for j = 0:1;  A_bar[j] += 2*b[j - 1]  for j = n:n + 1        and the rim

No two points touch one element, so maps stay parallel. Where the core may be inside out the boxes of the rim would
overlap: that it is not must be proved, or assumed of the sizes of a call. (Hückelheim et al., PerforAD, ICPP 2019.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dcpy.autodiff.reverse.items import Row
from dcpy.ir.expressions.scalar import Ref, ScalarExpr, op, substitute_refs, substitute_symbols, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, Expr, sym

Box = list[tuple[Expr, Expr]]


@dataclass(frozen=True)
class ShiftedReads:
    """Reads of one array at places that differ by constants: for each the offset from the parameter of a dimension."""

    params: tuple[str, ...]  # of the dimensions in order
    domain: tuple[Range, ...]
    offsets: tuple[tuple[Expr, ...], ...]

    @property
    def core(self) -> Box:
        """The box of the array that all reads touch."""
        return [
            (values.start + _end(offsets, max), values.stop + _end(offsets, min))
            for values, offsets in zip(self.domain, zip(*self.offsets, strict=True), strict=True)
        ]

    def conditions(self) -> list[Expr]:
        """The expressions that are at least 0 where the core is not inside out."""
        return [stop - low for low, stop in self.core]

    def rim(self, which: int) -> list[Box]:
        """The boxes outside of the core that one of the reads touches."""
        core, boxes = self.core, []
        own = [
            (values.start + offset, values.stop + offset)
            for values, offset in zip(self.domain, self.offsets[which], strict=True)
        ]
        for axis, ((low, stop), (inner, end)) in enumerate(zip(own, core, strict=True)):
            for piece in ((low, inner), (end, stop)):
                if (piece[1] - piece[0]).constant != 0:
                    boxes.append([*core[:axis], piece, *own[axis + 1 :]])
        return boxes

    def shift(self, which: int, places: Sequence[Expr]) -> dict[str, Expr]:
        """The parameters of a read that touches some place."""
        offsets = self.offsets[which]
        return {name: at - offset for name, at, offset in zip(self.params, places, offsets, strict=True)}


def shifted(places: Sequence[Memlet], params: Sequence[str], domain: Sequence[Range]) -> ShiftedReads | None:
    """The reads as shifts of each other; None where they are none."""
    ranges = dict(zip(params, domain, strict=True))
    names: tuple[str, ...] | None = None
    found: list[tuple[Expr, ...]] = []
    if len({place.container for place in places}) != 1:
        return None
    for place in places:
        axes = _axes(place, params)
        if axes is None or (names is not None and tuple(axes) != names):
            return None
        names = tuple(axes)
        found.append(tuple(axes.values()))
    if names is None or len(names) != len(params) or any(ranges[name].step is not ONE for name in names):
        return None
    for offsets in zip(*found, strict=True):
        if any((offset - offsets[0]).constant is None for offset in offsets):
            return None
    if any(other in values.symbols for values in domain for other in params):
        return None
    return ShiftedReads(names, tuple(ranges[name] for name in names), tuple(found))


def _axes(place: Memlet, params: Sequence[str]) -> dict[str, Expr] | None:
    """The parameter of each dimension of a place, and what is added to that; None for other places."""
    found: dict[str, Expr] = {}
    for dim in place.subset.dims:
        if not isinstance(dim, Expr):
            return None
        names = [name for name in params if name in dim.symbols]
        form = dim.linear_in(names[0]) if len(names) == 1 else None
        if form is None or form[0].constant != 1 or names[0] in found:
            return None
        found[names[0]] = form[1]
    return found


def _end(offsets: Sequence[Expr], pick: Callable[..., int]) -> Expr:
    first = offsets[0]
    return first + pick((offset - first).constant or 0 for offset in offsets)


class GatheredCode:
    """The sum of what several reads contribute to one place: inputs by memlet, each once, and a row."""

    def __init__(self) -> None:
        self.inputs: dict[str, Memlet] = {}
        self.row: Row = []
        self._places: dict[Memlet, str] = {}
        self.total: ScalarExpr | None = None

    def add(self, values: Mapping[str, Memlet], row: Row, bar: ScalarExpr, shift: Mapping[str, Expr]) -> None:
        """Add the contribution of a read whose parameters are shifted."""
        mark = f"_{len(self.row)}_{len(self._places)}"
        names: dict[str, ScalarExpr] = {}

        def moved(value: ScalarExpr) -> ScalarExpr:
            return substitute_symbols(substitute_refs(value, names), shift)

        read = {part.name: part for _, value in [*row, ("", bar)] for part in _refs(value)}
        for name, memlet in values.items():
            if name in read:
                names[name] = Ref(self._input(memlet.subs(shift)), read[name].dtype)
        for name, value in row:
            self.row.append((name + mark, moved(value)))
            names[name] = Ref(name + mark, value.dtype)
        product = moved(bar)
        self.total = product if self.total is None else op("add", self.total, product)

    def _input(self, memlet: Memlet) -> str:
        if memlet not in self._places:
            self._places[memlet] = f"g{len(self._places)}"
            self.inputs[self._places[memlet]] = memlet
        return self._places[memlet]


def _refs(value: ScalarExpr) -> list[Ref]:
    return [part for part in walk(value) if isinstance(part, Ref)]


def point(params: Sequence[str]) -> Subset:
    """The element at some parameters."""
    return Subset(tuple(map(sym, params)))
