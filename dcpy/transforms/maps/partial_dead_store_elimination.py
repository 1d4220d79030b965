"""PartialDeadStoreElimination: where all but a margin is stored again, only the margin is stored first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.overwritten_stores import overwritten_store
from dcpy.ir.analysis.dataflow.summaries import known_effects_of
from dcpy.ir.editing.cloning import clone_body
from dcpy.ir.effects import KEPT
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node
from dcpy.ir.schedules import UNDECIDED
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, Ranges, max_of, min_of, sym
from dcpy.transforms.api import Capture, Match, Refusal, Rewriter, Transformation, capture, one

Box = tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Margin:
    """All elements that a node stores, and those that are stored again."""

    stored: Box
    again: Box

    def pieces(self, ranges: Ranges) -> Iterator[Box]:
        """The boxes around what is stored again. Where that is empty, they cover everything, some of it twice."""
        for axis, (all_, inner) in enumerate(zip(self.stored, self.again, strict=True)):
            before, behind = self.again[:axis], self.stored[axis + 1 :]
            if inner.start != all_.start:
                yield (*before, Range(all_.start, ranges.simplify(min_of(inner.start, all_.stop))), *behind)
            if inner.stop != all_.stop:
                yield (*before, Range(ranges.simplify(max_of(inner.stop, all_.start)), all_.stop), *behind)


@dataclass(frozen=True)
class PartialDeadStoreElimination(Transformation[Margin]):
    """Partial dead store elimination: store only the margin where all the rest is stored again before it is read.

    before   map i = 0:N { y[i] = 0 }        map j = 1:N - 1 { y[j] = f(x[j - 1], x[j + 1]) }
    after    y[0] = 0      y[N - 1] = 0      map j = 1:N - 1 { y[j] = f(x[j - 1], x[j + 1]) }

    Applies to maps and copies that store each element of a box once and have no other effect, and to margins of known
    width: both sides of a dimension have at most `widest` elements together. No element may be read before it is stored
    again, as in `dead-store-elimination`. (After Knoop, Ruething and Steffen, Partial dead code elimination, PLDI 1994:
    a store is dead on some paths there, for some elements here.)
    """

    name: ClassVar[str] = "partial-dead-store-elimination"
    optional: ClassVar[bool] = True
    node: ClassVar[Capture[Map | Copy]] = capture(Map, Copy)
    pattern = one(node)
    widest: int = 8

    def plan(self, m: Match) -> Margin | Refusal:
        """The margin. Refuses stores of which too little is stored again, or more than boxes say."""
        node = m[self.node]
        stored = _stored_box(node)
        if stored is None:
            return Refusal("it does not store each element of a box once")
        found = overwritten_store(node, m.uses)
        if isinstance(found, str):
            return Refusal(found)
        effects = known_effects_of(node, m.uses) & KEPT
        if effects:
            return Refusal(f"it {effects.words}")
        for footprint in found.again:
            inner = footprint.box()
            box = _ranges_of(inner.subset) if not inner.over else None
            if box is not None and len(box) == len(stored) and self._is_margin(stored, box):
                return Margin(stored, box)
        return Refusal("what is stored again is no box that leaves a margin of known width")

    def _is_margin(self, stored: Box, inner: Box) -> bool:
        for all_, part in zip(stored, inner, strict=True):
            low, high = (part.start - all_.start).constant, (all_.stop - part.stop).constant
            if low is None or high is None or low < 0 or high < 0 or low + high > self.widest:
                return False
            extent = (part.stop - part.start).constant
            if extent is not None and extent <= 0:
                return False  # the pieces would be what is stored now
        return True

    def apply(self, m: Match, plan: Margin, rw: Rewriter) -> tuple[Node, ...]:
        """Return the nodes that store the margin."""
        node, ranges = m[self.node], rw.uses.ranges_at(m[self.node])
        pieces = [_piece(node, plan.stored, box, rw) for box in plan.pieces(ranges)]
        rw.replace(node, *pieces)
        return tuple(pieces)


def _stored_box(node: Map | Copy) -> Box | None:
    if isinstance(node, Copy):
        stored, source = _ranges_of(node.dst.subset), _kept(node.src.subset)
        return stored if stored is not None and source is not None and len(stored) == len(source) else None
    if node.schedule is not UNDECIDED or any(dim.step is not ONE for dim in node.domain):
        return None
    writes = [memlet for inner in node.body.walk_nodes() for memlet in inner.writes()]
    places = {memlet.subset for memlet in writes if memlet.container not in node.body.containers}
    straight = places == {Subset(tuple(map(sym, node.params)))}
    free = any({*dim.symbols} & {*node.params} for dim in node.domain)
    return node.domain if straight and not free else None


def _ranges_of(subset: Subset) -> Box | None:
    """The dimensions of a subset where all of them are ranges without gaps; None for others."""
    dims = tuple(dim if isinstance(dim, Range) else Range(dim, dim + 1) for dim in subset.dims)
    return dims if dims and all(dim.step is ONE for dim in dims) else None


def _kept(subset: Subset) -> Box | None:
    """The ranges of a subset, without its single positions; None where one has gaps."""
    dims = tuple(dim for dim in subset.dims if isinstance(dim, Range))
    return dims if all(dim.step is ONE for dim in dims) else None


def _piece(node: Map | Copy, stored: Box, box: Box, rw: Rewriter) -> Node:
    """The part of a node that stores a box."""
    if isinstance(node, Map):
        fresh = [rw.fresh_name(param) for param in node.params]
        body = clone_body(node.body, {param: sym(name) for param, name in zip(node.params, fresh, strict=True)}, rw)
        return Map(tuple(fresh), box, body, span=node.span)
    return Copy(_part(node.src, stored, box), Memlet(node.dst.container, Subset(box)), span=node.span)


def _part(source: Memlet, stored: Box, box: Box) -> Memlet:
    """The part of a source that goes into a box."""
    moves: Sequence[tuple[Range, Range]] = list(zip(stored, box, strict=True))
    dims: list[DimSubset] = []
    axis = 0
    for dim in source.subset.dims:
        if isinstance(dim, Range):
            all_, part = moves[axis]
            axis += 1
            dims.append(Range(dim.start + (part.start - all_.start), dim.start + (part.stop - all_.start)))
        else:
            dims.append(dim)
    return Memlet(source.container, Subset(tuple(dims)))
