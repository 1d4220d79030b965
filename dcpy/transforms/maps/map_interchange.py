"""MapInterchange: the parameters of a map, or two maps one inside the other, change places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dependence.loop_nests import axes_of, only_scope_in
from dcpy.ir.editing.nest_edits import exchange_maps, reorder_axes
from dcpy.ir.nodes import Map
from dcpy.transforms.api import LEGAL, Legal, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class MapInterchange(Transformation[Map | Legal]):
    """Loop interchange (permutation) of parallel axes.

    before   map i = 0:N { map j = 0:M { B[i, j] = f(A[i, j]) } }
    after    map j = 0:M { map i = 0:N { B[i, j] = f(A[i, j]) } }

    With `order`, the parameters of one map are put into that order; without, the map changes places with the one that
    is all of its body. Keeps the meaning: the iterations of a map have no order. A range may mention outer parameters
    only, so it may not mention one that comes further in. (Allen and Kennedy, Automatic Loop Interchange, 1984.)
    """

    name: ClassVar[str] = "map-interchange"
    map = capture(Map)
    pattern = one(map)
    settles = False

    order: tuple[str, ...] = ()  #: all parameters, outermost first

    def plan(self, m: Match) -> Map | Legal | Refusal:
        """The inner map, if two maps are interchanged."""
        outer = m[self.map]
        if self.order:
            return self._order_of(outer) or LEGAL
        inner = only_scope_in(outer.body)
        if not isinstance(inner, Map):
            return Refusal("the body is not just one map")
        for axis in axes_of(inner):
            mentioned = [param for param in outer.params if param in axis.range.symbols]
            if mentioned:
                return Refusal(f"the range {axis.range} of {axis.param!r} depends on {mentioned[0]!r}")
        return inner

    def _order_of(self, node: Map) -> Refusal | None:
        if sorted(self.order) != sorted(node.params):
            return Refusal(f"its parameters are {', '.join(node.params)}")
        ranges = dict(zip(node.params, node.domain, strict=True))
        for position, param in enumerate(self.order):
            later = [name for name in self.order[position:] if name in ranges[param].symbols]
            if later:
                return Refusal(f"the range {ranges[param]} of {param!r} depends on {later[0]!r}")
        return None

    def apply(self, m: Match, plan: Map | Legal, rw: Rewriter) -> tuple[Map, ...]:
        """Return the maps, the outer one first; each keeps its parameters."""
        outer = m[self.map]
        if not isinstance(plan, Map):
            reorder_axes(outer, self.order, rw)
            return (outer,)
        exchange_maps(outer, plan, rw)
        return plan, outer
